"""Is a base margin added to the margin, wherever it comes from, and to that alone?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array

from lessregret import (
    Examples,
    InputError,
    Learner,
    OnlineClassifier,
    ReadableLearner,
    Rows,
    SpecError,
    open_examples,
)
from lessregret.data.convert import convert
from lessregret.learners.losses import LOSSES, loss_named
from lessregret.learners.rules import PerCoordinate, parse_rule
from lessregret.regret.comparator.best import BestFixed, best_fixed
from tests.support.command_line import CommandLine
from tests.support.streams import as_csr, random_rounds

COLUMNS = 12
WITH_BASE = [name for name, loss in LOSSES.items() if loss.labels != "count"]


def rows(learner: Any, loss: str, count: int = 200, *, labels: bool = True) -> Rows:
    """Random rows with a base margin each."""
    rounds = list(random_rounds(3, count, COLUMNS, labels=LOSSES[loss].labels))
    bases = np.random.default_rng(1).normal(size=count).astype(np.float32)
    indptr, indices, values, y, h = as_csr(rounds)
    return Rows(indptr, indices, values, y if labels else None, h, bases=bases, space=learner)


@pytest.mark.parametrize("loss", WITH_BASE)
@pytest.mark.parametrize("scale", ["none", "standard"])
@pytest.mark.parametrize("rate", [0.3, "auto"])
def test_the_parts_add_up_and_the_base_is_one_of_them(
    loss: str, scale: str, rate: Any, tmp_path: Path
) -> None:
    rule = PerCoordinate(rate=rate)
    fast = Learner(loss, rule, columns=COLUMNS, scale=scale)
    slow = ReadableLearner(loss, rule, scale=scale, intercept=COLUMNS)
    for learner in (fast, slow):
        learner.learn(rows(fast, loss))
    given = rows(fast, loss, 20, labels=False)
    assert given.bases is not None
    margins = fast.predict(given).margins
    fast.save(tmp_path / "slim", slim=True)
    slim = Learner.load(tmp_path / "slim") if rate != "auto" else fast
    np.testing.assert_array_equal(slim.predict(given).margins, margins)
    np.testing.assert_allclose(slow.predict(given).margins, margins, rtol=1e-4, atol=1e-4)
    for learner in (fast, slim, slow):
        for k, explained in enumerate(learner.explain(given)):
            parts = {part.name: part.part for part in explained.parts if part.slot is None}
            assert parts["(base)"] == given.bases[k]
            assert sum(part.part for part in explained.parts) == pytest.approx(explained.margin)
            assert explained.margin == pytest.approx(margins[k], rel=1e-4, abs=1e-4)


def test_of_standardised_labels_the_base_is_subtracted() -> None:
    """What is learned is what is left of the label, so no number depends on where it stood."""
    one, other = (Learner("squared", columns=COLUMNS) for _ in range(2))
    given = rows(one, "squared")
    assert given.bases is not None
    assert given.labels is not None
    left = np.float32(given.labels).astype(float) - given.bases
    matrix = given.indptr, given.indices, given.values
    margins = one.learn(given).margins
    residual = other.learn(Rows(*matrix, left, given.importances, space=other)).margins
    np.testing.assert_allclose(margins, residual + given.bases, rtol=1e-5, atol=1e-5)
    assert one.ledger().total == pytest.approx(other.ledger().total, rel=1e-5)


def total(loss: str, given: Rows, weights: NDArray[np.float64]) -> float:
    """Σ h ℓ(b + u·x, y)."""
    matrix = csr_array((given.values, given.indices, given.indptr), (len(given), COLUMNS))
    assert given.bases is not None
    assert given.labels is not None
    assert given.importances is not None
    margins = given.bases + matrix @ weights
    each = zip(margins, given.labels, given.importances, strict=True)
    return float(sum(h * loss_named(loss).value(p, y) for p, y, h in each))


def weights_of(found: BestFixed) -> NDArray[np.float64]:
    weights = np.zeros(COLUMNS)
    weights[found.slots] = found.weights
    return weights


@pytest.mark.parametrize("loss", WITH_BASE)
def test_the_best_fixed_weights_have_the_base_too(loss: str) -> None:
    space = Learner(loss, columns=COLUMNS, intercept=False, scale="none")
    given = rows(space, loss, 80)
    found = best_fixed(Examples.collect(given), loss, box=2.0, gap=1e-3)
    assert found.total == pytest.approx(total(loss, given, weights_of(found)), rel=1e-6)
    bounds = [(-2.0, 2.0)] * COLUMNS
    least = minimize(lambda u: total(loss, given, u), np.zeros(COLUMNS), bounds=bounds).fun
    assert given.importances is not None
    assert found.lower <= least * (1 + 1e-9)
    assert found.total <= least + 1e-3 * given.importances.sum()
    for seed in range(20):
        weights = np.random.default_rng(seed).uniform(-2, 2, COLUMNS)
        assert found.lower <= total(loss, given, weights) * (1 + 1e-9)


def test_rules_that_look_at_the_margin_see_the_base() -> None:
    """A base that meets the margin leaves nothing to correct."""
    learner = Learner("hinge", parse_rule("pa"), columns=1, intercept=False, scale="none")
    learner.learn(Rows([0, 1, 2], [0, 0], [1.0, 1.0], [1, -1], bases=[1.5, -1.0], space=learner))
    assert learner.weight(0) == 0
    learner.learn(Rows([0, 1], [0], [1.0], [1], bases=[0.25], space=learner))
    assert learner.weight(0) == 0.75


def test_a_base_is_a_finite_number() -> None:
    learner = Learner(columns=1)
    for bases, told in [
        ([np.nan], "base[0]: expected a finite number, found NaN"),
        ([1.0, 2.0], "base: expected one entry for each of 1 rows, found 2 entries"),
    ]:
        with pytest.raises(InputError) as caught:
            learner.learn(Rows([0, 1], [0], [1.0], [1], bases=bases, space=learner))
        assert str(caught.value) == told


TEXT = "1 1 0.5 |a x:2\n-1 1 -0.25 |a y\n1 |a x y:3\n-1 2 1 |a y:0.5\n"
TABLE = "x,y,score,w,label\n2,,0.5,1,yes\n,1,-0.25,1,no\n1,3,0,1,yes\n,0.5,1,2,no\n"


def test_text_and_tables_say_the_same(lessregret: CommandLine) -> None:
    """The same rows, with scores as initial predictions and as a column."""
    text = lessregret.write("d.vw", "1 1 0.5 | x:2\n-1 1 -0.25 | x:3\n1 2 0 | x:1\n")
    table = lessregret.write("d.csv", "x,score,w,y\n2,0.5,1,1\n3,-0.25,1,-1\n1,0,2,1\n")
    columns = ("--label", "y", "--base", "score", "--weight", "w")
    options = ("--quiet", "--json", "--scale", "none")
    first = json.loads(lessregret("train", text, *options).stdout)
    second = json.loads(lessregret("train", table, *columns, *options).stdout)
    assert first["mean_loss"] == second["mean_loss"]
    assert first["statement"] == second["statement"]


def test_a_model_asks_for_its_base_again(lessregret: CommandLine) -> None:
    table = lessregret.write("d.csv", TABLE)
    columns = ("--label", "label", "--base", "score")
    assert lessregret("train", table, *columns, "--quiet", "--model", "m").code == 0
    lessregret.write("new.csv", "x,y,w,score\n1,1,1,2\n1,1,1,0\n")
    done = lessregret("predict", "m", "new.csv")
    high, low = map(float, done.stdout.split())
    assert done.code == 0
    assert high > low
    explained = lessregret("explain", "m", "new.csv", "--json")
    assert "(base)" in explained.stdout
    lessregret.write("without.csv", "x,y,w\n1,1,1\n")
    done = lessregret("predict", "m", "without.csv")
    assert done.code == 1
    assert "score" in done.stderr
    lessregret.write("bad.csv", "x,y,w,score\n1,1,1,\n")
    done = lessregret("predict", "m", "bad.csv")
    assert done.stderr == (
        "lessregret: error: bad.csv:2:7: expected a finite number, the score that is added to the "
        "margin, in column 'score', found ''\n"
    )


@pytest.mark.parametrize("command", ["compare", "regret"])
def test_compare_and_regret_take_the_base(lessregret: CommandLine, command: str) -> None:
    table = lessregret.write("d.csv", TABLE)
    with_base = lessregret(command, table, "--label", "label", "--base", "score", "--json")
    without = lessregret(command, table, "--label", "label", "--ignore", "score", "--json")
    assert (with_base.code, without.code) == (0, 0)
    assert with_base.stdout != without.stdout


def test_an_arrow_file_of_examples_has_no_base(tmp_path: Path) -> None:
    text = tmp_path / "d.vw"
    text.write_text(TEXT)
    with pytest.raises(SpecError, match="has no place for base margins"):
        convert(open_examples([text], Learner(bits=18)), tmp_path / "d.arrow")


def test_a_frame_has_its_base_among_its_columns() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame({"city": ["Rome", "Oslo"] * 30, "score": [3.0, -3.0] * 30})
    labels = ["yes", "no"] * 30
    fitted = OnlineClassifier(columns={"base": "score"}).fit(frame, labels)
    numbers = frame.assign(city=1.0)
    as_table = OnlineClassifier(columns={"base": "score"}).fit(numbers, labels)
    for model, data in ((fitted, frame), (as_table, numbers)):
        assert [column.kind for column in model.schema_.columns][-1] == "base"
        margins = model.decision_function(data.assign(score=[5.0, 1.0] * 30))
        assert margins[0] - model.decision_function(data.assign(score=0.0))[0] > 2


def test_a_count_has_no_base_margin(lessregret: CommandLine, tmp_path: Path) -> None:
    learner = Learner("poisson", columns=COLUMNS)
    with pytest.raises(InputError, match="no base margin, since labels are counts"):
        learner.learn(rows(learner, "poisson"))
    (tmp_path / "text").write_text("3 1 0.5 |f a\n", encoding="utf-8")
    (tmp_path / "table.csv").write_text("y,b,x\n3,0.5,1\n", encoding="utf-8")
    table = str(tmp_path / "table.csv"), "--label", "y", "--base", "b"
    text = (str(tmp_path / "text"),)
    for words, code, told in (
        (text, 1, "a tag or '|' (counts have no initial prediction), found '0.5'"),
        (table, 2, "labels are counts, which have no base margin, and column 'b' is a base"),
    ):
        done = lessregret("train", *words, "--loss", "poisson")
        assert done.code == code
        assert told in done.stderr


def test_many_classes_have_no_base_margin(lessregret: CommandLine, tmp_path: Path) -> None:
    text, table = tmp_path / "text.vw", tmp_path / "table.csv"
    text.write_text("1 |f a\n2 |f b\n", encoding="utf-8")
    model = str(tmp_path / "m")
    assert lessregret("train", str(text), "--classes", "3", "--model", model).code == 0
    text.write_text("3 1 0.5 |f a\n", encoding="utf-8")
    table.write_text("y,b,x\nred,0.5,1\nblue,0,1\ngreen,0,1\n", encoding="utf-8")
    columns = "--label", "y", "--base", "b"
    for words, code, told in (
        (("train", str(text), "--classes", "3"), 1, "many classes have no initial prediction"),
        (("train", str(table), *columns), 2, "labels are many classes, which have no base margin"),
        (("predict", model, str(text)), 1, "base: expected no base margin: a prediction of many"),
    ):
        done = lessregret(*words)
        assert done.code == code
        assert told in done.stderr
