"""The later part of a run, at least its second half: its losses and labels, in constant memory.

The first rounds are played before anything is learned. Their losses say what it costs to learn, not
how good the model is, so a run is judged by the others.
"""

from __future__ import annotations

from typing import NamedTuple

from lessregret.learners.outcomes import LabelSums, Outcomes
from lessregret.ledger import Tally


class LatePart(NamedTuple):
    """The later part of a run."""

    of: int
    """the rounds of the whole run"""
    rounds: int
    """the rounds of the part"""
    loss: float
    """Σ importance · loss"""
    labels: LabelSums

    @property
    def mean_loss(self) -> float | None:
        """The mean loss, by importance; None if all importances are 0."""
        return self.loss / self.labels.importance if self.labels.importance > 0 else None


class LateRounds:
    """Adds up the rounds since the last power of two, and since the one before it.

    A run of T rounds, 2^k ≤ T < 2^(k+1), is judged by those since 2^(k−1), which is at most T/2.

    >>> late = LateRounds(Tally())
    >>> for rounds in (1, 2, 4, 7):
    ...     late.add(LabelSums(1.0, 1.0, 0.0), Tally(rounds=rounds, loss=10.0 * rounds))
    >>> late.part().rounds, late.part().loss, late.part().labels.importance
    (5, 50.0, 2.0)
    """

    def __init__(self, before: Tally) -> None:
        self._before = self._last = before
        self._starts = [before, before]
        self._labels = [LabelSums(), LabelSums()]
        self.all_labels = LabelSums()
        """the labels of all rounds of the run, also of the early ones"""

    def add(self, labels: LabelSums, tally: Tally) -> None:
        """Add a block of rounds, with the sums of the run after it."""
        self._last = tally
        self.all_labels = self.all_labels.joined(labels)
        self._labels = [known.joined(labels) for known in self._labels]
        if tally.rounds & (tally.rounds - 1) == 0:
            self._starts = [self._starts[1], tally]
            self._labels = [self._labels[1], LabelSums()]

    def part(self) -> LatePart:
        """The later part of the rounds so far."""
        start, last = self._starts[0], self._last
        rounds, loss = last.rounds - start.rounds, last.loss - start.loss
        return LatePart(last.rounds - self._before.rounds, rounds, loss, self._labels[0])


def second_half(loss: str, outcomes: Outcomes, rounds: int) -> LatePart:
    """The second half of a pass over rows; ``rounds`` are those of all passes.

    The loss is 0 for a loss that is not known here.
    """
    import numpy as np

    half = slice(len(outcomes) // 2, None)
    p, y, h = (
        a[half].astype(float) for a in (outcomes.margins, outcomes.labels, outcomes.importances)
    )
    losses = {
        "logistic": lambda: np.logaddexp(0, -y * p),
        "hinge": lambda: np.maximum(0, 1 - y * p),
        "squared": lambda: (p - y) ** 2,
        "squared-hinge": lambda: np.maximum(0, 1 - y * p) ** 2,
    }
    total = float(h @ losses[loss]()) if loss in losses else 0.0
    mean = float(h @ y / h.sum()) if h.any() else 0.0
    labels = LabelSums(float(h.sum()), mean, float(h @ (y - mean) ** 2))
    return LatePart(rounds, len(y), total, labels)
