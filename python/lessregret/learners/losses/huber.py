"""Huber loss: squared near the label, linear far from it, so that outliers pull no harder than δ.

Loss      (p − y)² if |p − y| ≤ δ, else 2δ|p − y| − δ²;  δ > 0
Slope     2(p − y) clipped to [−2δ, 2δ]
Link      number: p is the prediction
Labels    any finite numbers; δ is in the units that the learner learns in: standard deviations
          of the labels so far where labels are standardised, else the units of the labels
Push      u = 2δh until |p − y| = δ, and from there that of squared loss
Mixing    mean of the predictions by AdaHedge: de Rooij, van Erven, Grünwald & Koolen 2014
Dual      −ℓ*(s) = −s y − s²/4,  s in [−2δ, 2δ]
Source    Huber 1964, "Robust Estimation of a Location Parameter"
Departs   not halved, as squared loss is not: it is squared loss for δ → ∞
"""

from __future__ import annotations

from math import copysign, expm1, inf
from typing import ClassVar

from lessregret.learners.losses.loss import Loss
from lessregret.learners.losses.parameter import WithParameter


class Huber(WithParameter, Loss):
    """(p − y)² near the label and linear beyond, with the distance δ where that begins.

    >>> Huber(1.5).value(margin=3.0, label=2.0), Huber(1.5).value(margin=5.0, label=2.0)
    (1.0, 6.75)
    """

    family = "huber"
    expected: ClassVar[str] = "a finite number above 0"
    sample = 1.0
    labels = "real"
    link = "number"
    mixing = "adahedge"
    degree = 2

    @staticmethod
    def is_valid(parameter: float) -> bool:
        return 0 < parameter < inf

    def in_units(self, unit: float) -> Huber:
        return Huber(self.parameter * unit) if unit else self

    def value(self, margin: float, label: float) -> float:
        away = abs(margin - label)
        near = min(away, self.parameter)
        return near * (2 * away - near)

    def slope(self, margin: float, label: float) -> float:
        return 2 * min(self.parameter, max(-self.parameter, margin - label))

    def push(self, margin: float, label: float, importance: float, response: float) -> float:
        away, delta = label - margin, self.parameter
        far = max(0.0, abs(away) - delta)
        # The importance with which the margin comes to the distance δ.
        spent = far / (2 * delta * response)
        if spent >= importance:
            return copysign(2 * delta * importance, away)
        near = -min(abs(away), delta) * expm1(-2 * (importance - spent) * response)
        return copysign(far + near, away) / response
