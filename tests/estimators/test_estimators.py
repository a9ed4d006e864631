"""What the estimators promise beyond scikit-learn's checks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from lessregret import Learner, OnlineClassifier, OnlineRegressor, ReadableLearner, SpecError
from lessregret.learners.rules import PA, RULES, Global, PerCoordinate, Rule, parse_rule
from lessregret.ledger import Ledger
from tests.support.pairs import is_certifiable
from tests.support.rows import learn_rows
from tests.support.tables import CLASSES, COLUMNS, EVERY, SEED, Table, estimator, go_on, table

RTOL = 1e-5


@dataclass(frozen=True, kw_only=True)
class HomeMade(PerCoordinate):
    """A rule that Rust has never heard of."""

    name = "home-made"


def assert_same_ledger(ours: Ledger, theirs: Ledger) -> None:
    found = ours.as_dict()
    # Sums of terms of both signs are as exact as their terms, which are like losses.
    slack = dict.fromkeys(("played", "linear_regret"), RTOL * theirs.total)
    for name, expected in theirs.as_dict().items():
        if name == "lanes":
            assert_same_experts(found[name], expected)
        elif name == "statement":
            assert (found[name] is None) == (expected is None)
        elif name == "stack":
            pairs = [[each] if each else [] for each in (found[name], expected)]
            assert_same_experts(*pairs)
        else:
            is_number = not isinstance(expected, str | None)
            within = {"rel": RTOL, "abs": slack.get(name, 0.0)}
            same = pytest.approx(expected, **within) if is_number else expected
            assert found[name] == same, name


def assert_same_experts(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> None:
    for lane, other in zip(ours, theirs, strict=True):
        assert lane.pop("name", "stack") == other.pop("name", "stack")
        # A share is the exponential of a loss times a rate: small ones are told less exactly.
        assert lane.pop("share") == pytest.approx(other.pop("share"), abs=1e-4)
        for name, expected in other.items():
            # Sums of terms of both signs, such as played, are as exact as their terms.
            near = expected and pytest.approx(expected, rel=RTOL, abs=RTOL * other["loss"])
            assert lane[name] == near, name


# The account


@EVERY
@pytest.mark.parametrize("intercept", [True, False])
def test_the_ledger_is_that_of_the_readable_learner(loss: str, rule: Rule, intercept: bool) -> None:
    rows = table(loss)
    certify = is_certifiable(rule.name)
    wishes: dict[str, Any] = {"certify": certify, "scale": "none"}
    fast = go_on(estimator(loss, rule, intercept=intercept, **wishes), rows)
    last = COLUMNS if intercept else None
    slow = ReadableLearner(loss, rule, intercept=last, **wishes)
    learn_rows(slow, rows.X.indptr, rows.X.indices, rows.X.data, rows.y, rows.h)
    assert_same_ledger(fast.ledger_, slow.ledger())


def test_a_ledger_once_taken_stays() -> None:
    rows = table()
    clf = go_on(estimator(), rows)
    taken = clf.ledger_
    go_on(clf, rows)
    assert taken.rounds == 200
    assert clf.ledger_.rounds == 400


def test_the_certificate_is_there_at_rate_auto_or_if_asked_for() -> None:
    rows = table()
    for certify, rule, is_there in (
        (None, None, True),
        (False, None, False),
        (None, PerCoordinate(rate=0.3), False),
        (True, PerCoordinate(rate=0.3), True),
    ):
        ledger = go_on(estimator(certify=certify, rule=rule), rows).ledger_
        assert (ledger.certificate is not None) == is_there
        assert (ledger.linear_regret is not None) == is_there
        if is_there:
            assert 0 < ledger.linear_regret <= ledger.bound
            assert 0 < ledger.certified(5.0, "ball") < ledger.certified(0.1, "ball")


# Weights and margins


@EVERY
@pytest.mark.parametrize("intercept", [True, False])
def test_margins_are_those_of_coef_and_intercept(loss: str, rule: Rule, intercept: bool) -> None:
    """In one lane; with several the margin is the mixture's and the weights are the best lane's."""
    rows = table(loss)
    played = np.clip(rows.X.toarray(), -1, 1) if rule.unit_values else rows.X
    rule = replace(rule, rate=0.3) if getattr(rule, "rate", None) == "auto" else rule  # type: ignore[call-arg]
    learning = go_on(estimator(loss, rule, intercept=intercept, scale="none"), rows)
    classifies = isinstance(learning, OnlineClassifier)
    assert learning.coef_.shape == ((1, COLUMNS) if classifies else (COLUMNS,))
    assert np.shape(learning.intercept_) == ((1,) if classifies else ())
    assert np.any(learning.intercept_) == intercept
    margins = learning.decision_function(rows.X) if classifies else learning.predict(rows.X)
    np.testing.assert_allclose(
        played @ learning.coef_.ravel() + learning.intercept_, margins, rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared"])
def test_weights_and_intercept_of_the_standard_scale_are_for_values_as_they_are(loss: str) -> None:
    """Of a dense table without outliers, whose scaled values would be clipped."""
    rng = np.random.default_rng(SEED)
    X = rng.uniform(-2, 2, size=(300, 3)) * [1.0, 50.0, 0.01] + [0.0, 2000.0, -3.0]
    y = X @ [1.0, 0.02, -100.0] + rng.normal(size=300)
    classifies = loss != "squared"
    model = estimator(loss, PerCoordinate(rate=0.3), scale="standard")
    model.fit(X, y > np.median(y) if classifies else y)
    margins = X @ model.coef_.ravel() + model.intercept_
    # A prediction is within the labels so far. Weights are float32, and a product of a weight and
    # a value can be 1,000 times as large as the margin.
    expected = margins if classifies else np.clip(margins, y.min(), y.max())
    played = model.decision_function(X) if classifies else model.predict(X)
    np.testing.assert_allclose(played, expected, atol=1e-3)
    assert np.std(played) > 1


def test_columns_never_seen_play_the_nearest_point_to_0() -> None:
    """In one lane; the stack of several adds up their margins with weights of its own."""
    rule = PerCoordinate(rate=0.1, box=(0.5, 1.5))
    clf = OnlineClassifier(rule=rule, intercept=False, scale="none")
    clf.fit([[1.0, 0.0], [-1.0, 0.0]], [0, 1])
    assert clf.coef_[0, 1] == 0.5
    assert clf.decision_function([[0.0, 2.0]]).tolist() == [1.0]


@pytest.mark.parametrize("rule", [PerCoordinate(), HomeMade()])
def test_a_box_holds_each_column(rule: Rule) -> None:
    rng = np.random.default_rng(1)
    low, high = -0.1 * rng.random(COLUMNS), 0.1 * rng.random(COLUMNS) + 0.001
    rows = table()
    clf = go_on(estimator(rule=rule, box=(low, high), scale="none"), rows)
    slack = 1e-8  # the ends are rounded to float32
    assert np.all((low - slack <= clf.coef_) & (clf.coef_ <= high + slack))
    assert np.any(np.isclose(clf.coef_, low))
    other = HomeMade() if rule == PerCoordinate() else PerCoordinate()
    assert_same_ledger(clf.ledger_, go_on(clone(clf).set_params(rule=other), rows).ledger_)


def test_probabilities_are_the_logistic_of_the_margin() -> None:
    rows = table()
    clf = go_on(estimator("logistic"), rows)
    chances = clf.predict_proba(rows.X)
    margins = clf.decision_function(rows.X)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0, rtol=1e-15)
    np.testing.assert_array_equal(chances[:, 1], expit(margins))
    np.testing.assert_array_equal(clf.predict(rows.X), np.where(chances[:, 1] > 0.5, 1, -1))


def test_only_the_logistic_loss_has_probabilities() -> None:
    assert hasattr(estimator("logistic"), "predict_proba")
    assert not hasattr(estimator("hinge"), "predict_proba")


@pytest.mark.parametrize("labels", [["ham", "spam"], [0, 1], [False, True], [2.0, 3.0], [3, 7]])
def test_the_second_class_in_order_has_the_positive_margins(labels: list[Any]) -> None:
    rows = table()
    y = np.where(rows.y > 0, labels[1], labels[0])
    clf = OnlineClassifier().fit(rows.X, y, rows.h)
    assert clf.classes_.tolist() == labels
    assert clf.learner_.to_bytes() == go_on(estimator(), rows).learner_.to_bytes()
    assert clf.predict(rows.X).dtype == y.dtype
    assert clf.score(rows.X, y) > 0.8


def test_classes_may_come_in_any_order() -> None:
    rows = table()
    clf = OnlineClassifier().partial_fit(rows.X, rows.y, classes=[1, -1])
    clf.partial_fit(rows.X, rows.y, classes=[-1, 1])
    assert clf.classes_.tolist() == [-1, 1]


def test_one_batch_may_show_one_class_only() -> None:
    clf = OnlineClassifier(scale="none").partial_fit([[1.0]], [1], classes=CLASSES)
    assert clf.predict([[1.0], [-3.0]]).tolist() == [1, -1]


def test_a_batch_may_weigh_nothing_but_a_fit_may_not() -> None:
    clf = OnlineClassifier().partial_fit([[1.0]], [1], classes=CLASSES, sample_weight=[0.0])
    assert (clf.ledger_.rounds, clf.ledger_.mean_loss) == (1, None)
    with pytest.raises(ValueError, match="sample_weight is zero for every example"):
        clf.fit([[1.0], [2.0]], [1, -1], sample_weight=[0, 0])


# Rules that exist only in Python


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared"])
def test_a_rule_without_rust_runs_and_gives_the_same_numbers(loss: str) -> None:
    rows = table(loss)
    slow = go_on(estimator(loss, HomeMade(), certify=True), rows)
    fast = go_on(estimator(loss, PerCoordinate(), certify=True), rows)
    assert isinstance(slow.learner_, ReadableLearner)
    assert isinstance(fast.learner_, Learner)
    assert_same_ledger(slow.ledger_, fast.ledger_)
    np.testing.assert_allclose(slow.coef_, fast.coef_, rtol=RTOL, atol=RTOL)
    np.testing.assert_allclose(slow.intercept_, fast.intercept_, rtol=RTOL)
    np.testing.assert_allclose(slow.predict(rows.X), fast.predict(rows.X), rtol=1e-4, atol=1e-4)


def test_a_rule_without_rust_has_l2() -> None:
    rows = table()
    slow, fast = (go_on(estimator(rule=rule, l2=0.05), rows) for rule in (HomeMade(), None))
    assert isinstance(slow.learner_, ReadableLearner)
    assert slow.ledger_.mean_penalty > 0
    assert_same_ledger(slow.ledger_, fast.ledger_)


def test_a_rule_without_rust_takes_dicts() -> None:
    clf = OnlineClassifier(rule=HomeMade(), bits=6).fit([{"a": "x"}, {"a": "y"}], [0, 1])
    assert clf.predict([{"a": "x"}, {"a": "y"}]).tolist() == [0, 1]


# Requests that cannot be met


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"loss": "squared"},
            "loss must be 'logistic' or 'hinge' or 'squared-hinge', found 'squared'",
        ),
        ({"loss": None}, "loss must be"),
        ({"rule": "ftlr"}, "unknown rule 'ftlr'; did you mean 'ftrl'"),
        ({"rule": PerCoordinate}, "rule must be a Rule, the name of one, or None"),
        ({"loss": "log_loss"}, "found 'log_loss'; did you mean 'logistic'"),
        ({"class_weight": "balance"}, "class_weight must be None, 'balanced' or a dict"),
        ({"class_weight": {0: -1.0}}, "class_weight must be"),
        ({"negatives_kept": 0.0}, "negatives_kept must be a number above 0 and at most 1"),
        ({"importance_aware": 1}, "importance_aware must be True, False or None"),
        ({"intercept": "yes"}, "intercept must be True or False, found 'yes'"),
        ({"certify": 2}, "certify must be True, False or None"),
        ({"bits": 0}, "bits must be a whole number from 1 to 31, found 0"),
        ({"bits": 32}, "bits must be"),
        ({"bits": True}, "bits must be"),
        ({"passes": 0}, "passes must be a whole number from 1 up, found 0"),
        ({"passes": 1.5}, "passes must be"),
        ({"l2": -0.1}, "l2 must be a number from 0 up that fits a float32, found -0.1"),
        ({"l2": "0.1"}, "l2 must be"),
        ({"l2": 0.1, "rule": PA()}, "l2 is for rules that follow the gradient on a box"),
        ({"box": 3}, r"box must be two arrays of numbers, \(low, high\), found 3"),
        ({"box": (-1.0, 1.0)}, r"box: low must have shape \(40,\), found \(\)"),
        ({"box": (-np.ones(40), np.ones(41))}, r"box: high must have shape \(40,\)"),
        ({"box": (np.ones(40), -np.ones(40))}, "low < high"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bad_parameters_are_spec_errors(
    parameters: dict[str, Any], message: str, method: str
) -> None:
    rows = table()
    classes = {"classes": CLASSES} if method == "partial_fit" else {}
    clf = OnlineClassifier(**parameters)
    attributes = dict(vars(clf))
    with pytest.raises(SpecError, match=message):
        getattr(clf, method)(rows.X, rows.y, **classes)
    assert list(vars(clf)) == list(attributes)


def test_a_regressor_has_no_hinge_loss() -> None:
    with pytest.raises(SpecError, match="loss must be 'squared' or 'poisson' or 'absolute'"):
        OnlineRegressor("hinge").fit([[1.0]], [1.0])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1, 1, 1, 1], "found 1 class: 1"),
        ([0.5, 1.5, 2.5, 3.5], "continuous"),
    ],
)
def test_a_classifier_needs_two_classes(labels: list[Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OnlineClassifier().fit(np.eye(4), labels)
    with pytest.raises(ValueError, match=message):
        OnlineClassifier().partial_fit(np.eye(4), labels, classes=labels)


def test_a_rule_of_two_classes_refuses_a_third() -> None:
    with pytest.raises(ValueError, match=r"by the rule 'pa'.* found 3 classes: 'a', 'b', 'c'"):
        OnlineClassifier(rule=parse_rule("pa")).fit(np.eye(4), ["a", "b", "c", "a"])


def test_many_classes_have_margins_weights_and_probabilities_of_their_own() -> None:
    draws = np.random.default_rng(3)
    X = draws.normal(size=(400, 5))
    y = np.array(["cat", "cow", "dog", "hen"])[(X @ draws.normal(size=(5, 4))).argmax(1)]
    clf = OnlineClassifier().fit(X, y)
    assert clf.classes_.tolist() == ["cat", "cow", "dog", "hen"]
    assert (clf.coef_.shape, clf.intercept_.shape) == ((4, 5), (4,))
    assert clf.decision_function(X).shape == (400, 4)
    np.testing.assert_allclose(clf.predict_proba(X).sum(1), 1, rtol=1e-12)
    assert clf.score(X, y) > 0.9
    single = OnlineClassifier(rule=parse_rule("ftrl", rate=0.5), scale="none").fit(X, y)
    margins = X @ single.coef_.T + single.intercept_
    np.testing.assert_allclose(single.decision_function(X), margins, atol=1e-4)


def test_classes_grow_when_asked(tmp_path: Path) -> None:
    clf = OnlineClassifier(grow_classes=True)
    clf.partial_fit(np.eye(4)[:2], ["b", "a"]).partial_fit(np.eye(4), ["a", "d", "c", "b"])
    assert clf.classes_.tolist() == ["a", "b", "c", "d"]
    assert clf.partial_fit(np.eye(4)[:1], ["A"]).classes_.tolist() == ["a", "b", "c", "d", "A"]
    np.testing.assert_allclose(clf.predict_proba(np.eye(4)).sum(1), 1, rtol=1e-12)
    clf.save(tmp_path / "m")
    loaded = OnlineClassifier.load(tmp_path / "m")
    assert np.array_equal(loaded.predict_proba(np.eye(4)), clf.predict_proba(np.eye(4)))
    assert loaded.partial_fit(np.eye(4)[:1], ["e"]).classes_.tolist()[-2:] == ["A", "e"]
    with pytest.raises(ValueError, match="y must hold only the classes"):
        OnlineClassifier().partial_fit(np.eye(2), ["a", "x"], classes=["a", "b", "c"])


def test_the_first_batch_needs_the_classes() -> None:
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        OnlineClassifier().partial_fit([[1.0]], [1])


@pytest.mark.parametrize("name", ["coef_", "intercept_", "ledger_"])
@pytest.mark.parametrize("kind", [OnlineClassifier, OnlineRegressor])
def test_nothing_is_known_before_the_first_batch(kind: type, name: str) -> None:
    assert not hasattr(kind(), name)
    with pytest.raises(NotFittedError):
        getattr(kind(), name)


# Beside the rest of scikit-learn


def test_parameters_and_clones() -> None:
    low = np.full(COLUMNS, -1.0)
    clf = OnlineClassifier("hinge", Global(rate=0.2), bits=10, box=(low, -low))
    copied = clone(go_on(clf, table()))
    assert not hasattr(copied, "learner_")
    assert copied.get_params()["rule"] == Global(rate=0.2)
    assert copied.set_params(loss="logistic", rule=None).rule is None
    assert go_on(copied, table()).learner_.spec["rule"]["name"] == "per-coordinate"


def test_parameters_changed_while_learning_wait_for_the_next_fit() -> None:
    rows = table()
    clf = go_on(estimator(), rows).set_params(rule=Global(), intercept=False)
    assert go_on(clf, rows).learner_.to_bytes() == (
        go_on(go_on(estimator(), rows), rows).learner_.to_bytes()
    )
    assert clf.intercept_[0] != 0
    assert clf.fit(rows.X, rows.y).learner_.spec["rule"]["name"] == "global"


@pytest.mark.parametrize("rule", [PerCoordinate(), HomeMade()])
@pytest.mark.parametrize(("scale", "later"), [("standard", "cap"), ("cap", "standard")])
def test_a_scale_changed_while_learning_waits_for_the_next_fit(
    rule: Rule, scale: str, later: str
) -> None:
    """The zeros of a dense table are values to the standard scale and to no other."""
    rows = table()
    dense = Table(rows.X.toarray(), rows.y, rows.h)
    kept = go_on(go_on(estimator(rule=rule, scale=scale), dense), dense)
    changed = go_on(estimator(rule=rule, scale=scale), dense).set_params(scale=later)
    go_on(changed, dense)
    assert changed.ledger_.as_dict() == kept.ledger_.as_dict()
    assert np.array_equal(changed.intercept_, kept.intercept_)
    assert np.array_equal(changed.decision_function(dense.X), kept.decision_function(dense.X))


def test_pipelines() -> None:
    texts = ["cheap pills now", "see you at noon", "cheap watches", "lunch at noon"] * 25
    labels = ["spam", "ham"] * 50
    pipeline = make_pipeline(CountVectorizer(), MaxAbsScaler(), OnlineClassifier())
    assert pipeline.fit(texts, labels).score(texts, labels) == 1.0
    assert pipeline[-1].ledger_.rounds == 100


def test_grid_search_over_rules() -> None:
    rows = table(rounds=300)
    rules = [rule() for rule in RULES.values()]
    search = GridSearchCV(OnlineClassifier(), {"rule": rules, "loss": ["logistic", "hinge"]}, cv=3)
    search.fit(rows.X, rows.y)
    assert search.best_params_["rule"] in rules
    assert search.best_score_ > 0.8


def test_cross_validation_of_dicts() -> None:
    dicts = [{"word": word, "length": len(word) / 4} for word in ("ham", "spam")] * 30
    scores = cross_val_score(OnlineClassifier(bits=8), dicts, [0, 1] * 30, cv=3)
    assert scores.tolist() == [1.0, 1.0, 1.0]


def test_a_subclass_of_a_shipped_rule_runs_its_own_way() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Frozen(PerCoordinate):
        def absorb(self, slot: Any, value: float, gradient: float, step: Any) -> Any:
            return slot, 0.0

    X, y = np.eye(4), np.array([1, -1, 1, -1])
    clf = OnlineClassifier(rule=Frozen()).fit(X, y)
    assert isinstance(clf.learner_, ReadableLearner)
    assert not clf.coef_.any()


def test_a_row_is_explained_by_names() -> None:
    rows = [{"age": 0.3, "word": "ham"}, {"word": "spam", "age": 0.1}, {"word": "ham"}]
    model = OnlineClassifier().fit(rows, ["ok", "bad", "ok"])
    explained = model.explain(rows[0])
    assert {part.name for part in explained.parts} == {"age", "word=ham", "(intercept)"}
    assert explained.margin == model.decision_function(rows[:1])[0]
    assert sum(part.part for part in explained.parts) == pytest.approx(explained.margin)


def test_features_of_a_dict_in_one_slot_are_marked() -> None:
    row = {f"f{k}": 1.0 for k in range(9)}
    model = OnlineClassifier(bits=2).fit([row, {"f1": 1.0}], [0, 1])
    shared = [part.shared for part in model.explain(row).parts if part.name != "(intercept)"]
    assert len(shared) <= 4
    assert any(shared)


def test_a_row_of_a_table_is_explained_by_its_columns() -> None:
    X = np.random.default_rng(0).normal(size=(30, 3))
    y = X @ [1.0, -2.0, 0.0]
    model = OnlineRegressor().fit(X, y)
    for row in (X[4], X[4:5], X[4].tolist(), csr_array(X[4:5])):
        explained = model.explain(row)
        assert explained.margin == model.predict(X[4:5])[0]
        assert sum(part.part for part in explained.parts) == pytest.approx(explained.margin)
        assert {part.name for part in explained.parts} >= {None, "(intercept)", "(mean label)"}
    with pytest.raises(SpecError, match="explain takes one row, found 30"):
        model.explain(X)


def test_columns_of_a_frame_have_their_names() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"rooms": [1.0, 2.0, 3.0, 4.0], "area": [20.0, 35.0, 70.0, 90.0]})
    model = OnlineRegressor().fit(frame, [1.0, 2.0, 3.0, 4.0])
    names = {part.name for part in model.explain(frame.iloc[[1]]).parts}
    assert names >= {"rooms", "area", "(intercept)", "(mean label)"}


def test_a_rule_in_python_is_explained_too() -> None:
    X, y = [[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]], [0, 1, 1]
    model = OnlineClassifier(rule=HomeMade(rate=0.3)).fit(X, y)
    explained = model.explain(X[2])
    assert explained.margin == pytest.approx(model.decision_function(X[2:])[0])
    assert sum(part.part for part in explained.parts) == pytest.approx(explained.margin)
