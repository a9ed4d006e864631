"""Losses of the margin: the readable twins of ``crates/core/src/loss.rs``.

A loss ℓ(p, y) is convex in the margin p = w·x; its slope is dℓ/dp, so that the gradient of a round
in coordinate i is slope · x_i.

>>> Hinge().value(margin=0.25, label=1), Hinge().slope(margin=0.25, label=1)
(0.75, -1.0)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import exp, log1p
from typing import ClassVar

from lessregret.errors import SpecError


class Loss(ABC):
    """A convex loss of the margin."""

    name: ClassVar[str]
    is_classification: ClassVar[bool] = True

    @abstractmethod
    def value(self, margin: float, label: float) -> float:
        """ℓ(p, y)."""

    @abstractmethod
    def slope(self, margin: float, label: float) -> float:
        """dℓ/dp, a subgradient where there is a kink."""

    def is_mistake(self, margin: float, label: float) -> bool:
        """Whether the sign is wrong; a margin of 0 decides nothing and is a mistake."""
        return self.is_classification and label * margin <= 0


class Logistic(Loss):
    """log(1 + exp(-yp)), y ∈ {-1, +1}. The paper prints its negative (erratum E1)."""

    name = "logistic"

    def value(self, margin: float, label: float) -> float:
        z = -label * margin
        return max(z, 0.0) + log1p(exp(-abs(z)))

    def slope(self, margin: float, label: float) -> float:
        return -label * logistic(-label * margin)


class Hinge(Loss):
    """max(0, 1 - yp), y ∈ {-1, +1}; the subgradient at the kink yp = 1 is 0."""

    name = "hinge"

    def value(self, margin: float, label: float) -> float:
        return max(0.0, 1.0 - label * margin)

    def slope(self, margin: float, label: float) -> float:
        return -float(label) if label * margin < 1 else 0.0


class Squared(Loss):
    """(p - y)², the paper's convention: not halved, so the slope carries a 2."""

    name = "squared"
    is_classification = False

    def value(self, margin: float, label: float) -> float:
        return (margin - label) ** 2

    def slope(self, margin: float, label: float) -> float:
        return 2.0 * (margin - label)


LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Logistic(), Hinge(), Squared())}


def loss_named(name: str) -> Loss:
    """The loss with this name."""
    if name not in LOSSES:
        raise SpecError(f"unknown loss {name!r}; the losses are {', '.join(LOSSES)}")
    return LOSSES[name]


def logistic(z: float) -> float:
    """1/(1 + exp(-z)), without overflow on either side."""
    if z >= 0:
        return 1.0 / (1.0 + exp(-z))
    return exp(z) / (1.0 + exp(z))
