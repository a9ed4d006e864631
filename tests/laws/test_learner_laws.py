"""The bounds of the one-dimensional learners of §4.1 and §4.2, as laws.

Adaptive descent: 3/2 R²λ + Σ g²/(H + λ), and 2√3 R√Σg² for linear losses. Optimistic:
D/√2 √(E + B²), and E ≤ g_1² + 2V. Lazy projection: 15√Q. The search must break every variant that
is nearly right.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import sqrt

import numpy as np
import pytest
from hypothesis import given

from lessregret.game.algorithms import (
    AdaptiveDescent,
    Composite,
    JointAdaptiveDescent,
    LazyProjection,
    OneDimensional,
    Optimistic,
)
from lessregret.game.domains import Box, Point
from lessregret.game.losses import Quadratic
from lessregret.game.play import play
from lessregret.game.problems import Recorded, UnequalCurvature
from tests.support.adversaries import (
    GENERATED,
    SLACK,
    Gradients,
    breaking_ratio,
    fraction,
    gradient_sequences,
    worst_ratio,
)

LOW, HIGH = 3.0, 5.0
ROUNDS = 60
Ratio = Callable[[Gradients], float]


def played(learner: OneDimensional, gradients: Point, curvatures: Point) -> Point:
    """The points that the learner shows."""
    points = []
    for gradient, curvature in zip(gradients.tolist(), curvatures.tolist(), strict=True):
        points.append(learner.point)
        learner.feed(gradient, curvature)
    return np.array(points)


def regret(learner: OneDimensional, gradients: Point, curvatures: Point | None = None) -> float:
    """Regret on the minorants g (y − x) + H/2 (y − x)²."""
    h = np.zeros(len(gradients)) if curvatures is None else curvatures
    x = played(learner, gradients, h)
    curvature, slope = h.sum(), (gradients - h * x).sum()
    best = -slope / curvature if curvature > 0 else -np.sign(slope) * 1e9
    y = min(learner.high, max(learner.low, best))
    return float((gradients * x - h * x**2 / 2).sum() - (curvature * y**2 / 2 + slope * y))


class PulledToOrigin(AdaptiveDescent):
    """The regulariser at the origin, as printed, where the interval is elsewhere."""

    @property
    def middle(self) -> float:
        return 0.0


class NarrowRadius(AdaptiveDescent):
    """R a quarter of what it is: λ too strong."""

    @property
    def radius(self) -> float:
        return self.width / 8


class StaleCurvature(AdaptiveDescent):
    """Counts the curvature of a round one round late."""

    late = 0.0

    def feed(self, gradient: float, curvature: float = 0.0) -> None:
        super().feed(gradient, self.late)
        self.late = curvature


class DoubleCurvature(AdaptiveDescent):
    """Takes H for H/2."""

    def feed(self, gradient: float, curvature: float = 0.0) -> None:
        super().feed(gradient, 2 * curvature)


class UnclippedDescent(AdaptiveDescent):
    """Remembers a point outside and shows its clip."""

    def clip(self, value: float) -> float:
        self.outside = value
        return super().clip(value)

    def feed(self, gradient: float, curvature: float = 0.0) -> None:
        self.point = self.outside
        super().feed(gradient, curvature)


def adaptive_ratio(make: Callable[[float, float], AdaptiveDescent], rows: Gradients) -> float:
    """Regret over the learner's own bound; columns: gradients, and curvatures up to sign."""
    learner = make(LOW, HIGH)
    lost = regret(learner, rows[:, 0], np.abs(rows[:, 1]))
    # A curvature far above the gradients leaves a bound of nothing, and rounding.
    rounding = 1e-12 * float(np.abs(rows).sum()) * HIGH**2
    return fraction(lost, learner.bound + rounding)


def linear_adaptive_ratio(
    make: Callable[[float, float], AdaptiveDescent], rows: Gradients
) -> float:
    """Regret on linear losses over 2√3 R√Σg²."""
    gradients = rows[:, 0]
    bound = 2 * sqrt(3) * (HIGH - LOW) / 2 * sqrt(gradients @ gradients)
    return fraction(regret(make(LOW, HIGH), gradients), bound)


def test_adaptive_descent_keeps_its_bound() -> None:
    assert worst_ratio(partial(adaptive_ratio, AdaptiveDescent), ROUNDS, 2, steps=1000) <= SLACK


def test_adaptive_descent_keeps_the_linear_bound() -> None:
    assert worst_ratio(partial(linear_adaptive_ratio, AdaptiveDescent), ROUNDS, steps=1000) <= SLACK


@given(rows=gradient_sequences(2))
@GENERATED
def test_adaptive_descent_keeps_its_bounds_when_generated(rows: Gradients) -> None:
    assert adaptive_ratio(AdaptiveDescent, rows) <= SLACK
    assert linear_adaptive_ratio(AdaptiveDescent, rows) <= SLACK


@pytest.mark.parametrize(
    "make", [PulledToOrigin, NarrowRadius, StaleCurvature, DoubleCurvature, UnclippedDescent]
)
def test_adaptive_descent_nearly_right_is_caught(make: type[AdaptiveDescent]) -> None:
    assert breaking_ratio(partial(adaptive_ratio, make), ROUNDS, 2, steps=3000) > 1


@pytest.mark.parametrize("make", [PulledToOrigin, UnclippedDescent])
def test_linear_adaptive_descent_nearly_right_is_caught(make: type[AdaptiveDescent]) -> None:
    assert breaking_ratio(partial(linear_adaptive_ratio, make), ROUNDS, steps=3000) > 1


def test_the_bounds_of_the_coordinates_add_up() -> None:
    """Lemma 2 on §4.1: regret ≤ Σ R_i ≤ Σ bounds, and each R_i within its learner's bound."""
    algorithm = Composite(AdaptiveDescent, "quadratic")
    transcript = play(algorithm, UnequalCurvature(rounds=500))
    bounds = np.array([algorithm.learner(i).bound for i in range(4)])  # type: ignore[attr-defined]
    split = transcript.coordinate_regrets("quadratic")
    assert transcript.regret() <= split.sum() * SLACK
    assert (split <= bounds).all()


def joint_ratio(make: Callable[[], JointAdaptiveDescent], rows: Gradients) -> float:
    """Regret of the learner for all coordinates at once over its bound; curvatures as above."""
    everywhere = np.arange(2)
    losses = [
        Quadratic(everywhere, curvature=np.abs(row[2:]), centre=[3.5, 0.5], slope=row[:2])
        for row in rows
    ]
    algorithm = make()
    transcript = play(algorithm, Recorded(Box(np.array([3.0, 0.0]), np.array([5.0, 1.0])), losses))
    rounding = 1e-12 * float(np.abs(rows).sum()) * HIGH**2
    return fraction(transcript.regret(), algorithm.bound + rounding)


class GreatestCurvature(JointAdaptiveDescent):
    """Takes the largest H_i for the smallest."""

    def feed(self, seen):  # type: ignore[no-untyped-def]
        super().feed(seen._replace(curvature=np.full(2, max(seen.curvature, default=0.0))))


def test_joint_adaptive_descent_keeps_its_bound() -> None:
    assert worst_ratio(partial(joint_ratio, JointAdaptiveDescent), ROUNDS, 4, steps=100) <= SLACK


def test_joint_adaptive_descent_needs_the_least_curvature() -> None:
    assert breaking_ratio(partial(joint_ratio, GreatestCurvature), ROUNDS, 4, steps=1000) > 1


class Hinted(Optimistic):
    """Optimistic with another hint or another strength."""

    weaker = 1.0

    def hint(self) -> float:
        return self.mean

    def feed(self, gradient: float, curvature: float = 0.0) -> None:
        super().feed(gradient, curvature)
        sigma = 2 * sqrt(2) / self.width * sqrt(self.error + self.surprise**2) * self.weaker
        self.point = self.clip(self.middle - (self.total + self.hint()) / sigma)


class ContraryHint(Hinted):
    """The hint with the wrong sign."""

    def hint(self) -> float:
        return -self.mean


class TwiceTheStrength(Hinted):
    weaker = 2.0


class AThirdOfTheStrength(Hinted):
    weaker = 1 / 3


class Unsurprised(Optimistic):
    """σ from B alone: the errors forgotten."""

    def feed(self, gradient: float, curvature: float = 0.0) -> None:
        super().feed(gradient, curvature)
        sigma = 2 * sqrt(2) / self.width * self.surprise
        self.point = self.clip(self.middle - (self.total + self.mean) / sigma)


class LastGradientHint(Optimistic):
    """The last gradient for the mean of them: small errors only where gradients change slowly."""

    def feed(self, gradient: float, curvature: float = 0.0) -> None:
        super().feed(gradient, curvature)
        self.mean = gradient


class ShrunkMean(Optimistic):
    """Σ g/(n + 1) for the mean."""

    def feed(self, gradient: float, curvature: float = 0.0) -> None:
        super().feed(gradient, curvature)
        self.mean = self.total / (self.count + 1)


def least_surprise(gradients: Point) -> float:
    """The smallest B that |g_t − m_t| keeps to."""
    before = np.concatenate([[0.0], np.cumsum(gradients)[:-1] / np.arange(1, len(gradients))])
    return float(np.abs(gradients - before).max())


def optimistic_ratio(make: Callable[..., Optimistic], rows: Gradients) -> float:
    """Regret over the learner's bound, with the smallest B allowed."""
    gradients = rows[:, 0]
    if not gradients.any():
        return 0.0
    learner = make(LOW, HIGH, surprise=least_surprise(gradients))
    return fraction(regret(learner, gradients), learner.bound)


def variation_ratio(make: Callable[..., Optimistic], rows: Gradients) -> float:
    """E over g_1² + 2V."""
    gradients = rows[:, 0]
    learner = make(LOW, HIGH)
    played(learner, gradients, 0 * gradients)
    spread = gradients - gradients.mean()
    rounding = 1e-12 * float(gradients @ gradients)
    return fraction(learner.error, gradients[0] ** 2 + 2 * float(spread @ spread) + rounding)


def test_optimistic_keeps_its_bound() -> None:
    assert worst_ratio(partial(optimistic_ratio, Optimistic), ROUNDS, steps=1500) <= SLACK


def test_the_errors_are_within_the_variation() -> None:
    assert 0.99 < worst_ratio(partial(variation_ratio, Optimistic), ROUNDS, steps=500) <= SLACK


@given(rows=gradient_sequences())
@GENERATED
def test_optimistic_keeps_its_bounds_when_generated(rows: Gradients) -> None:
    assert optimistic_ratio(Optimistic, rows) <= SLACK
    assert variation_ratio(Optimistic, rows) <= SLACK


@pytest.mark.parametrize("make", [ContraryHint, TwiceTheStrength, AThirdOfTheStrength, Unsurprised])
def test_optimistic_nearly_right_is_caught(make: type[Optimistic]) -> None:
    assert breaking_ratio(partial(optimistic_ratio, make), ROUNDS, steps=3000) > 1


@pytest.mark.parametrize("make", [LastGradientHint, ShrunkMean])
def test_other_hints_do_not_bound_the_errors(make: type[Optimistic]) -> None:
    assert breaking_ratio(partial(variation_ratio, make), ROUNDS) > 1


class SlowProjection(LazyProjection):
    """1/36 for 1/6."""

    def __init__(self, low: float, high: float, variation: float, largest: float = 1.0) -> None:
        super().__init__(low, high, variation, largest)
        self.rate = min(self.rate, 1 / 36)


class BlindProjection(LazyProjection):
    """Does not look at Q."""

    def __init__(self, low: float, high: float, variation: float, largest: float = 1.0) -> None:
        super().__init__(low, high, 0.0, largest)


class UnscaledProjection(LazyProjection):
    """Forgets that gradients are to be divided by the largest."""

    def __init__(self, low: float, high: float, variation: float, largest: float = 1.0) -> None:
        super().__init__(low, high, variation)


class LazyOfLast(LazyProjection):
    """Takes the last gradient for the sum."""

    def feed(self, gradient: float, curvature: float = 0.0) -> None:
        self.total = 0.0
        super().feed(gradient)


LARGEST = 30.0


def lazy_ratio(make: Callable[..., LazyProjection], rows: Gradients) -> float:
    """Regret over 15√Q in units of R and G, Q = max(1, V)."""
    scaled = rows[:, 0] / max(1e-300, np.abs(rows).max())
    variation = max(1.0, float(((scaled - scaled.mean()) ** 2).sum()))
    learner = make(LOW, HIGH, variation, largest=LARGEST)
    lost = regret(learner, LARGEST * scaled) / (LARGEST * (HIGH - LOW) / 2)
    return fraction(lost, 15 * sqrt(variation))


@pytest.mark.parametrize(("rounds", "steps"), [(60, 500), (1000, 20), (40_000, 0)])
def test_lazy_projection_keeps_its_bound(rounds: int, steps: int) -> None:
    assert worst_ratio(partial(lazy_ratio, LazyProjection), rounds, steps=steps) <= SLACK


@given(rows=gradient_sequences())
@GENERATED
def test_lazy_projection_keeps_its_bound_when_generated(rows: Gradients) -> None:
    assert lazy_ratio(LazyProjection, rows) <= SLACK


@pytest.mark.parametrize(
    ("make", "rounds"),
    [(SlowProjection, 60), (LazyOfLast, 60), (UnscaledProjection, 1000), (BlindProjection, 40_000)],
)
def test_lazy_projection_nearly_right_is_caught(make: type[LazyProjection], rounds: int) -> None:
    assert breaking_ratio(partial(lazy_ratio, make), rounds, steps=0) > 1
