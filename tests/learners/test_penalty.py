"""L2 in the stream: is it what its page says, and the lazy way the dense one?"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from lessregret import (
    Constant,
    Global,
    Learner,
    OnlineClassifier,
    PerCoordinate,
    ReadableLearner,
    _core,
)
from lessregret.errors import DivergedError, SpecError
from lessregret.learners.losses import Logistic
from lessregret.learners.model_file import read_header
from lessregret.learners.rules import RULES, BoxedRule, ExampleStats, Rule
from tests.support.dense import Dense, Game
from tests.support.model_files import small_learner, take_apart
from tests.support.rows import learn_rows, predict_rows
from tests.support.streams import Round, as_csr, random_rounds

COLUMNS = 200
ROUNDS = 10_000
L2 = 0.01
RADIUS = 2.0
RATES = {
    "constant": 0.1,
    "inverse-sqrt": 1.0,
    "global": 0.1,
    "per-coordinate": 0.3,
    "adaptive-revision": 0.3,
    "ftrl": 0.1,
}
SCOPES = ("active", "all")


def test_every_bounded_rule_has_its_dense_twin() -> None:
    """But for the coin, whose weights are not in a box: its L2 is held in tests/twins."""
    boxed = {name for name, rule in RULES.items() if issubclass(rule, BoxedRule)}
    assert RATES.keys() == boxed - {"coin"}


@cache
def stream(rounds: int, columns: int) -> list[Round]:
    return list(random_rounds(20130811, rounds, columns))


def play_dense(game: Game, rounds: list[Round], columns: int, scope: str) -> tuple[Dense, Any]:
    dense, margins = Dense(game, columns), []
    for each in rounds:
        x = np.zeros(columns)
        x[each.slots] = each.values
        active = (x != 0) | (scope == "all")
        margins.append(dense.learn(x, active, each.label, each.importance))
    return dense, np.array(margins)


def assert_dense(rule: str, loss: str, rounds: list[Round], columns: int, scope: str) -> None:
    """Both learners against the reference: readable to 1e-9, fast as near as float32 slots are.

    Measured over these streams: weights within 3e-6, margins within 1.1e-5, mean loss and mean
    penalty within 5e-8.
    """
    game = Game(rule, loss, RATES[rule], L2, RADIUS)
    dense, margins = play_dense(game, rounds, columns, scope)
    made = RULES[rule](rate=game.rate, radius=game.radius)
    slow = ReadableLearner(loss, made, l2=L2, l2_scope=scope, scale="none")
    fast = Learner(
        loss, made, columns=columns, intercept=False, l2=L2, l2_scope=scope, scale="none"
    )
    played = [slow.play(*each).margin for each in rounds]
    np.testing.assert_allclose(played, margins, rtol=0, atol=1e-9)
    np.testing.assert_allclose([*map(slow.weight, range(columns))], dense.w, rtol=0, atol=1e-9)
    assert slow.tally.penalty == pytest.approx(dense.penalty, rel=1e-9)
    np.testing.assert_allclose(learn_rows(fast, *as_csr(rounds)), margins, rtol=0, atol=2e-5)
    np.testing.assert_allclose([*map(fast.weight, range(columns))], dense.w, rtol=0, atol=1e-5)
    assert fast.ledger().mean_loss == pytest.approx(slow.ledger().mean_loss, abs=1e-6)
    assert fast.ledger().mean_penalty == pytest.approx(slow.ledger().mean_penalty, abs=1e-6)
    assert slow.tally.penalty > 0


@pytest.mark.parametrize("rule", RATES)
@pytest.mark.parametrize(("loss", "rounds"), [("logistic", ROUNDS), ("hinge", ROUNDS // 4)])
def test_lazy_is_dense(rule: str, loss: str, rounds: int) -> None:
    assert_dense(rule, loss, stream(rounds, COLUMNS), COLUMNS, "active")


@pytest.mark.parametrize("rule", RATES)
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_lazy_is_dense_on_all_coordinates(rule: str, loss: str) -> None:
    assert_dense(rule, loss, stream(600, 40), 40, "all")


def everywhere(rounds: int, columns: int) -> list[Round]:
    """Rounds in which every coordinate is active."""
    rng = np.random.default_rng(4)
    values = rng.normal(size=(rounds, columns)).astype(np.float32).astype(float)
    labels = np.where(rng.random(rounds) < 0.5, 1.0, -1.0)
    every = list(range(columns))
    return [Round(every, x.tolist(), y, 0.5) for x, y in zip(values, labels, strict=True)]


@pytest.mark.parametrize("rule", RATES)
def test_scopes_are_one_where_every_coordinate_is_active(rule: str) -> None:
    rounds = everywhere(300, 12)
    fast, slow = [], []
    for scope in SCOPES:
        made = RULES[rule]()
        learner = Learner(
            "hinge", made, columns=12, intercept=False, certify=True, l2=L2, l2_scope=scope
        )
        margins = learn_rows(learner, *as_csr(rounds))
        header, tensors = take_apart(learner.to_bytes())
        bits = {name: tensor.tobytes() for name, tensor in tensors.items()}
        fast.append((margins.tobytes(), header["tally"], header["shared"], bits))
        readable = ReadableLearner("hinge", made, l2=L2, l2_scope=scope)
        slow.append(([readable.play(*each) for each in rounds], readable.slots))
    assert fast[0] == fast[1]
    assert slow[0] == slow[1]


def test_all_is_the_absent_ones_at_value_0() -> None:
    rule = PerCoordinate(rate=0.3)
    scoped = ReadableLearner("hinge", rule, l2=L2, l2_scope="all", scale="none")
    listed = ReadableLearner("hinge", rule, l2=L2, scale="none")
    for each in stream(200, 40):
        absent = [i for i in sorted(listed.slots) if i not in each.slots]
        slots, values = each.slots + absent, each.values + [0.0] * len(absent)
        whole = listed.play(slots, values, each.label, each.importance)
        assert scoped.play(*each) == whole._replace(features=len(each.slots))
    assert scoped.slots == listed.slots


def test_coordinates_never_met_are_left_alone() -> None:
    """On a box without 0 they play its nearest point, and no round charges for them."""
    rule = PerCoordinate(rate=0.3, box=(0.5, 1.5))
    wishes: dict[str, Any] = {"l2": 1.0, "l2_scope": "all", "scale": "none"}
    slow = ReadableLearner("hinge", rule, **wishes)
    fast = Learner("hinge", rule, columns=3, intercept=False, **wishes)
    assert slow.play([0], [1.0], 1.0).penalty == 0.125
    learn_rows(fast, [0, 1], [0], [1.0], [1.0])
    assert fast.ledger().tally.penalty == 0.125
    assert slow.weight(2) == fast.weight(2) == 0.5
    assert slow.slots.keys() == {0}
    assert fast.weights()[0].tolist() == [0]


def test_a_round_by_hand() -> None:
    """Hinge beyond its kink has slope 0; the weight shrinks all the same, by 1 - ηhλ."""
    learner = ReadableLearner("hinge", Constant(rate=0.5), l2=0.25, scale="none")
    learner.play([0], [4.0], 1.0)
    assert learner.weight(0) == 2.0
    outcome = learner.play([0], [4.0], 1.0, importance=2.0)
    assert (outcome.loss, outcome.penalty, outcome.played) == (0.0, 0.5, 2.0)
    assert learner.weight(0) == 2.0 * (1 - 0.5 * 2 * 0.25)
    assert learner.tally.penalty == 1.0
    rule = Constant(rate=0.5)
    fast = Learner("hinge", rule, columns=1, intercept=False, l2=0.25, scale="none")
    learn_rows(fast, [0, 1, 2], [0, 0], [4.0, 4.0], [1, 1], [1.0, 2.0])
    assert fast.ledger() == learner.ledger()


class Doubled(Logistic):
    """2 ℓ."""

    def value(self, margin: float, label: float) -> float:
        return 2 * super().value(margin, label)

    def slope(self, margin: float, label: float) -> float:
        return 2 * super().slope(margin, label)


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("rule", RATES)
def test_importance_2_doubles_the_whole_round(rule: str, scope: str) -> None:
    """Times 2 is exact, so the bits are the same."""
    made = RULES[rule](rate=RATES[rule])
    once = ReadableLearner(Doubled(), made, certify=True, l2=2 * L2, l2_scope=scope)
    twice = ReadableLearner("logistic", made, certify=True, l2=L2, l2_scope=scope)
    for each in stream(300, 40):
        once.play(*each._replace(importance=1.0))
        twice.play(*each._replace(importance=2.0))
    assert twice.slots == once.slots
    assert twice.gradient_sums == once.gradient_sums
    assert twice.ledger().total == pytest.approx(once.ledger().total, rel=1e-12)
    assert twice.ledger().bound == once.ledger().bound


def test_a_round_of_no_importance_changes_nothing() -> None:
    for scope in SCOPES:
        learner = Learner("hinge", Constant(), columns=4, l2=1.0, l2_scope=scope)
        learn_rows(learner, [0, 1], [0], [1.0], [1])
        before = learner.weights()
        learn_rows(learner, [0, 2], [0, 1], [1.0, 1.0], [1], [0.0])
        assert [part.tolist() for part in learner.weights()] == [part.tolist() for part in before]


def test_the_squared_gradient_is_never_below_0() -> None:
    """Where loss and penalty pull equally hard, the sum of the three parts is rounding alone."""
    rng = np.random.default_rng(9)
    weights, shrinks = rng.normal(size=(1000, 3)), rng.random(1000)
    for w, shrink in zip(weights, shrinks, strict=True):
        x = shrink * w
        stats = ExampleStats(
            1, False, 1.0, float(w @ x), 1.0, -1.0, float(x @ x),
            shrink=shrink, square_weights=float(w @ w),
        )  # fmt: skip
        assert 0 <= stats.square_gradient < 1e-12
    learner = Learner("hinge", Global(box=(0.1, 0.3)), columns=1, intercept=False, l2=1.0)
    learn_rows(learner, [0, 1, 2], [0, 0], [0.1, 0.1], [1, 1])
    assert np.isfinite(learner.weight(0))


REFUSED = (
    "l2 is for rules that follow the gradient on a box, and this rule does not; "
    "leave out l2, or use another rule"
)
UNBOUNDED = [name for name, rule in RULES.items() if not issubclass(rule, BoxedRule)]


def core_learner(loss: str, rule: Rule, l2: float) -> _core.Learner:
    """The core without Python's checks."""
    spec = {"loss": loss, "rule": rule.spec(), "table": {"columns": 1}, "intercept": False}
    return _core.Learner(json.dumps({**spec, "certify": False, "l2": l2}))


@pytest.mark.parametrize("make", [partial(Learner, columns=1), ReadableLearner, core_learner])
@pytest.mark.parametrize("name", UNBOUNDED)
def test_rules_without_a_box_refuse_in_the_same_words(make: Callable[..., Any], name: str) -> None:
    with pytest.raises(SpecError) as caught:
        make("hinge", RULES[name](), l2=1e-3)
    assert str(caught.value) == REFUSED
    make("hinge", RULES[name](), l2=0.0)


def test_estimators_refuse_in_the_same_words() -> None:
    with pytest.raises(SpecError) as caught:
        OnlineClassifier("hinge", RULES["cw"](), l2=0.1).fit([[1.0], [2.0]], [0, 1])
    assert str(caught.value) == REFUSED


@pytest.mark.parametrize("make", [partial(Learner, columns=1), ReadableLearner])
@pytest.mark.parametrize("l2", [-1, -1e-300, float("nan"), float("inf"), 1e39, "0.1", None, True])
def test_only_a_number_from_0_up_is_a_strength(make: Callable[..., Any], l2: Any) -> None:
    with pytest.raises(SpecError) as caught:
        make("hinge", PerCoordinate(), l2=l2)
    told = f"l2 must be a number from 0 up that fits a float32, found {l2!r}"
    assert str(caught.value) == told


@pytest.mark.parametrize("make", [partial(Learner, columns=1), ReadableLearner])
@pytest.mark.parametrize("scope", ["touched", "", None])
def test_there_are_two_scopes(make: Callable[..., Any], scope: Any) -> None:
    with pytest.raises(SpecError) as caught:
        make("hinge", PerCoordinate(), l2=0.1, l2_scope=scope)
    assert str(caught.value) == f"l2_scope must be 'active' or 'all', found {scope!r}"


def test_a_gradient_too_large_by_l2_is_refused_and_names_its_feature() -> None:
    rule = Constant(rate=1.0)
    learner = Learner("hinge", rule, columns=3, intercept=False, l2=1e20, scale="none")
    learn_rows(learner, [0, 2], [0, 1], [0.5, 2.0], [1])
    before = learner.to_bytes()
    with pytest.raises(DivergedError, match=r"the gradient has length 2\.06e20") as caught:
        learn_rows(learner, [0, 2], [1, 0], [1e-3, 5.0], [1])
    assert (caught.value.round, caught.value.slot) == (2, 1)
    assert learner.to_bytes() == before


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("rule", RATES)
def test_saved_cut_and_resumed_it_is_the_same_learner(rule: str, scope: str) -> None:
    make = partial(Learner, "logistic", RULES[rule](), columns=40, certify=True)
    rounds = stream(300, 40)
    whole = make(l2=L2, l2_scope=scope)
    learn_rows(whole, *as_csr(rounds))
    pieces = make(l2=L2, l2_scope=scope)
    for start in range(0, 300, 70):
        learn_rows(pieces, *as_csr(rounds[start : start + 70]))
        pieces = Learner.from_bytes(pieces.to_bytes())
    assert pieces.to_bytes() == whole.to_bytes()
    assert pieces.spec["l2"] == L2
    assert pieces.ledger() == whole.ledger()


@pytest.mark.parametrize("scope", SCOPES)
def test_certified_or_not_it_is_the_same_learner(scope: str) -> None:
    margins = []
    for certify in (False, True):
        learner = Learner("hinge", columns=40, certify=certify, l2=L2, l2_scope=scope)
        margins.append(learn_rows(learner, *as_csr(stream(300, 40))).tobytes())
    assert margins[0] == margins[1]


def test_a_slim_model_with_l2_predicts(tmp_path: Any) -> None:
    learner = Learner("hinge", PerCoordinate(rate=0.3), columns=40, l2=L2)
    rows = as_csr(stream(300, 40))
    learn_rows(learner, *rows)
    learner.save(tmp_path / "slim", slim=True)
    slim = Learner.load(tmp_path / "slim")
    assert predict_rows(slim, *rows[:3]).tobytes() == predict_rows(learner, *rows[:3]).tobytes()
    assert slim.ledger().mean_penalty == learner.ledger().mean_penalty
    assert read_header(tmp_path / "slim")["spec"]["l2"] == L2


def test_sums_without_l2_say_nothing_of_it() -> None:
    """They are what they were before there was L2, and such files are read."""
    header, _ = take_apart(small_learner().to_bytes())
    assert (header["spec"]["l2"], header["spec"]["l2_scope"]) == (0, "active")
    assert list(header["tally"]) == [
        "rounds", "features", "importance", "loss", "mistakes", "played", "energy"
    ]  # fmt: skip
    again = Learner.from_bytes(small_learner().to_bytes())
    assert (again.ledger().tally.penalty, again.ledger().mean_penalty) == (0.0, 0.0)


def test_no_l2_is_the_learner_of_before() -> None:
    with_words = Learner("logistic", columns=40, l2=0.0, l2_scope="active")
    without = Learner("logistic", columns=40)
    for learner in (with_words, without):
        learn_rows(learner, *as_csr(stream(300, 40)))
    assert with_words.to_bytes() == without.to_bytes()


def test_l2_makes_weights_small() -> None:
    sizes = []
    for l2 in (0.0, 0.01, 0.1, 1.0):
        learner = Learner("logistic", columns=40, intercept=False, l2=l2)
        learn_rows(learner, *as_csr(stream(2000, 40)))
        sizes.append(float(np.abs(learner.weights()[1]).sum()))
    assert all(more > less for more, less in pairwise(sizes))


def test_estimators_pass_it_on() -> None:
    rounds = stream(300, 40)
    indptr, indices, values, labels, importances = as_csr(rounds)
    dense = np.zeros((300, 40))
    dense[np.repeat(np.arange(300), np.diff(indptr)), indices] = values
    # To the standard scale the zeros of a dense table are values.
    wishes: dict[str, Any] = {"l2": L2, "scale": "cap"}
    clf = OnlineClassifier(**wishes).partial_fit(dense, labels, [-1, 1], importances)
    learner = Learner("logistic", columns=40, **wishes)
    learn_rows(learner, indptr, indices, values, labels, importances)
    assert clf.learner_.to_bytes() == learner.to_bytes()
