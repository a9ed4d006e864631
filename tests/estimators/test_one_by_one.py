"""Is one example at a time the same as a batch, and does River accept it?"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from lessregret import OnlineClassifier, OnlineRegressor
from lessregret.errors import InputError
from lessregret.learners.rules import RULES

RANDOM = np.random.default_rng(11)
EXAMPLES: list[dict[str, Any]] = [
    {
        "age": float(RANDOM.normal()),
        "count": int(RANDOM.integers(4)),
        "new": bool(RANDOM.integers(2)),
        "word": f"w{RANDOM.integers(7)}",
        "precise": np.float64(RANDOM.random()),
        **({"rare": 2.5} if RANDOM.random() < 0.2 else {}),
    }
    for _ in range(200)
]
CLASSES = [bool(RANDOM.integers(2)) for _ in EXAMPLES]
NUMBERS = RANDOM.normal(size=len(EXAMPLES)).tolist()
WEIGHTS = RANDOM.integers(0, 3, len(EXAMPLES)).astype(float).tolist()


@pytest.mark.parametrize("name", RULES)
def test_one_by_one_has_the_bits_of_a_batch(name: str) -> None:
    one, batch = (OnlineClassifier(rule=RULES[name](), bits=10) for _ in range(2))
    for example, y, weight in zip(EXAMPLES, CLASSES, WEIGHTS, strict=True):
        one.learn_one(example, y, weight)
    batch.partial_fit(EXAMPLES, CLASSES, classes=[False, True], sample_weight=WEIGHTS)
    assert one.learner_.to_bytes() == batch.learner_.to_bytes()
    assert [one.predict_one(example) for example in EXAMPLES] == batch.predict(EXAMPLES).tolist()
    assert one.classes_.tolist() == batch.classes_.tolist()


@pytest.mark.parametrize("scale", ["none", "cap", "full", "standard"])
def test_regressors_have_the_bits_of_a_batch(scale: str) -> None:
    one, batch = (OnlineRegressor(bits=10, scale=scale) for _ in range(2))
    for example, y in zip(EXAMPLES, NUMBERS, strict=True):
        one.learn_one(example, y)
    batch.partial_fit(EXAMPLES, NUMBERS)
    assert one.learner_.to_bytes() == batch.learner_.to_bytes()
    assert [one.predict_one(example) for example in EXAMPLES] == batch.predict(EXAMPLES).tolist()


def test_probabilities_are_those_of_a_batch() -> None:
    model = OnlineClassifier(bits=10)
    for example, y in zip(EXAMPLES, CLASSES, strict=True):
        model.learn_one(example, y)
    found = [model.predict_proba_one(example)[True] for example in EXAMPLES]
    np.testing.assert_allclose(found, model.predict_proba(EXAMPLES)[:, 1], rtol=1e-14)


def test_crosses_take_the_way_of_a_batch() -> None:
    one, batch = (OnlineClassifier(bits=10, crosses=["word*count"]) for _ in range(2))
    for example, y in zip(EXAMPLES, CLASSES, strict=True):
        one.learn_one(example, y)
    batch.partial_fit(EXAMPLES, CLASSES, classes=[False, True])
    assert one.learner_.to_bytes() == batch.learner_.to_bytes()


def test_numbers_of_other_types_are_numbers() -> None:
    plain, other = OnlineRegressor(bits=10), OnlineRegressor(bits=10)
    plain.learn_one({"a": 0.5, "b": 1.0}, 2.0)
    other.learn_one({"a": Fraction(1, 2), "b": np.bool_(True)}, 2.0)
    assert plain.learner_.to_bytes() == other.learner_.to_bytes()


@pytest.mark.parametrize(
    ("example", "message"),
    [
        ({"a": float("nan")}, "X[0]['a']: expected a finite number or a string, found nan"),
        ({"a": None}, "X[0]['a']: expected a finite number or a string, found None"),
        ({3: 1.0}, "X[0][3]: expected a string as the name of a feature, found 3"),
    ],
)
def test_a_bad_example_is_named_and_leaves_no_trace(example: Any, message: str) -> None:
    model = OnlineClassifier(bits=10)
    model.learn_one({"a": 1.0}, True)
    before = model.learner_.to_bytes()
    for call in (lambda: model.learn_one(example, True), lambda: model.predict_one(example)):
        with pytest.raises(InputError) as error:
            call()
        assert str(error.value) == message
    assert model.learner_.to_bytes() == before


def test_a_bad_importance_is_refused() -> None:
    model = OnlineRegressor(bits=10)
    with pytest.raises(InputError, match="a number from 0 up"):
        model.learn_one({"a": 1.0}, 1.0, -1.0)


def test_classes_are_met_one_by_one() -> None:
    words = OnlineClassifier(bits=10)
    assert words.predict_one({"a": 1.0}) is None
    assert words.predict_proba_one({"a": 1.0}) == {}
    words.learn_one({"a": 1.0}, "ham")
    assert words.predict_proba_one({"a": 1.0}) == {"ham": 1.0}
    words.learn_one({"a": -1.0}, "spam")
    assert words.classes_.tolist() == ["ham", "spam"]
    with pytest.raises(ValueError, match="one of the classes 'ham' and 'spam', found 'eggs'"):
        words.learn_one({"a": 1.0}, "eggs")


@pytest.mark.parametrize(
    ("told", "classes"),
    [([1, 0], [0, 1]), ([1, -1], [-1, 1]), ([-1, 1], [-1, 1]), ([0, 1], [0, 1])],
)
def test_numbers_are_classes_in_their_order(told: list[int], classes: list[int]) -> None:
    model = OnlineClassifier(bits=10)
    for y in told:
        model.learn_one({"a": 1.0}, y)
    assert model.classes_.tolist() == classes


def test_one_by_one_goes_on_where_fit_ended_and_back() -> None:
    model = OnlineClassifier(bits=10)
    model.fit(EXAMPLES[:50], CLASSES[:50])
    model.learn_one(EXAMPLES[50], CLASSES[50])
    model.partial_fit(EXAMPLES[51:60], CLASSES[51:60])
    whole = OnlineClassifier(bits=10).fit(EXAMPLES[:60], CLASSES[:60])
    assert model.learner_.to_bytes() == whole.learner_.to_bytes()


def test_an_example_is_explained() -> None:
    model = OnlineClassifier(bits=10)
    model.learn_one({"word": "ham", "age": 2.0}, True)
    explained = model.explain_one({"word": "ham"})
    assert explained.margin == model.learner_.predict_one({"word": "ham"})


def test_river_accepts_the_estimators() -> None:
    pytest.importorskip("river", reason="River is not installed")
    from river import checks

    from lessregret.estimators.river import RiverClassifier, RiverRegressor

    for model in RiverClassifier(), RiverRegressor():
        checks.check_estimator(model)


def test_river_evaluates_a_pipeline() -> None:
    pytest.importorskip("river", reason="River is not installed")
    from river import compose, datasets, evaluate, metrics, preprocessing

    from lessregret.estimators.river import RiverClassifier

    model = compose.Pipeline(preprocessing.MinMaxScaler(), RiverClassifier())
    metric = evaluate.progressive_val_score(datasets.Phishing().take(400), model, metrics.ROCAUC())
    assert metric.get() > 0.8
