"""Logistic loss: the negative log likelihood of the label, for probabilities of two classes.

Loss      log(1 + e^(−yp))
Slope     −y/(1 + e^(yp))
Link      probability of +1:  1/(1 + e^−p)
Labels    −1, +1
Push      u = y δ/k,  δ + e^m (e^δ − 1) = hk,  m = yp: Karampatziakis & Langford 2011
Mixing    log odds of the mean probability; the loss is 1-mixable: Vovk 1998
Dual      −ℓ*(−yα) = −α log α − (1 − α) log(1 − α),  α in [0, 1]
Source    the paper, sections 1.1, which prints the negative of the loss (erratum E1), and 5.2
"""

from __future__ import annotations

from math import exp, expm1, log, log1p

from lessregret.learners.losses.loss import Loss

SURE = 700.0
"""Beyond this e^m has no number, and what is left of the loss moves nothing."""


class Logistic(Loss):
    """log(1 + exp(-yp)), y ∈ {-1, +1}. The paper prints its negative (erratum E1).

    >>> Logistic().slope(margin=0.0, label=1)
    -0.5
    """

    name = "logistic"
    link = "probability"
    mixing = "log-odds"

    def value(self, margin: float, label: float) -> float:
        z = -label * margin
        return max(z, 0.0) + log1p(exp(-abs(z)))

    def slope(self, margin: float, label: float) -> float:
        return -label * logistic(-label * margin)

    def push(self, margin: float, label: float, importance: float, response: float) -> float:
        return label * _rise(label * margin, importance * response) / response


def logistic(z: float) -> float:
    """1/(1 + exp(-z)), without overflow on either side."""
    if z >= 0:
        return 1.0 / (1.0 + exp(-z))
    return exp(z) / (1.0 + exp(z))


def _rise(m: float, weight: float) -> float:
    """δ with δ + e^m (e^δ − 1) = weight: how far a margin of the right sign rises.

    Newton from above on a convex function, so every step is down to the root and none beyond it.
    In this form nothing cancels, be δ small or e^m.
    """
    if m > SURE:
        return 0.0
    # Above the root, since e^δ − 1 ≥ δ.
    delta = weight / (1 + exp(m))
    if delta > 1:
        # So is this, since the second part is not more than the whole; and e^(m + δ) fits.
        delta = min(delta, _softplus(log(weight) - m))
    while True:
        peak = exp(m + delta)
        step = (delta - peak * expm1(-delta) - weight) / (1 + peak)
        delta -= step
        # Quadratic: the next step would be below the last digit.
        if step <= 1e-9 * delta:
            return delta


def _softplus(z: float) -> float:
    return max(z, 0.0) + log1p(exp(-abs(z)))
