"""Scaled values: do units not matter, can one value do no harm, and does a file keep the scales?"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lessregret import Learner, OnlineClassifier, PerCoordinate, ReadableLearner
from lessregret.errors import DivergedError, ModelFileError, SpecError
from lessregret.learners.rules import CW, Ftrl, parse_rule
from tests.support.model_files import edited, take_apart
from tests.support.pairs import PAIRS
from tests.support.rows import learn_rows, predict_rows
from tests.support.streams import as_csr, random_rounds

COLUMNS = 40
ROUNDS = list(random_rounds(3, 1000, COLUMNS))
ROWS = as_csr(ROUNDS)
UNITS = 10.0 ** np.random.default_rng(1).uniform(-6, 6, COLUMNS)
SCALED = ("cap", "full")


def in_units(rows: Any) -> Any:
    indptr, indices, values, labels, importances = rows
    return indptr, indices, values * UNITS[indices], labels, importances


@pytest.mark.parametrize(("loss", "rule"), PAIRS)
def test_units_do_not_matter_to_full(loss: str, rule: str) -> None:
    rows = as_csr(list(random_rounds(3, 1000, COLUMNS, regression=loss == "squared")))
    make = partial(Learner, loss, parse_rule(rule), columns=COLUMNS, intercept=False, scale="full")
    margins, others = learn_rows(make(), *rows), learn_rows(make(), *in_units(rows))
    np.testing.assert_allclose(others, margins, rtol=0, atol=1e-3 * max(1, np.abs(margins).max()))


def test_units_do_not_matter_to_the_readable_twin() -> None:
    plain, others = (ReadableLearner("logistic", PerCoordinate(), scale="full") for _ in "ab")
    for slots, values, label, importance in ROUNDS:
        margin = plain.play(slots, values, label, importance).margin
        large = [x * UNITS[i] for i, x in zip(slots, values, strict=True)]
        assert others.play(slots, large, label, importance).margin == pytest.approx(margin)
    assert others.weight(0) * UNITS[0] == pytest.approx(plain.weight(0))


def test_units_matter_without() -> None:
    make = partial(Learner, "logistic", columns=COLUMNS, scale="none")
    margins = [learn_rows(make(), *rows) for rows in (ROWS, in_units(ROWS))]
    assert np.abs(margins[0] - margins[1]).max() > 1


@pytest.mark.parametrize(("loss", "rule"), PAIRS)
def test_a_cap_leaves_values_up_to_1(loss: str, rule: str) -> None:
    """To the last byte but for the word in the spec: no scale is kept."""
    indptr, indices, values, labels, importances = ROWS
    rows = indptr, indices, values / np.abs(values).max(), labels, importances
    plain, capped = (
        Learner(loss, parse_rule(rule), columns=COLUMNS, scale=s) for s in ("none", "cap")
    )
    assert learn_rows(plain, *rows).tobytes() == learn_rows(capped, *rows).tobytes()
    header, tensors = take_apart(capped.to_bytes())
    assert header["spec"].pop("scale") == "cap"
    expected, theirs = take_apart(plain.to_bytes())
    assert expected["spec"].pop("scale") == "none"
    assert header["spec"] == expected["spec"]
    assert {name: t.tobytes() for name, t in tensors.items()} == {
        name: t.tobytes() for name, t in theirs.items()
    }


@pytest.mark.parametrize("scale", [*SCALED, "standard"])
@pytest.mark.parametrize(("loss", "rule"), PAIRS)
def test_one_huge_value_is_no_error(loss: str, rule: str, scale: str) -> None:
    indptr, indices, values, labels, importances = ROWS
    values = values.copy()
    values[500] = 1e30
    learner = Learner(loss, parse_rule(rule), columns=COLUMNS, scale=scale)
    assert np.isfinite(learn_rows(learner, indptr, indices, values, labels, importances)).all()
    assert np.isfinite(learner.weights()[1]).all()


def test_one_huge_value_is_an_error_without() -> None:
    with pytest.raises(DivergedError):
        learn_rows(Learner("logistic", columns=1, scale="none"), [0, 1], [0], [1e30], [1])


@pytest.mark.parametrize("scale", SCALED)
def test_predicting_is_what_learning_would_play(scale: str) -> None:
    fast = Learner("logistic", columns=COLUMNS, scale=scale)
    slow = ReadableLearner("logistic", PerCoordinate(), scale=scale, intercept=COLUMNS)
    for learner in (fast, slow):
        for start in range(0, 200, 20):
            rows = as_csr(ROUNDS[start : start + 1])
            large = rows[0], rows[1], rows[2] * start
            predicted = predict_rows(learner, *large)  # type: ignore[arg-type]
            learned = learn_rows(learner, *large, *rows[3:])  # type: ignore[arg-type]
            assert predicted.tobytes() == learned.tobytes()


@pytest.mark.parametrize("rule", [PerCoordinate(), PerCoordinate(rate=0.3), Ftrl(), CW()])
@pytest.mark.parametrize("scale", [*SCALED, "standard"])
def test_a_scaled_learner_comes_back_and_goes_on(rule: Any, scale: str) -> None:
    """Also where a round told nothing but a size: importance 0, and hinge beyond its kink."""
    whole, pieces = (Learner("hinge", rule, columns=COLUMNS, scale=scale) for _ in "ab")
    learn_rows(whole, *ROWS)
    for start in range(0, 1000, 70):
        learn_rows(pieces, *as_csr(ROUNDS[start : start + 70]))
        pieces = Learner.from_bytes(pieces.to_bytes())
    assert pieces.to_bytes() == whole.to_bytes()
    assert pieces.spec["scale"] == scale


@pytest.mark.parametrize("scale", [*SCALED, "standard"])
def test_a_slim_model_keeps_the_scales(scale: str, tmp_path: Path) -> None:
    learner = Learner("hinge", PerCoordinate(rate=0.3), columns=COLUMNS, scale=scale)
    learn_rows(learner, *ROWS)
    learner.save(tmp_path / "slim", slim=True)
    slim = Learner.load(tmp_path / "slim")
    doubled = ROWS[0], ROWS[1], 2 * ROWS[2]
    assert predict_rows(slim, *doubled).tobytes() == predict_rows(learner, *doubled).tobytes()
    assert slim.weight(0) == learner.weight(0)


def test_weights_are_per_unit_of_the_value() -> None:
    learner = Learner("hinge", PerCoordinate(rate=0.5), columns=2, intercept=False, scale="full")
    learn_rows(learner, [0, 2], [0, 1], [4.0, 0.25], [1])
    assert learner.weights()[1].tolist() == [0.125, 2.0]
    assert learner.dense_weights().tolist() == [0.125, 2.0]
    header, tensors = take_apart(learner.to_bytes())
    assert tensors["weight"].tolist() == [0.5, 0.5]
    assert tensors["scale"].tolist() == [4.0, 0.25]
    assert header["spec"]["scale"] == "full"


@pytest.mark.parametrize(
    ("scale", "wrong", "told"),
    [
        ("cap", np.float32(0.5), "'scale of slot 3' is 0.5, expected a finite number from 1 up"),
        ("full", np.float32(0.0), "'scale of slot 3' is 0.0, expected a finite number above 0"),
        ("full", np.float32(np.nan), "'scale of slot 3' is NaN, expected a finite number above 0"),
        ("full", None, "the tensor 'scale' is missing"),
    ],
)
def test_a_file_without_right_scales_is_damaged(scale: str, wrong: Any, told: str) -> None:
    learner = Learner("hinge", columns=COLUMNS, scale=scale)
    learn_rows(learner, *ROWS)

    def edit(_: Any, tensors: dict[str, Any]) -> None:
        tensors["scale"] = tensors["scale"].copy()
        tensors["scale"][3] = wrong if wrong is not None else 1.0
        if wrong is None:
            del tensors["scale"]

    with pytest.raises(ModelFileError, match=told):
        Learner.from_bytes(edited(learner.to_bytes(), edit))


def test_there_are_four_scales() -> None:
    told = r"scale must be 'none' or 'cap' or 'full' or 'standard', found 'half'"
    for make in (partial(Learner, columns=1), ReadableLearner):
        with pytest.raises(SpecError, match=told):
            make("hinge", PerCoordinate(), scale="half")
    with pytest.raises(SpecError, match=told):
        OnlineClassifier(scale="half").fit([[1.0], [2.0]], [0, 1])


def test_estimators_pass_it_on() -> None:
    table = np.random.default_rng(2).normal(size=(200, 5)) * [1, 1e-3, 1e3, 1e5, 1]
    labels = np.where(table[:, 2] > 0, 1, -1)
    clf = OnlineClassifier(scale="full").fit(table, labels)
    assert clf.learner_.spec["scale"] == "full"
    assert clf.score(table, labels) > 0.9
