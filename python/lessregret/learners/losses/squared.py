"""Squared loss: for labels that are numbers."""

from __future__ import annotations

from lessregret.learners.losses.loss import Loss


class Squared(Loss):
    """(p - y)², the paper's convention: not halved, so the slope carries a 2.

    >>> Squared().value(margin=0.5, label=2.0), Squared().slope(margin=0.5, label=2.0)
    (2.25, -3.0)
    """

    name = "squared"
    is_classification = False

    def value(self, margin: float, label: float) -> float:
        return (margin - label) ** 2

    def slope(self, margin: float, label: float) -> float:
        return 2.0 * (margin - label)
