"""The losses that rounds of a game are made of: convex functions of a few coordinates.

A loss knows which coordinates it looks at; ``value`` and ``gradient`` take the point restricted to
them, so that a round costs what it touches and not the dimension. ``curvature`` is the vector H of
§4.1: f(y) ≥ f(x) + g·(y − x) + Σ H_i/2 (y_i − x_i)².
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lessregret.game.domains import Point

Coordinates = NDArray[np.intp]


class RoundLoss(ABC):
    """A convex loss of some coordinates."""

    coordinates: Coordinates
    curvature: Point

    @abstractmethod
    def value(self, at: Point) -> float:
        """f at the point restricted to ``coordinates``."""

    @abstractmethod
    def gradient(self, at: Point) -> Point:
        """A subgradient there (erratum E2)."""


@lru_cache
def _repeated(number: float, count: int) -> Point:
    """The same number for every coordinate; made once, because games have many rounds."""
    numbers = np.full(count, number)
    numbers.flags.writeable = False
    return numbers


def _full(part: object, count: int) -> Point:
    if isinstance(part, float | int):
        return _repeated(float(part), count)
    numbers = np.asarray(part, dtype=np.float64)
    return numbers if numbers.shape == (count,) else np.broadcast_to(numbers, (count,))


class Quadratic(RoundLoss):
    """Σ_i [½ H_i (x_i − c_i)² + s_i x_i] + constant; linear where H is 0.

    >>> loss = Quadratic([2], curvature=[1.0], centre=[3.0])
    >>> loss.value(np.array([1.0])), loss.gradient(np.array([1.0]))
    (2.0, array([-2.]))
    """

    def __init__(
        self,
        coordinates: object,
        *,
        curvature: object = 0.0,
        centre: object = 0.0,
        slope: object = 0.0,
        constant: float = 0.0,
    ) -> None:
        self.coordinates = np.asarray(coordinates, dtype=np.intp)
        count = len(self.coordinates)
        self.curvature, self.centre = _full(curvature, count), _full(centre, count)
        self.slope = _full(slope, count)
        self.constant = float(constant)

    def value(self, at: Point) -> float:
        offset = at - self.centre
        return float(self.curvature @ (offset * offset) / 2 + self.slope @ at + self.constant)

    def gradient(self, at: Point) -> Point:
        return self.curvature * (at - self.centre) + self.slope


class Linear(Quadratic):
    """Σ s_i x_i, without the arithmetic of the curvature: games are mostly made of these."""

    def value(self, at: Point) -> float:
        return float(self.slope @ at)

    def gradient(self, at: Point) -> Point:
        return self.slope


def linear(coordinates: object, slope: object) -> Linear:
    """Σ s_i x_i."""
    return Linear(coordinates, slope=slope)


class Absolute(RoundLoss):
    """G |x_i − c|, the oscillating problem of §2.2; slope +G only where x_i > c."""

    def __init__(self, coordinate: int, centre: float, scale: float = 1.0) -> None:
        self.coordinates = np.array([coordinate], dtype=np.intp)
        self.curvature = np.zeros(1)
        self.centre, self.scale = float(centre), float(scale)

    def value(self, at: Point) -> float:
        return self.scale * abs(float(at[0]) - self.centre)

    def gradient(self, at: Point) -> Point:
        return np.array([self.scale if at[0] > self.centre else -self.scale])


class Smooth(RoundLoss):
    """Any convex function of some coordinates, given with its gradient."""

    def __init__(
        self,
        coordinates: object,
        value: Callable[[Point], float],
        gradient: Callable[[Point], Point],
        curvature: object = 0.0,
    ) -> None:
        self.coordinates = np.asarray(coordinates, dtype=np.intp)
        shape = self.coordinates.shape
        self.curvature = np.broadcast_to(np.asarray(curvature, dtype=np.float64), shape)
        self._value, self._gradient = value, gradient

    def value(self, at: Point) -> float:
        return float(self._value(at))

    def gradient(self, at: Point) -> Point:
        return np.asarray(self._gradient(at), dtype=np.float64)


def logistic_loss(coordinates: object, values: object, label: float) -> Smooth:
    """log(1 + exp(−y θ·x)) of a sparse example θ."""
    theta = np.asarray(values, dtype=np.float64)

    def value(at: Point) -> float:
        return float(np.logaddexp(0.0, -label * (theta @ at)))

    def gradient(at: Point) -> Point:
        # 1/(1 + exp m) as exp(−log(1 + exp m)), which cannot overflow.
        return np.asarray(-label * theta * np.exp(-np.logaddexp(0.0, label * (theta @ at))))

    return Smooth(coordinates, value, gradient)
