"""What only slow tests try."""

from __future__ import annotations

from typing import Any

import pytest
from _pytest.mark import ParameterSet


def slow(value: Any) -> ParameterSet:
    """The value of a parameter with which a test is a slow one."""
    return pytest.param(value, marks=pytest.mark.slow)
