"""Rate "auto": is a lane the learner at its rate, is regret bounded, does a file keep all lanes?"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lessregret import Ftrl, Global, Learner, OnlineClassifier, PerCoordinate, ReadableLearner
from lessregret.data.streams import open_examples
from lessregret.errors import ModelFileError
from lessregret.learners.mixture import EXPERTS, RATES, lane_name, lane_rates
from lessregret.learners.rules import Coin, Rule
from lessregret.ledger import Lane, Ledger, StackOfLanes
from tests.support.command_line import CommandLine
from tests.support.model_files import edited, take_apart
from tests.support.pairs import ONE_OF_EACH
from tests.support.regret_streams import STREAMS, best_fixed
from tests.support.rows import learn_rows, predict_rows
from tests.support.streams import Round, as_csr, random_rounds

COLUMNS = 40
MAKERS: list[Callable[..., Any]] = [PerCoordinate, Ftrl, Global]


def rounds_for(loss: str, seed: int = 3, rounds: int = 600) -> list[Round]:
    return list(random_rounds(seed, rounds, COLUMNS, regression=loss == "squared"))


@pytest.mark.parametrize("loss", ONE_OF_EACH)
@pytest.mark.parametrize("make", MAKERS)
def test_a_lane_is_the_learner_at_its_rate(make: Callable[..., Any], loss: str) -> None:
    """To the bit: the lanes share nothing but the example."""
    rows = as_csr(rounds_for(loss))
    mixed = Learner(loss, make(box=(-0.5, 2)), columns=COLUMNS, certify=True, scale="none")
    learn_rows(mixed, *rows)
    _, lanes = take_apart(mixed.to_bytes())
    for k, rate in enumerate(lane_rates(make)):
        if rate is None:
            continue
        rule = replace(make(box=(-0.5, 2)), rate=rate)
        single = Learner(loss, rule, columns=COLUMNS, scale="none")
        learn_rows(single, *rows)
        _, own = take_apart(single.to_bytes())
        stored = {name for name in own if name not in ("weight", "weight_slot")} | (
            {"weight"} if make is not Ftrl else set()
        )
        for name in stored - {"slot", "gradient_sum"}:
            # A slot that only other lanes have touched is stored, and empty.
            kept = np.isin(lanes["slot"], own["slot"])
            assert lanes[name][kept, k].tobytes() == own[name].tobytes(), name
            assert not lanes[name][~kept, k].any()
        lane = mixed.ledger().lanes[k]
        assert (lane.rate, lane.loss) == pytest.approx((rate, single.tally().loss))
        assert lane.bound == pytest.approx(single.ledger().bound)


@pytest.mark.parametrize("loss", ONE_OF_EACH)
@pytest.mark.parametrize("scale", ["none", "cap", "standard"])
@pytest.mark.parametrize(("l2", "scope"), [(0.0, "active"), (0.01, "active"), (0.01, "all")])
def test_the_last_lane_is_a_coin(loss: str, scale: str, l2: float, scope: str) -> None:
    """To the bit: θ is where lanes with a rate have the weight, A where they have the energy."""
    rows = as_csr(rounds_for(loss, rounds=300))
    wishes: dict[str, Any] = {"columns": COLUMNS, "scale": scale, "l2": l2, "l2_scope": scope}
    mixed, single = Learner(loss, **wishes), Learner(loss, Coin(), **wishes)
    for learner in (mixed, single):
        learn_rows(learner, *rows)
    header, lanes = take_apart(mixed.to_bytes())
    own_header, own = take_apart(single.to_bytes())
    kept = np.isin(lanes["slot"], own["slot"])
    for name, stored in (("reward", "weight"), ("stake", "energy")):
        assert lanes[stored][kept, -1].tobytes() == own[name].tobytes(), name
        assert not lanes[stored][~kept, -1].any()
    assert header["shared"]["coin"] == own_header["shared"]["state"]
    lane = mixed.ledger().lanes[-1]
    assert (lane.name, lane.rate, lane.bound) == ("coin", None, None)
    assert lane.loss == pytest.approx(single.tally().loss)


@pytest.mark.parametrize("aware", [False, True])
def test_a_lane_begins_with_its_own_first_gradient(aware: bool) -> None:
    """Hinge beyond its kink in one lane and not in others: the offset must not begin there."""
    rows = as_csr(rounds_for("hinge"))
    wishes: dict[str, Any] = {"columns": COLUMNS, "importance_aware": aware}
    mixed = Learner("hinge", PerCoordinate(rate="auto", offset=0.5), **wishes)
    learn_rows(mixed, *rows)
    _, lanes = take_apart(mixed.to_bytes())
    for k, rate in enumerate(RATES):
        single = Learner("hinge", PerCoordinate(rate=rate, offset=0.5), **wishes)
        learn_rows(single, *rows)
        _, own = take_apart(single.to_bytes())
        kept = np.isin(lanes["slot"], own["slot"])
        for name in ("weight", "energy"):
            assert lanes[name][kept, k].tobytes() == own[name].tobytes(), name
            assert not lanes[name][~kept, k].any()


@pytest.mark.parametrize("make_stream", STREAMS)
@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_regret_is_below_the_certificate_and_that_below_the_bound(
    loss: str, make: Callable[..., Any], make_stream: Callable[[Any], list[Round]]
) -> None:
    rule = make(rate="auto", radius=3.0)
    rounds = make_stream(ReadableLearner(loss, rule, scale="none"))
    slow = ReadableLearner(loss, rule, certify=True, scale="none")
    for each in rounds:
        slow.play(*each)
    fast = Learner(loss, rule, columns=12, intercept=False, certify=True, scale="none")
    learn_rows(fast, *as_csr(rounds))
    _, least = best_fixed(slow.loss, rounds, rule)
    for learner, slack in ((slow, 1e-9), (fast, 1e-4)):
        ledger = learner.ledger()  # type: ignore[attr-defined]
        slack *= 1 + abs(ledger.linear_regret)
        assert ledger.total - least <= ledger.linear_regret + slack
        assert ledger.linear_regret <= ledger.bound + slack
        assert ledger.tally.loss <= min(each.loss for each in experts(ledger)) + ledger.mixing_cost


def experts(ledger: Ledger) -> list[Lane | StackOfLanes]:
    assert ledger.stack is not None
    return [*ledger.lanes, ledger.stack]


def test_log_loss_is_within_ln_k_of_the_best_expert() -> None:
    learner = Learner("logistic", PerCoordinate(rate="auto"), columns=COLUMNS, fixed_share=0.0)
    for each in rounds_for("logistic"):
        learn_rows(learner, *as_csr([each._replace(importance=1.0)]))
    ledger = learner.ledger()
    assert len(experts(ledger)) == EXPERTS
    assert ledger.mixing_cost == pytest.approx(log(EXPERTS))
    assert ledger.best_lane is not None
    assert ledger.tally.loss <= min(each.loss for each in experts(ledger)) + log(EXPERTS)
    assert sum(each.share for each in experts(ledger)) == pytest.approx(1)
    assert ledger.best_lane.loss == min(lane.loss for lane in ledger.lanes)


@pytest.mark.parametrize("loss", ONE_OF_EACH)
@pytest.mark.parametrize("make", MAKERS)
def test_saved_cut_and_resumed_it_is_the_same_learner(make: Callable[..., Any], loss: str) -> None:
    rounds = rounds_for(loss)
    wishes: dict[str, Any] = {"columns": COLUMNS, "certify": True, "scale": "cap"}
    whole, pieces = (Learner(loss, make(rate="auto"), **wishes) for _ in "ab")
    learn_rows(whole, *as_csr(rounds))
    for start in range(0, len(rounds), 70):
        rows = as_csr(rounds[start : start + 70])
        predicted = predict_rows(pieces, *as_csr(rounds[start : start + 1])[:3])
        assert predicted[0] == learn_rows(pieces, *rows)[0]
        pieces = Learner.from_bytes(pieces.to_bytes())
    assert pieces.to_bytes() == whole.to_bytes()
    assert pieces.ledger() == whole.ledger()


@pytest.mark.parametrize("rule", [PerCoordinate(rate="auto"), Ftrl(rate="auto")])
def test_a_slim_model_is_the_best_lane(rule: Rule, tmp_path: Path) -> None:
    learner = Learner("hinge", rule, columns=COLUMNS)
    rows = as_csr(rounds_for("hinge"))
    learn_rows(learner, *rows)
    learner.save(tmp_path / "slim", slim=True)
    slim = Learner.load(tmp_path / "slim")
    assert learner.ledger().best_lane is not None
    best = replace(rule, rate=learner.ledger().best_lane.rate)  # type: ignore[call-arg, union-attr]
    single = Learner("hinge", best, columns=COLUMNS)
    learn_rows(single, *rows)
    assert predict_rows(slim, *rows[:3]).tobytes() == predict_rows(single, *rows[:3]).tobytes()
    assert learner.weight(0) == single.weight(0) == slim.weight(0)


def test_boxes_of_their_own_agree() -> None:
    low = np.linspace(-1, 0.5, COLUMNS, dtype=np.float32)
    boxes = {i: (float(end), float(end) + 1) for i, end in enumerate(low)}
    rule = PerCoordinate(rate="auto")
    rounds = rounds_for("logistic")
    fast = Learner("logistic", rule, columns=COLUMNS, intercept=False, box=(low, low + 1))
    slow = ReadableLearner("logistic", rule, boxes=boxes)
    played = [slow.play(*each).margin for each in rounds]
    np.testing.assert_allclose(learn_rows(fast, *as_csr(rounds)), played, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("scope", ["active", "all"])
@pytest.mark.parametrize("loss", ONE_OF_EACH)
@pytest.mark.parametrize("make", MAKERS)
def test_a_lane_with_l2_is_the_learner_at_its_rate(
    make: Callable[..., Any], loss: str, scope: str
) -> None:
    """On a box without 0, where slots that only other lanes have touched could be charged for."""
    rows = as_csr(rounds_for(loss, rounds=200))
    build = partial(Learner, loss, columns=COLUMNS, certify=True, l2=0.05, l2_scope=scope)
    mixed = build(make(box=(0.25, 2)))
    learn_rows(mixed, *rows)
    ledger = mixed.ledger()
    for lane in ledger.lanes:
        if lane.rate is None:
            continue
        single = build(replace(make(box=(0.25, 2)), rate=lane.rate))
        learn_rows(single, *rows)
        own = single.ledger()
        assert (lane.loss, lane.penalty) == pytest.approx((own.tally.loss, own.tally.penalty))
        assert lane.bound == pytest.approx(own.bound)
    assert ledger.tally.penalty > 0
    assert ledger.mixing_cost is not None
    if ledger.game == "labels as given":
        assert ledger.total <= min(each.total for each in experts(ledger)) + ledger.mixing_cost


def test_the_penalty_of_the_mixture_is_that_of_its_experts_on_average() -> None:
    slow = ReadableLearner("logistic", PerCoordinate(), l2=0.1)
    for each in rounds_for("logistic", rounds=50):
        shares = slow.mixture.shares()
        before = [expert.penalty for expert in experts(slow.ledger())]
        outcome = slow.play(*each)
        after = [expert.penalty for expert in experts(slow.ledger())]
        rises = [share * (b - a) for share, a, b in zip(shares, before, after, strict=True)]
        assert each.importance * outcome.penalty == pytest.approx(sum(rises))


def test_estimators_need_no_rate() -> None:
    table = np.random.default_rng(4).normal(size=(500, 4))
    labels = np.where(table @ [1, -2, 3, 0] > 0, "yes", "no")
    clf = OnlineClassifier(rule=PerCoordinate(rate="auto")).fit(table, labels)
    assert clf.score(table, labels) > 0.95
    assert clf.predict_proba(table).min() >= 0


def short_state(header: dict[str, Any], _: Any) -> None:
    header["shared"]["lanes"].pop()


def one_lane(_: Any, tensors: dict[str, Any]) -> None:
    tensors["weight"] = tensors["weight"][:, :1].copy()


def no_mixture(header: dict[str, Any], _: Any) -> None:
    del header["shared"]["mixture"]


def no_coin(header: dict[str, Any], _: Any) -> None:
    del header["shared"]["coin"]


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (no_coin, "was trained at rate 'auto' by an earlier version, with other experts. Train"),
        (short_state, "invalid length 7, expected an array of length 8"),
        (one_lane, r"the tensor 'weight' is F32 \[28, 1\], expected F32 \[28, 8\]"),
        (no_mixture, "'shared' has no field 'mixture'"),
    ],
)
def test_a_file_without_all_lanes_is_damaged(edit: Any, told: str) -> None:
    learner = Learner("hinge", PerCoordinate(rate="auto"), columns=COLUMNS)
    learn_rows(learner, *as_csr(rounds_for("hinge", rounds=20)))
    with pytest.raises(ModelFileError, match=told):
        Learner.from_bytes(edited(learner.to_bytes(), edit))


@pytest.mark.parametrize("fixed_share", ["0", "0.01"])
@pytest.mark.parametrize("loss", ONE_OF_EACH)
def test_inspect_shows_the_experts(lessregret: CommandLine, loss: str, fixed_share: str) -> None:
    data = lessregret.write("data.vw", "1 |a b\n-1 |a c\n1 |a d\n")
    asked = "--rate", "auto", "--loss", loss, "--fixed-share", fixed_share
    assert lessregret("train", data, *asked, "--model", "m", "--quiet").code == 0
    page = lessregret("inspect", "m").stdout
    document = json.loads(lessregret("inspect", "m", "--json").stdout)
    lanes, stack = document["lanes"], document["stack"]
    names = [lane_name(rate) for rate in (*RATES, None)]
    assert [lane["rate"] for lane in lanes] == [*RATES, None]
    assert [lane["name"] for lane in lanes] == names
    assert all(f"\n{name} " in page for name in (*names, "stack"))
    ledger = Learner.load("m").ledger()
    told = [(each.share, each.loss) for each in experts(ledger)]
    found = [(each["share"], each["loss"]) for each in (*lanes, stack)]
    assert np.array(found) == pytest.approx(np.array(told))


def click_lines(count: int) -> list[str]:
    """Lines whose features are nearly all new: 40 bytes each."""
    return [f"{1 - 2 * (k % 2)} |a u{k} v{k % 97} w{k * k % 5003} x{k % 3}\n" for k in range(count)]


def taught(file: Path, limit: int, threads: int) -> Learner:
    """A learner of the first examples of a file, in blocks, as the command line does it."""
    learner = Learner("logistic", PerCoordinate(), bits=18, certify=True)
    stream = open_examples([file], learner, threads=threads)
    while learner.tally().rounds < limit:
        learner.learn(stream, limit=min(10_000, limit - learner.tally().rounds))
    return learner


def test_what_was_read_and_not_learned_leaves_no_trace(tmp_path: Path) -> None:
    """Readers are ahead and have found places for slots that the learner has not met."""
    lines, limit = click_lines(150_000), 60_000
    long, short = tmp_path / "long.vw", tmp_path / "short.vw"
    long.write_text("".join(lines))
    short.write_text("".join(lines[:limit]))
    stopped, whole = taught(long, limit, threads=4), taught(short, limit, threads=1)
    assert stopped.to_bytes() == whole.to_bytes()
    assert stopped.ledger() == whole.ledger()
    again = Learner.from_bytes(stopped.to_bytes())
    assert again.ledger() == stopped.ledger()
    assert again.to_bytes() == stopped.to_bytes()


@pytest.mark.parametrize("rate", ["auto", 0.1])
def test_expectations_change_nothing(rate: float | str) -> None:
    rows = as_csr(rounds_for("logistic"))
    learners = [Learner("logistic", PerCoordinate(rate=rate), bits=20) for _ in range(2)]
    learners[0].expect(10**12)
    for learner in learners:
        learn_rows(learner, *rows)
        learner.expect(10**12)
        learn_rows(learner, *rows)
    assert learners[0].to_bytes() == learners[1].to_bytes()
