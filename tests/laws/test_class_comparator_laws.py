"""Is the best fixed point of many classes what it is said to be, and the regret an interval?"""

from __future__ import annotations

from math import isfinite

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array

from lessregret.data.examples import Examples
from lessregret.errors import InputError
from lessregret.learners.class_loss import ClassLoss
from lessregret.learners.learner import Learner
from lessregret.learners.losses import LOSSES, loss_named
from lessregret.learners.rules import RULES, PerCoordinate
from lessregret.regret.comparator import best_fixed, class_passes
from lessregret.regret.measure import FromMemory, measure

CLASSIFYING = [name for name in LOSSES if LOSSES[name].is_classification]
LEARNING_MANY = [name for name in RULES if isfinite(RULES[name]().width)]
ROUNDS, COLUMNS, CODES, RADIUS = 120, 4, [3, 5, 8], 1.5


def problem(rounds: int = ROUNDS) -> tuple[csr_array, np.ndarray, np.ndarray]:
    """Sparse rows, labels that follow them, and importances, some of them 0."""
    draws = np.random.default_rng(11)
    X = draws.normal(size=(rounds, COLUMNS)) * (draws.random((rounds, COLUMNS)) < 0.7)
    margins = X @ draws.normal(size=(COLUMNS, len(CODES))) + draws.gumbel(size=(rounds, len(CODES)))
    return csr_array(X), np.array(CODES)[margins.argmax(1)], draws.integers(0, 3, rounds)


def examples(loss: str, rounds: int = ROUNDS) -> Examples:
    X, y, importances = problem(rounds)
    learner = Learner(loss, columns=COLUMNS, intercept=False, scale="none", classes=CODES)
    return Examples.from_csr(X, y, importances, space=learner)


def total_loss(loss: str, weights: np.ndarray) -> float:
    """The loss of weights, a column for each class, by the readable formula."""
    X, y, importances = problem()
    own, margins = ClassLoss(loss_named(loss)), (X @ weights).tolist()
    rounds = zip(margins, y.tolist(), importances.tolist(), strict=True)
    return sum(h * own.value(p, CODES.index(label)) for p, label, h in rounds)


def as_matrix(passes_slots: np.ndarray, point: np.ndarray) -> np.ndarray:
    """A point over the columns of passes as the weights of all features."""
    weights = np.zeros((COLUMNS, len(CODES)))
    weights[passes_slots[:: len(CODES)]] = point.reshape(-1, len(CODES))
    return weights


@pytest.mark.parametrize("loss", CLASSIFYING)
def test_looks_are_the_readable_loss_and_its_derivatives(loss: str) -> None:
    passes, draws = class_passes(examples(loss), loss, CODES), np.random.default_rng(1)
    temperature = 1e-9 if loss_named(loss).has_kink else 0.0
    for _ in range(5):
        point, way = draws.normal(size=(2, len(passes.slots)))
        look = passes.look(point, temperature)
        assert look.loss == pytest.approx(total_loss(loss, as_matrix(passes.slots, point)))
        ahead, behind = (passes.look(point + s * 1e-6 * way, temperature) for s in (1, -1))
        slope = (ahead.smooth - behind.smooth) / 2e-6
        assert look.gradient @ way == pytest.approx(slope, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("loss", ["logistic", "squared-hinge"])
def test_hessian_products_are_those_of_the_gradients(loss: str) -> None:
    passes, draws = class_passes(examples(loss), loss, CODES), np.random.default_rng(2)
    point, way = draws.normal(size=(2, len(passes.slots)))
    look, step = passes.look(point, 0.0), 1e-7
    bend = (
        passes.look(point + step * way, 0.0).gradient
        - passes.look(point - step * way, 0.0).gradient
    )
    assert passes.times(look, way) == pytest.approx(bend / (2 * step), rel=1e-4, abs=1e-4)
    units = [passes.times(look, unit)[k] for k, unit in enumerate(np.eye(len(point)))]
    assert passes.diagonal(look) == pytest.approx(np.array(units), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("loss", CLASSIFYING)
def test_the_dual_value_is_a_lower_bound_at_every_point(loss: str) -> None:
    best = best_fixed(examples(loss), loss, RADIUS, gap=1e-5, classes=CODES)
    draws = np.random.default_rng(3)
    for _ in range(50):
        other = draws.uniform(-RADIUS, RADIUS, (COLUMNS, len(CODES)))
        assert best.lower <= total_loss(loss, other) + 1e-9
    assert best.lower <= best.total
    assert best.gap <= 1e-5
    weights = as_matrix(best.slots, best.weights)
    assert np.abs(weights).max() <= RADIUS
    assert best.total == pytest.approx(total_loss(loss, weights))


@pytest.mark.parametrize("loss", ["logistic", "squared-hinge"])
def test_the_best_is_that_of_scipy(loss: str) -> None:
    best = best_fixed(examples(loss), loss, RADIUS, gap=1e-7, classes=CODES)
    shape = COLUMNS, len(CODES)
    found = minimize(
        lambda weights: total_loss(loss, weights.reshape(shape)),
        np.zeros(COLUMNS * len(CODES)),
        method="L-BFGS-B",
        bounds=[(-RADIUS, RADIUS)] * (COLUMNS * len(CODES)),
        options={"ftol": 1e-14, "gtol": 1e-8, "maxfun": 100_000},
    )
    assert best.lower <= found.fun + 1e-9
    assert best.total <= found.fun + 1e-4
    assert best.of_classes(len(CODES)).shape == shape


@pytest.mark.filterwarnings("ignore::lessregret.regret.comparator.GapWarning")
@pytest.mark.parametrize("loss", CLASSIFYING)
@pytest.mark.parametrize("rule", LEARNING_MANY)
def test_regret_is_at_most_linearised_and_that_at_most_the_bound(loss: str, rule: str) -> None:
    fields = RULES[rule].__dataclass_fields__
    asked = {"rate": 0.5, "radius": RADIUS}
    own = RULES[rule](**{key: value for key, value in asked.items() if key in fields})

    def make(each: object) -> Learner:
        settings = {"columns": COLUMNS, "intercept": False, "certify": True, "scale": "none"}
        return Learner(loss, own, classes=CODES, **settings)  # type: ignore[arg-type]

    # The coin plays on values within ±1, so all rules get such.
    X, y, importances = problem(600)
    X.data = np.clip(X.data, -1, 1)
    given = Examples.from_csr(X, y, importances, space=make(own))
    [measured] = measure({rule: own}, make, FromMemory(given), radius=RADIUS, gap=1e-5)
    for mark in measured.marks:
        assert mark.regret_low is not None
        assert mark.regret_high is not None
        assert mark.linear_regret is not None
        assert mark.regret_low <= mark.regret_high + 1e-9
        assert mark.regret_low <= mark.linear_regret + 1e-6
        if mark.bound is not None:
            assert mark.linear_regret <= mark.bound * (1 + 1e-5)


def test_a_search_goes_on_from_a_point_of_fewer_classes() -> None:
    own = PerCoordinate(rate=0.5, radius=RADIUS)

    def make(rule: object) -> Learner:
        settings = {"columns": COLUMNS, "intercept": False, "certify": True, "scale": "none"}
        return Learner("logistic", own, classes="auto", **settings)  # type: ignore[arg-type]

    X, y, _ = problem(4096)
    y[:1000][y[:1000] == CODES[2]] = CODES[0]
    given = Examples.from_csr(X, y, space=make(own))
    [measured] = measure({"mine": own}, make, FromMemory(given), radius=RADIUS)
    widths = [len(mark.best.slots) // COLUMNS for mark in measured.marks if mark.best]
    assert widths == [2, 3, 3, 3]
    for mark in measured.marks:
        assert mark.regret_low is not None
        assert mark.linear_regret is not None
        assert mark.regret_low <= mark.linear_regret + 1e-9


def test_a_label_that_is_no_class_is_refused() -> None:
    with pytest.raises(InputError, match="one of the 2 classes"):
        class_passes(examples("logistic"), "logistic", CODES[:2])


def test_a_saved_point_of_many_classes_is_a_start(tmp_path: object) -> None:
    given = examples("logistic")
    best = best_fixed(given, "logistic", RADIUS, gap=1e-6)
    again = best_fixed(given, "logistic", RADIUS, gap=1e-6, start=best)
    assert again.total == pytest.approx(best.total, abs=1e-3)
    assert again.passes <= best.passes
