"""Every loss of the table: its twin, its laws, its labels, and its way through the library."""

from __future__ import annotations

from itertools import product
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import minimize
from scipy.sparse import csr_array

from lessregret import Learner, OnlineRegressor, PerCoordinate, ReadableLearner
from lessregret.errors import InputError, SpecError
from lessregret.learners.importance import push
from lessregret.learners.losses import LOSSES, Huber, Loss, Poisson, Quantile, loss_named
from lessregret.learners.rules import PA, Ftrl, Global, Rule
from lessregret.regret.comparator import best_fixed
from tests.support.command_line import CommandLine
from tests.support.rows import learn_rows, predict_rows
from tests.support.streams import as_csr, random_rounds

COLUMNS = 20
RULES: list[Rule] = [
    PerCoordinate(),
    PerCoordinate(rate=0.3),
    PerCoordinate(rate="theory", radius=0.5),
    Ftrl(rate=0.1),
    Global(rate=0.1),
]
EVERY = pytest.mark.parametrize("name", LOSSES)


def some_labels(loss: Loss) -> tuple[float, ...]:
    return (0.0, 1.0, 7.0) if loss.labels == "count" else (-1.0, 1.0)


def kinks(loss: Loss, label: float) -> tuple[float, ...]:
    """The margins at which a slope or a curvature jumps."""
    if isinstance(loss, Huber):
        return label - loss.parameter, label + loss.parameter
    return (label,)


def rounds_of(name: str, count: int = 100) -> Any:
    return list(random_rounds(7, count, COLUMNS, labels=LOSSES[name].labels))


@EVERY
@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("wishes", [{}, {"scale": "none"}, {"l2": 0.01}], ids=str)
def test_the_twins_agree(name: str, rule: Rule, wishes: dict[str, Any]) -> None:
    rows = as_csr(rounds_of(name))
    fast = Learner(name, rule, columns=COLUMNS, certify=True, **wishes)
    slow = ReadableLearner(name, rule, certify=True, intercept=COLUMNS, **wishes)
    margins, readable = learn_rows(fast, *rows), learn_rows(slow, *rows)
    size = np.abs(readable).max()
    np.testing.assert_allclose(margins, readable, rtol=1e-5, atol=1e-5 * size)
    for part in ("loss", "standardised_loss", "penalty"):
        ours, theirs = (getattr(learner.ledger().tally, part) for learner in (fast, slow))
        assert ours == (theirs and pytest.approx(theirs, rel=1e-4))
    predicted, expected = (predict_rows(each, *rows[:3]) for each in (fast, slow))
    np.testing.assert_allclose(predicted, expected, rtol=1e-5, atol=1e-5 * size)


@EVERY
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_regret_is_at_most_the_linearised_and_that_at_most_the_bound(name: str, rule: Rule) -> None:
    rounds = rounds_of(name, 120)
    learner = ReadableLearner(name, rule, certify=True, intercept=COLUMNS)
    scaled = []
    for each in rounds:
        learned = learner.labels.learned(each.label, each.importance)
        learner.play([*each.slots, COLUMNS], [*each.values, 1.0], each.label, each.importance)
        seen = learner.lanes[0].seen if learner.lanes else learner.seen
        scaled.append((dict(zip(*seen, strict=True)), learned, each.importance))
    ledger = learner.ledger()
    assert ledger.linear_regret is not None
    for point in (np.zeros(COLUMNS + 1), np.full(COLUMNS + 1, 0.1), np.full(COLUMNS + 1, -0.1)):
        fixed = sum(
            h * learner.loss.value(sum(x * point[i] for i, x in row.items()), y)
            for row, y, h in scaled
        )
        assert ledger.total - fixed <= ledger.linear_regret + 1e-9 * (1 + ledger.total)
    if ledger.bound is not None and not learner.lanes:
        assert ledger.linear_regret <= ledger.bound * (1 + 1e-9)


@EVERY
@pytest.mark.parametrize("fixed_share", [0.0, 0.01])
def test_mixing_costs_at_most_its_price(name: str, fixed_share: float) -> None:
    learner = Learner(name, columns=COLUMNS, fixed_share=fixed_share)
    learn_rows(learner, *as_csr(rounds_of(name, 400)))
    ledger = learner.ledger()
    assert ledger.stack is not None
    assert ledger.mixing_cost is not None
    least = min(*(lane.loss for lane in ledger.lanes), ledger.stack.loss)
    assert ledger.tally.loss <= least + ledger.mixing_cost + 1e-9 * ledger.tally.loss


def flow(loss: Loss, margin: float, label: float, importance: float, response: float) -> float:
    """How far dp/dh = −k ℓ′(p) carries a margin that comes to no kink."""
    solved = solve_ivp(
        lambda _, moved: [-response * loss.slope(margin + moved[0], label)],
        (0, importance),
        [0.0],
        method="DOP853",
        rtol=1e-12,
        atol=1e-13,
    )
    return float(solved.y[0, -1])


@EVERY
def test_a_push_is_the_flow(name: str) -> None:
    loss = LOSSES[name]
    for margin, label in product((-3.0, 0.2, 2.5), some_labels(loss)):
        for importance in (1e-4, 0.3, 7.0):
            there = flow(loss, margin, label, importance, 0.05)
            if loss.has_kink and margin < label < margin + there:
                continue
            found = push(loss, margin, label, importance, 0.05) * 0.05
            near_kink = min(abs(margin + there - kink) for kink in kinks(loss, label)) < 1e-2
            crosses = any(
                min(margin, margin + there) < kink < max(margin, margin + there)
                for kink in kinks(loss, label)
            )
            if loss.has_kink and (near_kink or crosses):
                continue
            assert found == pytest.approx(there, rel=1e-7, abs=1e-12), (margin, label, importance)


@EVERY
def test_no_push_goes_beyond_the_label(name: str) -> None:
    loss = LOSSES[name]
    for margin, label in product((-3.0, 0.2, 2.5), some_labels(loss)):
        after = margin + 0.5 * push(loss, margin, label, 1e9, 0.5)
        assert loss.value(after, label) <= loss.value(margin, label) + 1e-12
        assert loss.slope(after, label) * loss.slope(margin, label) >= -1e-9


@EVERY
def test_the_comparator_finds_the_least_loss(name: str) -> None:
    """Against L-BFGS from several starts; its own gap must cover what it misses."""
    loss = LOSSES[name]
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(60, 3)).astype(np.float32).astype(np.float64)
    margins = rows @ [1.0, -0.5, 0.25] + 0.5 * rng.normal(size=60)
    labels = {
        "binary": np.sign(margins),
        "real": margins.astype(np.float32).astype(float),
        "count": np.round(np.exp(margins)),
    }[loss.labels]

    def value(point: Any) -> float:
        return sum(loss.value(float(p), y) for p, y in zip(rows @ point, labels, strict=True))

    best = best_fixed((csr_array(rows), labels), name, box=2.0)
    starts = [best.weights, np.zeros(3), np.array([1.0, -0.5, 0.25])]
    found = min(
        minimize(value, start, bounds=[(-2, 2)] * 3, method=method).fun
        for start in starts
        for method in ("L-BFGS-B", "Nelder-Mead")
    )
    assert best.loss == pytest.approx(value(best.weights), rel=1e-9)
    assert best.lower <= found + 1e-9
    assert best.loss <= found + 1e-3 * (1 + abs(found))
    assert best.loss - best.lower <= 1e-2 * (1 + abs(found))


def test_names_have_parameters() -> None:
    assert loss_named("quantile:0.50") == Quantile(0.5)
    assert loss_named("huber:2").name == "huber:2"
    assert Learner("quantile:0.250", columns=1).spec["loss"] == Quantile(0.25).name
    assert Learner("huber:0.0000001", columns=1).spec["loss"] == Huber(1e-7).name


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "quantile",
            "the loss 'quantile' needs a number above 0 and below 1 after a colon, as in ",
        ),
        ("quantile:1", "as in 'quantile:0.9'; found 'quantile:1'"),
        (
            "huber:0",
            "the loss 'huber' needs a finite number above 0 after a colon, as in 'huber:1'",
        ),
        ("hinge:2", "the loss 'hinge' has no parameter, found 'hinge:2'; leave out ':2'"),
        ("magic", "unknown loss 'magic'; the losses are logistic, hinge, squared"),
    ],
)
def test_a_wrong_name_is_told(name: str, told: str) -> None:
    with pytest.raises(SpecError, match=told.replace("(", r"\(")):
        loss_named(name)
    with pytest.raises(SpecError, match=told.replace("(", r"\(")):
        Learner(name, columns=1)


def test_a_negative_count_is_refused_and_changes_nothing() -> None:
    told = r"y\[1\]: expected a count, a number from 0 to 16777216, found -3"
    regressor = OnlineRegressor("poisson").fit([[1.0], [2.0]], [2.0, 3.0])
    before = regressor.learner_.to_bytes()
    with pytest.raises(InputError, match=told):
        regressor.partial_fit([[1.0], [2.0]], [1.0, -3.0])
    assert regressor.learner_.to_bytes() == before


@pytest.mark.parametrize("text", ["-3 |f a\n", "-3 1:1\n"])
def test_a_negative_count_in_a_file_is_told(
    text: str, lessregret: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "data").write_text(f"2{text[2:]}{text}", encoding="utf-8")
    done = lessregret("train", str(tmp_path / "data"), "--loss", "poisson")
    assert done.code == 1
    told = "data:2:1: expected a count as label, a number from 0 to 16777216, found '-3'"
    assert told in done.stderr


def test_a_negative_count_in_a_table_is_told(lessregret: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("y,a\n2,1\n-1,2\n", encoding="utf-8")
    done = lessregret("train", str(tmp_path / "data.csv"), "--label", "y", "--loss", "poisson")
    assert done.code == 1
    assert "a count as label, a number from 0 to 16777216 in column 'y', found '-1'" in done.stderr


def test_passive_aggressive_rules_learn_no_counts() -> None:
    for make in (ReadableLearner, Learner):
        with pytest.raises(SpecError, match="moves predictions to labels, and a count"):
            make("poisson", PA(), **({"columns": 1} if make is Learner else {}))


def test_the_unit_of_numbers_does_not_matter() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 3))
    y = X @ [1.0, 2.0, -1.0] + rng.normal(size=300)
    for loss in ("absolute", "quantile:0.8", "huber:0.5"):
        one, other = (OnlineRegressor(loss).fit(X, unit * y) for unit in (1.0, 1024.0))
        np.testing.assert_allclose(other.predict(X), 1024 * one.predict(X), rtol=1e-4, atol=1e-2)
        factor = 1024.0 ** LOSSES.get(loss, loss_named(loss)).degree
        # Before labels differ the unit of Huber loss is 1.
        first = 2 * factor * float(np.abs(y[:2]).max()) ** 2
        assert other.ledger_.tally.loss == pytest.approx(
            factor * one.ledger_.tally.loss, rel=1e-4, abs=first
        )


def test_quantiles_are_met_and_counts_are_expected() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4000, 2))
    noise = rng.normal(size=4000)
    for level in (0.1, 0.9):
        y = 100 + 10 * X[:, 0] + 5 * noise
        regressor = OnlineRegressor(f"quantile:{level}").fit(X, y)
        assert float(np.mean(y < regressor.predict(X))) == pytest.approx(level, abs=0.03)
    mean = 20 * np.exp(0.5 * X[:, 0] - 0.2 * X[:, 1])
    counts = rng.poisson(mean)
    regressor = OnlineRegressor("poisson").fit(X, counts)
    assert float(np.median(np.abs(np.log(regressor.predict(X) / mean)))) < 0.05
    assert regressor.intercept_ == pytest.approx(log(20), abs=0.1)
    assert regressor.coef_ == pytest.approx([0.5, -0.2], abs=0.05)


def test_poisson_predictions_are_counts_on_the_command_line(
    lessregret: CommandLine, tmp_path: Path
) -> None:
    lines = [f"{k % 4} | a:{k % 4}\n" for k in range(200)]
    data, model = tmp_path / "counts.vw", str(tmp_path / "m")
    data.write_text("".join(lines), encoding="utf-8")
    done = lessregret("train", str(data), "--loss", "poisson", "--bits", "8", "--model", model)
    assert done.code == 0
    assert "in mean counts" in done.stderr
    counts = np.array(lessregret("predict", model, str(data)).stdout.split(), float)
    margins = np.array(lessregret("predict", model, str(data), "--as", "margin").stdout.split())
    np.testing.assert_allclose(counts, np.exp(margins.astype(float)), rtol=1e-4)
    explained = lessregret("explain", model, str(data), "--rows", "1")
    assert explained.code != 0 or "the expected count is" in explained.stdout


def test_poisson_loss_is_half_the_deviance() -> None:
    assert Poisson().value(log(3), 5) == pytest.approx(5 * log(5 / 3) - 2)
    assert Poisson().value(0.0, 1.0) == 0
    assert exp(24 * log(2)) == pytest.approx(2**24)
