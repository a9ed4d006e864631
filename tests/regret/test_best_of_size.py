"""Are the best weights of a size in their set, above what is certified and below the start?"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from lessregret import Examples, InMemory, Learner, PerCoordinate, Rows
from lessregret.learners.losses import LOSSES
from lessregret.ledger import SHAPES, Shape
from lessregret.regret.best_of_size import FACTORS, Found, Value, best_of_sizes, sized_set
from lessregret.regret.best_of_size import least_loss as least
from tests.support.pairs import ONE_OF_EACH
from tests.support.streams import as_csr, random_rounds

COLUMNS = 30


def run_of(loss: str, *, intercept: bool = True) -> tuple[Learner, Examples]:
    """A certified run and its examples."""
    learner = Learner(
        loss, PerCoordinate(), columns=COLUMNS, intercept=intercept, certify=True, scale="none"
    )
    regression = not LOSSES[loss].is_classification
    rows = as_csr(list(random_rounds(5, 400, COLUMNS, regression=regression)))
    indptr, indices, values, labels, importances = rows
    examples = Examples.collect(Rows(indptr, indices, values, labels, importances, space=learner))
    learner.learn(examples)
    return learner, examples


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", ONE_OF_EACH)
def test_points_are_above_what_is_certified_and_below_the_start(loss: str, intercept: bool) -> None:
    learner, examples = run_of(loss, intercept=intercept)
    ledger, passes = learner.ledger(), InMemory(examples, loss)
    assert ledger.certificate is not None
    slot = COLUMNS if intercept else None
    found = best_of_sizes(passes, ledger.certificate, slot, seconds=1e9)
    assert [(each.shape, each.radius) for each in found] == [
        (shape, factor * ledger.certificate.size(shape)) for factor in FACTORS for shape in SHAPES
    ]
    start = passes.look(np.zeros(len(passes.slots)), 0.01).loss / passes.total
    for each in found:
        assert ledger.certified(each.radius, each.shape) <= each.loss <= start
    for shape in SHAPES:
        losses = [each.loss for each in found if each.shape == shape]
        assert losses == sorted(losses, reverse=True)
        assert losses[-1] < 0.95 * start


def test_the_search_ends_in_time() -> None:
    learner, examples = run_of("logistic")
    certificate = learner.ledger().certificate
    assert certificate is not None
    passes = InMemory(examples, "logistic")
    assert best_of_sizes(passes, certificate, COLUMNS, seconds=-1.0) == []
    asked = iter([True, True, False])
    found = best_of_sizes(passes, certificate, COLUMNS, go_on=lambda: next(asked))
    assert [each.shape for each in found] == ["box", "ball"]


class Bowl:
    """A quadratic with unequal curvatures."""

    centre = np.array([2.0, -1.0, 0.5, 3.0])
    curvatures = np.array([1.0, 9.0, 0.1, 4.0])

    def at(self, point: np.ndarray) -> Value:
        way = point - self.centre
        loss = float(self.curvatures @ way**2)
        return Value(loss, loss, 2 * self.curvatures * way)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("radius", [0.2, 1.0, 9.0])
def test_the_best_point_is_that_of_another_solver(shape: Shape, radius: float) -> None:
    bowl, mask = Bowl(), np.array([False, False, False, True])
    feasible, start = sized_set(shape, radius, mask, 1.5), np.zeros(4)
    found = least(bowl, feasible, Found(start, bowl.at(start).loss), steps=400)
    norms = {
        "box": lambda w: radius - np.abs(w[:3]),
        "ball": lambda w: radius**2 - w[:3] @ w[:3],
        "l1": lambda w: radius - np.abs(w[:3]).sum(),
    }
    limits = [
        {"type": "ineq", "fun": norms[shape]},
        {"type": "ineq", "fun": lambda w: 1.5 - abs(w[3])},
    ]
    other = minimize(lambda w: bowl.at(w).loss, start, method="SLSQP", constraints=limits)
    assert found.loss == pytest.approx(other.fun, rel=1e-4, abs=1e-5)
    assert feasible.features.contains(found.point[:3])
    assert abs(found.point[3]) <= 1.5
