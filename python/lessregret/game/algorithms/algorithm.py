"""What an algorithm is: it shows a point, sees what the round showed of it, and moves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from lessregret.game.domains import Domain, Point
from lessregret.game.losses import Coordinates


class Seen(NamedTuple):
    """What a round shows of its loss at the point played."""

    coordinates: Coordinates
    """which coordinates the loss looks at; in the others the gradient is 0"""
    gradient: Point
    curvature: Point
    """H_i of §4.1 in those coordinates"""


class Algorithm(ABC):
    """Plays points of a domain."""

    point: Point
    """the point to be played; the game reads it and must not write it"""

    @abstractmethod
    def start(self, domain: Domain, rounds: int | None = None) -> None:
        """Forget everything and get ready to play in this domain, for so many rounds if known."""

    @abstractmethod
    def feed(self, seen: Seen) -> Point | float | None:
        """Move; the rates used in the round's coordinates, if the algorithm has rates."""


class OneDimensional(ABC):
    """Plays points of an interval [low, high]."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = float(low), float(high)
        self.point = self.clip(0.0)

    @abstractmethod
    def feed(self, gradient: float, curvature: float = 0.0) -> float | None:
        """Move; the rate used, if the learner has one."""

    def clip(self, value: float) -> float:
        """The nearest point of the interval."""
        return min(self.high, max(self.low, value))

    @property
    def width(self) -> float:
        """D = high − low"""
        return self.high - self.low

    @property
    def middle(self) -> float:
        """c = (low + high)/2"""
        return (self.low + self.high) / 2
