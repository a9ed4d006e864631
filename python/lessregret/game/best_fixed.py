"""The best fixed point by search, for losses without a closed form."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lessregret.game.domains import Box, Domain, Point


def search_best_fixed(
    domain: Domain, value: Callable[[Point], float], gradient: Callable[[Point], Point]
) -> Point:
    """A point of the domain where a convex function is nearly least.

    L-BFGS-B on a box; elsewhere accelerated projected descent with a step found by halving. The
    caller certifies the result by its gap; where the function has kinks the gap may stay open.
    """
    if isinstance(domain, Box):
        return _in_box(domain, value, gradient)
    return _by_descent(domain, value, gradient)


def _in_box(box: Box, value: Callable[[Point], float], gradient: Callable[[Point], Point]) -> Point:
    from scipy.optimize import Bounds, minimize

    found = minimize(
        value,
        box.start,
        jac=gradient,
        method="L-BFGS-B",
        bounds=Bounds(box.low, box.high),
        options={"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-12},
    )
    return box.project(np.asarray(found.x))


def _by_descent(
    domain: Domain, value: Callable[[Point], float], gradient: Callable[[Point], Point]
) -> Point:
    point = previous = domain.start
    step, momentum = 1.0, 1.0
    for _ in range(5000):
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = domain.project(point + (momentum - 1) / following * (point - previous))
        slope, here = gradient(ahead), value(ahead)
        moved = domain.project(ahead - step * slope)
        while not _enough(value(moved), here, slope, moved - ahead, step) and step > 1e-18:
            step /= 2
            moved = domain.project(ahead - step * slope)
        previous, point, momentum = point, moved, following
        if np.abs(point - previous).max() < 1e-14 * (1 + np.abs(point).max()):
            break
    return point


def _enough(after: float, before: float, slope: Point, move: Point, step: float) -> bool:
    """Whether the quadratic model with this step lies above the function at the new point."""
    return bool(after <= before + slope @ move + move @ move / (2 * step) + 1e-15 * abs(before))
