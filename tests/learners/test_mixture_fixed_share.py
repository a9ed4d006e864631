"""A fixed share: does it help where the best lane changes, is it kept, and is none of it at 0?"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import filterfalse
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lessregret import Ftrl, Global, Learner, PerCoordinate, ReadableLearner
from lessregret.errors import ModelFileError, SpecError
from lessregret.learners.losses import LOSSES
from lessregret.learners.mixture import DEFAULT_SHARE, EXPERTS
from lessregret.learners.rules import parse_rule
from tests.support.model_files import edited, take_apart
from tests.support.pairs import EVERY_RULE, ONE_OF_EACH, has_lanes
from tests.support.rows import learn_rows, predict_rows
from tests.support.streams import Round, as_csr, random_rounds

COLUMNS = 40
AUTO = PerCoordinate(rate="auto")
ONE_LANE = PerCoordinate(rate=0.3)


def rounds_for(loss: str, rounds: int = 500) -> list[Round]:
    return list(random_rounds(9, rounds, COLUMNS, regression=loss == "squared"))


def noise_then_news() -> Any:
    """Labels that nothing tells, where small rates are best; then features that tell all."""
    rng = np.random.default_rng(6)
    noisy, telling = 3000, 300
    columns = np.concatenate([np.zeros(noisy), np.arange(1, telling + 1) % 30 + 1]).astype(int)
    labels = np.sign(rng.normal(size=noisy + telling))
    labels[noisy:] = np.where(columns[noisy:] % 2, 1.0, -1.0)
    indptr = np.arange(noisy + telling + 1)
    return indptr, columns, np.ones(len(columns)), labels


@pytest.mark.parametrize("loss", ONE_OF_EACH)
def test_it_helps_where_the_best_lane_changes(loss: str) -> None:
    rows = noise_then_news()
    losses, news = [], []
    for fixed_share in (0.0, 0.001):
        learner = Learner(
            loss, AUTO, columns=COLUMNS, intercept=False, scale="none", fixed_share=fixed_share
        )
        margins = learn_rows(learner, *rows)
        played = zip(margins[3000:], rows[3][3000:], strict=True)
        losses.append(learner.tally().loss)
        news.append(sum(LOSSES[loss].value(margin, label) for margin, label in played))
    # The rate of the mixture for squared loss lets another expert lead soon, share or none.
    assert news[1] < (1.0 if loss == "squared" else 0.9) * news[0]
    if loss != "squared":
        assert losses[1] < losses[0]


@pytest.mark.parametrize("loss", ONE_OF_EACH)
def test_the_cost_told_covers_what_it_cost(loss: str) -> None:
    rows = as_csr(rounds_for(loss))
    learner = Learner(loss, AUTO, columns=COLUMNS, fixed_share=0.02)
    learn_rows(learner, *rows)
    plain = Learner(loss, AUTO, columns=COLUMNS)
    learn_rows(plain, *rows)
    ledger = learner.ledger()
    assert ledger.mixing_cost is not None
    assert ledger.stack is not None
    least = min(ledger.stack.loss, *(lane.loss for lane in ledger.lanes))
    assert ledger.tally.loss <= least + ledger.mixing_cost
    assert ledger.mixing_cost > (plain.ledger().mixing_cost or 0)
    assert [lane.loss for lane in ledger.lanes] == [lane.loss for lane in plain.ledger().lanes]
    shares = [ledger.stack.share, *(lane.share for lane in ledger.lanes)]
    assert len(shares) == EXPERTS
    assert min(shares) >= 0.02 / EXPERTS * (1 - 1e-9)


def test_log_loss_costs_so_much_a_round() -> None:
    """With importances of 1: ln K in all, and ln 1/(1 − a + a/K) each round."""
    rounds = [each._replace(importance=1.0) for each in rounds_for("logistic")]
    learner = Learner("logistic", AUTO, columns=COLUMNS, fixed_share=0.02)
    learn_rows(learner, *as_csr(rounds))
    expected = log(EXPERTS) - len(rounds) * log(1 - 0.02 + 0.02 / EXPERTS)
    assert learner.ledger().mixing_cost == pytest.approx(expected)


@pytest.mark.parametrize("loss", ONE_OF_EACH)
@pytest.mark.parametrize("make", [PerCoordinate, Ftrl, Global])
def test_saved_cut_and_resumed_it_is_the_same_learner(make: Any, loss: str) -> None:
    rounds = rounds_for(loss)
    wishes: dict[str, Any] = {
        "columns": COLUMNS,
        "certify": True,
        "fixed_share": 0.01,
        "scale": "cap",
    }
    whole, pieces = (Learner(loss, make(rate="auto"), **wishes) for _ in "ab")
    learn_rows(whole, *as_csr(rounds))
    for start in range(0, len(rounds), 70):
        rows = as_csr(rounds[start : start + 70])
        predicted = predict_rows(pieces, *as_csr(rounds[start : start + 1])[:3])
        assert predicted[0] == learn_rows(pieces, *rows)[0]
        pieces = Learner.from_bytes(pieces.to_bytes())
    assert pieces.to_bytes() == whole.to_bytes()
    assert pieces.ledger() == whole.ledger()
    assert pieces.spec["fixed_share"] == 0.01


def test_a_slim_model_is_the_lane_with_the_largest_share(tmp_path: Path) -> None:
    wishes: dict[str, Any] = {"columns": COLUMNS, "intercept": False, "scale": "none"}
    learner = Learner("squared", AUTO, fixed_share=0.001, **wishes)
    learn_rows(learner, *noise_then_news())
    rated = [lane for lane in learner.ledger().lanes if lane.rate is not None]
    best = max(rated, key=lambda lane: lane.share)
    assert best.loss > min(lane.loss for lane in learner.ledger().lanes)
    single = Learner("squared", replace(AUTO, rate=best.rate), **wishes)
    learn_rows(single, *noise_then_news())
    learner.save(tmp_path / "slim", slim=True)
    assert Learner.load(tmp_path / "slim").weight(3) == single.weight(3) == learner.weight(3)


@pytest.mark.parametrize("loss", ONE_OF_EACH)
def test_the_default_is_small_with_lanes_and_none_without(loss: str) -> None:
    assert Learner(loss, AUTO, columns=COLUMNS).spec["fixed_share"] == DEFAULT_SHARE
    assert ReadableLearner(loss, AUTO).mixture.fixed_share == DEFAULT_SHARE
    assert Learner(loss, replace(AUTO, rate=0.1), columns=COLUMNS).spec["fixed_share"] == 0


@pytest.mark.parametrize("loss", ONE_OF_EACH)
def test_0_is_as_if_there_were_none(loss: str) -> None:
    """A file that says nothing of it is read."""
    learner = Learner(loss, AUTO, columns=COLUMNS, fixed_share=0.0)
    learn_rows(learner, *as_csr(rounds_for(loss)))
    header, _ = take_apart(learner.to_bytes())
    assert header["spec"]["fixed_share"] == 0
    assert "sharing" not in header["shared"]["mixture"]
    silent = edited(learner.to_bytes(), lambda header, _: header["spec"].pop("fixed_share"))
    assert Learner.from_bytes(silent).to_bytes() == learner.to_bytes()


@pytest.mark.parametrize("make", [partial(Learner, columns=1), ReadableLearner])
def test_what_cannot_be_is_refused(make: Any) -> None:
    for wrong in (-0.1, 1, 1.5, float("nan"), "0.1", True):
        told = f"fixed_share must be a number from 0 up and below 1, found {wrong!r}"
        with pytest.raises(SpecError, match=told):
            make("hinge", AUTO, fixed_share=wrong)
    told = "fixed_share is a matter of lanes, which only rate 'auto' has; leave out fixed_share, or"
    for rule in filterfalse(has_lanes, EVERY_RULE):
        with pytest.raises(SpecError, match=told):
            make("hinge", parse_rule(rule), fixed_share=0.1)


@pytest.mark.parametrize(
    ("rule", "wrong", "told"),
    [
        (AUTO, 1.0, "fixed_share must be a number from 0 up and below 1, found 1.0"),
        (AUTO, -0.5, "fixed_share must be a number from 0 up and below 1, found -0.5"),
        (ONE_LANE, 0.5, "fixed_share is a matter of lanes, which only rate 'auto' has"),
    ],
)
def test_the_core_refuses_in_the_same_words(rule: Any, wrong: float, told: str) -> None:
    """A model file can ask for anything."""

    def edit(header: dict[str, Any], _: Any) -> None:
        header["spec"]["fixed_share"] = wrong

    with pytest.raises(ModelFileError, match=told):
        Learner.from_bytes(edited(Learner("hinge", rule, columns=1).to_bytes(), edit))
