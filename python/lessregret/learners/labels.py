"""The scale of the labels: numbers are standardised, so that unit and level do not matter.

    n, μ, M2      Σ h, the mean and Σ h (y − μ)² of the labels so far, h the importance
    σ² = M2/n     σ = 0 means σ² ≤ 1e-24 μ²
    [A, B]        the range of the labels so far

    Each label    n' = n + h,  μ' = μ + (y − μ) h/n',  M2' = M2 + h (y − μ)(y − μ')     West (1979)
    Learns from   ŷ = (y − μ')/σ', and 0 if σ' = 0       the statistics with this label
    Predicts      P = clip(μ + σ m, A, B), and 0 before the first label       those without it
    Counts        ŷ = y/μ', at most 2^24, and 0 if μ' = 0
                  ln P = clip(ln μ + m, ln A, ln B), and 0 before the first label

m is the margin of the learner, in standardised units. The label that a learner sees is scaled by
statistics that include it: with those of the past, the second label would be infinitely far from
the first, and one such gradient ends the steps of every rate that divides by the gradients so far.
A round of importance 0 changes nothing, and ŷ is 0 in it.

Labels are standardised exactly if the scale is "standard" and the labels are numbers or counts.
Regret and bounds are those of the game ℓ(m, ŷ); predictions and losses are in the user's units, u^d
times as large: the unit u is σ, or μ of counts, and d the degree of the loss. A count has no other
unit than its mean, since it is predicted by e^p: the logarithms of A and B are taken to be −24 ln 2
at least.

Merging: n is a sum, μ and M2 follow by the formula of Chan, Golub & LeVeque (1979), and [A, B] is a
minimum and a maximum.

The twin of ``crates/core/src/example/scale/labels.rs``.
"""

from __future__ import annotations

from math import log, sqrt
from typing import NamedTuple

from lessregret.learners.losses import Loss

EQUAL = 1e-24
"""σ²/μ² up to which labels count as equal."""
MOST = 2.0**24
"""The largest count: all integers up to it are float32 numbers."""


class LabelStatistics(NamedTuple):
    """The statistics of the labels so far: n, μ, M2 and [A, B].

    >>> LabelStatistics().plus(5.0, importance=1.0).plus(7.0, importance=1.0)
    LabelStatistics(importance=2.0, mean=6.0, squares=2.0, low=5.0, high=7.0)
    """

    importance: float = 0.0
    mean: float = 0.0
    squares: float = 0.0
    low: float = 0.0
    high: float = 0.0

    def plus(self, label: float, importance: float) -> LabelStatistics:
        """The statistics with one more label."""
        if importance == 0:
            return self
        total, distance = self.importance + importance, label - self.mean
        mean = self.mean + distance * (importance / total)
        # The product of the distances is not negative; rounding of the mean could make it so.
        squares = self.squares + importance * max(0.0, distance * (label - mean))
        low, high = (self.low, self.high) if self.importance else (label, label)
        return LabelStatistics(total, mean, squares, min(low, label), max(high, label))

    @property
    def deviation(self) -> float:
        """σ."""
        variance = self.squares / self.importance if self.importance else 0.0
        return sqrt(variance) if variance > EQUAL * self.mean**2 else 0.0


class LabelsAsGiven:
    """Labels that are not standardised: what a learner learns from and predicts is as it is."""

    unit = 1.0
    """u: a penalty counts u^d times in the units of the labels, d the degree of the loss"""
    mean: float | None = None
    """the mean label, which every prediction contains; None if labels are not standardised"""
    no_loss: float | None = None
    """the loss of no rounds in the game on standardised labels; None if it is not played"""

    takes_base = False
    """whether a base margin is subtracted from the labels and added to the predictions, in place of
    being added to the margins"""

    def learned(self, label: float, importance: float) -> float:
        """The label that a round learns from. Nothing is remembered."""
        return label

    def remember(self, label: float, importance: float) -> None:
        """Take the label of a round into account."""

    def unclipped(self, margin: float) -> float:
        """The prediction of a margin, whatever the labels so far."""
        return margin

    def prediction(self, margin: float) -> float:
        """The prediction of a margin."""
        return margin

    def margin(self, prediction: float) -> float | None:
        """The margin of a prediction; None if all margins predict the same."""
        return prediction

    def weight(self, weight: float, is_intercept: bool) -> float:
        """The weight in the units of the labels."""
        return weight

    def loss(self, loss: Loss, margin: float, learned: float) -> float | None:
        """The loss of a margin in the game on standardised labels; None if it is not played."""
        return None


class StandardisedLabels(LabelsAsGiven):
    """Labels that are standardised.

    >>> labels = StandardisedLabels()
    >>> for label in (5.0, 7.0):
    ...     print(labels.learned(label, importance=1.0), labels.prediction(0.5))
    ...     labels.remember(label, importance=1.0)
    0.0 0.0
    1.0 5.0
    >>> labels.prediction(0.5), labels.prediction(9.0), labels.margin(6.5)
    (6.5, 7.0, 0.5)
    """

    no_loss = 0.0
    takes_base = True

    def __init__(self) -> None:
        self.statistics = LabelStatistics()

    @property
    def unit(self) -> float:  # type: ignore[override]
        return self.statistics.deviation

    @property
    def mean(self) -> float:  # type: ignore[override]
        return self.statistics.mean

    def learned(self, label: float, importance: float) -> float:
        after = self.statistics.plus(label, importance)
        if importance == 0 or after.deviation == 0:
            return 0.0
        return (label - after.mean) / after.deviation

    def remember(self, label: float, importance: float) -> None:
        self.statistics = self.statistics.plus(label, importance)

    def unclipped(self, margin: float) -> float:
        return self.statistics.mean + self.statistics.deviation * margin

    def prediction(self, margin: float) -> float:
        return min(self.statistics.high, max(self.statistics.low, self.unclipped(margin)))

    def margin(self, prediction: float) -> float | None:
        deviation = self.statistics.deviation
        return (prediction - self.statistics.mean) / deviation if deviation else None

    def weight(self, weight: float, is_intercept: bool) -> float:
        return self.unclipped(weight) if is_intercept else self.statistics.deviation * weight

    def loss(self, loss: Loss, margin: float, learned: float) -> float | None:
        return loss.value(margin, learned)


class StandardisedCounts(StandardisedLabels):
    """Counts, in units of their mean; margins are their logarithms.

    >>> labels = StandardisedCounts()
    >>> for label in (2.0, 6.0):
    ...     print(labels.learned(label, importance=1.0), round(labels.prediction(0.5), 3))
    ...     labels.remember(label, importance=1.0)
    1.0 0.0
    1.5 0.693
    >>> round(labels.prediction(0.1), 3), round(log(4) + 0.1, 3)
    (1.486, 1.486)
    """

    @property
    def unit(self) -> float:  # type: ignore[override]
        return self.statistics.mean

    @property
    def mean(self) -> float:  # type: ignore[override]
        return _log(self.statistics.mean) if self.statistics.importance else 0.0

    def learned(self, label: float, importance: float) -> float:
        after = self.statistics.plus(label, importance)
        return min(MOST, label / after.mean) if importance and after.mean else 0.0

    def unclipped(self, margin: float) -> float:
        return self.mean + margin

    def prediction(self, margin: float) -> float:
        if not self.statistics.importance:
            return 0.0
        return min(
            _log(self.statistics.high), max(_log(self.statistics.low), self.unclipped(margin))
        )

    def margin(self, prediction: float) -> float | None:
        return prediction - self.mean

    def weight(self, weight: float, is_intercept: bool) -> float:
        return self.unclipped(weight) if is_intercept else weight


def _log(count: float) -> float:
    """The logarithm of a count, −24 ln 2 at least."""
    return max(log(count), -log(MOST)) if count > 0 else -log(MOST)


def standardises_labels(loss: Loss, scale: str) -> bool:
    """Whether a learner with this loss and this scale standardises the labels.

    >>> from lessregret.learners.losses import LOSSES
    >>> [name for name in LOSSES if standardises_labels(LOSSES[name], "standard")]
    ['squared', 'poisson', 'absolute', 'quantile:0.9', 'huber:1']
    """
    return scale == "standard" and loss.labels in ("real", "count")


def labels_of(loss: Loss, scale: str) -> LabelsAsGiven:
    """The labels of a learner with this loss and this scale."""
    if not standardises_labels(loss, scale):
        return LabelsAsGiven()
    return StandardisedCounts() if loss.labels == "count" else StandardisedLabels()
