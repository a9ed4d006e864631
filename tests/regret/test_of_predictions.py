"""Is the regret of any learner's predictions what it says, and is all true that is certified?"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from lessregret import InputError, Learner, PerCoordinate, Rows, SpecError, best_fixed, regret_of
from lessregret.learners.losses import LOSSES
from lessregret.ledger import SHAPES
from lessregret.regret.comparator import GapWarning
from lessregret.regret.of_predictions import RegretOf
from tests.support.pairs import ONE_OF_EACH

BINARY = [name for name in ONE_OF_EACH if LOSSES[name].is_classification]


class Played(NamedTuple):
    """Rows, labels, importances and predictions that nobody learned."""

    loss: str
    X: np.ndarray
    y: np.ndarray
    margins: np.ndarray
    importances: np.ndarray
    intercept: bool

    def measured(self, **options: Any) -> RegretOf:
        return regret_of(
            self.margins,
            self.X,
            self.y,
            self.loss,
            importances=self.importances,
            intercept=self.intercept,
            **options,
        )

    def mean_loss(self, weights: np.ndarray, constant: float) -> float:
        """The mean loss of fixed weights, from the definition of the loss."""
        margins = self.X @ weights + constant * self.intercept
        losses = [LOSSES[self.loss].value(p, y) for p, y in zip(margins, self.y, strict=True)]
        return float(self.importances @ losses / self.importances.sum())


@st.composite
def played(draw: st.DrawFn) -> Played:
    loss = draw(st.sampled_from(ONE_OF_EACH))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows, columns = draw(st.integers(1, 30)), draw(st.integers(1, 6))
    X = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < 0.7)
    y = rng.choice([-1.0, 1.0], rows) if loss in BINARY else rng.normal(3.0, 2.0, rows)
    margins = rng.normal(size=rows) * draw(st.sampled_from([0.0, 0.1, 1.0, 30.0]))
    # Margins at the kink of hinge loss are those where a slope is chosen.
    margins = np.where(rng.random(rows) < 0.2, y, margins)
    importances = rng.choice([0.0, 0.25, 1.0, 3.0], rows)
    importances[0] = 1.0
    return Played(loss, X, y, margins, importances, draw(st.booleans()))


def sizes(weights: np.ndarray) -> dict[str, float]:
    """The least radius of each shape that holds the weights."""
    absolute = np.abs(weights)
    return {"box": absolute.max(), "ball": np.linalg.norm(weights), "l1": absolute.sum()}


@given(played(), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1e-3, 0.3, 1.0, 20.0]))
def test_no_fixed_weights_lose_less_than_is_certified(run: Played, seed: int, scale: float) -> None:
    said, rng = run.measured(), np.random.default_rng(seed)
    vectors = [rng.normal(size=run.X.shape[1]), rng.choice([-1.0, 1.0], run.X.shape[1])]
    for direction in [*vectors, *np.eye(run.X.shape[1])]:
        weights, constant = scale * direction, scale * rng.normal()
        lost = run.mean_loss(weights, constant)
        limit = lost + 1e-9 * (1 + lost)
        assert said.against(weights, constant if run.intercept else 0.0) <= limit
        for shape in SHAPES:
            radius = sizes(weights)[shape]
            assert said.certified(radius, shape, abs(constant)) <= limit


@given(played(), st.sampled_from(SHAPES))
def test_larger_sets_are_certified_less(run: Played, shape: Any) -> None:
    said, radii = run.measured(), np.linspace(0, 3, 20)
    for intercept in (None, 0.0, 1.0):
        assert (np.diff(said.certified(radii, shape, intercept)) <= 0).all()
        alone = [said.certified(radius, shape, intercept) for radius in radii.tolist()]
        assert said.certified(radii, shape, intercept).tolist() == alone
    limits = [said.certified(1.0, shape, intercept) for intercept in (0.0, 0.5, 2.0)]
    assert limits == sorted(limits, reverse=True)


def test_where_the_loss_is_linear_the_certificate_is_the_least_loss() -> None:
    # Within |u·x| ≤ 0.6 every hinge is on its slope, so that the sum of the losses is linear.
    rng = np.random.default_rng(3)
    X, y = rng.uniform(-0.1, 0.1, (40, 5)), rng.choice([-1, 1], 40)
    run = Played("hinge", X, y, rng.uniform(-0.5, 0.5, 40), np.ones(40), True)
    said, slopes = run.measured(), -(X.T @ y)
    largest = np.argmax(np.abs(slopes))
    least = {
        "box": -np.sign(slopes),
        "ball": -slopes / np.linalg.norm(slopes),
        "l1": -np.sign(slopes[largest]) * np.eye(5)[largest],
    }
    constant = 0.1 * np.sign(y.sum())
    for shape in SHAPES:
        lost = run.mean_loss(least[shape], constant)
        assert said.certified(1.0, shape, abs(constant)) == pytest.approx(lost, rel=1e-12)
        assert said.against(least[shape], constant) == pytest.approx(lost, rel=1e-12)


@pytest.mark.parametrize("rate", ["auto", 0.3])
@pytest.mark.parametrize("loss", ONE_OF_EACH)
@pytest.mark.parametrize("intercept", [True, False])
def test_predictions_of_our_own_learner_say_what_its_ledger_says(
    loss: str, rate: Any, intercept: bool
) -> None:
    rng = np.random.default_rng(1)
    X = csr_array(rng.normal(size=(600, 4)).astype(np.float32))
    truth = X @ np.array([1.0, -0.5, 0.2, 0.0]) + rng.normal(size=600)
    y = np.sign(truth) if loss in BINARY else truth.astype(np.float32)
    importances = rng.choice([0.5, 1.0, 2.0], 600)
    learner = Learner(
        loss, PerCoordinate(rate=rate), columns=4, intercept=intercept, scale="none", certify=True
    )
    margins = learner.learn(Rows.from_csr(X, y, importances, space=learner)).margins
    ledger = learner.ledger()
    assert ledger.certificate is not None
    said = regret_of(
        margins,
        X,
        y,
        loss,
        importances=importances,
        intercept=intercept,
        intercept_weight=ledger.certificate.intercept_weight,
    )
    assert said.lost == pytest.approx(ledger.mean_loss, rel=1e-9)
    for shape in SHAPES:
        for radius in (0.0, 0.5, ledger.certificate.size(shape)):
            certified = ledger.certified(radius, shape)
            assert certified > 0
            assert said.certified(radius, shape) == pytest.approx(certified, rel=1e-9)
            assert said.certified(radius, shape, 0.1) == pytest.approx(
                ledger.certified(radius, shape, intercept=0.1), rel=1e-9
            )
    weights = rng.normal(size=4)
    all_slots = [*weights, 0.25] if intercept else weights
    assert said.against(weights, 0.25 * intercept) == pytest.approx(
        ledger.against(all_slots), rel=1e-9
    )


@pytest.fixture(scope="module")
def cancer() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("loss", ONE_OF_EACH)
def test_the_certificate_is_below_the_best_fixed_point(
    loss: str, cancer: tuple[np.ndarray, np.ndarray]
) -> None:
    X, y = cancer
    rows, labels = csr_array(np.column_stack([X, np.ones(len(X))])), np.where(y == 1, 1.0, -1.0)
    found = best_fixed((rows, labels), loss, 0.2, gap=1e-6)
    near = rows @ found.weights + 0.01 * np.random.default_rng(0).normal(size=len(X))
    said = regret_of(near, X, labels, loss, radius=0.2)
    assert 0 < said.certified() <= found.mean_total
    best = said.best(gap=1e-5)
    # The comparator reads float32, `best` the rows as they are.
    assert best.mean_total == pytest.approx(found.mean_total, abs=1e-5)
    # Where the search stops early, the predictions know more than it does.
    least = said.certificate.least(0.2, "box", 0.2)
    # Both may be the same sum, in another order.
    assert said.best(gap=10.0).lower >= least - 1e-12 * abs(least)
    low, high = said.regret(gap=1e-5)
    assert low == said.lost - best.mean_total
    assert low - 1e-5 <= said.lost - found.mean_total <= high + 1e-5
    assert high <= said.lost - said.certified()
    assert high - low == pytest.approx(best.gap, abs=1e-12)


@pytest.mark.parametrize("loss", ONE_OF_EACH)
def test_the_interval_holds_where_float32_cannot_tell_the_values(loss: str) -> None:
    # In float32 the two columns are equal, and no weights would lose less than those of 0.
    y = np.random.default_rng(2).choice([-1.0, 1.0], 200)
    X = np.column_stack([np.full(200, 2.0**24), 2.0**24 + y / 4])
    weights = np.array([-4.0, 4.0])
    run = Played(loss, X, y, np.zeros(200), np.ones(200), False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        best = run.measured().best(([-4.0, -3.0], [4.0, 5.0]), gap=1e-3)
    assert [told.category for told in caught] == [GapWarning] * (best.gap > 1e-3)
    assert best.lower / 200 <= run.mean_loss(weights, 0.0) + 1e-9
    found = np.zeros(2)
    found[best.slots] = best.weights
    assert best.mean_loss == pytest.approx(run.mean_loss(found, 0.0), rel=1e-9)


def test_the_box_can_have_ends_of_its_own_and_an_intercept_of_its_own() -> None:
    X, y = [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], [2.0, 3.0, 1.0]
    said = regret_of([0.0, 0.0, 0.0], X, y, "squared")
    free = said.best(10.0, gap=1e-9)
    by_slot = dict(zip(free.slots.tolist(), free.weights.tolist(), strict=True))
    assert by_slot == pytest.approx({0: 2.0, 1: 1.0, 2: 0.0}, abs=1e-3)
    held = said.best(([0.0, -1.0], [0.5, 1.0]), intercept=0.0, gap=1e-9)
    assert sorted(held.slots.tolist()) == [0, 1]
    assert sorted(held.weights) == pytest.approx([0.5, 1.0], abs=1e-3)
    assert held.mean_total == pytest.approx((1.5**2 + 1.5**2) / 3, abs=1e-6)


def test_dual_variables_of_a_support_vector_machine_certify_all_that_it_lost(
    cancer: tuple[np.ndarray, np.ndarray],
) -> None:
    X, y = cancer
    machine = SVC(kernel="linear", C=0.01, tol=1e-6).fit(X, y)
    slopes = np.zeros(len(X))
    slopes[machine.support_] = -machine.dual_coef_[0] / 0.01
    own = {"weights": machine.coef_, "intercept_weight": machine.intercept_}
    margins = machine.decision_function(X)
    said = regret_of(margins, X, y, "hinge", slopes=slopes, **own).statement
    plain = regret_of(margins, X, y, "hinge", **own).statement
    assert said is not None
    assert plain is not None
    assert said.certified == pytest.approx(said.lost, rel=1e-4)
    assert plain.certified < 0.99 * said.certified


@given(played(), st.integers(0, 2**32 - 1))
def test_given_slopes_certify_nothing_false(run: Played, seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = np.where(run.y > 0, 1.0, -1.0)
    margins = np.where(rng.random(len(y)) < 0.5, y * rng.uniform(0.99, 1.01, len(y)), run.margins)
    beyond = y * margins - 1
    kinked = np.abs(beyond) <= 0.0099
    slopes = -y * np.where(kinked, rng.random(len(y)), beyond < 0)
    hinge = run._replace(loss="hinge", y=y, margins=margins)
    said = hinge.measured(slopes=slopes)
    for scale in (0.1, 1.0, 5.0):
        weights, constant = scale * rng.normal(size=run.X.shape[1]), scale * rng.normal()
        lost = hinge.mean_loss(weights, constant)
        for shape in SHAPES:
            assert said.certified(sizes(weights)[shape], shape, abs(constant)) <= lost + 1e-9


def test_probabilities_are_the_margins_of_their_log_odds() -> None:
    X, y, p = [[1.0], [2.0], [0.5]], ["no", "yes", "no"], np.array([0.3, 0.9, 0.5])
    given_odds = regret_of(np.log(p / (1 - p)), X, y, radius=1.0)
    said = regret_of(p, X, y, kind="probabilities", radius=1.0)
    assert said.lost == pytest.approx(-np.log([0.7, 0.9, 0.5]).mean(), rel=1e-12)
    assert said.certified() == pytest.approx(given_odds.certified(), rel=1e-12)


@pytest.mark.parametrize("make", [csr_array, coo_array, np.array, list], ids=lambda make: str(make))
def test_tables_of_all_kinds_say_the_same(make: Any) -> None:
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(20, 3)) * (rng.random((20, 3)) < 0.5), rng.choice([0, 1], 20)
    margins = rng.normal(size=20)
    expected = regret_of(margins, X, y, radius=0.1)
    said = regret_of(margins, make(X), y, radius=0.1)
    assert said.certified() == pytest.approx(expected.certified(), rel=1e-12)
    assert said.certificate.sums == pytest.approx(expected.certificate.sums, rel=1e-12)
    assert said.regret() == pytest.approx(expected.regret(), abs=1e-9)


def test_dicts_have_a_column_for_each_name() -> None:
    examples = [{"age": 2.0, "word": "ham"}, {"word": "spam"}, {"age": -1.0, "word": "ham"}]
    X = [[2.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 1.0, 0.0]]
    margins, y = [0.5, 1.0, -0.25], [True, False, True]
    by_name = {"age": 0.5, "word=spam": -1.0, "never": 9.0}
    said = regret_of(margins, examples, y, weights=by_name, intercept_weight=0.5)
    same = regret_of(margins, X, y, weights=[[0.5, 0.0, -1.0]], intercept_weight=[0.5])
    assert said.as_dict() == same.as_dict()
    assert said.against(by_name) == same.against({0: 0.5, 2: -1.0}) == same.against([0.5, 0.0, -1])


def test_the_size_is_the_one_that_is_known() -> None:
    X, y, margins = [[1.0, 0.5], [0.2, -1.0]], [1, -1], [0.1, -0.1]
    unknown = regret_of(margins, X, y)
    assert unknown.statement is None
    assert unknown.certified(0.5) == unknown.certified(0.5, intercept=0.5)
    weighed = regret_of(margins, X, y, weights=[0.3, -0.4], intercept_weight=0.2)
    assert weighed.certified(shape="ball") == unknown.certified(0.5, "ball", 0.2)
    assert weighed.certified() == unknown.certified(0.4, "box", 0.2)
    sized = regret_of(margins, X, y, weights=[0.3, -0.4], radius=0.25)
    assert sized.certified() == unknown.certified(0.25, "box", 0.0)
    assert sized.statement is not None
    assert (sized.statement.shape, sized.statement.radius) == ("ball", 0.5)


def test_the_representation_is_one_line_that_says_it() -> None:
    X, y, margins = [[1.0, 0.5], [0.2, -1.0]], [1, -1], [0.1, -0.1]
    assert repr(regret_of(margins, X, y)) == (
        "<RegretOf: 2 predictions lost 0.644397; "
        "certified(radius) says what fixed weights lost at least>"
    )
    assert repr(regret_of(margins, X, y, radius=0.1)) == (
        "<RegretOf: 2 predictions lost 0.644397; "
        "fixed weights with |w_i| ≤ 0.1, |intercept| ≤ 0.1, lost at least 0.637271>"
    )
    assert repr(regret_of(margins, X, y, intercept=False, weights=[0.3, -0.4])) == (
        "<RegretOf: 2 predictions lost 0.644397; "
        "fixed weights with ‖w‖₂ ≤ 0.5 lost at least 0.490015>"
    )


X2, Y2, P2 = [[1.0, 0.5], [0.2, -1.0]], [1, -1], [0.1, -0.1]
INFINITE = "; its margin is infinite: give margins, or np.clip(p, 1e-15, 1 - 1e-15)"
TABLE = "a sparse matrix or an array of numbers with rows and columns, or a list of dicts"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"predictions": [0.1]}, "predictions: expected 2 entries, one for each row, found 1"),
        (
            {"predictions": [[0.5, 0.5], [0.1, 0.9]], "kind": "probabilities"},
            "predictions: expected 2 entries, one for each row, found an array of shape (2, 2); "
            "take the column of the positive class, [:, 1]",
        ),
        (
            {"predictions": [0.1, np.nan]},
            "predictions[1]: expected a finite number, found nan",
        ),
        (
            {"predictions": ["a", "b"]},
            "predictions: expected numbers, found an array of type <U1",
        ),
        (
            {"predictions": [0.1, 1.0], "kind": "probabilities"},
            f"predictions[1]: expected a probability above 0 and below 1, found 1.0{INFINITE}",
        ),
        (
            {"predictions": [-3.5, 0.5], "kind": "probabilities"},
            "predictions[0]: expected a probability above 0 and below 1, found -3.5",
        ),
        (
            {"predictions": [0.0, 1e200], "y": [0.0, 0.0], "loss": "squared"},
            "predictions[1]: expected a number whose loss is finite in float64, "
            "found 1e+200 for the label 0.0",
        ),
        ({"y": [1]}, "y: expected 2 entries, one for each row, found 1"),
        (
            {"y": [0, 0]},
            "y: expected labels -1 and 1, or two other classes, found 1 class: 0",
        ),
        (
            {"X": [[1.0]] * 3, "y": ["a", "b", "c"], "predictions": [0.0] * 3},
            "y: expected labels -1 and 1, or two other classes, found 3 classes: 'a', 'b', 'c'",
        ),
        ({"y": [1.0, np.nan]}, "y[1]: expected a finite number, found nan"),
        ({"y": [1, None]}, "y: expected -1 and 1, found labels that cannot be sorted"),
        ({"y": [1.0, np.inf], "loss": "squared"}, "y[1]: expected a finite number, found inf"),
        ({"X": [1.0, 2.0]}, f"X: expected {TABLE}, found an array of shape (2,)"),
        ({"X": [["a"], ["b"]]}, f"X: expected {TABLE}, found a list"),
        ({"X": [[1.0, 0.0], [0.0, np.inf]]}, "X[1, 1]: expected a finite number, found inf"),
        (
            {"X": csr_array([[1.0, 0.0], [0.0, np.nan]])},
            "X[1, 1]: expected a finite number, found nan",
        ),
        (
            {"X": [{"a": 1.0}, {"a": np.nan}]},
            "X[1]['a']: expected a finite number or a string, found nan",
        ),
        (
            {"X": [[1e308, 1.0], [-1e308, 1.0]], "importances": [9.0, 9.0]},
            "X: expected values of moderate size; scale them, "
            "found values so large that their sums are not finite",
        ),
        (
            {"importances": [1.0, -1.0]},
            "importances[1]: expected a number from 0 up, found -1.0",
        ),
        (
            {"importances": [0.0, 0.0]},
            "the examples: expected at least one of an importance above 0, found none",
        ),
        ({"weights": [1.0]}, "weights: expected 2 entries, one for each column, found 1"),
        ({"weights": [1.0, np.nan]}, "weights[1]: expected a finite number, found nan"),
        (
            {"intercept_weight": [1.0, 2.0]},
            "intercept_weight: expected 1 entry, one for each model, found 2",
        ),
        (
            {"loss": "hinge", "slopes": [0.0, 1.0]},
            "slopes[0]: expected -1, for the margin 0.1 and the label 1, found 0",
        ),
        (
            {"loss": "hinge", "predictions": [3.0, -1.0], "slopes": [-0.5, 0.5]},
            "slopes[0]: expected 0, for the margin 3 and the label 1, found -0.5",
        ),
        (
            {"loss": "hinge", "predictions": [1.0, -1.0], "slopes": [-0.5, -0.5]},
            "slopes[1]: expected a number between -label and 0, for the margin -1 and the label "
            "-1, found -0.5",
        ),
    ],
)
def test_wrong_data_are_told(changed: dict[str, Any], message: str) -> None:
    arguments = {"predictions": P2, "X": X2, "y": Y2, **changed}
    with pytest.raises(InputError) as caught:
        regret_of(**arguments)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"loss": "log"},
            f"unknown loss 'log'; did you mean 'logistic'? The losses are {', '.join(LOSSES)}",
        ),
        ({"kind": "logits"}, "kind must be one of margins, probabilities, found 'logits'"),
        (
            {"kind": "probabilities", "loss": "hinge"},
            "kind 'probabilities' is for logistic loss, found loss 'hinge'; "
            "give margins, as decision_function returns them",
        ),
        ({"radius": -1.0}, "radius must be a number from 0 up, found -1.0"),
        ({"radius": [1.0]}, "radius must be a number from 0 up, found [1.0]"),
        ({"intercept": "no"}, "intercept must be True or False, found 'no'"),
        (
            {"intercept": False, "intercept_weight": 0.5},
            "intercept_weight is 0.5, but there is no intercept: leave it out",
        ),
        (
            {"slopes": [0.0, 0.0]},
            "slopes are for hinge loss, whose kink has many; those of logistic loss follow from "
            "the predictions: leave out slopes",
        ),
    ],
)
def test_wrong_requests_are_told(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError) as caught:
        regret_of(P2, X2, Y2, **changed)
    assert str(caught.value) == message


BOX = (
    "radius must be a number above 0, or a pair (low, high) of numbers or of arrays with a number "
    "for each of the 2 columns, low < high, found "
)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda said: said.certified(),
            "radius: expected a size of weights, found none; give it here, or give regret_of the "
            "radius or the weights of the model",
        ),
        (lambda said: said.certified("2"), None),
        (
            lambda said: said.certified(1.0, "cube"),
            "shape must be one of box, ball, l1, found 'cube'",
        ),
        (
            lambda said: said.certified(np.nan),
            "radius must be a number from 0 up, found nan",
        ),
        (
            lambda said: said.certified("wide"),
            "radius must be a number from 0 up, found 'wide'",
        ),
        (
            lambda said: said.certified(1.0, intercept=-1.0),
            "intercept must be a number from 0 up, found -1.0",
        ),
        (lambda said: said.regret(0.0), f"{BOX}0.0"),
        (lambda said: said.best("wide"), f"{BOX}'wide'"),
        (lambda said: said.best((1.0, -1.0)), f"{BOX}(1.0, -1.0)"),
        (
            lambda said: said.best(([0.0] * 3, [1.0] * 3)),
            f"{BOX}([0.0, 0.0, 0.0], [1.0, 1.0, 1.0])",
        ),
        (lambda said: said.best(1.0, gap=0.0), "gap must be a number above 0, found 0.0"),
    ],
)
def test_wrong_questions_are_told(ask: Any, message: str | None) -> None:
    said = regret_of(P2, X2, Y2)
    if message is None:
        assert ask(said) == said.certified(2.0)
        return
    with pytest.raises(SpecError) as caught:
        ask(said)
    assert str(caught.value) == message
