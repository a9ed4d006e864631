"""Half the squared loss: for labels that are numbers.

Loss      ½(p − y)²
Slope     p − y
Link      number: p is the prediction
Labels    any finite numbers
Push      u = (y − p)(1 − e^(−hk))/k
Mixing    mean of the predictions clipped to the labels so far
Dual      −ℓ*(s) = −s y − s²/2
Source    a toy, to show how a loss is added
"""

from __future__ import annotations

from math import expm1

from lessregret.learners.losses.loss import Loss


class HalfSquared(Loss):
    """½(p − y)²."""

    name = "half-squared"
    labels = "real"
    link = "number"
    mixing = "clipped-mean"
    degree = 2

    def value(self, margin: float, label: float) -> float:
        return 0.5 * (margin - label) ** 2

    def slope(self, margin: float, label: float) -> float:
        return margin - label

    def push(self, margin: float, label: float, importance: float, response: float) -> float:
        return (margin - label) * expm1(-importance * response) / response
