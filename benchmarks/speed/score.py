"""How well predictions fit the rows held out: the same few lines for all contestants."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

SURE = 1e-6
"""No certainty beyond this is punished more: a probability of exactly 0 would cost everything."""


@dataclass(frozen=True)
class Score:
    """The mean log loss and the share of mistakes, and the loss while learning where it is told."""

    loss: float
    error: float
    progressive: float | None = None


def score(labels: Iterable[bool], probabilities: Iterable[float]) -> Score:
    """Compare.

    >>> score([True, False], [0.75, 0.75])
    Score(loss=0.8369882167858358, error=0.5, progressive=None)
    """
    losses, mistakes = [], 0
    for label, probability in zip(labels, probabilities, strict=True):
        right = probability if label else 1 - probability
        losses.append(-math.log(min(max(right, SURE), 1 - SURE)))
        mistakes += (probability > 0.5) != label
    return Score(math.fsum(losses) / len(losses), mistakes / len(losses))


def score_files(held_out: Path, predictions: Path) -> Score:
    """The first word of each line held out against the first of each line predicted."""
    with open(held_out, encoding="ascii") as lines, open(predictions, encoding="ascii") as guesses:
        labels = (line.startswith("1") for line in lines)
        return score(labels, (float(line.split()[0]) for line in guesses))
