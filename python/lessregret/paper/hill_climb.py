"""Hill climbing: a vector for which a score is large, by small changes kept when they help."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lessregret.game.domains import Point

BATCH = 64
"""changes tried at once; the score takes them as rows"""


def hill_climb(
    score: Callable[[Point], Point], start: Point, rng: np.random.Generator, steps: int
) -> tuple[Point, float]:
    """The best vector found and its score; ``score`` gives a number for each row."""
    best = start
    height = float(score(best[None, :])[0])
    for _ in range(steps):
        tried = changed(best, rng)
        scores = score(tried)
        winner = int(np.argmax(scores))
        if scores[winner] > height:
            best, height = tried[winner], float(scores[winner])
    return best, height


def changed(vector: Point, rng: np.random.Generator) -> Point:
    """Copies of the vector, each changed a little, in few entries or in many."""
    shape = (BATCH, len(vector))
    # Entries change by their own size, so that no scale is preferred.
    sizes = np.abs(vector) + 0.1 * np.abs(vector).mean()
    reach = 10.0 ** rng.uniform(-3, 0.3, size=(BATCH, 1))
    chosen = rng.random(shape) < rng.uniform(1 / len(vector), 0.5, size=(BATCH, 1))
    return np.asarray(vector + chosen * reach * sizes * rng.normal(size=shape))
