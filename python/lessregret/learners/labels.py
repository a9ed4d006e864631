"""The scale of the labels: numbers are standardised, so that unit and level do not matter.

    n, μ, M2      Σ h, the mean and Σ h (y − μ)² of the labels so far, h the importance
    σ² = M2/n     σ = 0 means σ² ≤ 1e-24 μ²
    [A, B]        the range of the labels so far

    Each label    n' = n + h,  μ' = μ + (y − μ) h/n',  M2' = M2 + h (y − μ)(y − μ')     West (1979)
    Learns from   ŷ = (y − μ')/σ', and 0 if σ' = 0       the statistics with this label
    Predicts      P = clip(μ + σ m, A, B), and 0 before the first label       those without it

m is the margin of the learner, in standardised units. The label that a learner sees is scaled by
statistics that include it: with those of the past, the second label would be infinitely far from
the first, and one such gradient ends the steps of every rate that divides by the gradients so far.
A round of importance 0 changes nothing, and ŷ is 0 in it.

Labels are standardised exactly if the scale is "standard" and the labels are numbers. Regret and
bounds are those of the game (m − ŷ)²; predictions and losses are in the user's units.

Merging: n is a sum, μ and M2 follow by the formula of Chan, Golub & LeVeque (1979), and [A, B] is a
minimum and a maximum.

The twin of ``crates/core/src/example/scale/labels.rs``.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from lessregret.learners.losses import Loss

EQUAL = 1e-24
"""σ²/μ² up to which labels count as equal."""


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

    variance = 1.0
    """σ², by which a penalty becomes one in the units of the labels"""
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
    def variance(self) -> float:  # type: ignore[override]
        return self.statistics.deviation**2

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


def standardises_labels(loss: Loss, scale: str) -> bool:
    """Whether a learner with this loss and this scale standardises the labels.

    >>> from lessregret.learners.losses import LOSSES
    >>> [name for name in LOSSES if standardises_labels(LOSSES[name], "standard")]
    ['squared']
    """
    return scale == "standard" and loss.labels == "real"


def labels_of(loss: Loss, scale: str) -> LabelsAsGiven:
    """The labels of a learner with this loss and this scale."""
    return StandardisedLabels() if standardises_labels(loss, scale) else LabelsAsGiven()
