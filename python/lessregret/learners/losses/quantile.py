"""Quantile loss: for the number that a label is below with a given probability.

Loss      τ max(0, y − p) + (1 − τ) max(0, p − y),  0 < τ < 1
Slope     1 − τ if p > y, −τ if p < y; at the kink p = y it is 0
Link      number: p is the prediction, the τ-quantile
Labels    any finite numbers
Push      u = min(τh, (y − p)/k) if p ≤ y, −min((1 − τ)h, (p − y)/k) else:
          Karampatziakis & Langford 2011
Mixing    mean of the predictions by AdaHedge: de Rooij, van Erven, Grünwald & Koolen 2014
Dual      −ℓ*(−α) = α y,  α in [τ − 1, τ]
Source    Koenker & Bassett 1978, "Regression Quantiles"
"""

from __future__ import annotations

from typing import ClassVar

from lessregret.learners.losses.loss import Loss, Piece
from lessregret.learners.losses.parameter import WithParameter


class TwoSides(Loss):
    """below · max(0, y − p) + above · max(0, p − y): the base class of Quantile and Absolute."""

    labels = "real"
    link = "number"
    mixing = "adahedge"
    degree = 1
    has_kink = True

    below: float
    above: float

    def value(self, margin: float, label: float) -> float:
        away = margin - label
        return self.above * away if away > 0 else -self.below * away

    def slope(self, margin: float, label: float) -> float:
        if margin == label:
            return 0.0
        return self.above if margin > label else -self.below

    def pieces(self, label: float) -> tuple[Piece, ...]:
        return Piece(self.below, label, 1.0), Piece(self.above, -label, -1.0)

    def push(self, margin: float, label: float, importance: float, response: float) -> float:
        way = (label - margin) / response
        return max(-self.above * importance, min(self.below * importance, way))


class Quantile(WithParameter, TwoSides):
    """τ max(0, y − p) + (1 − τ) max(0, p − y), with its level τ.

    >>> Quantile(0.75).value(margin=1.0, label=3.0), Quantile(0.75).slope(margin=1.0, label=3.0)
    (1.5, -0.75)
    """

    family = "quantile"
    expected: ClassVar[str] = "a number above 0 and below 1"
    sample = 0.9

    @property
    def below(self) -> float:  # type: ignore[override]
        return self.parameter

    @property
    def above(self) -> float:  # type: ignore[override]
        return 1 - self.parameter

    @staticmethod
    def is_valid(parameter: float) -> bool:
        return 0 < parameter < 1
