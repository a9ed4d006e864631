"""Squared loss: for labels that are numbers.

Loss      (p − y)², not halved, so the slope carries a 2
Slope     2(p − y)
Link      number: p is the prediction
Labels    any finite numbers
Push      u = (y − p)(1 − e^(−2hk))/k: Karampatziakis & Langford 2011
Mixing    mean of the predictions clipped to the labels so far, [A, B]; there the loss is
          1/(2(B − A)²)-exp-concave: Kivinen & Warmuth 1999
Dual      −ℓ*(s) = −s y − s²/4
Source    the paper, section 1.1
"""

from __future__ import annotations

from math import expm1

from lessregret.learners.losses.loss import Loss


class Squared(Loss):
    """(p - y)², the paper's convention: not halved, so the slope carries a 2.

    >>> Squared().value(margin=0.5, label=2.0), Squared().slope(margin=0.5, label=2.0)
    (2.25, -3.0)
    """

    name = "squared"
    labels = "real"
    link = "number"
    mixing = "clipped-mean"
    degree = 2

    def value(self, margin: float, label: float) -> float:
        return (margin - label) ** 2

    def slope(self, margin: float, label: float) -> float:
        return 2.0 * (margin - label)

    def push(self, margin: float, label: float, importance: float, response: float) -> float:
        return (margin - label) * expm1(-2 * importance * response) / response
