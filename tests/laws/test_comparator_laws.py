"""lower ≤ optimum ≤ total ≤ the value of any other point, and the gap closes.

The optimum is found another way (``tests/hindsight.py``). What finds it stops a little above it,
so it may be above ``total`` by its own slack and never below ``lower``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from lessregret.learners.learner import Learner
from lessregret.learners.rules import PerCoordinate
from lessregret.regret.comparator import BestFixed, best_fixed
from lessregret.regret.comparator.objective import Objective
from tests.support.adversaries import GENERATED
from tests.support.hindsight import Floats, Problem, examples_of, optimum

SMOOTH = ["logistic", "squared"]
LOSSES = [*SMOOTH, "hinge"]
ROUNDED = 1e-9
"""Slack for sums that are added in another order, relative."""
FOUND = 1e-6
"""How far above the optimum the other ways may stop, relative."""

Ends = Callable[[int], tuple[Floats, Floats]]


def same_ends(low: float, high: float) -> Ends:
    return lambda columns: (np.full(columns, low), np.full(columns, high))


def own_ends(columns: int) -> tuple[Floats, Floats]:
    places = np.arange(columns, dtype=np.float64)
    return -0.1 - places, 0.2 + places / 2


BOXES: dict[str, Ends] = {
    "0.3": same_ends(-0.3, 0.3),
    "1": same_ends(-1.0, 1.0),
    "100": same_ends(-100.0, 100.0),
    "without 0": same_ends(0.5, 2.0),
    "per coordinate": own_ends,
}
L2 = [(0.0, "active"), (0.01, "active"), (0.01, "all")]


def random_problem(seed: int, loss: str, ends: Ends, l2: float, l2_scope: str) -> Problem:
    """At most 24 examples of at most 5 columns; some rows twice, importances down to 0."""
    rng = np.random.default_rng(seed)
    examples, columns = int(rng.integers(1, 25)), int(rng.integers(1, 6))
    rows = np.where(rng.random((examples, columns)) < 0.7, rng.normal(size=(examples, columns)), 0)
    rows = rows.astype(np.float32).astype(np.float64)[rng.integers(examples, size=examples)]
    labels = np.where(rng.random(examples) < 0.6, 1.0, -1.0)
    if loss == "squared":
        labels = rng.normal(size=examples).astype(np.float32).astype(np.float64)
    importances = rng.choice([0.0, 0.25, 1.0, 2.5, 7.0], size=examples)
    importances[0] = 0.5
    return Problem(loss, rows, labels, importances, *ends(columns), l2, l2_scope)


problems = st.builds(
    random_problem,
    st.integers(0, 2**32 - 1),
    st.sampled_from(LOSSES),
    st.sampled_from(list(BOXES.values())),
    *[st.shared(st.sampled_from(L2), key="l2").map(lambda pair, i=i: pair[i]) for i in range(2)],
)


def broken_promises(problem: Problem, best: BestFixed) -> list[str]:
    """Which of the promises about an answer do not hold."""
    point, least, unmet = problem.point(best), optimum(problem), problem.unmet
    slack = ROUNDED * (1 + abs(best.total))
    found = FOUND * (1 + abs(least))
    rivals = list(np.random.default_rng(0).uniform(problem.low, problem.high, (50, len(point))))
    lowest = min(problem.value(rival) for rival in [*rivals, *learned_points(problem)])
    promises = {
        "the point is in the box": bool(((problem.low <= point) & (point <= problem.high)).all()),
        "total is the value of the point": abs(problem.value(point) - unmet - best.total) <= slack,
        "lower is not above the optimum": best.lower + unmet <= least + slack,
        "total is not below the optimum": least <= best.total + unmet + found,
        "no rival is below lower": best.lower + unmet <= lowest + slack,
        "no rival is better by more than the gap": best.total + unmet
        <= lowest + best.gap * best.importance + slack,
    }
    return [promise for promise, holds in promises.items() if not holds]


def learned_points(problem: Problem) -> list[Floats]:
    """What learners end with: good points, and of the box."""
    columns, points = len(problem.low), []
    for rate in (0.1, 1.0):
        rule = PerCoordinate(rate=rate)
        learner = Learner(
            problem.loss, rule, columns=columns, intercept=False,
            box=problem.box, l2=problem.l2, l2_scope=problem.l2_scope, scale="none",
        )  # fmt: skip
        learner.learn(problem.examples())
        weights = [learner.weight(slot) for slot in range(columns)]
        points.append(np.clip(weights, problem.low, problem.high))
    return points


def answer(problem: Problem, gap: float) -> BestFixed:
    return best_fixed(
        problem.examples(), problem.loss, problem.box, problem.l2,
        gap=gap, l2_scope=problem.l2_scope,
    )  # fmt: skip


@given(problem=problems)
@settings(GENERATED, max_examples=60)
def test_the_enclosure_holds_and_the_gap_closes(problem: Problem) -> None:
    best = answer(problem, 1e-4)
    assert best.gap <= 1e-4
    assert broken_promises(problem, best) == []


@given(problem=problems)
@settings(GENERATED, max_examples=30)
def test_small_gaps_close_too(problem: Problem) -> None:
    best = answer(problem, 1e-6)
    assert best.gap <= 1e-6
    assert broken_promises(problem, best) == []


@pytest.mark.parametrize("l2", L2, ids=str)
@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_kind_of_problem(loss: str, box: str, l2: tuple[float, str]) -> None:
    """Each at least once, whatever hypothesis draws."""
    problem = random_problem(7, loss, BOXES[box], *l2)
    best = answer(problem, 1e-3)
    assert best.gap <= 1e-3
    assert broken_promises(problem, best) == []


def without_penalty(objective: Objective, slopes: Floats) -> Floats:
    """The linear part only, at its lowest."""
    return np.where(slopes > 0, objective.low, objective.high) * slopes


def double_penalty(objective: Objective, slopes: Floats) -> Floats:
    """λ where ½λ should be."""
    low, high, strength = objective.low, objective.high, 2 * objective.strength
    return SOUND(Objective(objective.passes, low, high, strength), slopes)


def other_sign(objective: Objective, slopes: Floats) -> Floats:
    return -SOUND(objective, slopes)


def other_slopes(objective: Objective, slopes: Floats) -> Floats:
    return SOUND(objective, -slopes)


def lower_by_a_little(objective: Objective, slopes: Floats) -> Floats:
    return SOUND(objective, slopes) - 0.01


def only_the_upper_end(objective: Objective, slopes: Floats) -> Floats:
    return slopes * objective.high


SOUND = Objective._least

TOO_HIGH = [double_penalty, other_sign, only_the_upper_end]
TOO_LOW = [without_penalty, lower_by_a_little, other_slopes]


@pytest.mark.filterwarnings("ignore::lessregret.regret.comparator.GapWarning")
@pytest.mark.parametrize("least", TOO_HIGH)
def test_a_bound_too_high_is_caught(
    least: Callable[[Objective, Floats], Floats], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Objective, "_least", least)
    found = [broken_promises(problem, answer(problem, 1e-4)) for problem in examples_to_break()]
    assert any("lower is not above the optimum" in promises for promises in found)


@pytest.mark.filterwarnings("ignore::lessregret.regret.comparator.GapWarning")
@pytest.mark.parametrize("least", TOO_LOW)
def test_a_bound_too_low_never_closes_the_gap(
    least: Callable[[Objective, Floats], Floats], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Objective, "_least", least)
    monkeypatch.setattr("lessregret.regret.comparator.best.LONGEST", 100)
    assert any(answer(problem, 1e-4).gap > 1e-4 for problem in examples_to_break())


def examples_to_break() -> list[Problem]:
    kinds = [(loss, box) for loss in SMOOTH for box in ("1", "without 0", "per coordinate")]
    return [random_problem(3, loss, BOXES[box], 0.1, "all") for loss, box in kinds]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda best: replace(best, loss=best.loss - 0.1),
        lambda best: replace(best, penalty=0.0),
        lambda best: replace(best, weights=best.weights + 0.1),
        lambda best: replace(best, lower=best.total + 1e-3),
    ],
    ids=["loss too small", "penalty left out", "another point", "lower above total"],
)
def test_a_spoilt_answer_is_caught(spoil: Callable[[BestFixed], BestFixed]) -> None:
    problem = random_problem(3, "logistic", BOXES["1"], 0.1, "active")
    best = answer(problem, 1e-6)
    assert broken_promises(problem, best) == []
    assert broken_promises(problem, spoil(best))


def test_a_grid_finds_nothing_better() -> None:
    for loss, seed in [(loss, seed) for loss in LOSSES for seed in range(4)]:
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(8, 2)).astype(np.float32).astype(np.float64)
        labels, importances = rng.choice([-1.0, 1.0], size=8), rng.choice([0.5, 2.0], size=8)
        problem = Problem(loss, rows, labels, importances, *same_ends(-1.0, 1.0)(2), 0.01)
        best = answer(problem, 1e-5)
        ticks = np.linspace(-1, 1, 81)
        grid = min(problem.value(np.array([a, b])) for a in ticks for b in ticks)
        assert best.lower <= grid
        assert best.total <= grid + 1e-5 * best.importance


@pytest.mark.parametrize(
    ("loss", "make"),
    [
        ("logistic", partial(LogisticRegression, solver="liblinear")),
        ("hinge", partial(LinearSVC, loss="hinge")),
    ],
)
def test_liblinear_agrees_without_a_box(loss: str, make: Callable[..., object]) -> None:
    """Its C Σ ℓ + ½|w|² is ours divided by λ Σ h, so C = 1/(λ Σ h)."""
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(60, 4)).astype(np.float32).astype(np.float64)
    labels = np.where(rows @ [1, -2, 0.5, 0] + rng.normal(size=60) > 0, 1.0, -1.0)
    importances = rng.choice([0.5, 1.0, 4.0], size=60)
    l2 = 0.01
    theirs = make(C=1 / (l2 * importances.sum()), fit_intercept=False, tol=1e-8, max_iter=100_000,
                  random_state=0)  # fmt: skip
    theirs.fit(rows, labels, sample_weight=importances)
    problem = Problem(loss, rows, labels, importances, *same_ends(-np.inf, np.inf)(4), l2, "all")
    best = best_fixed(problem.examples(), loss, np.inf, l2, gap=1e-8, l2_scope="all")
    assert best.gap <= 1e-8
    least = problem.value(theirs.coef_[0])
    assert best.lower <= least
    assert best.total == pytest.approx(least, rel=1e-6)
    assert problem.point(best) == pytest.approx(theirs.coef_[0], abs=2e-3)


def test_a_learner_is_within_its_interval_of_regret() -> None:
    """Regret by the optimum found another way lies between low and high, below the certificate."""
    rng = np.random.default_rng(8)
    rows = rng.normal(size=(200, 5)).astype(np.float32).astype(np.float64)
    labels = np.where(rows @ rng.normal(size=5) + rng.normal(size=200) > 0, 1.0, -1.0)
    ones = np.ones(200)
    learner = Learner("logistic", PerCoordinate(rate="theory", radius=1), columns=5, scale="none",
                      intercept=False, certify=True, l2=0.01)  # fmt: skip
    learner.learn(examples_of(rows, labels, ones, learner))
    problem = Problem("logistic", rows, labels, ones, *same_ends(-1.0, 1.0)(5), 0.01)
    ledger = learner.ledger()
    regret = answer(problem, 1e-5).regret(ledger)
    true = ledger.total - optimum(problem)
    assert regret.low - FOUND * ledger.total <= true <= regret.high + FOUND * ledger.total
    assert regret.high - regret.low <= 200 * 1e-5
    assert ledger.linear_regret is not None
    assert ledger.bound is not None
    assert regret.high <= ledger.linear_regret <= ledger.bound


def test_rows_and_matrix_are_the_same() -> None:
    rows = np.array([[1.0, 0.0], [0.5, 2.0], [0.0, -1.0]])
    labels, ones = np.array([1.0, -1.0, 1.0]), np.ones(3)
    problem = Problem("logistic", rows, labels, ones, *same_ends(-1.0, 1.0)(2))
    given = best_fixed((csr_array(rows), labels), "logistic", 1.0)
    assert given.weights.tobytes() == answer(problem, 1e-4).weights.tobytes()
