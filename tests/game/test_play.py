"""The game: play, transcripts, regrets of every kind, comparators, bounds, problems."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import sqrt

import numpy as np
import pytest

from lessregret.errors import SpecError
from lessregret.game.algorithms import (
    AdaptiveDescent,
    Algorithm,
    Composite,
    ConstantRate,
    Descent,
    DiagonalFTPRL,
    FullMatrixAdaGrad,
    GlobalRate,
    HorizonRate,
    JointLeadingHistory,
    LeadingHistory,
    Optimistic,
    PerCoordinateRate,
    RootRate,
    RuleLearner,
    Seen,
)
from lessregret.game.domains import Box, Domain, L1Ball, L2Ball, Point, Simplex, interval
from lessregret.game.intervals import regret_on
from lessregret.game.losses import Absolute, Quadratic, RoundLoss, linear, logistic_loss
from lessregret.game.play import Problem, Transcript, play
from lessregret.game.problems import (
    BadFamily,
    Climbing,
    Contrary,
    CoordinateSwitching,
    LinearSwitching,
    Oscillating,
    RandomLinear,
    Recorded,
    UnequalCurvature,
    UnequalVariance,
    switching,
)
from lessregret.learners.rules import CW, Global, PerCoordinate

CUBE = Box.cube(3, -1.0, 1.0)


def per_coordinate() -> Descent:
    return Descent(PerCoordinateRate())


def sparse_losses(seed: int, rounds: int, curved: bool) -> list[Quadratic]:
    """Random separable losses of one to three of three coordinates, some flat, some curved."""
    rng = np.random.default_rng(seed)
    losses = []
    for _ in range(rounds):
        where = np.flatnonzero(rng.random(3) < 0.6)
        bend = rng.exponential(size=len(where)) * (rng.random(len(where)) < 0.5) * curved
        centre, slope = rng.normal(size=(2, len(where)))
        losses.append(Quadratic(where, curvature=bend, centre=centre, slope=slope, constant=0.3))
    return losses


def brute_force_regret(transcript: Transcript, first: int, last: int, grid: Point) -> float:
    """The regret of an interval by trying a grid of every coordinate: losses are separable."""
    part = slice(first - 1, last)
    lost = sum(transcript.losses[part])
    totals = np.zeros((len(grid), 3))
    for loss in transcript.rounds_losses[part]:
        assert isinstance(loss, Quadratic)
        offset = grid[:, None] - loss.centre
        totals[:, loss.coordinates] += loss.curvature * offset**2 / 2 + loss.slope * grid[:, None]
        lost -= loss.constant
    return float(lost - totals.min(axis=0).sum())


def test_regret_has_a_closed_form_for_climbing() -> None:
    """−x on [0, 1] at rate 1/10: 0, .1, .2 … 1, which is 5.5 less than 1 in every round."""
    transcript = play(Descent(ConstantRate(0.1)), Climbing(rounds=50))
    assert transcript.regret() == pytest.approx(5.5)
    assert transcript.comparator.point.tolist() == [1]
    assert transcript.comparator.gap == 0
    assert transcript.rounds == 50


def test_regret_has_a_closed_form_for_oscillating() -> None:
    """|x − ε| at rate η > ε: 0, η, 0, η …"""
    transcript = play(Descent(ConstantRate(0.2)), Oscillating(rounds=10, epsilon=0.05))
    assert transcript.losses == pytest.approx([0.05, 0.15] * 5)
    assert transcript.regret() == pytest.approx(1.0)


def test_regret_of_quadratics_is_against_the_mean() -> None:
    targets = np.array([0.1, 0.9, 0.4, 0.2])
    losses = [Quadratic([0], curvature=2.0, centre=c) for c in targets]
    transcript = play(Descent(ConstantRate(0.0)), Recorded(interval(0.0, 1.0), losses))
    assert transcript.comparator.point == pytest.approx([0.4])
    assert transcript.regret() == pytest.approx((targets**2).sum() - ((targets - 0.4) ** 2).sum())


def test_regret_against_any_point() -> None:
    transcript = play(per_coordinate(), RandomLinear(rounds=200, dimensions=10))
    best = transcript.comparator.point
    assert transcript.regret_against(best) == transcript.regret()
    rng = np.random.default_rng(0)
    others = [transcript.regret_against(rng.uniform(-1, 1, size=10)) for _ in range(50)]
    assert max(others) <= transcript.regret()
    assert transcript.regret_against(np.zeros(10)) == pytest.approx(transcript.total_loss)


def test_shifting_regret() -> None:
    problem = CoordinateSwitching(6, ((3,), (5,)))
    transcript = play(Descent(ConstantRate(0.0)), problem)
    followed = [problem.targets(t) for t in range(1, 7)]
    assert transcript.shifting_regret(followed) == pytest.approx(transcript.total_loss)
    assert transcript.total_loss == (4 + 2) / 2
    still = [np.zeros(2)] * 6
    assert transcript.shifting_regret(still) == transcript.regret_against(np.zeros(2))
    with pytest.raises(ValueError, match="shorter"):
        transcript.shifting_regret(still[:5])


@pytest.mark.parametrize("curved", [False, True])
def test_adaptive_regret_by_brute_force(curved: bool) -> None:
    losses = sparse_losses(seed=3, rounds=18, curved=curved)
    transcript = play(per_coordinate(), Recorded(CUBE, losses))
    grid = np.linspace(-1, 1, 2001)
    every = {
        (first, last): brute_force_regret(transcript, first, last, grid)
        for first in range(1, 19)
        for last in range(first, 19)
    }
    found = transcript.adaptive_regret()
    assert found.regret == pytest.approx(max(every.values()), abs=1e-5)
    assert every[found.first, found.last] == pytest.approx(found.regret, abs=1e-5)
    suffered = np.array(transcript.losses)
    for (first, last), regret in every.items():
        assert regret_on(CUBE, losses, suffered, first, last) == pytest.approx(regret, abs=1e-5)
    assert regret_on(CUBE, losses, suffered, 1, 18) == pytest.approx(transcript.regret())


def test_adaptive_regret_sees_the_switch() -> None:
    """§4.3: playing 0 has no regret at all, yet loses T/2 on the second half."""
    transcript = play(Descent(ConstantRate(0.0)), LinearSwitching(rounds=20))
    assert transcript.regret() == 0
    assert transcript.adaptive_regret() == (10, 11, 20)


def test_adaptive_regret_needs_quadratics_on_a_box() -> None:
    with pytest.raises(SpecError, match="linear and quadratic"):
        play(per_coordinate(), BadFamily(2)).adaptive_regret()
    ball = L2Ball(np.zeros(1), 1.0)
    with pytest.raises(SpecError, match="on a box"):
        play(Descent(GlobalRate()), Recorded(ball, [linear([0], 1.0)])).adaptive_regret()


def test_coordinate_regrets_add_up_for_linear_losses() -> None:
    transcript = play(per_coordinate(), RandomLinear(rounds=500, dimensions=20))
    split = transcript.coordinate_regrets()
    assert split.shape == (20,)
    assert split.sum() == pytest.approx(transcript.regret())
    best = transcript.comparator.point
    assert (split >= -1e-12).any()
    assert transcript.gradient_sum @ best == pytest.approx(transcript.comparator.loss)


def test_coordinate_regrets_add_up_for_separable_quadratics() -> None:
    transcript = play(per_coordinate(), UnequalCurvature(rounds=100))
    assert transcript.coordinate_regrets("quadratic").sum() == pytest.approx(transcript.regret())
    assert transcript.coordinate_regrets("linear").sum() > transcript.regret()


def test_coordinate_regrets_need_a_box() -> None:
    transcript = play(DiagonalFTPRL(), Recorded(Simplex(2), [linear([0], 1.0)]))
    with pytest.raises(SpecError, match="box only"):
        transcript.coordinate_regrets()


def test_the_bound_of_constant_rates_on_a_box_and_on_a_ball() -> None:
    """D²/(2η) + ½ η Σ|g|²; on a box only the coordinates that were moved count."""
    losses = [linear([0, 1], [3.0, 4.0]), linear([0], [1.0]), linear([], [])]
    box = play(Descent(ConstantRate(0.5)), Recorded(Box.cube(3, -1, 1), losses))
    assert box.bound() == pytest.approx(2 * 4 / (2 * 0.5) + 0.25 * 26)
    ball = play(Descent(ConstantRate(0.5)), Recorded(L2Ball(np.zeros(3), 1.5), losses))
    assert ball.bound() == pytest.approx(9 / (2 * 0.5) + 0.25 * 26)


def test_the_bound_of_rates_of_their_own() -> None:
    losses = [linear([0], [2.0]), linear([1], [3.0]), linear([0], [1.0])]
    for domain in (Box.cube(2, -1, 1), L1Ball(2, 1.0)):
        transcript = play(DiagonalFTPRL(), Recorded(domain, losses))
        first, second = 2 / sqrt(2 * 5), 2 / sqrt(2 * 9)
        spread = 4 / (2 * first) + 4 / (2 * second)
        paid = (4 * 2 / sqrt(2 * 4) + 9 * second + 1 * first) / 2
        assert transcript.bound() == pytest.approx(spread + paid)


def test_no_rates_no_bound_and_no_gradients_a_bound_of_0() -> None:
    assert play(Composite(AdaptiveDescent), Climbing(rounds=3)).bound() is None
    still = Recorded(CUBE, [linear([0], [0.0])] * 3)
    assert play(per_coordinate(), still).bound() == 0
    assert play(per_coordinate(), still).regret() == 0


def test_least_bounds_and_theorems() -> None:
    losses = [linear([0, 1], [3.0, 0.0]), linear([1], [4.0])]
    transcript = play(per_coordinate(), Recorded(Box(np.zeros(2), np.array([1.0, 2.0])), losses))
    assert transcript.energies.tolist() == [9, 16]
    assert transcript.gradient_sum.tolist() == [3, 4]
    assert transcript.least_bound(per_coordinate=True) == 1 * 3 + 2 * 4
    assert transcript.least_bound(per_coordinate=False) == pytest.approx(sqrt(5) * 5)
    assert transcript.theorem2() == pytest.approx(sqrt(2) * sqrt(5) * 5)
    assert transcript.theorem3() == pytest.approx(sqrt(2) * 11)


def logistic_losses(seed: int, rounds: int) -> list[RoundLoss]:
    rng = np.random.default_rng(seed)
    losses: list[RoundLoss] = []
    for _ in range(rounds):
        where = rng.choice(4, size=2, replace=False)
        losses.append(logistic_loss(where, 2 * rng.normal(size=2), float(rng.choice([-1.0, 1.0]))))
    return losses


@pytest.mark.parametrize(
    "domain",
    [
        Box.cube(4, -1, 1),
        Box.cube(4, -0.1, 3),
        L2Ball(np.zeros(4), 0.5),
        Simplex(4),
        L1Ball(4, 0.4),
    ],
    ids=["box", "off the middle", "ball", "simplex", "l1"],
)
def test_a_searched_comparator_has_a_small_gap(domain: Domain) -> None:
    transcript = play(Descent(GlobalRate()), Recorded(domain, logistic_losses(0, 60)))
    found = transcript.comparator
    assert domain.contains(found.point)
    assert found.loss == pytest.approx(transcript.loss_of(found.point))
    assert 0 <= found.gap < 1e-4
    rng = np.random.default_rng(1)
    others = [domain.project(2 * rng.normal(size=4)) for _ in range(200)]
    others += [domain.project(found.point + 0.01 * rng.normal(size=4)) for _ in range(200)]
    assert min(transcript.loss_of(other) for other in others) >= found.loss - found.gap


@pytest.mark.parametrize("domain", [CUBE, L2Ball(np.zeros(3), 0.7)], ids=["box", "ball"])
def test_search_and_closed_form_agree(domain: Domain) -> None:
    """Quadratics have a closed form on a box; on a ball they are searched, linear ones are not."""
    curved = play(Descent(GlobalRate()), Recorded(domain, sparse_losses(5, 40, curved=True)))
    searched = curved._searched_comparator()
    assert searched.loss - searched.gap <= curved.comparator.loss + 1e-9
    assert searched.loss == pytest.approx(curved.comparator.loss, abs=1e-6)
    flat = play(Descent(GlobalRate()), Recorded(domain, sparse_losses(5, 40, curved=False)))
    assert flat.comparator.gap == 0
    assert flat._searched_comparator().loss == pytest.approx(flat.comparator.loss, abs=1e-6)


def test_a_kink_leaves_the_gap_open_and_says_so() -> None:
    losses: list[RoundLoss] = [Absolute(0, 0.3), Absolute(0, 0.3), Absolute(0, 0.8)]
    found = play(Descent(GlobalRate()), Recorded(interval(0.0, 1.0), losses)).comparator
    assert found.loss - found.gap <= 0.5 <= found.loss + 1e-12


def test_points_are_kept_if_asked_for() -> None:
    problem = RandomLinear(rounds=20, dimensions=5, active=2)
    kept = play(per_coordinate(), problem, keep_points=True)
    assert play(per_coordinate(), problem).points is None
    assert kept.points is not None
    assert len(kept.points) == 20
    assert kept.points[0].tolist() == [0] * 5
    for point, at, loss in zip(kept.points, kept.played, kept.rounds_losses, strict=True):
        assert point[loss.coordinates].tolist() == at.tolist()


def test_a_shorter_game_is_the_beginning_of_a_longer_one() -> None:
    problem = RandomLinear(rounds=50)
    short, long = play(per_coordinate(), problem, 20), play(per_coordinate(), problem)
    assert short.rounds == 20
    assert short.losses == long.losses[:20]


def test_an_algorithm_starts_anew_in_every_game() -> None:
    makers: list[Algorithm] = [
        per_coordinate(), Descent(GlobalRate()), Descent(RootRate()), DiagonalFTPRL(),
        Composite(AdaptiveDescent, "quadratic"), Composite(Optimistic), FullMatrixAdaGrad(),
        JointLeadingHistory(1.0),
    ]  # fmt: skip
    problem = UnequalCurvature(rounds=20)
    for algorithm in makers:
        assert play(algorithm, problem).losses == play(algorithm, problem).losses


@pytest.mark.parametrize(
    ("k", "by_one_rate", "by_coordinate", "as_printed"),
    [(8, 87.5, 25.7, 29.6), (16, 348.4, 65.1, 78.7)],
)
def test_the_bad_family_has_the_numbers_of_the_notes(
    k: int, by_one_rate: float, by_coordinate: float, as_printed: float
) -> None:
    problem = BadFamily(k)
    assert problem.rounds == k**3 + k**2
    transcript = play(Descent(GlobalRate()), problem)
    assert transcript.comparator.loss == pytest.approx(-(k**2))
    assert round(transcript.regret(), 1) == by_one_rate
    assert round(play(per_coordinate(), problem).regret(), 1) == by_coordinate
    printed = Descent(PerCoordinateRate(as_printed=True))
    assert round(play(printed, problem).regret(), 1) == as_printed


def test_the_bad_family_is_the_corrected_one() -> None:
    """Erratum E3: j follows the round t, so that every coordinate has its k rounds."""
    problem = BadFamily(3)
    at = np.zeros(4)
    assert isinstance(problem.loss(27, at), Absolute)
    climbed = [problem.loss(t, at).coordinates.tolist() for t in range(28, 37)]
    assert climbed == [[1]] * 3 + [[2]] * 3 + [[3]] * 3
    assert problem.epsilon < 1 / (2 * 3)


@pytest.mark.parametrize(
    "problem",
    [
        Oscillating(rounds=30), Climbing(rounds=30), BadFamily(2), UnequalCurvature(rounds=30),
        UnequalVariance(rounds=30), CoordinateSwitching(30, ((10,), ())), switching(30),
        LinearSwitching(30), RandomLinear(rounds=30), Contrary(30, CUBE),
    ],
    ids=lambda problem: type(problem).__name__,
)  # fmt: skip
def test_problems_have_losses_of_their_own_coordinates(problem: Problem) -> None:
    transcript = play(Descent(GlobalRate()), problem, keep_points=True)
    assert transcript.rounds == problem.rounds
    assert transcript.points is not None
    assert all(problem.domain.contains(point) for point in transcript.points)
    for loss, gradient in zip(transcript.rounds_losses, transcript.gradients, strict=True):
        where = loss.coordinates.tolist()
        assert len(set(where)) == len(where) == len(gradient) == len(loss.curvature)
        assert all(0 <= i < problem.domain.dimensions for i in where)
    assert transcript.regret() >= transcript.regret_against(problem.domain.start)


def test_problems_repeat_themselves() -> None:
    for make in (RandomLinear, UnequalCurvature, UnequalVariance):
        first, second = play(per_coordinate(), make(40)), play(per_coordinate(), make(40))
        other = play(per_coordinate(), make(40, seed=1))
        assert first.losses == second.losses != other.losses


def test_switching_targets() -> None:
    problem = CoordinateSwitching(6, ((2, 4), (5,)))
    assert [problem.targets(t).tolist() for t in range(1, 7)] == [
        [0, 0], [1, 0], [1, 0], [0, 0], [0, 1], [0, 1],
    ]  # fmt: skip
    assert switching(10).switches == ((6,),)


def test_an_adversary_sees_the_point() -> None:
    transcript = play(per_coordinate(), Contrary(100, CUBE), keep_points=True)
    assert transcript.points is not None
    for point, loss in zip(transcript.points, transcript.rounds_losses, strict=True):
        i = loss.coordinates[0]
        assert loss.gradient(point[[i]])[0] == (1.0 if point[i] > 0 else -1.0)
    assert transcript.regret() > 0


class WritesOnThePoint(Problem):
    """Looks at the point it is shown, and remembers it."""

    domain = CUBE
    rounds = 5

    def __init__(self) -> None:
        self.shown: list[list[float]] = []

    def loss(self, round: int, point: Point) -> Quadratic:
        self.shown.append(point.tolist())
        return linear([0, 1, 2], [1.0, -1.0, 0.5])


def test_the_point_shown_is_the_point_played() -> None:
    problem = WritesOnThePoint()
    transcript = play(per_coordinate(), problem)
    assert problem.shown == [at.tolist() for at in transcript.played]


NEEDS_A_BOX: dict[str, Callable[[], Algorithm]] = {
    "per-coordinate rates": per_coordinate,
    "composite": lambda: Composite(AdaptiveDescent),
    "full matrix": FullMatrixAdaGrad,
    "joint history": lambda: JointLeadingHistory(1.0),
}


@pytest.mark.parametrize("domain", [L2Ball(np.zeros(2), 1.0), Simplex(2)], ids=["ball", "simplex"])
@pytest.mark.parametrize("name", NEEDS_A_BOX)
def test_algorithms_refuse_sets_they_are_not_for(name: str, domain: Domain) -> None:
    with pytest.raises(SpecError, match="box"):
        play(NEEDS_A_BOX[name](), Recorded(domain, [linear([0], 1.0)]))


def test_the_rate_for_a_horizon_needs_one() -> None:
    with pytest.raises(SpecError, match="number of rounds"):
        Descent(HorizonRate(largest=1.0)).start(CUBE)


def test_coupled_rules_cannot_learn_apart() -> None:
    for rule in (Global(), CW()):
        with pytest.raises(SpecError, match="coupled"):
            RuleLearner(rule, -1.0, 1.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("problem", [RandomLinear(rounds=2000), UnequalVariance(rounds=300)])
def test_descent_by_coordinate_is_the_rule_of_the_library(problem: Problem) -> None:
    """Algorithm 1 written three times: as descent, as a rule, and as FTRL-Proximal's limit."""
    ours = play(per_coordinate(), problem, keep_points=True)
    rule = partial(RuleLearner, PerCoordinate(rate="theory"))
    theirs = play(Composite(rule), problem, keep_points=True)
    assert np.array_equal(ours.points or [], theirs.points or [])
    assert ours.bound() == theirs.bound()


@pytest.mark.parametrize(
    "make",
    [
        per_coordinate, lambda: Descent(GlobalRate()), DiagonalFTPRL, FullMatrixAdaGrad,
        lambda: Composite(AdaptiveDescent, "quadratic"), lambda: Composite(Optimistic),
        lambda: Composite(partial(LeadingHistory, curvature=1.0)), lambda: JointLeadingHistory(1.0),
        lambda: Composite(partial(RuleLearner, PerCoordinate(rate="theory"))),
    ],
)  # fmt: skip
def test_a_coordinate_that_cannot_move_does_no_harm(make: Callable[[], Algorithm]) -> None:
    """§4's bias coordinate: an interval of one point."""
    box = Box(np.array([1.0, -1.0]), np.array([1.0, 1.0]))
    everywhere = np.arange(2)
    losses = [Quadratic(everywhere, curvature=1.0, centre=0.5, slope=[3.0, -1.0])] * 10
    transcript = play(make(), Recorded(box, losses), keep_points=True)
    assert transcript.points is not None
    assert all(point[0] == 1 for point in transcript.points)
    assert transcript.points[-1][1] > 0


def test_an_algorithm_of_ones_own() -> None:
    class Stays(Algorithm):
        def start(self, domain: Domain, rounds: int | None = None) -> None:
            self.point = domain.start

        def feed(self, seen: Seen) -> None:
            return None

    transcript = play(Stays(), Climbing(rounds=5))
    assert transcript.regret() == 5
    assert transcript.bound() is None
