"""Problems for the game: the paper's constructed ones, and adversaries.

Oscillating, Climbing        the two problems in one dimension of §2.2
BadFamily                    Theorem 1: a global rate fails, per-coordinate rates do not
UnequalCurvature             strongly convex in some coordinates, linear in others (§4.1)
ContraryCurvature            the same against an adversary that sees the point
UnequalVariance              gradients of small variance in some coordinates (§4.2)
Switching, CoordinateSwitching, LinearSwitching      environments that change (§4.3)
RandomLinear, Contrary       a random and an adaptive adversary
Recorded                     any list of losses
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np

from lessregret.game.domains import Box, Domain, Point, interval
from lessregret.game.losses import Absolute, Quadratic, RoundLoss, linear
from lessregret.game.play import Problem


@dataclass
class Oscillating(Problem):
    """f_t(x) = G|x − ε| on [0, D]: a rate too large jumps over ε for ever (§2.2)."""

    rounds: int
    epsilon: float = 0.01
    scale: float = 1.0
    """G"""
    width: float = 1.0
    """D"""

    @cached_property
    def domain(self) -> Box:  # type: ignore[override]
        return interval(0.0, self.width)

    def loss(self, round: int, point: Point) -> Absolute:
        return Absolute(0, self.epsilon, self.scale)

    def best_fixed(self, losses: Sequence[RoundLoss]) -> Point:
        return np.array([self.epsilon])


@dataclass
class Climbing(Problem):
    """f_t(x) = −G x on [0, D]: a rate too small climbs too slowly (§2.2)."""

    rounds: int
    scale: float = 1.0
    width: float = 1.0

    @cached_property
    def domain(self) -> Box:  # type: ignore[override]
        return interval(0.0, self.width)

    def loss(self, round: int, point: Point) -> Quadratic:
        return linear([0], -self.scale)


@dataclass
class BadFamily(Problem):
    """The family of Theorem 1: one oscillating coordinate, then k climbing ones, k rounds each.

    T_0 = k³ rounds of |x_1 − ε|, then −x_j with j = 1 + ⌈(t − T_0)/k⌉ (t, not T: erratum E3),
    F = [0, 1]^(k+1). ε = 1/(4k) < 1/(2 T_1) closes the gap of erratum E4.
    """

    k: int

    @property
    def rounds(self) -> int:  # type: ignore[override]
        return self.k**3 + self.k**2

    @property
    def epsilon(self) -> float:
        """ε"""
        return 1 / (4 * self.k)

    @cached_property
    def domain(self) -> Box:  # type: ignore[override]
        return Box.cube(self.k + 1, 0.0, 1.0)

    def loss(self, round: int, point: Point) -> RoundLoss:
        first = self.k**3
        if round <= first:
            return self._oscillation
        return self._climbs[ceil((round - first) / self.k) - 1]

    def best_fixed(self, losses: Sequence[RoundLoss]) -> Point:
        return np.array([self.epsilon, *[1.0] * self.k])

    @cached_property
    def _oscillation(self) -> Absolute:
        return Absolute(0, self.epsilon)

    @cached_property
    def _climbs(self) -> list[Quadratic]:
        return [linear([j], -1.0) for j in range(1, self.k + 1)]


@dataclass
class UnequalCurvature(Problem):
    """Every round: H_i/2 (x_i − c_{t,i})² where H_i > 0, s_{t,i} x_i where H_i = 0, on [−1, 1]^n.

    Targets and slopes are random signs times 1/2 and 1: no point is good for long.
    """

    rounds: int
    curvatures: tuple[float, ...] = (1.0, 1.0, 0.0, 0.0)
    seed: int = 0

    @cached_property
    def domain(self) -> Box:  # type: ignore[override]
        return Box.cube(len(self.curvatures), -1.0, 1.0)

    def loss(self, round: int, point: Point) -> Quadratic:
        signs = self._signs[round - 1]
        curvature = np.array(self.curvatures)
        slope = np.where(curvature > 0, 0.0, signs)
        everywhere = np.arange(len(curvature))
        return Quadratic(everywhere, curvature=curvature, centre=signs / 2, slope=slope)

    @cached_property
    def _signs(self) -> Point:
        rng = np.random.default_rng(self.seed)
        return rng.choice([-1.0, 1.0], size=(self.rounds, len(self.curvatures)))


@dataclass
class ContraryCurvature(Problem):
    """Every round: Σ_i H_i/2 x_i² + s_i x_i on [−1, 1]^n, the sign s_i pushing x_i back to 0.

    The gradients are of size 1 to 1 + H_i. No point but 0 is good for long, and 0 is jumped over.
    """

    rounds: int
    curvatures: tuple[float, ...] = (1.0, 1.0, 0.0, 0.0)

    @cached_property
    def domain(self) -> Box:  # type: ignore[override]
        return Box.cube(len(self.curvatures), -1.0, 1.0)

    def loss(self, round: int, point: Point) -> Quadratic:
        everywhere, curvature = self._shape
        return Quadratic(everywhere, curvature=curvature, slope=np.where(point > 0, 1.0, -1.0))

    @cached_property
    def _shape(self) -> tuple[np.ndarray, Point]:
        return np.arange(len(self.curvatures)), np.array(self.curvatures)


@dataclass
class UnequalVariance(Problem):
    """Linear losses on [−1, 1]^n: gradients mean_i + noise_i · (random sign)."""

    rounds: int
    means: tuple[float, ...] = (0.9, 0.9, 0.0, 0.0)
    noises: tuple[float, ...] = (0.0, 0.05, 0.05, 1.0)
    seed: int = 0

    @cached_property
    def domain(self) -> Box:  # type: ignore[override]
        return Box.cube(len(self.means), -1.0, 1.0)

    def loss(self, round: int, point: Point) -> Quadratic:
        return linear(np.arange(len(self.means)), self._slopes[round - 1])

    @cached_property
    def _slopes(self) -> Point:
        rng = np.random.default_rng(self.seed)
        signs = rng.choice([-1.0, 1.0], size=(self.rounds, len(self.means)))
        return np.asarray(np.array(self.means) + np.array(self.noises) * signs)


@dataclass
class CoordinateSwitching(Problem):
    """H/2 Σ_i (x_i − c_{t,i})² on [0, 1]^n, c_i changing between 0 and 1 at rounds of its own."""

    rounds: int
    switches: tuple[tuple[int, ...], ...]
    """for each coordinate, the rounds at which its target changes sides"""
    curvature: float = 1.0

    @cached_property
    def domain(self) -> Box:  # type: ignore[override]
        return Box.cube(len(self.switches), 0.0, 1.0)

    def targets(self, round: int) -> Point:
        """c_t"""
        changes = [sum(round >= change for change in own) for own in self.switches]
        return np.array([float(count % 2) for count in changes])

    def loss(self, round: int, point: Point) -> Quadratic:
        everywhere = np.arange(len(self.switches))
        return Quadratic(everywhere, curvature=self.curvature, centre=self.targets(round))


def switching(rounds: int, curvature: float = 1.0) -> CoordinateSwitching:
    """One coordinate whose target changes sides half-way."""
    return CoordinateSwitching(rounds, ((rounds // 2 + 1,),), curvature)


@dataclass
class LinearSwitching(Problem):
    """§4.3's own example: f_t(x) = x for the first half, −x for the second, on [0, 1]."""

    rounds: int

    @cached_property
    def domain(self) -> Box:  # type: ignore[override]
        return interval(0.0, 1.0)

    def loss(self, round: int, point: Point) -> Quadratic:
        return linear([0], 1.0 if round <= self.rounds // 2 else -1.0)


@dataclass
class RandomLinear(Problem):
    """Sparse random gradients with power-law coordinates and unequal sizes."""

    rounds: int
    dimensions: int = 100
    active: int = 3
    seed: int = 0
    low: float = -1.0
    high: float = 1.0

    @cached_property
    def domain(self) -> Box:  # type: ignore[override]
        return Box.cube(self.dimensions, self.low, self.high)

    def loss(self, round: int, point: Point) -> Quadratic:
        where, slopes = self._drawn
        return linear(where[round - 1], slopes[round - 1])

    @cached_property
    def _drawn(self) -> tuple[np.ndarray, Point]:
        rng = np.random.default_rng(self.seed)
        first = (self.dimensions * rng.random((self.rounds, 1)) ** 3).astype(int)
        # Distinct coordinates of a round: steps of one and more from a power-law start.
        steps = np.arange(self.active) * (1 + self.dimensions // (2 * self.active))
        where = (first + steps) % self.dimensions
        sizes = 1 / (1 + where / 10)
        return where, sizes * rng.normal(size=where.shape)


@dataclass
class Contrary(Problem):
    """An adversary that sees the point: the gradient of size 1 pushes away from where it stands."""

    rounds: int
    domain: Domain
    seed: int = 0

    def loss(self, round: int, point: Point) -> Quadratic:
        i = int(self._order[round - 1])
        middle = (self.domain.box.low[i] + self.domain.box.high[i]) / 2
        return linear([i], 1.0 if point[i] > middle else -1.0)

    @cached_property
    def _order(self) -> np.ndarray:
        rng = np.random.default_rng(self.seed)
        return rng.integers(0, self.domain.dimensions, size=self.rounds)


@dataclass
class Recorded(Problem):
    """Losses given as a list."""

    domain: Domain
    losses: Sequence[RoundLoss]

    @property
    def rounds(self) -> int:  # type: ignore[override]
        return len(self.losses)

    def loss(self, round: int, point: Point) -> RoundLoss:
        return self.losses[round - 1]
