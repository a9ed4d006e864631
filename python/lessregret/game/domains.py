"""Feasible sets: closed, convex, bounded, and how to project on them.

Every set can tell whether it holds a point, the nearest point of it in the Euclidean norm or in a
weighted one, how wide it is, and where a linear function is least on it. The weighted projections

    argmin over y in F of  Σ_i q_i (y_i − x_i)²,   q_i > 0

come down to a monotone equation in one unknown (notes to FTPRL, McMahan & Streeter 2010).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessregret.errors import SpecError

Point = NDArray[np.float64]


class Domain(ABC):
    """A closed, convex, bounded set in n dimensions."""

    dimensions: int

    @abstractmethod
    def project(self, point: Point, weights: Point | None = None) -> Point:
        """The nearest point of the set; distances weighted by ``weights`` if given."""

    @abstractmethod
    def least(self, gradient: Point) -> Point:
        """A point of the set where gradient · x is least."""

    @property
    @abstractmethod
    def diameter(self) -> float:
        """The greatest distance between two points of the set."""

    @property
    @abstractmethod
    def box(self) -> Box:
        """The smallest box around the set; its widths are the D_i."""

    def contains(self, point: Point, slack: float = 1e-9) -> bool:
        """Whether the point is in the set, up to rounding."""
        near = self.project(np.asarray(point, dtype=np.float64))
        return bool(np.linalg.norm(near - point) <= slack * (1 + np.linalg.norm(point)))

    @property
    def start(self) -> Point:
        """The point of the set nearest to 0: what algorithms play first (erratum E9)."""
        return self.project(np.zeros(self.dimensions))


@dataclass(frozen=True)
class Box(Domain):
    """F = ×_i [low_i, high_i].

    >>> Box.cube(2, -1, 1).project(np.array([0.5, 3.0]))
    array([0.5, 1. ])
    """

    low: Point
    high: Point

    def __post_init__(self) -> None:
        low, high = np.broadcast_arrays(
            np.asarray(self.low, dtype=np.float64), np.asarray(self.high, dtype=np.float64)
        )
        if low.ndim != 1 or not (np.isfinite(low).all() and np.isfinite(high).all()):
            raise SpecError("a box needs a finite low and a finite high for each coordinate")
        if (low > high).any():
            raise SpecError("a box needs low ≤ high in every coordinate")
        object.__setattr__(self, "low", low.copy())
        object.__setattr__(self, "high", high.copy())

    @classmethod
    def cube(cls, dimensions: int, low: float, high: float) -> Box:
        """The same interval in every coordinate."""
        return cls(np.full(dimensions, float(low)), np.full(dimensions, float(high)))

    @property
    def dimensions(self) -> int:  # type: ignore[override]
        return len(self.low)

    def project(self, point: Point, weights: Point | None = None) -> Point:
        return np.minimum(self.high, np.maximum(self.low, point))

    def least(self, gradient: Point) -> Point:
        return np.where(gradient > 0, self.low, self.high)

    @cached_property
    def widths(self) -> Point:
        """D_i = high_i − low_i."""
        return self.high - self.low

    @cached_property
    def diameter(self) -> float:
        return float(np.linalg.norm(self.widths))

    @property
    def box(self) -> Box:
        return self


@dataclass(frozen=True)
class L2Ball(Domain):
    """F = {x : |x − centre|₂ ≤ radius}."""

    centre: Point
    radius: float

    def __post_init__(self) -> None:
        _check_radius(self.radius)
        object.__setattr__(self, "centre", np.array(self.centre, dtype=np.float64))
        if self.centre.ndim != 1 or not np.isfinite(self.centre).all():
            raise SpecError("a ball needs a centre with one finite number for each coordinate")

    @property
    def dimensions(self) -> int:  # type: ignore[override]
        return len(self.centre)

    def project(self, point: Point, weights: Point | None = None) -> Point:
        offset = point - self.centre
        length = float(np.linalg.norm(offset))
        if length <= self.radius:
            return point.copy()
        if weights is None:
            return self.centre + offset * (self.radius / length)
        q = weights / weights.max()

        def shrunk(nu: float) -> Point:
            return np.asarray(q * offset / (q + nu))

        # At these ν the smallest q would be shrunk just enough, and the largest, which is 1.
        least, most = (length / self.radius - 1) * float(q.min()), length / self.radius
        nu = falling_root(lambda nu: float(np.linalg.norm(shrunk(nu))) - self.radius, least, most)
        near = shrunk(nu)
        return self.centre + near * min(1.0, self.radius / float(np.linalg.norm(near)))

    def least(self, gradient: Point) -> Point:
        length = float(np.linalg.norm(gradient))
        return self.centre - gradient * (self.radius / length if length > 0 else 0.0)

    @property
    def diameter(self) -> float:
        return 2 * self.radius

    @cached_property
    def box(self) -> Box:
        return Box(self.centre - self.radius, self.centre + self.radius)


@dataclass(frozen=True)
class L1Ball(Domain):
    """F = {x : Σ|x_i| ≤ radius}."""

    dimensions: int
    radius: float

    def __post_init__(self) -> None:
        _check_dimensions(self.dimensions)
        _check_radius(self.radius)

    def project(self, point: Point, weights: Point | None = None) -> Point:
        if np.abs(point).sum() <= self.radius:
            return point.copy()
        sizes = simplex_projection(np.abs(point), weights, self.radius)
        return np.copysign(sizes, point)

    def least(self, gradient: Point) -> Point:
        corner = np.zeros(self.dimensions)
        steepest = int(np.argmax(np.abs(gradient)))
        corner[steepest] = -self.radius * np.sign(gradient[steepest])
        return corner

    @property
    def diameter(self) -> float:
        return 2 * self.radius

    @cached_property
    def box(self) -> Box:
        return Box.cube(self.dimensions, -self.radius, self.radius)


@dataclass(frozen=True)
class Simplex(Domain):
    """F = {x : x_i ≥ 0, Σ x_i = 1}.

    >>> Simplex(3).project(np.array([2.0, 0.5, 0.0]))
    array([1., 0., 0.])
    """

    dimensions: int

    def __post_init__(self) -> None:
        _check_dimensions(self.dimensions)

    def project(self, point: Point, weights: Point | None = None) -> Point:
        return simplex_projection(point, weights, 1.0)

    def least(self, gradient: Point) -> Point:
        corner = np.zeros(self.dimensions)
        corner[int(np.argmin(gradient))] = 1.0
        return corner

    @property
    def diameter(self) -> float:
        return float(np.sqrt(2)) if self.dimensions > 1 else 0.0

    @cached_property
    def box(self) -> Box:
        return Box.cube(self.dimensions, 0.0, 1.0)


def simplex_projection(point: Point, weights: Point | None, total: float) -> Point:
    """The nearest y ≥ 0 with Σ y = total: y_i = max(0, x_i − ν/q_i), by sorting the kinks in ν."""
    q = np.ones(len(point)) if weights is None else weights
    kinks = q * point
    order = np.argsort(-kinks)
    inverse = np.cumsum(1 / q[order])
    level = (np.cumsum(point[order]) - total) / inverse
    active = np.count_nonzero(kinks[order] > level) - 1
    near = np.maximum(0.0, point - level[active] / q)
    if active < 0 or not near.any():
        # So far out that total is lost to rounding: all of it goes to the first kink.
        near = (np.arange(len(point)) == order[0]).astype(np.float64)
    return np.asarray(near * (total / near.sum()))


def falling_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function is 0, low ≥ 0, to the last digits however small it is."""
    from scipy.optimize import brentq

    if function(low) <= 0:
        return low
    return float(brentq(function, low, high, xtol=1e-300, rtol=8.9e-16, maxiter=1000))


def interval(low: float, high: float) -> Box:
    """The one-dimensional box [low, high]."""
    return Box(np.array([low]), np.array([high]))


def as_point(values: ArrayLike) -> Point:
    """Numbers as a point."""
    return np.asarray(values, dtype=np.float64)


def _check_dimensions(dimensions: int) -> None:
    if dimensions < 1:
        raise SpecError(f"a set needs at least one dimension, found {dimensions}")


def _check_radius(radius: float) -> None:
    if not (np.isfinite(radius) and radius > 0):
        raise SpecError(f"a ball needs a finite radius above 0, found {radius}")
