"""Unit behaviour of the game's algorithms, and the identities of the notes."""

from __future__ import annotations

from functools import partial
from math import exp, sqrt

import numpy as np
import pytest
from scipy.optimize import minimize

from lessregret.errors import SpecError
from lessregret.game.algorithms import (
    AdaptiveDescent,
    Composite,
    ConstantRate,
    Descent,
    DiagonalFTPRL,
    FullMatrixAdaGrad,
    GlobalRate,
    HorizonRate,
    JointAdaptiveDescent,
    JointLeadingHistory,
    LazyProjection,
    LeadingHistory,
    OneDimensional,
    Optimistic,
    PerCoordinateRate,
    RestartedLazyProjection,
    RootRate,
    RuleLearner,
    Seen,
    StronglyConvexRate,
)
from lessregret.game.algorithms.full_matrix import project_in_norm
from lessregret.game.algorithms.leading_history import Experts, lifetime
from lessregret.game.domains import Box, L1Ball, L2Ball, Point, Simplex, interval
from lessregret.game.losses import linear
from lessregret.game.play import play
from lessregret.game.problems import Climbing, Recorded, UnequalVariance, switching
from lessregret.learners.rules import Ftrl, PerCoordinate

LEARNERS = {
    "adaptive descent": AdaptiveDescent,
    "lazy": partial(LazyProjection, variation=1.0),
    "restarted": RestartedLazyProjection,
    "optimistic": Optimistic,
    "history": partial(LeadingHistory, curvature=0.5),
    "rule": partial(RuleLearner, PerCoordinate(rate="theory")),
}


def seen(*gradient: float) -> Seen:
    """A round with a gradient in the first coordinates and no curvature."""
    count = len(gradient)
    return Seen(np.arange(count), np.array(gradient), np.zeros(count))


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize(("low", "high"), [(-1.0, 1.0), (2.0, 5.0), (-7.0, -6.5)])
def test_learners_stay_in_their_interval_and_go_downhill(
    name: str, low: float, high: float
) -> None:
    for sign, end in [(1.0, low), (-1.0, high)]:
        learner: OneDimensional = LEARNERS[name](low, high)
        for _ in range(60):
            learner.feed(sign)
            assert low <= learner.point <= high
        assert learner.point == pytest.approx(end, abs=0.05 * (high - low))


@pytest.mark.parametrize("name", ["adaptive descent", "optimistic", "history", "rule"])
def test_learners_do_not_know_units(name: str) -> None:
    """x in other units, g in the inverse ones: the same game."""
    gradients = np.random.default_rng(0).normal(size=50)
    plain: OneDimensional = LEARNERS[name](-1.0, 1.0)
    scaled: OneDimensional = LEARNERS[name](-8.0, 8.0)
    if isinstance(scaled, Optimistic):
        scaled.surprise /= 8
    if isinstance(scaled, LeadingHistory):
        scaled.curvature /= 64
    for gradient in gradients:
        plain.feed(gradient)
        scaled.feed(gradient / 8)
        assert scaled.point == pytest.approx(8 * plain.point, abs=1e-12)


def test_a_zero_gradient_is_a_no_op_for_adaptive_descent_and_rules() -> None:
    for learner in (AdaptiveDescent(-1.0, 1.0), LEARNERS["rule"](-1.0, 1.0)):
        learner.feed(0.0)
        assert learner.point == 0
        learner.feed(0.3)
        before = learner.point
        learner.feed(0.0)
        assert learner.point == before


def test_the_strength_of_adaptive_descent_solves_its_equation() -> None:
    """λ² + Aλ = 2g²/(3R²), A = H_{1:t} + λ_{1:t−1}."""
    learner = AdaptiveDescent(1.0, 4.0)
    rng = np.random.default_rng(0)
    for _ in range(50):
        gradient, curvature = rng.normal(), rng.exponential()
        before = learner.curvatures + curvature + learner.added
        added = learner.added
        learner.feed(gradient, curvature)
        strength = learner.added - added
        wanted = 2 * gradient**2 / (3 * 1.5**2)
        assert strength**2 + before * strength == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("ratio", [1e3, 1e8, 1e12])
def test_the_strength_survives_cancellation(ratio: float) -> None:
    """For A ≫ |g| λ tends to 2g²/(3R²A); the difference of roots would be 0 or noise."""
    learner = AdaptiveDescent(-1.0, 1.0)
    learner.feed(1.0, ratio)
    assert learner.added == pytest.approx(2 / (3 * ratio), rel=1e-5)


def test_adaptive_descent_halves_its_bound_when_linear() -> None:
    """λ makes the two sums grow equally: the bound is 3R²λ."""
    learner = AdaptiveDescent(-2.0, 2.0)
    for gradient in np.random.default_rng(1).normal(size=30):
        learner.feed(gradient)
    assert learner.bound == pytest.approx(3 * 2**2 * learner.added)


def test_adaptive_descent_is_follow_the_leader_with_curvature_alone() -> None:
    """With H ≫ g the step is 1/H_{1:t}: the mean of the targets."""
    learner = AdaptiveDescent(-1.0, 1.0)
    targets = np.random.default_rng(2).uniform(-0.5, 0.5, size=40)
    for target in targets:
        learner.feed(1e9 * (learner.point - target), 1e9)
    assert learner.point == pytest.approx(targets.mean(), abs=0.1)


def test_joint_adaptive_descent_is_adaptive_descent_in_one_dimension() -> None:
    alone, joint = AdaptiveDescent(-1.0, 2.0), JointAdaptiveDescent()
    joint.start(interval(-1.0, 2.0))
    rng = np.random.default_rng(3)
    for _ in range(40):
        gradient, curvature = rng.normal(), rng.exponential()
        alone.feed(gradient, curvature)
        joint.feed(Seen(np.array([0]), np.array([gradient]), np.array([curvature])))
        assert joint.point[0] == pytest.approx(alone.point, abs=1e-14)
    assert joint.bound == pytest.approx(alone.bound)


def test_lazy_projection_has_the_regret_of_the_notes() -> None:
    """A constant gradient of size 1, Q = 1: 1 + 5/6 + … = 3.5 at every T; Algorithm 1 has 1."""
    for rounds in (10, 100):
        problem = UnequalVariance(rounds=rounds, means=(1.0,), noises=(0.0,))
        lazy = play(Composite(partial(LazyProjection, variation=1.0)), problem)
        assert lazy.regret() == pytest.approx(3.5)
        assert play(Descent(PerCoordinateRate()), problem).regret() == pytest.approx(1.0)


def test_lazy_projection_remembers_what_it_clips() -> None:
    learner = LazyProjection(-1.0, 1.0, variation=1.0)
    for _ in range(12):
        learner.feed(1.0)
    for _ in range(6):
        assert learner.point == -1
        learner.feed(-1.0)
    learner.feed(-1.0)
    assert learner.point == pytest.approx(-5 / 6)


def test_lazy_projection_rates() -> None:
    assert LazyProjection(-1, 1, variation=0.0).rate == 1 / 6
    assert LazyProjection(-1, 1, variation=144.0).rate == pytest.approx(1 / 6)
    assert LazyProjection(-1, 1, variation=400.0).rate == pytest.approx(0.1)


def test_welford_is_the_variation_of_the_epoch() -> None:
    learner = RestartedLazyProjection(-1.0, 1.0)
    gradients = np.random.default_rng(4).uniform(-1, 1, size=100)
    for t, gradient in enumerate(gradients, start=1):
        learner.feed(gradient)
        assert learner.variation == pytest.approx(t * gradients[:t].var(), abs=1e-12)
    assert learner.rate == 1 / 6


def test_restarts_halve_the_rate_and_begin_at_the_middle() -> None:
    """V > 4/η² = 144 comes with the 145th of the signs in turn, then with the 577th of an epoch."""
    learner = RestartedLazyProjection(2.0, 4.0)
    restarts = []
    for t in range(1, 1000):
        rate = learner.rate
        learner.feed((-1.0) ** t)
        if learner.rate < rate:
            restarts.append(t)
            assert learner.rate == rate / 2
            assert learner.point == 3
            assert (learner.total, learner.count, learner.mean, learner.variation) == (0, 0, 0, 0)
    assert restarts == [145, 145 + 577]


def test_optimistic_plays_its_formula() -> None:
    learner = Optimistic(-1.0, 3.0, surprise=5.0)
    assert learner.point == 1
    learner.feed(0.5)
    sigma = 2 * sqrt(2) / 4 * sqrt(0.25 + 25)
    assert learner.point == pytest.approx(1 - (0.5 + 0.5) / sigma)
    learner.feed(-0.1)
    sigma = 2 * sqrt(2) / 4 * sqrt(0.25 + 0.36 + 25)
    assert learner.mean == pytest.approx(0.2)
    assert learner.point == pytest.approx(1 - (0.4 + 0.2) / sigma)
    assert learner.bound == pytest.approx(4 / sqrt(2) * sqrt(25.61))


def test_optimistic_errors_by_the_identity_of_the_notes() -> None:
    """V = Σ_{t≥2} (t − 1)/t (g_t − mean_{t−1})², exactly."""
    gradients = np.random.default_rng(5).normal(size=30)
    learner = Optimistic(-1.0, 1.0)
    total = 0.0
    for t, gradient in enumerate(gradients, start=1):
        total += (t - 1) / t * (gradient - learner.mean) ** 2
        learner.feed(gradient)
    assert total == pytest.approx(30 * gradients.var())


def test_lifetimes() -> None:
    assert [lifetime(birth) for birth in (1, 2, 3, 4, 6, 8, 12, 1024)] == [
        5, 9, 5, 17, 9, 33, 17, 4097,
    ]  # fmt: skip


def test_the_first_expert_has_weight_1() -> None:
    """The publication prints 0: a slip."""
    experts = Experts(np.array([0.5]))
    assert experts.logs.tolist() == [0]
    assert experts.combined().tolist() == [0.5]
    assert experts.ages().tolist() == [1]


def test_experts_are_weighed_by_their_losses() -> None:
    experts = Experts(np.array([0.5]))
    experts.reweigh(np.array([0.7]))
    assert np.exp(experts.logs) == pytest.approx([1 / 2, 1 / 2])
    assert experts.births.tolist() == [1, 2]
    assert experts.ages().tolist() == [2, 1]
    experts.reweigh(np.array([0.0, 1.0]))
    better = 1 / (1 + exp(-1.0))
    assert np.exp(experts.logs) == pytest.approx([better * 2 / 3, (1 - better) * 2 / 3, 1 / 3])


def test_experts_die_and_the_others_inherit() -> None:
    experts = Experts(np.array([0.5]))
    for _ in range(5):
        experts.reweigh(np.zeros(len(experts.births)))
    assert experts.births.tolist() == [1, 2, 3, 4, 5, 6]
    experts.reweigh(np.zeros(6))
    assert experts.births.tolist() == [2, 3, 4, 5, 6, 7]
    assert np.exp(experts.logs).sum() == pytest.approx(1)
    assert len(experts.points) == 6


def test_huge_losses_do_not_overflow_the_weights() -> None:
    experts = Experts(np.array([0.5]))
    for _ in range(20):
        experts.reweigh(1e6 * np.arange(len(experts.births)))
    assert np.isfinite(experts.logs).all()
    assert np.exp(experts.logs).sum() == pytest.approx(1)


def test_history_follows_a_switch_where_descent_does_not() -> None:
    problem = switching(400)
    history = play(Composite(partial(LeadingHistory, curvature=1.0), "quadratic"), problem)
    descent = play(Descent(StronglyConvexRate(1.0)), problem)
    assert history.adaptive_regret().regret < descent.adaptive_regret().regret / 3


def test_history_alone_and_jointly_agree_in_one_dimension() -> None:
    alone, joint = LeadingHistory(0.0, 1.0, curvature=1.0), JointLeadingHistory(1.0)
    joint.start(interval(0.0, 1.0))
    for gradient in np.random.default_rng(6).normal(size=50):
        alone.feed(gradient)
        joint.feed(seen(gradient))
        assert joint.point[0] == pytest.approx(alone.point, abs=1e-12)


@pytest.mark.parametrize("curvature", [0.0, -1.0, float("nan")])
def test_history_needs_curvature(curvature: float) -> None:
    with pytest.raises(SpecError, match="curvature above 0"):
        LeadingHistory(0.0, 1.0, curvature)
    with pytest.raises(SpecError, match="curvature above 0"):
        JointLeadingHistory(curvature)


def rates_of(rate: object, gradients: list[float], rounds: int | None = None) -> list[float]:
    """The rates of the first coordinate on [−1, 3]² with gradients there only."""
    rate.start(Box.cube(2, -1.0, 3.0), rounds)  # type: ignore[attr-defined]
    return [float(np.ravel(rate(seen(g)))[0]) for g in gradients]  # type: ignore[operator]


def test_the_rates_are_their_formulas() -> None:
    gradients = [0.0, 3.0, 4.0]
    root = sqrt(2)
    assert rates_of(ConstantRate(0.5), gradients) == [0.5, 0.5, 0.5]
    assert rates_of(RootRate(2.0), gradients) == pytest.approx([2, 2 / root, 2 / sqrt(3)])
    assert rates_of(StronglyConvexRate(2.0), gradients) == pytest.approx([1 / 2, 1 / 4, 1 / 6])
    diameter = sqrt(32)
    horizon = HorizonRate(largest=4.0)
    assert rates_of(horizon, gradients, 3) == pytest.approx([diameter / (4 * sqrt(3))] * 3)
    assert rates_of(GlobalRate(), gradients) == pytest.approx([0, 4 / 3, 4 / 5])
    own = PerCoordinateRate()
    assert rates_of(own, gradients) == pytest.approx([0, 4 / (3 * root), 4 / (5 * root)])
    printed = PerCoordinateRate(as_printed=True, scale=0.5)
    assert rates_of(printed, gradients) == pytest.approx([0, 2 / 3, 2 / 5])


def test_rates_start_anew() -> None:
    for rate in (RootRate(), StronglyConvexRate(1.0), GlobalRate(), PerCoordinateRate()):
        assert rates_of(rate, [1.0, 2.0]) == rates_of(rate, [1.0, 2.0])


def test_descent_projects_on_any_set() -> None:
    losses = [linear([0], [-1.0])] * 5
    for domain in (Simplex(3), L1Ball(3, 1.0), L2Ball(np.zeros(3), 1.0)):
        transcript = play(Descent(ConstantRate(1.0)), Recorded(domain, losses), keep_points=True)
        assert transcript.points is not None
        assert transcript.points[-1] == pytest.approx([1, 0, 0])


def leader(algorithm: DiagonalFTPRL, history: list[tuple[Point, Point, Point]]) -> float:
    """min over F of Σ g·x + ½ Σ (x − x_s)'Q_s(x − x_s), searched."""

    def value(x: Point) -> float:
        return sum(float(g @ x + q @ (x - at) ** 2 / 2) for g, at, q in history)

    domain = algorithm.domain
    limits = {"type": "eq", "fun": lambda x: x.sum() - 1}
    ends = list(zip(domain.box.low, domain.box.high, strict=True))
    found = minimize(
        value, domain.start, method="SLSQP", bounds=ends, constraints=limits,
        options={"ftol": 1e-13},
    )  # fmt: skip
    assert value(algorithm.point) <= found.fun + 1e-7
    return float(np.abs(found.x - algorithm.point).max())


def test_ftprl_is_the_proximal_leader() -> None:
    """Every play against the definition, minimised by a general-purpose search."""
    algorithm = DiagonalFTPRL()
    algorithm.start(Simplex(3))
    history = []
    before = np.zeros(3)
    for gradient in np.random.default_rng(7).normal(size=(15, 3)):
        played = algorithm.point.copy()
        algorithm.feed(seen(*gradient))
        history.append((gradient, played, algorithm.regulariser - before))
        before = algorithm.regulariser.copy()
        assert leader(algorithm, history) < 1e-3


def test_ftprl_on_a_box_is_ftrl_proximal_by_coordinate() -> None:
    problem = UnequalVariance(rounds=200)
    ours = play(DiagonalFTPRL(), problem, keep_points=True)
    rule = partial(RuleLearner, Ftrl(rate=sqrt(2), offset=0))
    theirs = play(Composite(rule), problem, keep_points=True)
    assert np.array(ours.points) == pytest.approx(np.array(theirs.points), abs=1e-12)


def test_ftprl_leaves_coordinates_alone_that_it_never_saw() -> None:
    algorithm = DiagonalFTPRL()
    algorithm.start(L2Ball(np.zeros(3), 1.0))
    for _ in range(5):
        algorithm.feed(seen(1.0))
    assert algorithm.point == pytest.approx([-1, 0, 0], abs=1e-5)
    algorithm.start(L2Ball(np.zeros(3), 1.0))
    algorithm.feed(seen(0.0))
    assert algorithm.point.tolist() == [0, 0, 0]


def test_full_matrix_adagrad_turns_with_the_axes() -> None:
    """A box too large to matter: in rotated coordinates it plays the rotated points."""
    gradients = np.random.default_rng(8).normal(size=(30, 3))
    turned = np.linalg.qr(np.random.default_rng(9).normal(size=(3, 3)))[0]
    plain, other = FullMatrixAdaGrad(rate=1.0), FullMatrixAdaGrad(rate=1.0)
    for algorithm in (plain, other):
        algorithm.start(Box.cube(3, -100, 100))
    for gradient in gradients:
        plain.feed(seen(*gradient))
        other.feed(seen(*(turned @ gradient)))
        # While a direction is unseen its root is that of a rounding error, 1e-8.
        assert other.point == pytest.approx(turned @ plain.point, abs=1e-6)


def test_full_matrix_adagrad_with_an_offset() -> None:
    algorithm = FullMatrixAdaGrad(rate=1.0, offset=3.0)
    algorithm.start(Box.cube(2, -10, 10))
    algorithm.feed(seen(4.0, 0.0))
    assert algorithm.point == pytest.approx([-4 / 7, 0])


def test_projecting_in_a_norm() -> None:
    """(x − p)'H(y − p) ≤ 0 for every y of the box."""
    rng = np.random.default_rng(10)
    box = Box.cube(4, -1, 1)
    for _ in range(30):
        factor = rng.normal(size=(4, 4))
        matrix, target = factor @ factor.T, 3 * rng.normal(size=4)
        near = project_in_norm(target, matrix, box)
        away = matrix @ (target - near)
        assert box.contains(near)
        assert away @ (box.least(-away) - near) <= 1e-6 * (1 + np.abs(away).max())
    inside = np.full(4, 0.5)
    assert project_in_norm(inside, np.eye(4), box).tolist() == inside.tolist()


def test_composite_makes_learners_when_needed() -> None:
    algorithm = Composite(LEARNERS["optimistic"])
    algorithm.start(Box(np.array([0.0, -1.0, 4.0]), np.array([2.0, 1.0, 4.0])))
    assert algorithm.point.tolist() == [1, 0, 4]
    assert algorithm.learners == {}
    algorithm.feed(Seen(np.array([1]), np.array([0.5]), np.zeros(1)))
    assert set(algorithm.learners) == {1}
    assert algorithm.learner(0).point == 1


def test_composite_passes_curvature_on_for_the_quadratic_minorant_only() -> None:
    round_ = Seen(np.array([0]), np.array([0.5]), np.array([2.0]))
    for minorant, expected in [("linear", 0.0), ("quadratic", 2.0)]:
        algorithm = Composite(AdaptiveDescent, minorant)  # type: ignore[arg-type]
        algorithm.start(interval(-1.0, 1.0))
        algorithm.feed(round_)
        assert algorithm.learner(0).curvatures == expected  # type: ignore[attr-defined]


def test_rule_learners_give_rates() -> None:
    learner = RuleLearner(PerCoordinate(rate=0.5), -1.0, 1.0)
    assert learner.feed(2.0) == 0.25
    assert learner.feed(0.0) == 0
    assert learner.point == -0.5
    with pytest.raises(SpecError, match="has rate 'auto', which is for learners"):
        RuleLearner(PerCoordinate(), -1.0, 1.0)
    assert play(
        Composite(lambda a, b: RuleLearner(PerCoordinate(rate=0.3), a, b)), Climbing(9)
    ).bound()
