"""Poisson loss: half the deviance of a count, for counts with a logarithmic link.

Loss      e^p − yp + y ln y − y, which is 0 at e^p = y; beyond p = c = 24 ln 2 it is its tangent
Slope     e^min(p, c) − y
Link      count: e^p is the expected count
Labels    numbers from 0 to 2^24 = e^c; where labels are standardised, the learner learns from
          y/μ, μ the mean count so far, and ln μ is added to its margin
Push      u = −(1/k) ln(e^−a + e^p (1 − e^−a)/y),  a = yhk; −(1/k) ln(1 + e^p hk) if y = 0:
          Karampatziakis & Langford 2011; beyond c the slope is constant
Mixing    mean of the margins by AdaHedge: de Rooij, van Erven, Grünwald & Koolen 2014
Dual      −ℓ*(s) = (s + y)(1 − ln(s + y)) + y ln y − y,  −y ≤ s ≤ e^c − y
Source    McCullagh & Nelder 1989, "Generalized Linear Models", chapter 6
Departs   the tangent beyond c: e^p would overflow, and no label is larger than e^c
"""

from __future__ import annotations

from math import exp, expm1, inf, log, log1p

from lessregret.learners.losses.loss import Loss

LAST = 24 * log(2)
"""c, the margin of the largest count."""


class Poisson(Loss):
    """e^p − yp + y ln y − y: half the deviance of the count y.

    >>> round(Poisson().value(margin=0.0, label=2), 4), Poisson().slope(margin=0.0, label=2)
    (0.3863, -1.0)
    """

    name = "poisson"
    labels = "count"
    link = "count"
    mixing = "adahedge"
    degree = 1
    is_steep = True

    def value(self, margin: float, label: float) -> float:
        rise = exp(min(margin, LAST)) * (1 + max(0.0, margin - LAST))
        # Rounding could make the least value negative.
        return max(0.0, rise - label * margin + (_y_ln_y(label) - label))

    def slope(self, margin: float, label: float) -> float:
        return exp(min(margin, LAST)) - label

    def push(self, margin: float, label: float, importance: float, response: float) -> float:
        excess = margin - LAST
        if excess <= 0:
            return _curved(margin, label, importance, response)
        slope = exp(LAST) - label
        # The importance with which the margin comes down to c.
        spent = excess / (slope * response) if slope > 0 else inf
        if spent >= importance:
            return -slope * importance
        return _curved(LAST, label, importance - spent, response) - excess / response


def _curved(margin: float, label: float, importance: float, response: float) -> float:
    """The push of a margin up to c: z = e^−p has the linear flow dz/dh = k(1 − yz)."""
    fall = label * importance * response
    # ln((1 − e^−a)/y), which is ln(hk) where a is 0.
    risen = log(-expm1(-fall)) - log(label) if fall else log(importance * response)
    shrunk = expm1(-fall) + exp(min(margin + risen, 700.0))
    if shrunk > -0.5:
        return -log1p(shrunk) / response
    # Both terms may be too small for a float: their logarithms are added.
    least, most = sorted((-fall, margin + risen))
    return -(most + log1p(exp(least - most))) / response


def _y_ln_y(y: float) -> float:
    return y * log(y) if y > 0 else 0.0
