"""The standard scale: are zeros values, and does a file keep the statistics?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from lessregret import (
    Examples,
    FeatureSpace,
    Learner,
    OnlineClassifier,
    OnlineRegressor,
    PerCoordinate,
    ReadableLearner,
    Rows,
    learn_many,
    open_examples,
)
from lessregret.data.convert import convert
from lessregret.errors import ModelFileError
from lessregret.learners.rules import CW, Ftrl, Rule
from tests.support.model_files import Edit, Tensors, edited, take_apart
from tests.support.raw_tables import COLUMNS, random_ones, random_table
from tests.support.rows import learn_rows, predict_rows
from tests.support.streams import Round, as_csr

RULES = [PerCoordinate(), PerCoordinate(rate=0.3), Ftrl(), CW()]
make = partial(Learner, "logistic", columns=40, scale="standard")


def late(seed: int) -> list[Round]:
    """Ones at first; a table of statistics is needed only then."""
    return [*random_ones(seed, 30), *random_table(seed, 60, missing=0.2)]


STREAMS: dict[str, Callable[[int], list[Round]]] = {
    "table": lambda seed: random_table(seed, 90),
    "missing": lambda seed: random_table(seed, 90, missing=0.4),
    "ones": lambda seed: random_ones(seed, 90),
    "late": late,
}


def text(rounds: list[Round]) -> str:
    """The rounds as Vowpal Wabbit text, whose names are slots."""
    lines = []
    for slots, values, label, importance in rounds:
        features = " ".join(f"{i}:{x!r}" for i, x in zip(slots, values, strict=True))
        lines.append(f"{label:g} {importance:g} | {features}\n")
    return "".join(lines)


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("stream", STREAMS)
def test_a_learner_comes_back_at_any_cut_and_goes_on(rule: Rule, stream: str) -> None:
    rounds = STREAMS[stream](1)
    whole = make(rule)
    margins = learn_rows(whole, *as_csr(rounds))
    pieces, played = make(rule), []
    for each in rounds:
        played.extend(learn_rows(pieces, *as_csr([each])))
        written = pieces.to_bytes()
        pieces = Learner.from_bytes(written)
        assert pieces.to_bytes() == written
    assert np.array(played).tobytes() == margins.tobytes()
    assert pieces.to_bytes() == whole.to_bytes()


@pytest.mark.parametrize("stream", STREAMS)
def test_a_slim_model_predicts_the_same(stream: str, tmp_path: Path) -> None:
    learner = make(PerCoordinate(rate=0.3))
    learn_rows(learner, *as_csr(STREAMS[stream](2)))
    learner.save(tmp_path / "slim", slim=True)
    slim = Learner.load(tmp_path / "slim")
    others = as_csr(STREAMS[stream](3))[:3]
    assert predict_rows(slim, *others).tobytes() == predict_rows(learner, *others).tobytes()
    assert slim.weight(40) == learner.weight(40)
    assert slim.to_bytes() == (tmp_path / "slim").read_bytes()


def test_predicting_changes_nothing() -> None:
    learner = make()
    learn_rows(learner, *as_csr(random_table(4, 50)))
    before = learner.to_bytes()
    rows = as_csr(random_table(5, 50, missing=0.5))[:3]
    assert predict_rows(learner, *rows).tobytes() == predict_rows(learner, *rows).tobytes()
    assert learner.to_bytes() == before


def test_values_of_1_keep_no_statistics() -> None:
    """Column 0 is in every example; in none of the rounds is it played."""
    rounds = random_ones(6, 50)
    learner = make(PerCoordinate(rate=0.3))
    learn_rows(learner, *as_csr(rounds))
    assert learner.weight(0) == 0
    _, tensors = take_apart(learner.to_bytes())
    assert tensors["count"].tolist() == [50.0] + [0.0] * (len(tensors["count"]) - 1)
    learn_rows(learner, [0, 1], [7], [1.0], [1])
    assert {"count", "mean", "squares"}.isdisjoint(take_apart(learner.to_bytes())[1])


def test_values_of_1_are_learned_as_without_a_scale() -> None:
    """After a first round without features: those of it were in every example so far."""
    start = Round([], [], 1.0, 0.0)
    rounds = [
        start,
        *(
            each._replace(slots=each.slots[1:], values=each.values[1:])
            for each in random_ones(7, 80)
        ),
    ]
    margins = [
        learn_rows(Learner("logistic", columns=40, scale=scale), *as_csr(rounds))
        for scale in ("standard", "none")
    ]
    assert margins[0].tobytes() == margins[1].tobytes()


@pytest.mark.parametrize("rate", [0.3, "auto"])
@pytest.mark.parametrize("learner", ["fast", "readable"])
def test_raw_weights_and_the_intercept_are_the_margin(rate: Any, learner: str) -> None:
    """For a row that has all columns, and whose scaled values are not clipped."""
    rule = PerCoordinate(rate=rate)
    slow = ReadableLearner("squared", rule, intercept=COLUMNS, scale="standard")
    fast = Learner("squared", rule, columns=COLUMNS, scale="standard")
    either: Any = slow if learner == "readable" else fast
    rounds = random_table(8, 200, regression=True)
    learn_rows(either, *as_csr(rounds))
    row = np.median([each.values for each in rounds], axis=0).astype(np.float32)
    weights = np.array([either.weight(i) for i in range(COLUMNS)])
    margin = predict_rows(either, [0, COLUMNS], np.arange(COLUMNS), row)[0]
    told = row @ weights + either.weight(COLUMNS)
    slack = 1e-5 if rate == 0.3 else 0.2
    # At rate "auto" the weights are those of one lane, and the margin is the mixture's.
    assert told == pytest.approx(margin, abs=slack * max(1.0, abs(margin)))
    assert weights[4] == 0


def without_zeros(rounds: list[Round]) -> list[Round]:
    """The rounds as they are to a scale to which a zero is no value."""
    kept = [[k for k, x in enumerate(each.values) if x] for each in rounds]
    return [
        each._replace(slots=[each.slots[k] for k in some], values=[each.values[k] for k in some])
        for each, some in zip(rounds, kept, strict=True)
    ]


def learned_from(source: Any) -> bytes:
    learner = Learner("logistic", bits=10, scale="standard")
    learner.learn(source)
    return learner.to_bytes()


def test_a_zero_is_a_value_in_every_source(tmp_path: Path) -> None:
    rounds = random_table(9, 300, missing=0.3)
    files = {"vw": tmp_path / "a.vw", "arrow": tmp_path / "a.arrow"}
    files["vw"].write_text(text(rounds))
    files["svmlight"] = tmp_path / "a.svm"
    files["svmlight"].write_text(text(rounds).replace("1 | ", ""))
    space = FeatureSpace(bits=10, labels="any")
    convert(open_examples([files["vw"]], space), files["arrow"])
    learner = Learner("logistic", bits=10, scale="standard")
    rows = Rows(*as_csr(rounds), space=learner)
    expected = learned_from(rows)
    assert learned_from(Examples.collect(rows)) == expected
    for name, file in files.items():
        for threads in (1, 3):
            opened = open_examples([file], learner, threads=threads)
            assert learned_from(opened) == expected, name
        assert learned_from(Examples.collect(open_examples([file], learner))) == expected, name
    bare = as_csr(without_zeros(rounds))
    assert learned_from(Rows(*bare, space=learner)) != expected


@pytest.mark.parametrize("scale", ["none", "cap", "full"])
def test_to_other_scales_a_zero_is_nothing(scale: str) -> None:
    rounds = random_table(10, 100)
    learners = [Learner("logistic", columns=40, scale=scale) for _ in "abc"]
    learn_rows(learners[0], *as_csr(rounds))
    learn_rows(learners[1], *as_csr(without_zeros(rounds)))
    learners[2].learn(Examples.collect(Rows(*as_csr(rounds), space=learners[2])))
    assert learners[0].to_bytes() == learners[1].to_bytes() == learners[2].to_bytes()


def test_learners_of_all_scales_learn_together_as_alone(tmp_path: Path) -> None:
    (tmp_path / "a.vw").write_text(text(random_table(11, 100, missing=0.2)))
    scales = ("none", "standard", "cap", "standard", "full")
    for collect in (False, True):
        alone = [Learner("logistic", bits=10, scale=scale) for scale in scales]
        together = [Learner("logistic", bits=10, scale=scale) for scale in scales]
        for learner in alone:
            learner.learn(open_examples([tmp_path / "a.vw"], learner))
        source: Any = open_examples([tmp_path / "a.vw"], together[0])
        learn_many(together, Examples.collect(source) if collect else source)
        assert [one.to_bytes() for one in together] == [one.to_bytes() for one in alone]


@pytest.mark.parametrize("rule", [PerCoordinate(), PerCoordinate(rate=0.3)], ids=str)
@pytest.mark.parametrize("stream", STREAMS)
def test_a_stream_scales_as_a_learner_does(rule: Rule, stream: str, tmp_path: Path) -> None:
    file = tmp_path / "a.vw"
    file.write_text(text(STREAMS[stream](12)))
    scaling = Learner("logistic", rule, bits=10, scale="standard")
    plain = Learner("logistic", rule, bits=10, scale="none")
    margins = scaling.learn(open_examples([file], scaling)).margins
    opened = open_examples([file], plain, scale="standard")
    assert plain.learn(opened).margins.tobytes() == margins.tobytes()
    blocks = open_examples([file], plain, scale="standard")
    again = Learner("logistic", rule, bits=10, scale="none")
    played = [outcomes.margins for _ in range(9) for outcomes in [again.learn(blocks, limit=10)]]
    assert np.concatenate(played).tobytes() == margins.tobytes()


@pytest.mark.parametrize("kind", [OnlineClassifier, OnlineRegressor])
def test_every_cell_of_a_dense_table_is_a_value(kind: Any) -> None:
    rng = np.random.default_rng(13)
    X = np.where(rng.random((80, 3)) < 0.3, 0.0, rng.normal(100, 30, size=(80, 3)))
    y = X[:, 0] > 50 if kind is OnlineClassifier else X[:, 0]
    rule = PerCoordinate(rate=0.3)
    dense = kind(rule=rule, scale="standard").fit(X, y)
    stored = csr_array((X.ravel(), np.tile(np.arange(3), 80), np.arange(81) * 3), X.shape)
    sparse = kind(rule=rule, scale="standard").fit(stored, y)
    assert dense.learner_.to_bytes() == sparse.learner_.to_bytes()
    _, tensors = take_apart(dense.learner_.to_bytes())
    assert tensors["count"].tolist() == [80.0, 80.0, 80.0, 0.0]
    np.testing.assert_allclose(tensors["mean"][:3], X.mean(axis=0), rtol=1e-6)
    margins = dense.predict(X) if kind is OnlineRegressor else dense.decision_function(X)
    raw = X @ np.ravel(dense.coef_) + dense.intercept_
    # Predictions of numbers stay in the range of the labels.
    raw = np.clip(raw, y.min(), y.max()) if kind is OnlineRegressor else raw
    np.testing.assert_allclose(raw, margins, atol=1e-3)


def damage(name: str, number: float) -> Edit:
    def change(_: dict[str, Any], tensors: Tensors) -> None:
        tensors[name] = tensors[name].copy()
        tensors[name][1] = number

    return change


def lose(_: dict[str, Any], tensors: Tensors) -> None:
    del tensors["mean"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (damage("count", 0.0), "'mean of slot 1' is "),
        (damage("count", 1.5), "'count of slot 1' is 1.5, expected a whole number of at most"),
        (damage("count", 51.0), "'count of slot 1' is 51.0, expected a whole number of at most"),
        (damage("count", 1e9), "'sum of count' is "),
        (damage("count", 1.0), "'squares of slot 1' is "),
        (damage("count", np.nan), "'count of slot 1' is NaN, expected a finite number from 0 up"),
        (damage("mean", np.inf), "'mean of slot 1' is inf, expected a finite number"),
        (damage("mean", -1e39), "'mean of slot 1' is -1e39, expected the mean of float32 values"),
        (damage("squares", -1.0), "'squares of slot 1' is -1.0, expected a finite number from 0"),
        (damage("squares", 1e300), "'squares of slot 1' is 1e300, expected a sum of squares"),
        (lose, "the tensor 'mean' is missing"),
    ],
)
def test_a_file_without_right_statistics_is_damaged(change: Edit, told: str) -> None:
    learner = make()
    learn_rows(learner, *as_csr(random_table(14, 50, missing=0.2)))
    with pytest.raises(ModelFileError, match=told):
        Learner.from_bytes(edited(learner.to_bytes(), change))
