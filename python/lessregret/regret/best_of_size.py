"""The best fixed weights of a given size, as far as a search of bounded time finds them.

    min Σ h ℓ(u·x, y)     over |u_i| ≤ r, over ‖u‖₂ ≤ r, or over ‖u‖₁ ≤ r

The weight of the intercept does not count in the size. It has the limit of the certificate, so that
what is found can stand beside what is certified (``ledger/certificate.py``).

The search is accelerated projected gradient descent with backtracking (FISTA: Beck & Teboulle
2009). What it returns is the loss of a point of the set, so the true least loss is at most that,
and what is certified is at most the true least loss, however early the search ends.

Cost: two passes over the examples, or a few more, for each of at most 100 steps a set, and about
five seconds for all sets of a run; then the search ends where it stands. The comparator
(``regret/comparator``) gives the minimum with a gap, but only for boxes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import monotonic
from typing import Any, NamedTuple, Protocol

import numpy as np

from lessregret.game.domains import Box, Domain, L1Ball, L2Ball
from lessregret.learners.losses import loss_named
from lessregret.ledger import SHAPES, Certificate, Shape
from lessregret.regret.comparator.floats import Floats
from lessregret.regret.comparator.passes import Passes

FACTORS = (0.1, 0.3, 1.0, 3.0)
"""The radii that are tried, in sizes of the learned weights; from the least to the largest."""
STEPS = 100
SECONDS = 5.0
TEMPERATURE = 0.01
"""By how much, about, a loss with a kink is smoothed for the search. The loss told is not."""
WIDEST = 2.0**60


class BestOfSize(NamedTuple):
    """The loss of the best weights found of a size: at least what is certified of that size."""

    shape: Shape
    radius: float
    loss: float
    """the mean loss"""


class Value(NamedTuple):
    """An objective at a point."""

    loss: float
    smooth: float
    """what the search minimises: the loss, or near it a function without kinks"""
    gradient: Floats
    """of the smooth one"""


class Objective(Protocol):
    """A convex function of the weights, to be minimised."""

    def at(self, point: Floats) -> Value:
        """Its value at a point."""
        ...


class Found(NamedTuple):
    """A point of a set, and what it loses in all."""

    point: Floats
    loss: float


class SizedSet(NamedTuple):
    """The weights of a size; the coordinates of intercepts have a limit of their own."""

    features: Domain
    intercept: Any
    """a mask of the coordinates that do not count in the size"""
    limit: float

    def project(self, point: Floats) -> Floats:
        """The nearest point of the set."""
        near = np.clip(point, -self.limit, self.limit)
        near[~self.intercept] = self.features.project(point[~self.intercept])
        return near


def sized_set(shape: Shape, radius: float, intercept: Any, limit: float) -> SizedSet:
    """The set of a shape and radius; ``intercept`` masks the coordinates with the limit."""
    columns = int(np.count_nonzero(~intercept))
    domains: dict[Shape, Callable[[], Domain]] = {
        "box": lambda: Box.cube(columns, -radius, radius),
        "ball": lambda: L2Ball(np.zeros(columns), radius),
        "l1": lambda: L1Ball(columns, radius),
    }
    return SizedSet(domains[shape](), intercept, limit)


def least_loss(
    objective: Objective,
    feasible: SizedSet,
    start: Found,
    *,
    steps: int = STEPS,
    deadline: float = np.inf,
) -> Found:
    """The best point of the set that the search finds; never worse than ``start``, a point of it.

    >>> class Square:
    ...     def at(self, point):
    ...         way = point - np.array([3.0, 4.0])
    ...         return Value(way @ way, way @ way, 2 * way)
    >>> ball = sized_set("ball", 1.0, np.zeros(2, bool), 0.0)
    >>> found = least_loss(Square(), ball, Found(np.zeros(2), 25.0))
    >>> found.point.round(6).tolist(), round(float(found.loss), 6)
    ([0.6, 0.8], 16.0)
    """
    best, last, ahead, momentum, curvature = start, start.point, start.point, 1.0, 1.0
    for _ in range(steps):
        if monotonic() > deadline:
            break
        here = objective.at(ahead)
        moved, there, curvature = _step(objective, feasible, ahead, here, curvature)
        if there.loss < best.loss:
            best = Found(moved, there.loss)
        following = (1 + (1 + 4 * momentum**2) ** 0.5) / 2
        ahead = moved + (momentum - 1) / following * (moved - last)
        last, momentum = moved, following
    return best


def _step(
    objective: Objective, feasible: SizedSet, ahead: Floats, here: Value, curvature: float
) -> tuple[Floats, Value, float]:
    """A projected gradient step, with a curvature that is large enough for this step."""
    while True:
        moved = feasible.project(ahead - here.gradient / curvature)
        way = moved - ahead
        there = objective.at(moved)
        limit = here.smooth + here.gradient @ way + curvature / 2 * (way @ way)
        # The slack is for rounding, near the minimum.
        if there.smooth <= limit + 1e-12 * abs(here.smooth) or curvature >= WIDEST:
            return moved, there, curvature
        curvature *= 2


class _OfPasses:
    """The loss of passes over examples, as an objective."""

    def __init__(self, passes: Passes) -> None:
        self._passes = passes
        loss = loss_named(passes.loss)
        kinked = loss.is_classification and bool(loss.pieces(1.0))
        self._temperature = TEMPERATURE if kinked else 0.0

    def at(self, point: Floats) -> Value:
        look = self._passes.look(point, self._temperature)
        return Value(look.loss, look.smooth, look.gradient)


def best_of_sizes(
    passes: Passes,
    certificate: Certificate,
    intercept: int | None,
    *,
    seconds: float = SECONDS,
    go_on: Callable[[], bool] = lambda: True,
) -> list[BestOfSize]:
    """The best weights found of a few sizes of every shape.

    Parameters
    ----------
    passes : Passes
        The examples that the certificate is about, without L2.
    certificate : Certificate
        The certificate of a run over them. The sizes are 0.1, 0.3, 1 and 3 times those of the
        weights that it learned.
    intercept : int, optional
        The slot of the intercept. The limit of its weight is the size of the learned one.
    seconds : number, default 5
        The search ends about then, with the best points found so far. A set that was not reached
        is left out.
    go_on : function, optional
        Asked before every set; the search ends if it returns False.
    """
    objective, deadline = _OfPasses(passes), monotonic() + seconds
    masked = np.asarray(passes.slots == (-1 if intercept is None else intercept))
    limit, zero = abs(certificate.intercept_weight), np.zeros(len(passes.slots))
    if masked.all():
        return []
    start = dict.fromkeys(SHAPES, Found(zero, objective.at(zero).loss))
    found = []
    for shape, radius in _sizes(certificate):
        if monotonic() > deadline or not go_on():
            break
        feasible = sized_set(shape, radius, masked, limit)
        # The radii of a shape ascend, so what was found before is in the set, too.
        start[shape] = least_loss(objective, feasible, start[shape], deadline=deadline)
        found.append(BestOfSize(shape, radius, start[shape].loss / passes.total))
    return found


def _sizes(certificate: Certificate) -> Iterator[tuple[Shape, float]]:
    """From the least radius to the largest, so that an early end leaves out no shape."""
    sizes: Sequence[tuple[Shape, float]] = [(shape, certificate.size(shape)) for shape in SHAPES]
    for factor in FACTORS:
        yield from ((shape, factor * size) for shape, size in sizes if size > 0)
