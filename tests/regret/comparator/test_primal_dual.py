"""The search for a piecewise linear loss: the gap is reached, and the bound is never too high."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.sparse import csr_array, hstack

from lessregret.data.datasets import DataFile
from lessregret.data.datasets.loaders import svmlight
from lessregret.data.examples import Examples
from lessregret.learners.learner import Learner
from lessregret.regret.comparator import best_fixed, iterate_best_fixed, primal_dual
from lessregret.regret.comparator.floats import Floats
from lessregret.regret.comparator.hinges import Hinges
from lessregret.regret.comparator.objective import Objective
from lessregret.regret.comparator.passes import InMemory, Look, Passes
from tests.support.data_home import home_with
from tests.support.hindsight import Problem, optimum

RADII = [0.05, 1.0, 10.0, 1000.0]
FEW = 300
"""Passes: 33 steps. The search by a smooth loss needs thousands here, and misses the gap."""


def labelled(rng: np.random.Generator, rows: Floats, noise: float = 1.0) -> Floats:
    margins = rows @ rng.normal(size=rows.shape[1])
    noisy = margins - np.median(margins) + noise * margins.std() * rng.normal(size=len(margins))
    return np.where(noisy > 0, 1.0, -1.0)


def one_hot(rng: np.random.Generator) -> Floats:
    """Ten fields whose columns add up to the intercept, as those of a census."""
    fields = [np.eye(12)[rng.integers(12, size=2000)] for _ in range(10)]
    return np.hstack([*fields, np.ones((2000, 1))])


def text(rng: np.random.Generator) -> Floats:
    """Few words of many, common ones and rare ones, at length 1."""
    counts = rng.multinomial(20, (1 / np.arange(1, 125)) / (1 / np.arange(1, 125)).sum(), 2000)
    return counts / np.linalg.norm(counts, axis=1)[:, None]


def dense(rng: np.random.Generator) -> Floats:
    return rng.normal(size=(2000, 124))


def repeated(rng: np.random.Generator) -> Floats:
    return rng.normal(size=(200, 124))[rng.integers(200, size=2000)]


SETS = {"one-hot": one_hot, "text": text, "dense": dense, "repeated": repeated}


def data_of(name: str, noise: float = 1.0) -> tuple[csr_array, Floats]:
    rng = np.random.default_rng(4)
    rows = SETS[name](rng)
    return csr_array(rows), labelled(rng, rows, noise)


def examples_of(rows: csr_array, labels: Floats, importances: Floats | None = None) -> Examples:
    space = Learner("hinge", columns=rows.shape[1], intercept=False)
    return Examples.from_csr(rows, labels, importances, space=space)


# --- the gap -----------------------------------------------------------------------------------


@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("name", SETS)
def test_the_gap_is_reached_in_few_passes(name: str, radius: float) -> None:
    best = best_fixed(data_of(name), "hinge", radius)
    assert best.gap <= 1e-4
    assert best.passes <= FEW


@pytest.mark.parametrize("radius", RADII)
def test_the_gap_is_reached_on_a9a(radius: float) -> None:
    home, file = home_with(), DataFile("a9a/a9a")
    if home.find(file) is None:
        pytest.skip(f"the data home lacks {file.path}")
    X, y = svmlight([home.read(file)])
    rows = csr_array(hstack([X[:2000], np.ones((2000, 1))]))
    for importances in (None, np.random.default_rng(0).choice([0.5, 1.0, 3.0], 2000)):
        best = best_fixed(examples_of(rows, y[:2000], importances), "hinge", radius)
        assert best.gap <= 1e-4
        assert best.passes <= FEW


@pytest.mark.parametrize("radius", RADII)
def test_separable_examples(radius: float) -> None:
    best = best_fixed(data_of("dense", noise=0.0), "hinge", radius)
    assert best.gap <= 1e-4
    assert best.passes <= FEW
    assert (best.mean_loss < 1e-4) == (radius >= 10)


@pytest.mark.parametrize("l2", [1e-6, 1e-3, 1.0])
def test_with_l2_the_box_may_be_open(l2: float) -> None:
    for box in (10.0, np.inf, (-np.inf, 0.5)):
        best = best_fixed(data_of("text"), "hinge", box, l2)
        assert best.gap <= 1e-4
        assert best.passes <= FEW


def test_importances_may_differ_by_twelve_decades() -> None:
    rows, labels = data_of("text")
    importances = 10.0 ** np.random.default_rng(5).uniform(-6, 6, 2000)
    best = best_fixed(examples_of(rows, labels, importances), "hinge", 10.0)
    assert best.gap <= 1e-4
    assert best.passes <= FEW


def test_more_columns_than_rows() -> None:
    rng = np.random.default_rng(6)
    rows = rng.normal(size=(60, 500))
    best = best_fixed((csr_array(rows), rng.choice([-1.0, 1.0], 60)), "hinge", 0.01, gap=1e-8)
    assert best.gap <= 1e-8
    assert best.passes <= FEW


def test_small_gaps_are_reached_too() -> None:
    assert best_fixed(data_of("one-hot"), "hinge", 1.0, gap=1e-10).gap <= 1e-10


def test_a_search_that_rounding_ends_does_end() -> None:
    rows, labels = data_of("text")
    passes = InMemory(examples_of(rows, labels), "hinge")
    ends = np.full(len(passes.slots), 1e6)
    objective, hinges = Objective(passes, -ends, ends, 0 * ends), passes.hinges()
    assert hinges is not None
    views = [view for view, _ in primal_dual.search(objective, hinges)]
    gaps = [view.total - view.lower for view in views]
    assert primal_dual.PATIENCE < len(gaps) < 100
    assert min(gaps) < 1e-4 * passes.total


def test_a_start_is_not_lost() -> None:
    rows, labels = data_of("text")
    start = best_fixed((rows, labels), "hinge", 1.0)
    first = next(iterate_best_fixed((rows, labels), "hinge", 1.0, start=start))
    assert (first.total, first.passes) == (start.total, 1)
    assert best_fixed((rows, labels), "hinge", 1.0, gap=1e-6, start=start).total <= start.total


# --- the bound ---------------------------------------------------------------------------------


def small_problem(seed: int, l2: float = 0.0) -> Problem:
    """At most 40 examples, of which some are equal, and a box of its own for each column."""
    rng = np.random.default_rng(seed)
    examples, columns = int(rng.integers(1, 41)), int(rng.integers(1, 9))
    rows = np.where(rng.random((examples, columns)) < 0.7, rng.normal(size=(examples, columns)), 0)
    rows = rows.astype(np.float32).astype(np.float64)[rng.integers(examples, size=examples)]
    labels, importances = rng.choice([-1.0, 1.0], examples), rng.choice([0.5, 1.0, 3.0], examples)
    low = rng.choice([-1000.0, -1.0, -0.1, 0.2], columns)
    high = low + rng.choice([0.1, 1.0, 1500.0], columns)
    return Problem("hinge", rows, labels, importances, low, high, l2)


def met(problem: Problem) -> Problem:
    """Without the columns that no example has."""
    kept = (problem.rows != 0).any(axis=0)
    low, high = problem.low[kept], problem.high[kept]
    rows = problem.rows[:, kept]
    return Problem("hinge", rows, problem.labels, problem.importances, low, high, problem.l2)


@pytest.mark.parametrize("seed", range(40))
def test_highs_agrees(seed: int) -> None:
    """The optimum of the linear program, by scipy's HiGHS, is between lower and total."""
    problem = met(small_problem(seed))
    least = optimum(problem)
    slack = 1e-9 * (1 + least)
    for best in iterate_best_fixed(problem.examples(), "hinge", problem.box, gap=1e-9):
        assert best.lower <= least + slack
        assert least - 1e-6 * (1 + least) <= best.total
    assert best.gap <= 1e-9
    assert best.total == pytest.approx(problem.value(problem.point(best)), rel=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_with_l2_another_solver_agrees(seed: int) -> None:
    problem = met(small_problem(seed, l2=0.01))
    least = optimum(problem)
    best = best_fixed(problem.examples(), "hinge", problem.box, 0.01, gap=1e-8)
    assert best.gap <= 1e-8
    assert best.lower <= least + 1e-9 * (1 + least)


@pytest.mark.parametrize("seed", range(20))
def test_no_shares_give_a_bound_above_the_optimum(seed: int) -> None:
    """Not even those that no search would find."""
    problem = met(small_problem(seed))
    passes = InMemory(problem.examples(), "hinge")
    objective = Objective(passes, *(end[passes.slots] for end in problem.box), 0.0 * passes.slots)
    hinges, least = passes.hinges(), optimum(problem)
    assert hinges is not None
    look = passes.look(np.clip(np.zeros(len(passes.slots)), objective.low, objective.high), 1.0)
    for shares in np.random.default_rng(seed).uniform(-1, 4, size=(50, len(hinges.weights))):
        dual, slopes = hinges.line(shares)
        changed = Look(look.point, 1.0, look.loss, look.smooth, dual, slopes, None)
        assert objective.certified(changed).lower <= least + 1e-9 * (1 + least)


# --- another loss ------------------------------------------------------------------------------


@dataclass
class Absolute(Passes):
    """Σ |x − y| over numbers y: two pieces an example, which no loss of the core has yet."""

    numbers: Floats

    def look(self, point: Floats, temperature: float) -> Look:
        loss = float(np.abs(point[0] - self.numbers).sum())
        return Look(point, temperature, loss, loss, 0.0, np.zeros(1), None)

    def diagonal(self, look: Look) -> Floats:
        raise NotImplementedError

    def times(self, look: Look, direction: Floats) -> Floats:
        raise NotImplementedError


@pytest.mark.parametrize(("radius", "best"), [(100.0, 3.0), (2.0, 2.0)])
def test_the_best_of_absolute_losses_is_the_median(radius: float, best: float) -> None:
    numbers = np.array([-1.0, 9.0, 3.0, 50.0, 2.5])
    sides = np.repeat([1.0, -1.0], 5)
    hinges = Hinges(csr_array(sides[:, None]), sides * np.tile(numbers, 2), np.ones(10))
    ends = np.array([radius])
    objective = Objective(Absolute(numbers), -ends, ends, np.zeros(1))
    *_, (view, _) = primal_dual.search(objective, hinges)
    assert view.look.point == pytest.approx([best], abs=1e-6)
    assert view.lower == pytest.approx(np.abs(best - numbers).sum(), abs=1e-6)
