"""Rows in blocks, each with random numbers of its own.

A data set has parts: 0 is held out, 1 is the set itself, 2 and up make it grow.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

ROWS = 20_000


def blocks(seed: int, part: int, rows: int) -> Iterator[tuple[np.random.Generator, int]]:
    """For each block its random numbers and how many rows it has."""
    for start in range(0, rows, ROWS):
        yield np.random.default_rng([seed, part, start]), min(ROWS, rows - start)
