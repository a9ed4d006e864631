"""Does a run that goes badly say so once, with a cure that helps, and a good run say nothing?"""

from __future__ import annotations

import json
import warnings
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lessregret import Learner, OnlineClassifier, OnlineRegressor, PerCoordinate
from lessregret.learners.losses import LOSSES
from lessregret.learners.outcomes import LabelSums
from lessregret.ledger import Lane, Ledger, SlotSummary, StackOfLanes, Tally
from lessregret.training.late_rounds import LatePart
from lessregret.training.run import train
from lessregret.training.run_warnings import (
    LEAST_EXAMPLES,
    Finding,
    RunWarning,
    constant_loss,
    run_warnings,
)
from tests.support.command_line import CommandLine
from tests.support.pairs import ONE_OF_EACH

Floats = NDArray[np.float64]
SPEC: dict[str, Any] = Learner("logistic", columns=1).spec
FAIR = LabelSums(importance=1500.0, mean=0.0, squares=1500.0)


def late(mean_loss: float, labels: LabelSums = FAIR, of: int = 2000) -> LatePart:
    """The later 1,500 rounds of a run."""
    return LatePart(of, 1500, mean_loss * labels.importance, labels)


def ledger(lanes: list[float] | None = None, stack: float = 9.0) -> Ledger:
    """A ledger of 2,000 rounds; ``lanes`` and ``stack`` are mean losses."""
    made = tuple(
        Lane(f"rate {10.0**k:g}", 10.0**k, 0.5, 2000 * loss, 0.0, 0.0, None, None)
        for k, loss in enumerate(lanes or [])
    )
    stacked = StackOfLanes(0.0, 2000 * stack) if made else None
    summary = SlotSummary(None, None, None, 1, 2.0, made, stacked)
    return Ledger(Tally(rounds=2000, importance=2000.0), summary, True)


def told(spec: dict[str, Any], part: LatePart, of_run: Ledger | None = None) -> list[str]:
    found = run_warnings({**SPEC, **spec}, of_run or ledger(), part)
    return [finding.in_shell for finding in found]


@pytest.mark.parametrize("loss", ONE_OF_EACH)
@pytest.mark.parametrize("ones", [0.5, 0.9, 0.02])
def test_no_constant_margin_loses_less(loss: str, ones: float) -> None:
    labels, shares = np.array([1.0, -1.0]), np.array([ones, 1 - ones])
    mean = float(shares @ labels)
    sums = LabelSums(100.0, mean, 100 * float(shares @ (labels - mean) ** 2))
    margins = np.linspace(-6, 6, 12001).tolist()
    value = LOSSES[loss].value
    losses = [shares @ [value(margin, label) for label in labels.tolist()] for margin in margins]
    assert constant_loss(loss, sums) == pytest.approx(min(losses), abs=1e-6)


def test_a_loss_above_that_of_the_best_constant_is_told() -> None:
    assert told({}, late(0.69)) == []
    # 5 % and the price of not knowing the constant are allowed.
    assert told({}, late(1.05 * log(2))) == []
    [line] = told({}, late(0.74))
    assert line.startswith(
        "the mean loss of the last 1,500 examples, 0.74, is above 0.6931, that of the best constant"
    )


@pytest.mark.parametrize(
    ("spec", "cure"),
    [
        ({"intercept": False}, "; leave out --no-intercept"),
        ({"scale": "none"}, "; leave out --scale none"),
        ({"rule": PerCoordinate(rate=5.0).spec()}, "; try --rule per-coordinate, which has no"),
        ({"rule": {"name": "arow"}}, "; try --rule per-coordinate, which has no rate to choose"),
        ({"scale": "cap"}, "; shuffle the examples if they are sorted by label, or leave out "),
        ({}, "sorted by label, or use fewer features"),
    ],
)
def test_the_cure_is_the_most_likely_one(spec: dict[str, Any], cure: str) -> None:
    [line] = told(spec, late(0.9))
    assert cure in line


def test_short_runs_and_runs_of_one_label_say_nothing() -> None:
    at_the_edge = ledger([0.2, 0.3, 0.4, 0.5])
    assert told({}, late(0.9, of=LEAST_EXAMPLES - 1), at_the_edge) == []
    assert len(told({}, late(0.9, of=LEAST_EXAMPLES), at_the_edge)) == 2
    assert told({}, late(0.9, FAIR._replace(mean=1.0, squares=0.0))) == []
    assert told({}, late(0.9, LabelSums())) == []
    assert told({"loss": "a loss of the user's own"}, late(0.9)) == []


def test_a_best_lane_at_the_edge_of_the_grid_is_told() -> None:
    """If one more step would gain more than a tenth, as the steps before it suggest."""
    [low] = told({}, late(0.2), ledger([0.2, 0.3, 0.4, 0.5]))
    assert low == (
        "the lane at the lowest rate, 1, is the best: a lower rate may lose less; "
        "try --rule per-coordinate:rate=0.1:offset=0.3"
    )
    [high] = run_warnings(SPEC, ledger([0.5, 0.4, 0.3, 0.2]), late(0.2))
    assert high.in_python == (
        "the lane at the highest rate, 1000, is the best: a higher rate may lose less; "
        "try the rule 'per-coordinate' with rate=10000 and offset=0.3"
    )


@pytest.mark.parametrize(
    ("lanes", "stack"),
    [
        ([0.3, 0.2, 0.3, 0.4], 9.0),
        ([0.2, 0.21, 0.4, 0.5], 9.0),
        ([0.2, 0.3, 0.4, 0.5], 0.19),
        ([0.2, 0.3], 9.0),
    ],
    ids=["best inside", "gain too small", "stack better", "too few lanes"],
)
def test_other_lanes_say_nothing(lanes: list[float], stack: float) -> None:
    assert told({}, late(0.2), ledger(lanes, stack)) == []


def test_a_rule_without_an_offset_is_not_given_one() -> None:
    rule = {"name": "global", "rate": "auto"}
    [line] = told({"rule": rule}, late(0.2), ledger([0.2, 0.3, 0.4]))
    assert line.endswith("; try --rule global:rate=0.1")


# Real runs


def table(examples: int = 2000, columns: int = 50) -> tuple[Floats, Floats]:
    """Values of the normal distribution, and a number that they tell."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(examples, columns))
    return X, X @ rng.normal(size=columns) / columns**0.5


def caught(model: Any, X: Floats, y: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert all(each.category is RunWarning for each in found)
    # The place is that of the call.
    assert all(Path(each.filename).name == Path(__file__).name for each in found)
    return [str(each.message) for each in found]


@pytest.mark.parametrize("scale", ["cap", "full", "standard"])
def test_good_runs_of_estimators_say_nothing(scale: str) -> None:
    X, y = table()
    assert caught(OnlineRegressor(scale=scale), X, y) == []
    for loss in ("logistic", "hinge"):
        assert caught(OnlineClassifier(loss, scale=scale), X, y > 0) == []


def test_labels_out_of_reach_are_told_and_the_cure_helps() -> None:
    """In place of the other warnings: weights within the radius fall short of such labels."""
    X, y = table()
    prices = 200_000 + 50_000 * y
    model = OnlineRegressor(scale="cap", rule=PerCoordinate(rate=0.1))
    [line] = caught(model, X, prices)
    assert ", but no weight exceeds 100" in line
    assert line.endswith('; use scale="standard"')
    cured = OnlineRegressor(scale="standard")
    assert caught(cured, X, prices) == []
    variance = prices.var()
    assert (cured.ledger_.mean_loss or 9e9) < variance / 2 < (model.ledger_.mean_loss or 0) / 2


def test_the_rate_that_is_advised_loses_less() -> None:
    X, y = table()
    model = OnlineRegressor(scale="none")
    lines = caught(model, 15 * X, y)
    [line] = [line for line in lines if "the lowest rate, 0.0125, is the best" in line]
    advised = {name: float(value) for name, value in (
        part.split("=") for part in line.split() if "=" in part
    )}  # fmt: skip
    cured = OnlineRegressor(rule=PerCoordinate(**advised), scale="none")  # type: ignore[arg-type]
    caught(cured, 15 * X, y)
    assert (cured.ledger_.mean_loss or 9) < (model.ledger_.mean_loss or 0)


def test_a_run_in_pieces_does_not_warn() -> None:
    X, y = table()
    model = OnlineClassifier(rule=PerCoordinate(rate=50.0))
    assert len(caught(model, X, np.resize([0, 1], len(y)))) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for start in range(0, 2000, 1000):
            part = slice(start, start + 1000)
            model.partial_fit(X[part], np.resize([0, 1], 1000))


LOG = [f"{1 - 2 * (k % 3 == 0)} |a b{k % 7} c{k % 3}\n" for k in range(1500)]


def test_a_good_run_of_train_says_nothing(lessregret: CommandLine) -> None:
    data = lessregret.write("log.vw", "".join(LOG))
    done = lessregret("train", data, "--quiet", "--json")
    assert (done.code, done.stderr, json.loads(done.stdout)["warnings"]) == (0, "", [])


def test_a_bad_run_of_train_says_so_everywhere(lessregret: CommandLine) -> None:
    """On stderr, also with --quiet; in the JSON; on the page; and for who calls it from Python."""
    data = lessregret.write("noise.vw", "".join(f"{1 - 2 * (k % 2)} |a b\n" for k in range(1500)))
    asked = "train", data, "--rule", "constant:rate=9"
    done = lessregret(*asked, "--quiet", "--json", "--report", "page.html")
    [line] = json.loads(done.stdout)["warnings"]
    assert line.endswith("; try --rule per-coordinate, which has no rate to choose")
    assert (done.code, done.stderr) == (0, f"lessregret: warning: {line}\n")
    assert f"Warning: {line}." in Path("page.html").read_text(encoding="utf-8")
    assert lessregret(*asked).stderr.endswith(f"\nlessregret: warning: {line}\n")
    training = train(data, rule="constant:rate=9", bits=10)
    assert isinstance(training.warnings[0], Finding)
    assert training.warnings[0].in_shell == line


def test_features_that_share_slots_are_told_with_enough_bits(
    lessregret: CommandLine,
) -> None:
    rng = np.random.default_rng(2)
    lines = (
        f"{1 if words[0] < 150 else -1} | {' '.join(f'w{k}' for k in words)}\n"
        for words in (np.append(rng.integers(300), rng.integers(3000, size=3)) for _ in range(2000))
    )
    lessregret.write("words.vw", "".join(lines))
    done = lessregret("train", "words.vw", "--bits", "12", "--quiet", "--model", "m")
    assert "of the features share a slot of the hash table" in done.stderr
    assert done.stderr.strip().endswith("use --bits 16")
    told = json.loads(lessregret("inspect", "m", "--json").stdout)["fill"]
    assert told["enough_bits"] == 16
    assert told["shared"] > 0.4
    assert "train with --bits 16 for less than 5 %" in lessregret("inspect", "m").stdout
    done = lessregret("train", "words.vw", "--bits", "16", "--quiet", "--model", "m")
    assert done.stderr == ""
    assert json.loads(lessregret("inspect", "m", "--json").stdout)["fill"]["enough_bits"] is None
