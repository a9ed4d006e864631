"""Hinge loss: nothing beyond a margin of 1, linear below it."""

from __future__ import annotations

from lessregret.learners.losses.loss import Loss


class Hinge(Loss):
    """max(0, 1 - yp), y ∈ {-1, +1}; the subgradient at the kink yp = 1 is 0.

    >>> Hinge().value(margin=0.25, label=1), Hinge().slope(margin=0.25, label=1)
    (0.75, -1.0)
    """

    name = "hinge"

    def value(self, margin: float, label: float) -> float:
        return max(0.0, 1.0 - label * margin)

    def slope(self, margin: float, label: float) -> float:
        return -float(label) if label * margin < 1 else 0.0
