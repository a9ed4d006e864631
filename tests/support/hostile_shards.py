"""Rounds that make shards disagree, for laws of merging."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.support.streams import Round


def opposed(count: int) -> list[Round]:
    """Shards that see the same features with opposite labels."""
    return [
        Round([k % 3, 3], [1.0, 0.5], 1.0 if k % 2 else -1.0, 1.0 + (k % 7 == 0))
        for k in range(count)
    ]


def turning(count: int) -> list[Round]:
    """Labels that turn when all shards have learned them."""
    return [
        Round([k % 4], [1.0 + k % 2], 1.0 if k * 5 // count % 2 else -1.0, 1.0)
        for k in range(count)
    ]


def noise(count: int) -> list[Round]:
    rng = np.random.default_rng(3)
    return [
        Round(
            [int(rng.integers(4))], [float(rng.choice([0.5, 2]))], float(rng.choice([-1, 1])), 1.0
        )
        for _ in range(count)
    ]


HOSTILE: list[Callable[[int], list[Round]]] = [opposed, turning, noise]
