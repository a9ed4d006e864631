"""Logistic loss: the negative log likelihood of the label, for probabilities of classes."""

from __future__ import annotations

from math import exp, log1p

from lessregret.learners.losses.loss import Loss


class Logistic(Loss):
    """log(1 + exp(-yp)), y ∈ {-1, +1}. The paper prints its negative (erratum E1).

    >>> Logistic().slope(margin=0.0, label=1)
    -0.5
    """

    name = "logistic"

    def value(self, margin: float, label: float) -> float:
        z = -label * margin
        return max(z, 0.0) + log1p(exp(-abs(z)))

    def slope(self, margin: float, label: float) -> float:
        return -label * logistic(-label * margin)


def logistic(z: float) -> float:
    """1/(1 + exp(-z)), without overflow on either side."""
    if z >= 0:
        return 1.0 / (1.0 + exp(-z))
    return exp(z) / (1.0 + exp(z))
