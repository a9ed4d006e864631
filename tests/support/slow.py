"""What only slow tests try."""

from __future__ import annotations

from typing import Any

import pytest
from _pytest.mark import ParameterSet


def slow(*values: Any, id: str | None = None) -> ParameterSet:
    """The values of parameters with which a test is a slow one."""
    return pytest.param(*values, id=id, marks=pytest.mark.slow)
