"""Online gradient descent with every rate of the paper.

    x_{t+1} = P(x_t − η_t g_t)                                   the paper, equation (1)

A rate is an object that turns the round's gradient into η: one number, or one for each coordinate.
Per-coordinate rates need a box, because only there does the projection split (Theorem 3).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from lessregret.errors import SpecError
from lessregret.game.algorithms.algorithm import Algorithm, Seen
from lessregret.game.domains import Box, Domain, Point


class Rate(ABC):
    """How far to step."""

    def start(self, domain: Domain, rounds: int | None) -> None:
        """Forget everything."""

    @abstractmethod
    def __call__(self, seen: Seen) -> Point | float:
        """η of this round: a number, or one for each of the round's coordinates."""


@dataclass
class ConstantRate(Rate):
    """η_t = η (§2.2)."""

    rate: float

    def __call__(self, seen: Seen) -> float:
        return self.rate


@dataclass
class RootRate(Rate):
    """η_t = rate/√t (Zinkevich 2003); t counts all rounds."""

    rate: float = 1.0
    _round: int = field(default=0, init=False)

    def start(self, domain: Domain, rounds: int | None) -> None:
        self._round = 0

    def __call__(self, seen: Seen) -> float:
        self._round += 1
        return self.rate / sqrt(self._round)


@dataclass
class HorizonRate(Rate):
    """η = D/(G√T), the best constant for a known horizon and a known largest gradient (§2.2)."""

    largest: float
    """G ≥ |g_t|"""
    _rate: float = field(default=0.0, init=False)

    def start(self, domain: Domain, rounds: int | None) -> None:
        if rounds is None:
            raise SpecError("the rate D/(G√T) needs to know the number of rounds")
        self._rate = domain.diameter / (self.largest * sqrt(rounds))

    def __call__(self, seen: Seen) -> float:
        return self._rate


@dataclass
class StronglyConvexRate(Rate):
    """η_t = 1/(H t) for H-strongly convex losses (Hazan, Agarwal & Kale 2007)."""

    curvature: float
    _round: int = field(default=0, init=False)

    def start(self, domain: Domain, rounds: int | None) -> None:
        self._round = 0

    def __call__(self, seen: Seen) -> float:
        self._round += 1
        return 1 / (self.curvature * self._round)


@dataclass
class GlobalRate(Rate):
    """η_t = D/√(2 Σ|g_s|²), Theorem 2; a non-zero gradient comes first (erratum E9)."""

    scale: float = 1.0
    """multiplies η; the paper's experiments scale it down (§5)"""
    _diameter: float = field(default=0.0, init=False)
    _energy: float = field(default=0.0, init=False)

    def start(self, domain: Domain, rounds: int | None) -> None:
        self._diameter, self._energy = domain.diameter, 0.0

    def __call__(self, seen: Seen) -> float:
        self._energy += float(seen.gradient @ seen.gradient)
        return self.scale * self._diameter / sqrt(2 * self._energy) if self._energy > 0 else 0.0


@dataclass
class PerCoordinateRate(Rate):
    """η_{t,i} = D_i/√(2 Σ g²_{s,i}), Algorithm 1 as corrected; as printed it lacks the 2 (E7)."""

    as_printed: bool = False
    scale: float = 1.0
    _widths: Point = field(default_factory=lambda: np.zeros(0), init=False)
    _energy: Point = field(default_factory=lambda: np.zeros(0), init=False)

    def start(self, domain: Domain, rounds: int | None) -> None:
        if not isinstance(domain, Box):
            raise SpecError("per-coordinate rates need a box; use FTPRL-Diag on other sets")
        self._widths = self.scale * domain.widths / (1 if self.as_printed else sqrt(2))
        self._energy = np.zeros(domain.dimensions)

    def __call__(self, seen: Seen) -> Point:
        energy = self._energy[seen.coordinates] + seen.gradient**2
        self._energy[seen.coordinates] = energy
        rates = np.zeros(len(energy))
        return np.divide(
            self._widths[seen.coordinates], np.sqrt(energy), out=rates, where=energy > 0
        )


class Descent(Algorithm):
    """Projected gradient descent."""

    def __init__(self, rate: Rate) -> None:
        self.rate = rate

    def start(self, domain: Domain, rounds: int | None = None) -> None:
        self.domain = domain
        self.point = domain.start
        self.rate.start(domain, rounds)

    def feed(self, seen: Seen) -> Point | float:
        rate = self.rate(seen)
        if isinstance(self.domain, Box):
            # Only the round's coordinates can leave the box.
            where = seen.coordinates
            moved = self.point[where] - rate * seen.gradient
            low, high = self.domain.low[where], self.domain.high[where]
            self.point[where] = np.minimum(high, np.maximum(low, moved))
            return rate
        self.point[seen.coordinates] -= rate * seen.gradient
        self.point = self.domain.project(self.point)
        return rate
