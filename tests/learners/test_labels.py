"""Standardised labels: predictions in the user's units, whole files, hard labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import r2_score

from lessregret import FeatureSpace, Learner, OnlineRegressor, ReadableLearner, train
from lessregret.data.examples import Examples
from lessregret.data.streams import open_examples
from lessregret.errors import DivergedError, ModelFileError
from lessregret.learners.learner import learn_many
from lessregret.learners.rules import Rule, parse_rule
from tests.support.model_files import Edit, edited, take_apart
from tests.support.raw_tables import random_table
from tests.support.rows import learn_rows, predict_rows
from tests.support.streams import Round, as_csr

RULES = ["per-coordinate", "per-coordinate:rate=0.3", "global", "ftrl:rate=0.1"]


def learner(rule: str, **wishes: Any) -> Learner:
    return Learner("squared", parse_rule(rule), columns=8, scale="standard", **wishes)


def prices(seed: int, rows: int = 300) -> list[Round]:
    """A table whose labels are near 290,000, with importances."""
    rng = np.random.default_rng(seed)
    table = random_table(seed, rows, missing=0.2, regression=True)
    importances = rng.choice([1.0, 0.0, 0.25, 3.0], rows)
    return [
        each._replace(label=float(np.float32(290_000 + 40_000 * each.label)), importance=float(h))
        for each, h in zip(table, importances, strict=True)
    ]


def text(rounds: list[Round]) -> str:
    lines = []
    for each in rounds:
        row = " ".join(f"{i}:{x!r}" for i, x in zip(each.slots, each.values, strict=True))
        lines.append(f"{each.label!r} {each.importance!r} | {row}\n")
    return "".join(lines)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("at", [1, 63, 64, 150])
def test_a_run_resumed_from_its_file_is_the_same_to_the_bit(rule: str, at: int) -> None:
    rounds = prices(1)
    whole, first = learner(rule, certify=True), learner(rule, certify=True)
    margins = learn_rows(whole, *as_csr(rounds))
    before = learn_rows(first, *as_csr(rounds[:at]))
    resumed = Learner.from_bytes(first.to_bytes())
    after = learn_rows(resumed, *as_csr(rounds[at:]))
    assert np.concatenate([before, after]).tobytes() == margins.tobytes()
    assert resumed.to_bytes() == whole.to_bytes()


@pytest.mark.parametrize("rule", RULES[:2])
def test_threads_and_company_change_no_bit(rule: str, tmp_path: Path) -> None:
    file = tmp_path / "a.vw"
    file.write_text(text(prices(2, 3000)))
    made = [Learner("squared", parse_rule(rule), bits=10, scale="standard") for _ in range(5)]
    for threads, one in zip((1, 2, 5), made, strict=False):
        one.learn(open_examples([file], one, threads=threads))
    learn_many(made[3:], Examples.collect(open_examples([file], made[3])))
    assert len({one.to_bytes() for one in made}) == 1


@pytest.mark.parametrize("rule", RULES)
def test_predictions_change_nothing_and_stay_in_the_range_of_the_labels(rule: str) -> None:
    made, rounds = learner(rule), prices(3)
    rows = as_csr(prices(4))[:3]
    assert not predict_rows(made, *rows).any()
    learn_rows(made, *as_csr(rounds))
    content = made.to_bytes()
    found = predict_rows(made, *rows)
    assert made.to_bytes() == content
    labels = [each.label for each in rounds if each.importance]
    assert min(labels) <= found.min() < found.max() <= max(labels)


@pytest.mark.parametrize("rule", RULES)
def test_a_slim_file_predicts_in_the_units_of_the_labels(rule: str, tmp_path: Path) -> None:
    made, rows = learner(rule), as_csr(prices(4))[:3]
    learn_rows(made, *as_csr(prices(3)))
    made.save(tmp_path / "slim", slim=True)
    slim = Learner.load(tmp_path / "slim")
    found, own = predict_rows(slim, *rows), predict_rows(made, *rows)
    if ":" in rule:
        assert found.tobytes() == own.tobytes()
    # The weights are those of the best lane, not of the mixture.
    assert np.corrcoef(found, own)[0, 1] > 0.99
    assert np.abs(found - own).max() < 20_000
    slim.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "slim").read_bytes()


@pytest.mark.parametrize("rule", ["per-coordinate:rate=0.3", "ftrl:rate=0.1"])
def test_weights_are_in_the_units_of_the_labels(rule: str) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal([0, 1000, -5], [1, 30, 0.01], size=(500, 3))
    y = 290_000 + 50_000 * X[:, 0] + 1000 * (X[:, 1] - 1000) + rng.normal(size=500)
    made = OnlineRegressor(rule=parse_rule(rule), scale="standard", passes=3).fit(X, y)
    raw = np.clip(X @ made.coef_ + made.intercept_, y.min(), y.max())
    # Values beyond three standard deviations are clipped.
    near = (np.abs(X - X.mean(axis=0)) < 2.9 * X.std(axis=0)).all(axis=1)
    np.testing.assert_allclose(raw[near], made.predict(X)[near], atol=1)
    assert made.coef_[0] == pytest.approx(50_000, rel=0.1)


def r_squared(y: np.ndarray, predicted: np.ndarray) -> float:
    return float(r2_score(y, predicted))


@pytest.mark.parametrize("rule", RULES[:2])
def test_prices_are_learned_as_well_as_standardised_labels(rule: str) -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(2000, 6)) * [1, 10, 100, 1, 1, 1] + [0, 50, 1000, 0, 0, 3]
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    y = 290_000 + 40_000 * (z @ [1, -0.5, 1, 0.2, 0, 0.3] + 0.4 * rng.normal(size=2000))
    made = OnlineRegressor(rule=parse_rule(rule), scale="standard").fit(X, y)
    other = OnlineRegressor(rule=parse_rule(rule), scale="standard")
    other.fit(X, (y - y.mean()) / y.std())
    reached = r_squared(y, made.predict(X))
    assert reached == pytest.approx(r_squared((y - y.mean()) / y.std(), other.predict(X)), abs=0.01)
    assert reached > 0.8


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("label", [0.0, 0.1, -290_000.0])
def test_a_constant_label_is_predicted_from_the_second_round_on(rule: str, label: float) -> None:
    made, label = learner(rule, certify=True), float(np.float32(label))
    rounds = [each._replace(label=label, importance=0.3) for each in prices(7, 80)]
    margins = learn_rows(made, *as_csr(rounds))
    assert margins[0] == 0
    assert (margins[1:] == label).all()
    ledger = made.ledger()
    assert (ledger.total, ledger.game) == (0.0, "standardised labels")
    assert ledger.tally.loss == pytest.approx(np.float32(0.3) * label**2)


@pytest.mark.parametrize("rule", RULES)
def test_labels_of_a_million_and_one_are_told_apart(rule: str) -> None:
    rng = np.random.default_rng(8)
    X = rng.normal(size=(2000, 2))
    y = 1e6 + np.sign(X[:, 0])
    found = learn_rows(learner(rule), np.arange(0, 4001, 2), np.tile([0, 1], 2000), X.ravel(), y)
    assert r_squared(y[1000:], found[1000:]) > 0.4


@pytest.mark.parametrize("rule", RULES[:2])
@pytest.mark.parametrize("outlier", [1e9, -3e38])
def test_one_enormous_label_does_not_end_the_run(rule: str, outlier: float) -> None:
    rounds = prices(9)
    rounds[100] = rounds[100]._replace(label=outlier, importance=1.0)
    made = learner(rule)
    margins = learn_rows(made, *as_csr(rounds))
    assert np.isfinite(margins).all()
    assert Learner.from_bytes(made.to_bytes()).to_bytes() == made.to_bytes()
    assert np.isfinite(made.ledger().bound or 0.0)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("scope", ["active", "all"])
def test_a_failed_round_changes_no_statistics(rule: str, scope: str) -> None:
    l2 = 0.01 if scope == "all" else 0.0
    made, other = (learner(rule, l2=l2, l2_scope=scope) for _ in "ab")
    rounds = prices(13, 40)
    learn_rows(other, *as_csr(rounds[:30]))
    rounds[30] = rounds[30]._replace(importance=1e30)
    with pytest.raises(DivergedError):
        learn_rows(made, *as_csr(rounds))
    assert made.to_bytes() == other.to_bytes()


def test_an_importance_of_0_changes_no_statistics_and_is_no_first_label() -> None:
    for made in (learner("per-coordinate"), learner("per-coordinate:rate=0.3")):
        learn_rows(made, [0, 1], [0], [1.0], [7.0], [0.0])
        header, _ = take_apart(made.to_bytes())
        assert header["labels"] == {"importance": 0.0, "mean": 0.0, "squares": 0.0, "range": None}
        assert not predict_rows(made, [0, 1], [0], [1.0]).any()


@pytest.mark.parametrize("rule", RULES[:2])
def test_a_stream_standardises_labels_as_a_learner_does(rule: str, tmp_path: Path) -> None:
    file = tmp_path / "a.vw"
    file.write_text(text(prices(10, 500)))
    scaling = Learner("squared", parse_rule(rule), bits=10, scale="standard", certify=True)
    plain = Learner("squared", parse_rule(rule), bits=10, scale="none", certify=True)
    scaling.learn(open_examples([file], scaling))
    plain.learn(open_examples([file], plain, scale="standard"))
    ours, theirs = scaling.ledger(), plain.ledger()
    # The coin lane scales values in a way of its own, which a stream does not.
    lanes = [lane.standardised_loss for lane in ours.lanes if lane.rate]
    assert lanes == [lane.loss for lane in theirs.lanes if lane.rate]
    if not lanes:
        assert ours.tally.standardised_loss == theirs.tally.loss
        assert (ours.bound, ours.linear_regret) == (theirs.bound, theirs.linear_regret)
    unlabelled = open_examples([file], FeatureSpace(bits=10, labels="any"), scale="standard")
    assert [each.label for each in unlabelled] == [each.label for each in prices(10, 500)]


def put(name: str, value: Any) -> Edit:
    return lambda header, _: header["labels"].update({name: value})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (put("importance", -1.0), "'labels.importance' is -1.0, expected a finite number from 0"),
        (put("importance", 0.0), "'labels.importance' is 0.0, expected a number above 0"),
        (put("mean", None), "invalid type: null"),
        (put("squares", -1e-9), "'labels.squares' is -1e-9, expected a finite number from 0 up"),
        (put("range", [2.0, 1.0]), "'labels.range' is [2.0, 1.0], expected the lowest and the"),
        (put("range", [1.0]), "its metadata cannot be understood"),
        (put("range", None), "expected 0 before the first label"),
        (put("more", 1), "unknown field `more`"),
        (lambda header, _: header.pop("labels"), "it has no 'labels', the statistics of the"),
        (lambda header, _: header["spec"].update(scale="cap"), "'labels' is no part of this"),
        (
            lambda header, _: header["tally"].update(standardised_loss=-1.0),
            "'tally.standardised_loss' is -1.0, expected a finite number from 0 up",
        ),
    ],
)
@pytest.mark.parametrize("rule", RULES[:2])
def test_wrong_statistics_are_refused_by_name(change: Edit, told: str, rule: str) -> None:
    made = learner(rule)
    learn_rows(made, *as_csr(prices(11, 20)))
    with pytest.raises(ModelFileError) as error:
        Learner.from_bytes(edited(made.to_bytes(), change))
    assert told in error.value.reason


def test_a_loss_on_standardised_labels_is_refused_where_there_are_none() -> None:
    made = Learner("squared", columns=8, scale="cap")
    learn_rows(made, *as_csr(prices(11, 20)))
    change: Edit = lambda header, _: header["tally"].update(standardised_loss=1.0)  # noqa: E731
    with pytest.raises(ModelFileError, match=r"'tally\.standardised_loss' is 1\.0, expected 0"):
        Learner.from_bytes(edited(made.to_bytes(), change))


@pytest.mark.parametrize("scale", ["none", "cap", "full"])
def test_other_scales_leave_labels_as_they_are(scale: str) -> None:
    made = Learner("squared", columns=8, scale=scale)
    learn_rows(made, *as_csr(prices(11, 20)))
    assert "labels" not in take_apart(made.to_bytes())[0]
    assert made.ledger().game == "labels as given"
    slow = ReadableLearner("squared", made_rule(), scale=scale)
    assert slow.ledger().game == made.ledger().game
    assert made.ledger().tally.standardised_loss is None


def made_rule() -> Rule:
    return parse_rule("per-coordinate")


def test_a_run_tells_of_which_game_its_bound_is(tmp_path: Path) -> None:
    file = tmp_path / "a.vw"
    file.write_text(text(prices(12)))
    told = train(file, loss="squared", bits=10, scale="standard").as_dict()
    assert told["game"] == "standardised labels"
    assert told["standardised_loss"] < told["importance"] < told["mean_loss"]
    assert train(file, loss="squared", bits=10, scale="cap").as_dict()["game"] == "labels as given"
