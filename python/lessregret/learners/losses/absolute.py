"""Absolute loss: for the median of a label.

Loss      |p − y|, twice the quantile loss of level ½
Slope     1 if p > y, −1 if p < y; at the kink p = y it is 0
Link      number: p is the prediction, the median
Labels    any finite numbers
Push      u = (y − p)/k clipped to [−h, h]: Karampatziakis & Langford 2011
Mixing    mean of the predictions by AdaHedge: de Rooij, van Erven, Grünwald & Koolen 2014
Dual      −ℓ*(−α) = α y,  α in [−1, 1]
Source    Laplace 1793; Koenker & Bassett 1978, "Regression Quantiles"
"""

from __future__ import annotations

from lessregret.learners.losses.quantile import TwoSides


class Absolute(TwoSides):
    """|p − y|.

    >>> Absolute().value(margin=1.0, label=3.0), Absolute().slope(margin=1.0, label=3.0)
    (2.0, -1.0)
    """

    name = "absolute"
    below = above = 1.0
