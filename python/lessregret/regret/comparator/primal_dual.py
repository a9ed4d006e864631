"""The search for a piecewise linear loss: a primal–dual interior-point method.

The best fixed point is part of the solution of a linear program, a quadratic one with L2:

    min  Σ_k h_k ξ_k + ½ Σ_i λ_i x_i²   with  a_k·x + ξ_k − s_k = b_k,  ξ, s ≥ 0,  x in the box

A point and its dual variables are optimal where the equations hold and each of these products is 0:

    s_k α_k,   ξ_k (h_k − α_k),   (x_i − low_i) z_i,   (high_i − x_i) z'_i     all factors ≥ 0
    with  Σ_k α_k a_k + z − z' = λ x

The products tend to 0 together. Each step solves the Newton equations for products of σ μ, twice
with one factorisation: σ = 0 shows how far a step would go, which gives σ and the second-order
terms of the step that is taken: Mehrotra, *On the implementation of a primal–dual interior point
method*, SIAM J. Optim. 2 (1992). The target σ μ is the same for all products. Targets in proportion
to the weights h were tried: with weights from 1e-6 to 1e6 they took up to 244 steps, one target 22.

A barrier on x alone, with a smooth loss in place of the kinks, knows α only through the margins:
α moves from 0 to h within a margin of ε, so for a precise α the point must be known to a small part
of ε. Here α is a variable of its own. Measured on 2,000 rows of 124 columns (a9a), radius 1 to
1000: 12 to 17 steps to a gap of 1e-4, where the barrier method had not come to it in 24,000 to
31,000 passes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError

from lessregret.regret.comparator.floats import Floats
from lessregret.regret.comparator.hinges import Hinges
from lessregret.regret.comparator.newton_system import NewtonSystem, Solve
from lessregret.regret.comparator.objective import Objective, View

COLD = 1e-6
"""The temperature at which a point is looked at; the loss that is told does not depend on it."""
KEPT = 0.005
"""The part of the way to the nearest bound that a step leaves."""
PASSES = 8
"""Passes of a step: the residuals, the matrix, the first direction, the second one and two
refinements of it, of two passes each."""
PATIENCE = 25
"""Steps without a gap smaller by a tenth, after which rounding is taken to rule."""


@dataclass(frozen=True)
class Iterate:
    """The variables. ``primal`` and ``dual`` hold the factors of the products, in one order."""

    point: Floats
    primal: Floats
    """s, ξ, x − low, high − x"""
    dual: Floats
    """α, h − α, z, z'"""

    def moved(self, by: Iterate, primal: float, dual: float) -> Iterate:
        """The iterate after steps of these lengths."""
        return Iterate(
            self.point + primal * by.point,
            self.primal + primal * by.primal,
            self.dual + dual * by.dual,
        )


def search(
    objective: Objective, hinges: Hinges, start: Floats | None = None
) -> Iterator[tuple[View, int]]:
    """Points with their certificates, and the passes so far.

    The sequence ends where rounding allows no better. A start is looked at and not searched from: a
    point near the bounds is far from the path on which all products are alike.
    """
    passes = 0
    if start is not None:
        passes += 1
        yield objective.view(np.clip(start, objective.low, objective.high), COLD), passes
    method = _Method(objective, hinges)
    iterate, best, idle = method.first(), np.inf, 0
    while idle < PATIENCE:
        view = method.view(iterate)
        passes += 1
        yield view, passes
        gap = view.total - view.lower
        best, idle = (gap, 0) if gap < 0.9 * best else (best, idle + 1)
        try:
            with np.errstate(all="ignore"):
                iterate = method.step(iterate)
                passes += PASSES
        except LinAlgError:
            return


class _Method:
    """What all steps of a search share: the hinges, the equations and the bounds of the box."""

    def __init__(self, objective: Objective, hinges: Hinges) -> None:
        self._objective, self._hinges = objective, hinges
        self._system = NewtonSystem(hinges)
        self._has_low = np.flatnonzero(np.isfinite(objective.low))
        self._has_high = np.flatnonzero(np.isfinite(objective.high))
        count = len(hinges.weights)
        self._cuts = np.cumsum([count, count, len(self._has_low)])
        self._curved = bool((objective.strength > 0).any())

    def first(self) -> Iterate:
        """A point well inside the box, α in the middle, and products of about the same size."""
        objective, hinges = self._objective, self._hinges
        width = objective.high - objective.low
        room = 0.1 * np.where(np.isfinite(width), width, 1.0)
        point = np.clip(np.zeros(len(width)), objective.low + room, objective.high - room)
        lack = hinges.offsets - hinges.rows @ point
        away = float(np.abs(lack).mean()) or 1.0
        slack = np.maximum(lack, 0.0) + away
        surplus = np.maximum(-lack, 0.0) + away
        half = hinges.weights / 2
        mean = float(half @ (slack + surplus)) / (2 * len(half))
        distances = self._distances(point)
        return Iterate(
            point,
            np.concatenate([surplus, slack, distances]),
            np.concatenate([half, half, mean / distances]),
        )

    def _distances(self, point: Floats) -> Floats:
        """x − low and high − x, where a distance that is rounded to 0 is the least that is not."""
        low, high = self._objective.low[self._has_low], self._objective.high[self._has_high]
        distances = np.concatenate([point[self._has_low] - low, high - point[self._has_high]])
        ends: Floats = np.maximum(distances, np.spacing(np.abs(np.concatenate([low, high]))))
        return ends

    def view(self, iterate: Iterate) -> View:
        """The certificate: the value of the point, and the line of α at its least in the box."""
        objective = self._objective
        point = np.clip(iterate.point, objective.low, objective.high)
        dual, slopes = self._hinges.line(self._parts(iterate.dual)[0])
        look = objective.passes.look(point, COLD)
        return objective.certified(replace(look, dual=dual, gradient=slopes))

    def _parts(self, products: Floats) -> list[Floats]:
        return np.split(products, self._cuts)

    def step(self, at: Iterate) -> Iterate:
        """The next iterate; LinAlgError where rounding leaves no direction."""
        _, _, below, above = self._parts(at.dual / at.primal)
        surplus, slack, _, _ = self._parts(at.primal / at.dual)
        stiffness = self._objective.strength + self._spread(below, above, 1.0)
        damped, refined = self._system.factored(stiffness, surplus + slack)
        residuals = self._residuals(at)
        products = at.primal * at.dual
        ahead = self._direction(at, damped, residuals, -products)
        reached = at.moved(ahead, *self._lengths(at, ahead))
        mean, left = products.mean(), (reached.primal * reached.dual).mean()
        change = (left / mean) ** 3 * mean - products - ahead.primal * ahead.dual
        taken = self._direction(at, refined, residuals, change)
        if not (np.isfinite(taken.primal).all() and np.isfinite(taken.dual).all()):
            raise LinAlgError("the direction is not finite")
        return at.moved(taken, *((1 - KEPT) * length for length in self._lengths(at, taken)))

    def _spread(self, below: Floats, above: Floats, sign: float) -> Floats:
        """What belongs to the lower ends plus ``sign`` times what belongs to the upper ones."""
        spread = np.zeros(len(self._objective.low))
        spread[self._has_low] += below
        spread[self._has_high] += sign * above
        return spread

    def _residuals(self, at: Iterate) -> tuple[Floats, Floats]:
        """What is lacking in the two kinds of equations."""
        surplus, slack, _, _ = self._parts(at.primal)
        shares, _, below, above = self._parts(at.dual)
        pull = self._hinges.columns @ shares + self._spread(below, above, -1.0)
        lack = self._hinges.offsets - self._hinges.rows @ at.point
        return pull - self._objective.strength * at.point, lack - slack + surplus

    def _direction(
        self, at: Iterate, solve: Solve, residuals: tuple[Floats, Floats], change: Floats
    ) -> Iterate:
        """The Newton direction along which the products change by ``change``."""
        surplus, slack, *_ = self._parts(change / at.dual)
        *_, below, above = self._parts(change / at.primal)
        right = residuals[0] + self._spread(below, above, -1.0), residuals[1] + surplus - slack
        move, shares = solve(*right)
        distances = np.concatenate([move[self._has_low], -move[self._has_high]])
        both = np.concatenate([shares, -shares])
        first, last = slice(len(both)), slice(len(both), None)
        slacks = (change[first] - at.primal[first] * both) / at.dual[first]
        forces = (change[last] - at.dual[last] * distances) / at.primal[last]
        return Iterate(move, np.concatenate([slacks, distances]), np.concatenate([both, forces]))

    def _lengths(self, at: Iterate, by: Iterate) -> tuple[float, float]:
        """The longest steps, at most 1, on which all factors stay above 0.

        With L2 the equations of the dual hold the point too, so that both must go as far."""
        primal, dual = _longest(at.primal, by.primal), _longest(at.dual, by.dual)
        return (min(primal, dual),) * 2 if self._curved else (primal, dual)


def _longest(factors: Floats, change: Floats) -> float:
    falling = change < 0
    return float(np.min(-factors[falling] / change[falling], initial=1.0))
