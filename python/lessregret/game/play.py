"""The online convex game: play, and what the transcript tells about regret.

    play(algorithm, problem, rounds)  ─▶  Transcript
                                            regret()                 against the best fixed point
                                            regret_against(x)        any fixed point
                                            shifting_regret(points)  any sequence of points
                                            adaptive_regret()        the worst interval
                                            coordinate_regrets()     Lemma 2's R_i
                                            bound(), least_bound(), theorem2(), theorem3()

Each round the algorithm shows a point, then the problem shows a loss; an adversary may choose it
after seeing the point. Losses touch a few coordinates, so a round costs what it touches.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lessregret.errors import SpecError
from lessregret.game.algorithms import Algorithm, Seen
from lessregret.game.domains import Box, Domain, Point
from lessregret.game.intervals import WorstInterval, worst_interval
from lessregret.game.losses import Quadratic, RoundLoss


class Problem(ABC):
    """A feasible set and a loss for each round."""

    domain: Domain
    rounds: int

    @abstractmethod
    def loss(self, round: int, point: Point) -> RoundLoss:
        """The loss of a round, from 1; ``point`` is what was just played there."""

    def best_fixed(self, losses: Sequence[RoundLoss]) -> Point | None:
        """The best fixed point in hindsight, where the problem knows it in closed form."""
        return None


@dataclass(frozen=True)
class Comparator:
    """A fixed point, its total loss, and how far below it the optimum may be."""

    point: Point
    loss: float
    gap: float
    """min over F of the total loss ≥ loss − gap"""


@dataclass
class Transcript:
    """Everything that was played, shown and lost."""

    domain: Domain
    problem: Problem
    rounds_losses: list[RoundLoss] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    played: list[Point] = field(default_factory=list)
    """the point of each round, restricted to the loss's coordinates"""
    gradients: list[Point] = field(default_factory=list)
    rates: list[Point | float] | None = field(default_factory=list)
    """the rates used, one number for all coordinates or one for each; None if there are none"""
    points: list[Point] | None = None
    """the whole point of each round, if kept"""

    @property
    def rounds(self) -> int:
        """T"""
        return len(self.losses)

    @property
    def total_loss(self) -> float:
        """Σ f_t(x_t)"""
        return float(np.sum(self.losses))

    @cached_property
    def coordinates(self) -> NDArray[np.intp]:
        """The coordinates of all rounds, one after the other."""
        return _joined([loss.coordinates for loss in self.rounds_losses]).astype(np.intp)

    @cached_property
    def energies(self) -> Point:
        """S_i = Σ_t g²_{t,i}"""
        return self._sums(_joined(self.gradients) ** 2)

    @cached_property
    def gradient_sum(self) -> Point:
        """G = Σ_t g_t"""
        return self._sums(_joined(self.gradients))

    def loss_of(self, point: Point) -> float:
        """Σ f_t(x) for a fixed point."""
        return sum(loss.value(point[loss.coordinates]) for loss in self.rounds_losses)

    def regret_against(self, point: Point) -> float:
        """Σ f_t(x_t) − Σ f_t(x) for a fixed point."""
        return self.total_loss - self.loss_of(point)

    def regret(self) -> float:
        """Σ f_t(x_t) − min over F of Σ f_t(x)."""
        return self.total_loss - self.comparator.loss

    def shifting_regret(self, points: Sequence[Point]) -> float:
        """Σ f_t(x_t) − f_t(z_t) for a sequence z of points, R_Z of §4.3."""
        pairs = zip(self.rounds_losses, points, strict=True)
        return self.total_loss - sum(loss.value(z[loss.coordinates]) for loss, z in pairs)

    def adaptive_regret(self) -> WorstInterval:
        """The worst interval: the greatest regret over all [r, s]; quadratic losses on a box."""
        box, losses = self._quadratic()
        return worst_interval(box, losses, np.array(self.losses))

    def coordinate_regrets(self, minorant: Literal["linear", "quadratic"] = "linear") -> Point:
        """R_i of Lemma 2: the regret of each coordinate on its minorants; Σ R_i ≥ regret."""
        if not isinstance(self.domain, Box):
            raise SpecError("regret splits by coordinate on a box only")
        gradients, played = _joined(self.gradients), _joined(self.played)
        curved = minorant == "quadratic"
        curvature = _joined([loss.curvature for loss in self.rounds_losses]) * curved
        # Each minorant, as a function of y: (g − Hx) y + H/2 y² + constant; at y = x the constant
        # cancels against the value played.
        slope = self._sums(gradients - curvature * played)
        total_curvature = self._sums(curvature)
        suffered = self._sums(gradients * played - curvature * played**2 / 2)
        return suffered - _least_quadratic(total_curvature, slope, self.domain)

    def bound(self) -> float | None:
        """B for the rates used: Σ_i [D_i²/(2η_T,i) + ½ Σ g²η], or D for one rate off the box."""
        if self.rates is None:
            return None
        squares = _joined(self.gradients) ** 2
        used = np.flatnonzero(squares > 0)
        if not len(used):
            return 0.0
        shapes = [gradient.shape for gradient in self.gradients]
        rates = _joined([np.broadcast_to(*pair) for pair in zip(self.rates, shapes, strict=True)])
        paid = float(squares @ rates) / 2
        if not self._splits():
            return paid + self.domain.diameter**2 / (2 * float(rates[used[-1]]))
        last = np.zeros(self.domain.dimensions)
        last[self.coordinates[used]] = rates[used]
        touched = last > 0
        return paid + float((self.domain.box.widths[touched] ** 2 / (2 * last[touched])).sum())

    def _splits(self) -> bool:
        """Whether B is a sum over coordinates: on a box, or for rates of each coordinate's own."""
        own = any(isinstance(rate, np.ndarray) for rate in self.rates or [])
        return isinstance(self.domain, Box) or own

    def least_bound(self, *, per_coordinate: bool) -> float:
        """R_min: the least B of any falling rates: D√Σ|g|², or Σ_i D_i√S_i."""
        if per_coordinate:
            return float(self.domain.box.widths @ np.sqrt(self.energies))
        return self.domain.diameter * sqrt(float(self.energies.sum()))

    def theorem2(self) -> float:
        """D√(2Σ|g|²), what Theorem 2 promises for its rate."""
        return sqrt(2) * self.least_bound(per_coordinate=False)

    def theorem3(self) -> float:
        """Σ_i D_i√(2S_i), what Theorem 3 promises for the corrected rate (E7)."""
        return sqrt(2) * self.least_bound(per_coordinate=True)

    @cached_property
    def comparator(self) -> Comparator:
        """The best fixed point, in closed form where the problem or the losses have one."""
        known = self.problem.best_fixed(self.rounds_losses)
        if known is not None:
            return Comparator(known, self.loss_of(known), 0.0)
        if all(isinstance(loss, Quadratic) for loss in self.rounds_losses):
            return self._quadratic_comparator()
        return self._searched_comparator()

    def total_gradient(self, point: Point) -> Point:
        """Σ ∇f_t(x) at a fixed point."""
        parts = [loss.gradient(point[loss.coordinates]) for loss in self.rounds_losses]
        return self._sums(_joined(parts))

    def _quadratic_comparator(self) -> Comparator:
        losses = [loss for loss in self.rounds_losses if isinstance(loss, Quadratic)]
        curvature = self._sums(_joined([loss.curvature for loss in losses]))
        slope = self._sums(_joined([loss.slope - loss.curvature * loss.centre for loss in losses]))
        if isinstance(self.domain, Box):
            point = _quadratic_argmin(curvature, slope, self.domain)
        elif not curvature.any():
            point = self.domain.least(slope)
        else:
            return self._searched_comparator()
        return Comparator(point, self.loss_of(point), 0.0)

    def _searched_comparator(self) -> Comparator:
        from lessregret.game.best_fixed import search_best_fixed

        found = search_best_fixed(self.domain, self.loss_of, self.total_gradient)
        gradient = self.total_gradient(found)
        gap = float(gradient @ (found - self.domain.least(gradient)))
        return Comparator(found, self.loss_of(found), max(0.0, gap))

    def _quadratic(self) -> tuple[Box, list[Quadratic]]:
        losses = [loss for loss in self.rounds_losses if isinstance(loss, Quadratic)]
        if not isinstance(self.domain, Box) or len(losses) < self.rounds:
            raise SpecError("the worst interval is found for linear and quadratic losses on a box")
        return self.domain, losses

    def _sums(self, parts: Point) -> Point:
        """Numbers given for all rounds' coordinates, added up by coordinate."""
        sums = np.bincount(self.coordinates, parts, minlength=self.domain.dimensions)
        return np.asarray(sums, dtype=np.float64)


def play(
    algorithm: Algorithm,
    problem: Problem,
    rounds: int | None = None,
    *,
    keep_points: bool = False,
) -> Transcript:
    """Play the game; all that the problem has, or so many rounds of it.

    >>> from lessregret.game.algorithms import Descent, PerCoordinateRate
    >>> from lessregret.game.problems import Climbing
    >>> transcript = play(Descent(PerCoordinateRate()), Climbing(rounds=100))
    >>> transcript.regret() <= transcript.theorem3()
    True
    """
    count = problem.rounds if rounds is None else rounds
    algorithm.start(problem.domain, count)
    transcript = Transcript(problem.domain, problem, points=[] if keep_points else None)
    for number in range(1, count + 1):
        _play_round(algorithm, problem, number, transcript)
    return transcript


def _play_round(
    algorithm: Algorithm, problem: Problem, number: int, transcript: Transcript
) -> None:
    point = algorithm.point
    loss = problem.loss(number, point)
    at = point[loss.coordinates]
    gradient = loss.gradient(at)
    transcript.rounds_losses.append(loss)
    transcript.losses.append(loss.value(at))
    transcript.played.append(at)
    transcript.gradients.append(gradient)
    if transcript.points is not None:
        transcript.points.append(point.copy())
    rates = algorithm.feed(Seen(loss.coordinates, gradient, loss.curvature))
    if rates is None:
        transcript.rates = None
    elif transcript.rates is not None:
        transcript.rates.append(rates)


def _joined(parts: Sequence[NDArray[np.generic]]) -> Point:
    return np.concatenate(parts).astype(np.float64) if parts else np.zeros(0)


def _quadratic_argmin(curvature: Point, slope: Point, box: Box) -> Point:
    """argmin over the box of Σ H_i/2 x_i² + s_i x_i."""
    curved = curvature > 0
    inner = np.divide(-slope, curvature, out=np.zeros(len(slope)), where=curved)
    ends = np.where(slope > 0, box.low, np.where(slope < 0, box.high, box.start))
    return box.project(np.where(curved, inner, ends))


def _least_quadratic(curvature: Point, slope: Point, box: Box) -> Point:
    point = _quadratic_argmin(curvature, slope, box)
    return np.asarray(curvature * point**2 / 2 + slope * point)
