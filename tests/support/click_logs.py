"""Small simulated logs, and how their lines are taken apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lessregret.data.generate import IMPRESSIONS_PER_DRAW, ClickWorld, log_text

DRAW = IMPRESSIONS_PER_DRAW
SMALL = ClickWorld(seed=3, queries=200, ads=160, advertisers=20, words=100)
DRIFTING = ClickWorld(seed=3, queries=200, ads=160, advertisers=20, words=100, drift=10.0)
ABOUT = ClickWorld(
    seed=3, queries=200, ads=160, words=100, phrase="olive oil", query_lengths=(0, 2)
)


def text(world: ClickWorld, examples: int, format: str = "vw", skip: int = 0) -> bytes:
    """The log as one piece of text."""
    return b"".join(log_text(world, examples, format=format, skip=skip))


def features(line: str) -> list[str]:
    """The features of a Vowpal Wabbit line as `namespace^feature`."""
    _, *namespaces = line.split(" |")
    split = [namespace.split() for namespace in namespaces]
    return [f"{name}^{feature}" for name, *rest in split for feature in rest]


def losses(probabilities: NDArray[np.float64], labels: NDArray[np.int8]) -> NDArray[np.float64]:
    """The log loss of each prediction."""
    return -np.log(np.where(labels == 1, probabilities, 1 - probabilities))
