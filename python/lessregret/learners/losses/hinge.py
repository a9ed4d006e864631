"""Hinge loss: nothing beyond a margin of 1, linear below it.

Loss      max(0, 1 − yp)
Slope     −y if yp < 1, else 0; at the kink yp = 1 it is 0
Link      sign of p, the likelier label
Labels    −1, +1
Push      u = y min(h, (1 − yp)/k),  0 if yp ≥ 1: Karampatziakis & Langford 2011
Mixing    mean of the margins by AdaHedge: de Rooij, van Erven, Grünwald & Koolen 2014
Dual      −ℓ*(−yα) = α,  α in [0, 1]
Source    the paper, section 5.1
"""

from __future__ import annotations

from lessregret.learners.losses.loss import Loss, Piece


class Hinge(Loss):
    """max(0, 1 - yp), y ∈ {-1, +1}; the subgradient at the kink yp = 1 is 0.

    >>> Hinge().value(margin=0.25, label=1), Hinge().slope(margin=0.25, label=1)
    (0.75, -1.0)
    """

    name = "hinge"
    link = "sign"
    mixing = "adahedge"
    has_kink = True

    def value(self, margin: float, label: float) -> float:
        return max(0.0, 1.0 - label * margin)

    def slope(self, margin: float, label: float) -> float:
        return -float(label) if label * margin < 1 else 0.0

    def pieces(self, label: float) -> tuple[Piece, ...]:
        return (Piece(1.0, 1.0, label),)

    def push(self, margin: float, label: float, importance: float, response: float) -> float:
        return label * min(importance, max(0.0, 1 - label * margin) / response)
