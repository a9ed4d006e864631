"""No fixed weights lose less than what is certified of a set that holds them.

For all losses, rules and streams, in one lane and in many: Σ h ℓ(u·x, y) ≥ offset + G·u, so a run
certifies the box, the ball and the L1 ball of every radius.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lessregret.errors import SpecError
from lessregret.learners.learner import Learner
from lessregret.learners.losses import LOSSES, Loss
from lessregret.learners.readable import ReadableLearner
from lessregret.learners.rules import Coin, Ftrl, PerCoordinate, Rule, parse_rule
from lessregret.ledger import SHAPES, Certificate, Ledger, Shape
from tests.support.pairs import learns
from tests.support.regret_streams import COLUMNS, STREAMS, Linear
from tests.support.rows import learn_rows
from tests.support.streams import Round, as_csr, random_rounds

RULES = [PerCoordinate(), PerCoordinate(rate=0.3), Ftrl(), parse_rule("pa"), Coin()]
SCALES = ["none", "standard"]


class Played(NamedTuple):
    """A run, and the game that it was: every round as it was played."""

    ledger: Ledger
    values: NDArray[np.float64]
    """one row for each round, one column for each slot"""
    labels: NDArray[np.float64]
    importances: NDArray[np.float64]
    bases: NDArray[np.float64]
    loss: Loss

    def total(self, weights: NDArray[np.float64]) -> float:
        """What these fixed weights lose in all rounds."""
        margins = self.bases + self.values @ weights
        rounds = zip(margins, self.labels, self.importances, strict=True)
        return sum(h * self.loss.value(p, y) for p, y, h in rounds)


def play(
    loss: str | Loss,
    rule: Rule,
    rounds: list[Round],
    given_bases: NDArray[np.float64] | None = None,
    **settings: Any,
) -> Played:
    """Let a readable learner play the rounds; the last slot is the intercept."""
    bases = np.zeros(len(rounds)) if given_bases is None else given_bases.copy()
    learner = ReadableLearner(loss, rule, certify=True, intercept=COLUMNS, **settings)
    values = np.zeros((len(rounds), COLUMNS + 1))
    labels = np.zeros(len(rounds))
    for k, (slots, given_values, label, importance) in enumerate(rounds):
        base = float(bases[k])
        if learner.labels.takes_base:
            labels[k], bases[k] = learner.labels.learned(label - base, importance), 0.0
        else:
            labels[k] = learner.labels.learned(label, importance)
        learner.play([*slots, COLUMNS], [*given_values, 1.0], label, importance, base)
        seen = learner.lanes[0].seen if learner.lanes else learner.seen
        for slot, value in zip(*seen, strict=True):
            values[k, slot] = value
    importances = np.array([each.importance for each in rounds])
    return Played(learner.ledger(), values, labels, importances, bases, learner.loss)


def certificate_of(played: Played) -> Certificate:
    assert played.ledger.certificate is not None
    return played.ledger.certificate


def points(seed: int, count: int = 40) -> NDArray[np.float64]:
    """Weights of many sizes, some of them sparse, the intercept last."""
    numbers = np.random.default_rng(seed)
    sizes = 10.0 ** numbers.uniform(-3, 2, (count, 1))
    kept = numbers.random((count, COLUMNS + 1)) < numbers.uniform(0.1, 1, (count, 1))
    return sizes * kept * numbers.normal(size=(count, COLUMNS + 1))


def size(weights: NDArray[np.float64], shape: Shape) -> float:
    order = {"box": np.inf, "ball": 2, "l1": 1}[shape]
    return float(np.linalg.norm(weights[:COLUMNS], order))


def check(played: Played, seed: int, slack: float = 1e-9) -> None:
    certificate = certificate_of(played)
    for u in points(seed):
        total = played.total(u)
        room = slack * (1 + abs(certificate.offset) + total + size(u, "l1") * certificate.sums.l1)
        assert certificate.against(u) <= total + room
        for shape in SHAPES:
            least = certificate.least(size(u, shape), shape, intercept=abs(u[COLUMNS]))
            assert least <= certificate.against(u) + room


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_no_fixed_weights_lose_less(rule: Rule, loss: str, scale: str) -> None:
    if not learns(rule, loss):
        pytest.skip("the rule does not learn such labels")
    rounds = list(random_rounds(7, 120, COLUMNS, labels=LOSSES[loss].labels))
    check(play(loss, rule, rounds, scale=scale), seed=1)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("rule", [PerCoordinate(), PerCoordinate(rate=0.3)], ids=repr)
def test_base_margins_are_part_of_every_fixed_prediction(rule: Rule, loss: str, scale: str) -> None:
    if LOSSES[loss].labels == "count":
        pytest.skip("counts have no base margins")
    rounds = list(random_rounds(7, 120, COLUMNS, labels=LOSSES[loss].labels))
    bases = np.random.default_rng(5).normal(scale=2.0, size=len(rounds))
    check(play(loss, rule, rounds, bases, scale=scale), seed=1)


@pytest.mark.parametrize("make_stream", STREAMS)
@pytest.mark.parametrize("rule", [PerCoordinate(), PerCoordinate(rate=1.0)], ids=repr)
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_hostile_streams_are_certified(
    loss: str, rule: Rule, make_stream: Callable[[ReadableLearner], list[Round]]
) -> None:
    rounds = make_stream(ReadableLearner(loss, rule, scale="none"))
    check(play(loss, rule, rounds, scale="none"), seed=2)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("l2_scope", ["active", "all"])
@pytest.mark.parametrize("rule", [PerCoordinate(), PerCoordinate(rate=0.3)], ids=repr)
def test_with_l2_loss_and_penalty_of_fixed_weights_are_not_less(
    rule: Rule, l2_scope: str, loss: str
) -> None:
    l2 = 0.05
    rounds = list(random_rounds(9, 120, COLUMNS, labels=LOSSES[loss].labels))
    played = play(loss, rule, rounds, scale="none", l2=l2, l2_scope=l2_scope)
    present = played.values != 0
    if l2_scope == "all":
        present = np.maximum.accumulate(present, axis=0)
    certificate = certificate_of(played)
    for u in points(3):
        penalty = l2 / 2 * float(played.importances @ (present * u**2).sum(axis=1))
        total = played.total(u) + penalty
        room = 1e-9 * (1 + abs(certificate.offset) + total)
        assert certificate.against(u) <= total + room


@pytest.mark.parametrize("rule", [PerCoordinate(), PerCoordinate(rate=0.3)], ids=repr)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_fast_learner_certifies_no_more_than_what_is_true(rule: Rule, loss: str) -> None:
    rounds = list(random_rounds(11, 300, COLUMNS, labels=LOSSES[loss].labels))
    for scale in SCALES:
        played = play(loss, rule, rounds, scale=scale)
        fast = Learner(loss, rule, columns=COLUMNS, certify=True, scale=scale)
        learn_rows(fast, *as_csr(rounds))
        check(played._replace(ledger=fast.ledger()), seed=4, slack=1e-5)


numbers = st.floats(-100, 100)
examples = st.lists(
    st.tuples(
        st.lists(numbers, min_size=3, max_size=3),
        st.sampled_from([-1.0, 1.0]),
        st.floats(0, 10),
    ),
    min_size=1,
    max_size=30,
)


@given(examples=examples, loss=st.sampled_from(list(LOSSES)), scale=st.sampled_from(SCALES))
@settings(max_examples=80, deadline=None)
def test_any_stream_is_certified(
    examples: list[tuple[list[float], float, float]], loss: str, scale: str
) -> None:
    smallest = 0 if LOSSES[loss].labels == "count" else -1
    rounds = [Round([0, 1, 2], values, max(label, smallest), h) for values, label, h in examples]
    check(play(loss, PerCoordinate(), rounds, scale=scale), seed=5, slack=1e-7)


@pytest.mark.parametrize("shape", SHAPES)
def test_larger_sets_are_certified_for_less(shape: Shape) -> None:
    rounds = list(random_rounds(13, 200, COLUMNS))
    ledger = play("logistic", PerCoordinate(), rounds, scale="none").ledger
    radii = np.geomspace(1e-3, 1e3, 50)
    certified = ledger.certified(radii, shape)
    assert (np.diff(certified) <= 0).all()
    assert certified.tolist() == [ledger.certified(float(r), shape) for r in radii]


@pytest.mark.parametrize("rule", [PerCoordinate(), PerCoordinate(rate=0.5, radius=2)], ids=repr)
@pytest.mark.parametrize("make_stream", STREAMS)
@pytest.mark.parametrize("shape", SHAPES)
def test_linear_losses_are_certified_exactly(
    shape: Shape, make_stream: Callable[[ReadableLearner], list[Round]], rule: Rule
) -> None:
    """The point of the set that minimises G·u loses just what is certified."""
    rounds = make_stream(ReadableLearner(Linear(), rule, scale="none"))
    played = play(Linear(), rule, rounds, scale="none")
    certificate, radius = certificate_of(played), 1.5
    assert certificate.vector is not None
    slots, sums = certificate.vector()
    own = np.zeros(COLUMNS + 1)
    own[slots] = sums
    u = np.zeros(COLUMNS + 1)
    if shape == "box":
        u[:COLUMNS] = -radius * np.sign(own[:COLUMNS])
    elif shape == "ball":
        u[:COLUMNS] = -radius * own[:COLUMNS] / np.linalg.norm(own[:COLUMNS])
    else:
        largest = np.abs(own[:COLUMNS]).argmax()
        u[largest] = -radius * np.sign(own[largest])
    least = certificate.offset - radius * certificate.sums.dual(shape)
    room = 1e-9 * (1 + played.importances.sum() + abs(least))
    assert played.total(u) == pytest.approx(least, abs=room)


def test_what_cannot_be_certified_is_told() -> None:
    ledger = play("logistic", PerCoordinate(), list(random_rounds(1, 9, COLUMNS))).ledger
    uncertified = ReadableLearner("logistic", PerCoordinate(rate=0.1)).ledger()
    for call, message in (
        (lambda: ledger.certified(1.0, "cube"), "shape must be one of box, ball, l1, found 'cube'"),
        (lambda: ledger.certified(-1.0), "radius must be a number from 0 up, found -1.0"),
        (lambda: ledger.certified([1.0, np.nan]), "radius must be numbers from 0 up"),
        (lambda: ledger.certified(1.0, intercept=-2), "intercept must be a number from 0 up"),
        (lambda: ledger.against([0.0]), "weights must be one list with a number for each slot"),
        (lambda: uncertified.certified(1.0), "nothing is certified before the first round"),
    ):
        with pytest.raises(SpecError, match=message):
            call()  # type: ignore[no-untyped-call]


def test_a_ledger_of_an_earlier_round_does_not_tell_the_sums_of_a_later_one() -> None:
    learner = Learner("logistic", columns=COLUMNS)
    learn_rows(learner, *as_csr(list(random_rounds(1, 9, COLUMNS))))
    ledger = learner.ledger()
    assert ledger.against({0: 0.5}) == ledger.against([0.5] + [0.0] * COLUMNS)
    learn_rows(learner, *as_csr(list(random_rounds(2, 9, COLUMNS))))
    with pytest.raises(SpecError, match="the ledger is of round 9, and the learner has learned"):
        ledger.against({0: 0.5})


@pytest.mark.parametrize("rule", [PerCoordinate(), PerCoordinate(rate=0.3)], ids=repr)
def test_the_sums_of_a_window_are_differences(rule: Rule) -> None:
    rounds = list(random_rounds(17, 200, COLUMNS))
    learner = Learner("logistic", rule, columns=COLUMNS, certify=True, scale="none")
    learn_rows(learner, *as_csr(rounds[:120]))
    mark, before = learner.mark_sums(), learner.ledger()
    assert mark is not None
    slots, sums = before.certificate.vector()  # type: ignore[union-attr,misc]
    learn_rows(learner, *as_csr(rounds[120:]))
    window, after = learner.certificate_since(mark), learner.ledger().certificate
    assert window is not None
    assert after is not None
    later_slots, later = after.vector()  # type: ignore[misc]
    change = dict(zip(later_slots.tolist(), later.tolist(), strict=True))
    for slot, sum_before in zip(slots.tolist(), sums.tolist(), strict=True):
        change[slot] -= sum_before
    features = [change[slot] for slot in sorted(change) if slot != COLUMNS]
    assert window.offset == after.offset - before.certificate.offset  # type: ignore[union-attr]
    assert window.sums == pytest.approx(
        (sum(map(abs, features)), np.linalg.norm(features), max(map(abs, features)))
    )
    assert window.weights == after.weights
