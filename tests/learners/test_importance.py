"""Importance-aware updates: is it the flow, is h what h rounds are, can no importance do harm?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from lessregret import (
    Constant,
    Global,
    InverseSqrt,
    Learner,
    PerCoordinate,
    ReadableLearner,
)
from lessregret.errors import ModelFileError, SpecError
from lessregret.learners.importance import push
from lessregret.learners.losses import LOSSES, Loss, Squared
from lessregret.learners.mixture import lane_rates
from lessregret.learners.rules import RULES, Rule
from tests.support.model_files import edited, take_apart
from tests.support.pairs import ONE_OF_EACH
from tests.support.regret_streams import STREAMS, best_fixed
from tests.support.rows import learn_rows, predict_rows
from tests.support.streams import Round, as_csr, random_rounds

COLUMNS = 40
DESCENDING = [name for name, rule in RULES.items() if rule.descends]
MARGINS = (-35.0, -2.0, 0.0, 0.6, 3.0, 20.0)
AWARE: dict[str, Any] = {"importance_aware": True}


def rounds_for(loss: str, rounds: int = 500) -> list[Round]:
    return list(random_rounds(5, rounds, COLUMNS, regression=loss == "squared"))


def flow(loss: Loss, margin: float, label: float, importance: float, response: float) -> float:
    """How far dp/dh = −k ℓ′(p) carries the margin, step by step; hinge ends at its kink."""

    def kink(_: float, moved: Any) -> float:
        return 1 - label * (margin + moved[0]) if loss.name == "hinge" else 1.0

    kink.terminal = True  # type: ignore[attr-defined]
    if kink(0, [0.0]) <= 0:
        return 0.0
    size = importance * response * abs(loss.slope(margin, label))
    solved = solve_ivp(
        lambda _, moved: [-response * loss.slope(margin + moved[0], label)],
        (0, importance),
        [0.0],
        method="DOP853",
        rtol=1e-12,
        atol=1e-13 * min(size, 1.0),
        events=kink,
    )
    return float(solved.y[0, -1])


@pytest.mark.parametrize("loss", ONE_OF_EACH)
@pytest.mark.parametrize("importance", [1e-8, 1e-4, 0.3, 1.0, 7.0, 100.0, 1e4])
def test_it_is_the_flow(loss: str, importance: float) -> None:
    # A long way with a strong response takes a solver long, and ends at the label either way.
    responses = (0.001, 0.02) if importance == 1e4 else (0.01, 0.4)
    for margin, label, response in product(MARGINS, (-1.0, 1.0), responses):
        there = flow(LOSSES[loss], margin, label, importance, response)
        u = push(LOSSES[loss], margin, label, importance, response)
        assert u * response == pytest.approx(there, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("loss", ONE_OF_EACH)
def test_it_never_goes_beyond(loss: str) -> None:
    """Beyond the label for squared loss, the kink for hinge; nowhere but the right way at all."""
    for margin, label, response in product(MARGINS, (-1.0, 1.0), (1e-6, 0.4, 30.0)):
        goal = label if loss != "logistic" else label * np.inf
        if loss == "hinge" and label * margin >= 1:
            goal = margin
        for importance in (1e-8, 1.0, 1e4, 1e30):
            u = push(LOSSES[loss], margin, label, importance, response)
            low, high = sorted((margin, goal))
            rounding = 1e-15 * abs(margin)
            assert low - rounding <= margin + u * response <= high + rounding


@pytest.mark.parametrize("loss", ONE_OF_EACH)
@pytest.mark.parametrize("importance", [0.25, 3.0, 40.0])
def test_at_a_fixed_rate_one_round_is_two_of_half_the_importance(
    loss: str, importance: float
) -> None:
    rounds = [each._replace(importance=importance) for each in rounds_for(loss, 100)]
    halves = [each._replace(importance=importance / 2) for each in rounds for _ in "ab"]
    # A cap would grow in both halves.
    wishes = {**AWARE, "scale": "none"}
    fast, fast_halves = (Learner(loss, Constant(), columns=COLUMNS, **wishes) for _ in "ab")
    slow, slow_halves = (ReadableLearner(loss, Constant(), **wishes) for _ in "ab")
    margins = learn_rows(fast, *as_csr(rounds))
    twice = learn_rows(fast_halves, *as_csr(halves))[::2]
    np.testing.assert_allclose(twice, margins, rtol=0, atol=1e-5 * np.abs(margins).max())
    readable = [slow.play(*each).margin for each in rounds]
    readable_twice = [slow_halves.play(*each).margin for each in halves][::2]
    np.testing.assert_allclose(readable_twice, readable, rtol=0, atol=1e-12)


@pytest.mark.parametrize("make", [partial(Learner, columns=2, intercept=False), ReadableLearner])
def test_an_importance_of_a_million_is_harmless(make: Callable[..., Any]) -> None:
    """At the end of the box where the plain update is; at the label here."""
    row = [0, 2], [0, 1], [0.5, 1.0]
    plain = make("squared", Constant(), scale="none")
    aware = make("squared", Constant(), **AWARE, scale="none")
    for learner in (plain, aware):
        learn_rows(learner, *row, [0.5], [1e6])
    assert predict_rows(plain, *row)[0] == 150
    assert predict_rows(aware, *row)[0] == pytest.approx(0.5, rel=1e-6)
    assert aware.weight(1) == pytest.approx(2 * aware.weight(0))


@pytest.mark.parametrize("loss", ONE_OF_EACH)
@pytest.mark.parametrize("name", DESCENDING)
def test_small_steps_are_gradient_steps(name: str, loss: str) -> None:
    rounds = [each._replace(importance=1e-4) for each in rounds_for(loss, 100)]
    rule = RULES[name](rate=1e-4)  # type: ignore[call-arg]
    plain, aware = (Learner(loss, rule, columns=COLUMNS, importance_aware=on) for on in (0, 1))
    margins = learn_rows(plain, *as_csr(rounds))
    size = np.abs(margins).max()
    np.testing.assert_allclose(learn_rows(aware, *as_csr(rounds)) / size, margins / size, atol=1e-3)
    assert size > 0


@pytest.mark.parametrize("rule", [PerCoordinate(box=(0.5, 2)), InverseSqrt(box=(0.5, 2)), Global()])
def test_importance_0_moves_nothing(rule: Rule) -> None:
    for make in (partial(Learner, columns=COLUMNS), ReadableLearner):
        learner = make("logistic", rule, **AWARE, scale="none")
        learn_rows(learner, *as_csr(rounds_for("logistic", 50)))
        weights = [learner.weight(i) for i in range(COLUMNS)]
        still = [each._replace(importance=0.0) for each in rounds_for("logistic", 50)]
        learn_rows(learner, *as_csr(still))
        assert [learner.weight(i) for i in range(COLUMNS)] == weights


@pytest.mark.parametrize("loss", ONE_OF_EACH)
@pytest.mark.parametrize("make", [PerCoordinate, Global])
@pytest.mark.parametrize("scale", ["none", "full"])
def test_a_lane_is_the_learner_at_its_rate(make: Any, loss: str, scale: str) -> None:
    """To the bit, as without."""
    rows = as_csr(rounds_for(loss))
    wishes: dict[str, Any] = {"columns": COLUMNS, "certify": True, "scale": scale, **AWARE}
    mixed = Learner(loss, make(box=(-0.5, 2)), **wishes)
    learn_rows(mixed, *rows)
    _, lanes = take_apart(mixed.to_bytes())
    for k, rate in enumerate(lane_rates(make)):
        if rate is None:
            continue
        single = Learner(loss, replace(make(box=(-0.5, 2)), rate=rate), **wishes)
        learn_rows(single, *rows)
        _, own = take_apart(single.to_bytes())
        kept = np.isin(lanes["slot"], own["slot"])
        for name in set(own) - {"slot", "scale", "gradient_sum"}:
            assert lanes[name][kept, k].tobytes() == own[name].tobytes(), name
        lane = mixed.ledger().lanes[k]
        assert lane.loss == pytest.approx(single.tally().loss)
        assert lane.bound is single.ledger().bound is None


@pytest.mark.parametrize("rule", [*(RULES[n]() for n in DESCENDING), PerCoordinate(rate="auto")])
@pytest.mark.parametrize("scale", ["none", "cap", "full", "standard"])
def test_saved_cut_and_resumed_it_is_the_same_learner(rule: Rule, scale: str) -> None:
    rounds = rounds_for("logistic")
    wishes: dict[str, Any] = {"columns": COLUMNS, "certify": True, "scale": scale, **AWARE}
    whole, pieces = (Learner("logistic", rule, **wishes) for _ in "ab")
    learn_rows(whole, *as_csr(rounds))
    for start in range(0, len(rounds), 70):
        learn_rows(pieces, *as_csr(rounds[start : start + 70]))
        pieces = Learner.from_bytes(pieces.to_bytes())
    assert pieces.to_bytes() == whole.to_bytes()
    assert pieces.ledger() == whole.ledger()
    assert pieces.spec["importance_aware"] is True


def test_a_file_that_says_nothing_of_it_is_without() -> None:
    learner = Learner("hinge", columns=COLUMNS)
    assert learner.spec["importance_aware"] is False

    def without(header: dict[str, Any], _: Any) -> None:
        del header["spec"]["importance_aware"]

    aware = Learner("hinge", columns=COLUMNS, **AWARE)
    loaded = Learner.from_bytes(edited(aware.to_bytes(), without))
    rows = as_csr(rounds_for("hinge"))
    assert learn_rows(loaded, *rows).tobytes() == learn_rows(learner, *rows).tobytes()


@pytest.mark.parametrize("make_stream", STREAMS)
@pytest.mark.parametrize("rate", [0.5, "auto"])
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_the_certificate_holds_and_no_bound_is_told(
    loss: str, rate: Any, make_stream: Callable[[Any], list[Round]]
) -> None:
    rule = PerCoordinate(rate=rate, radius=3.0)
    wishes: dict[str, Any] = {"certify": True, "scale": "none", **AWARE}
    rounds = make_stream(ReadableLearner(loss, rule, scale="none", **AWARE))
    fast = Learner(loss, rule, columns=12, intercept=False, **wishes)
    learn_rows(fast, *as_csr(rounds))
    slow = ReadableLearner(loss, rule, **wishes)
    for each in rounds:
        slow.play(*each)
    _, least = best_fixed(slow.loss, rounds, rule)
    for ledger, slack in ((slow.ledger(), 1e-9), (fast.ledger(), 1e-4)):
        assert ledger.linear_regret is not None
        assert ledger.total - least <= ledger.linear_regret + slack * (1 + ledger.linear_regret)
        assert ledger.bound is ledger.theorem is None
        assert ledger.tally.energy == 0


@pytest.mark.parametrize("make", [partial(Learner, columns=1), ReadableLearner])
def test_what_cannot_be_is_refused(make: Callable[..., Any]) -> None:
    told = (
        "for rules that step by rate times gradient, and this rule does not; leave out importance"
    )
    for name, rule in RULES.items():
        if name not in DESCENDING:
            with pytest.raises(SpecError, match=told):
                make("hinge", rule(), **AWARE)
    with pytest.raises(
        SpecError, match="follow the loss alone, and l2 adds a penalty to it; leave"
    ):
        make("hinge", PerCoordinate(), l2=0.1, **AWARE)


def test_the_core_refuses_in_the_same_words() -> None:
    """A model file can ask for anything."""

    def aware(header: dict[str, Any], _: Any) -> None:
        header["spec"]["importance_aware"] = True

    for wishes, told in (
        (
            {"rule": RULES["ftrl"]()},
            "for rules that step by rate times gradient, and this rule does",
        ),
        (
            {"rule": RULES["arow"]()},
            "for rules that step by rate times gradient, and this rule does",
        ),
        (
            {"l2": 0.1},
            "follow the loss alone, and l2 adds a penalty to it; leave out importance_aware",
        ),
    ):
        content = Learner("hinge", columns=1, **wishes).to_bytes()  # type: ignore[arg-type]
        with pytest.raises(ModelFileError, match=told):
            Learner.from_bytes(edited(content, aware))


def test_a_loss_of_ones_own_is_refused() -> None:
    class Fourth(Loss):
        name = "fourth"

        def value(self, margin: float, label: float) -> float:
            return (margin - label) ** 4

        def slope(self, margin: float, label: float) -> float:
            return 4 * (margin - label) ** 3

    with pytest.raises(SpecError, match=r"known for .*, huber:1 loss, not for 'fourth'"):
        ReadableLearner(Fourth(), PerCoordinate(), **AWARE)
    ReadableLearner(Squared(), PerCoordinate(), **AWARE)
