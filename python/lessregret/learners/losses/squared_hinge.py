"""Squared hinge loss: nothing beyond a margin of 1, the square of what lacks below it.

Loss      max(0, 1 − yp)², not halved
Slope     −2y max(0, 1 − yp)
Link      sign of p, the likelier label
Labels    −1, +1
Push      u = y max(0, 1 − yp)(1 − e^(−2hk))/k: that of squared loss up to the margin 1
Mixing    mean of the margins by AdaHedge: de Rooij, van Erven, Grünwald & Koolen 2014
Dual      −ℓ*(−yα) = α − α²/4,  α ≥ 0
Source    Chang, Hsieh & Lin 2008, "Coordinate Descent Method for Large-scale L2-loss Linear SVM"
"""

from __future__ import annotations

from math import expm1

from lessregret.learners.losses.loss import Loss


class SquaredHinge(Loss):
    """max(0, 1 - yp)², y ∈ {-1, +1}.

    >>> SquaredHinge().value(margin=0.5, label=1), SquaredHinge().slope(margin=0.5, label=1)
    (0.25, -1.0)
    """

    name = "squared-hinge"
    link = "sign"
    mixing = "adahedge"

    def value(self, margin: float, label: float) -> float:
        return max(0.0, 1.0 - label * margin) ** 2

    def slope(self, margin: float, label: float) -> float:
        return -2.0 * label * max(0.0, 1.0 - label * margin)

    def push(self, margin: float, label: float, importance: float, response: float) -> float:
        lack = max(0.0, 1 - label * margin)
        return -label * lack * expm1(-2 * importance * response) / response
