"""Words drawn by a law of Zipf and Mandelbrot, each at most once an example."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ranks = NDArray[np.int64]
Floats = NDArray[np.float64]

SHIFT = 50.0
"""Flattens the head: no word stands in every example, as after the removal of stop words."""


def frequencies(words: int) -> Floats:
    """The share of each rank, ∝ 1/(rank + 50)."""
    shares: Floats = 1 / (np.arange(1, words + 1) + SHIFT)
    shares /= shares.sum()
    return shares


def distinct_ranks(rng: np.random.Generator, rows: int, each: int, shares: Floats) -> Ranks:
    """``each`` different ranks a row, ascending: one from each of as many equal parts of the law.

    Where two parts meet in one word, the second takes the next; so the last ranks can be a few
    beyond those that have a share, and are folded back onto the last that are free.
    """
    parts = (np.arange(each) + rng.random((rows, each))) / each
    ranks = np.searchsorted(np.cumsum(shares), parts).astype(np.int64)
    steps = np.arange(each)
    risen = np.maximum.accumulate(ranks - steps, axis=1) + steps
    return np.minimum(risen, len(shares) - each + steps)


def labels(rng: np.random.Generator, margins: Floats) -> NDArray[np.bool_]:
    """Whether each label is 1, with probability σ(margin)."""
    return rng.random(len(margins)) < 1 / (1 + np.exp(-margins))
