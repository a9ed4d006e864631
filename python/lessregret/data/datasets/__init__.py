"""Real data sets, found in a data home; none is shipped or downloaded.

The data home is the folder that ``LESSREGRET_DATA`` names, else a folder of the user's. A file may
lie there as it is or packed as ``.xz``, ``.bz2`` or ``.gz``; what counts is its content, whose
SHA-256 is checked when it is read.

    DATASETS["books"].load(home)     ─▶  Labelled(X, y): rows as CSR, labels -1 and +1
"""

from __future__ import annotations

from lessregret.data.datasets.home import DataFile, DataHome
from lessregret.data.datasets.loaders import Labelled
from lessregret.data.datasets.registry import DATASETS, Dataset

__all__ = ["DATASETS", "DataFile", "DataHome", "Dataset", "Labelled"]
