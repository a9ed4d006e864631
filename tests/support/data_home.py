"""The data home that tests may use: the one that ``LESSREGRET_DATA`` names, or none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lessregret.data.datasets import DATASETS, DataHome
from lessregret.data.datasets.home import VARIABLE


def home_with(*names: str) -> DataHome:
    """The data home, if it holds these data sets; otherwise the test is skipped and says why."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        pytest.skip(f"{VARIABLE} names no data home")
    home = DataHome(Path(folder))
    missing = [name for name in names if not DATASETS[name].is_there(home)]
    if missing:
        pytest.skip(f"the data home lacks {', '.join(missing)}")
    return home


def file_or_skip(name: str) -> Path:
    """A file of the data home; without it the test is skipped and says why."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        pytest.skip(f"{VARIABLE} names no data home")
    file = Path(folder, name)
    if not file.is_file():
        pytest.skip(f"the data home lacks {name}")
    return file
