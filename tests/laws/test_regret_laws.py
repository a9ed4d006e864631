"""True regret ≤ linearised regret ≤ bound, on streams random and adversarial.

The paper's Theorems 2 and 3 and its equation (2), for the rates actually used. With L2 the
regret is that of loss and penalty, against the point that is best for both.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessregret.learners.learner import Learner
from lessregret.learners.losses import Loss
from lessregret.learners.readable import ReadableLearner
from lessregret.learners.rules import RULES, BoxedRule, Coin, Ftrl, Global, PerCoordinate, Rule
from lessregret.ledger import Ledger
from tests.support.regret_streams import (
    COLUMNS,
    ROUNDS,
    STREAMS,
    Linear,
    best_fixed,
    contrary,
    random_stream,
)
from tests.support.rows import learn_rows
from tests.support.slow import slow
from tests.support.streams import Round, as_csr, random_rounds

L2 = 0.05
FLOAT32 = 1e-4
"""Slack for slots in float32, relative to the linearised regret's own terms."""


def rules() -> list[Rule]:
    # The coin has laws of its own: its bound is for values and importances of at most 1.
    boxed = [rule for rule in RULES.values() if issubclass(rule, BoxedRule) and rule is not Coin]
    made: list[Rule] = [rule(radius=radius) for rule in boxed for radius in (0.2, 3.0)]
    made += [Ftrl(l1=0.5, l2=0.1, offset=0), Ftrl(l1=2, box=(0.5, 2.0))]
    made += [PerCoordinate(rate="theory", radius=1), Global(rate="theory", radius=1)]
    made += [
        Ftrl(rate=0.1, radius=3),
        PerCoordinate(rate=0.3, radius=3),
        Global(rate=0.1, radius=3),
    ]
    made += [
        PerCoordinate(rate=0.3, offset=0.5),
        PerCoordinate(rate="theory", radius=1, offset=2.0),
    ]
    return [*made, PerCoordinate(rate=0.3, box=(0.5, 2.0))]


def assert_order(
    loss: Loss, rounds: list[Round], rule: Rule, ledger: Ledger, slack: float, l2: float = 0.0
) -> None:
    _, least = best_fixed(loss, rounds, rule, l2)
    assert_between(ledger.total - least, ledger, slack)


def assert_between(regret: float, ledger: Ledger, slack: float) -> None:
    assert ledger.linear_regret is not None
    assert ledger.bound is not None
    slack *= 1 + abs(ledger.tally.played) + abs(ledger.linear_regret)
    assert regret <= ledger.linear_regret + slack
    assert ledger.linear_regret <= ledger.bound + slack


@pytest.mark.parametrize("make_stream", [*STREAMS[:2], *map(slow, STREAMS[2:])])
@pytest.mark.parametrize("loss", [Linear(), "logistic"], ids=["linear", "logistic"])
@pytest.mark.parametrize("rule", rules(), ids=repr)
def test_readable_learner_keeps_the_order(
    rule: Rule, loss: Loss | str, make_stream: Callable[[ReadableLearner], list[Round]]
) -> None:
    rounds = make_stream(ReadableLearner(loss, rule, scale="none"))
    learner = ReadableLearner(loss, rule, certify=True, scale="none")
    for each in rounds:
        learner.play(*each)
    assert_order(learner.loss, rounds, rule, learner.ledger(), 1e-9)


@pytest.mark.parametrize("make_stream", STREAMS)
@pytest.mark.parametrize("rule", rules(), ids=repr)
def test_fast_learner_keeps_the_order(
    rule: Rule, make_stream: Callable[[ReadableLearner], list[Round]]
) -> None:
    rounds = make_stream(ReadableLearner("logistic", rule, scale="none"))
    learner = Learner(
        "logistic", rule, columns=COLUMNS, intercept=False, certify=True, scale="none"
    )
    learn_rows(learner, *as_csr(rounds))
    readable = ReadableLearner("logistic", rule, scale="none")
    assert_order(readable.loss, rounds, rule, learner.ledger(), FLOAT32)


@pytest.mark.parametrize("make_stream", [random_stream, contrary])
@pytest.mark.parametrize("rule", rules(), ids=repr)
def test_l2_keeps_the_order(
    rule: Rule, make_stream: Callable[[ReadableLearner], list[Round]]
) -> None:
    """In both languages; the adversary is the same."""
    rounds = make_stream(ReadableLearner("logistic", rule, l2=L2, scale="none"))
    slow = ReadableLearner("logistic", rule, certify=True, l2=L2, scale="none")
    for each in rounds:
        slow.play(*each)
    assert slow.tally.penalty > 0
    assert_order(slow.loss, rounds, rule, slow.ledger(), 1e-9, L2)
    fast = Learner(
        "logistic", rule, columns=COLUMNS, intercept=False, certify=True, l2=L2, scale="none"
    )
    learn_rows(fast, *as_csr(rounds))
    assert_order(slow.loss, rounds, rule, fast.ledger(), FLOAT32, L2)


@pytest.mark.parametrize("rule", rules(), ids=repr)
def test_l2_on_all_coordinates_keeps_the_order(rule: Rule) -> None:
    """A coordinate not yet met pays for its clip(0) too: the least any point can pay."""
    rounds = list(random_rounds(5, ROUNDS, COLUMNS))
    learner = ReadableLearner("logistic", rule, certify=True, l2=L2, l2_scope="all", scale="none")
    unmet = 0.0
    for each in rounds:
        # In logistic loss every lane has a gradient where one has.
        slots = (learner.lanes[0] if learner.lanes else learner).slots
        met = {i for i, slot in slots.items() if any(slot)} | set(each.slots)
        unmet += each.importance * L2 / 2 * (COLUMNS - len(met)) * rule.clip(0.0) ** 2
        learner.play(*each)
    _, least = best_fixed(learner.loss, rounds, rule, L2, "all")
    assert_between(learner.ledger().total + unmet - least, learner.ledger(), 1e-9)


@pytest.mark.parametrize("scale", ["cap", "full", "standard"])
@pytest.mark.parametrize("rule", rules(), ids=repr)
def test_scales_keep_the_order_in_the_game_on_normalised_examples(rule: Rule, scale: str) -> None:
    learner, other = (ReadableLearner("logistic", rule, certify=True, scale=scale) for _ in "ab")
    seen = []
    for each in random_rounds(5, ROUNDS, COLUMNS):
        large = each._replace(values=[5 * value for value in each.values])
        slots, values = other.scales.played(large.slots, large.values)
        seen.append(each._replace(slots=list(slots), values=list(values)))
        learner.play(*large)
    assert_order(learner.loss, seen, rule, learner.ledger(), 1e-9)


@pytest.mark.parametrize("make_stream", STREAMS)
def test_linear_regret_is_exact_for_linear_losses(
    make_stream: Callable[[ReadableLearner], list[Round]],
) -> None:
    rule = PerCoordinate(radius=2)
    rounds = make_stream(ReadableLearner(Linear(), rule, scale="none"))
    learner = ReadableLearner(Linear(), rule, certify=True, scale="none")
    for each in rounds:
        learner.play(*each)
    _, least = best_fixed(Linear(), rounds, rule)
    regret = learner.tally.loss - least
    assert learner.ledger().linear_regret == pytest.approx(regret, rel=1e-6)


gradients = st.lists(
    st.tuples(st.integers(0, 2), st.floats(-10, 10).filter(lambda g: abs(g) > 1e-3)),
    min_size=1,
    max_size=60,
)


@given(gradients=gradients, rate=st.sampled_from([0.05, 1.0, "theory"]), data=st.data())
@settings(max_examples=200, deadline=None)
def test_no_linear_game_beats_the_bound(
    gradients: list[tuple[int, float]], rate: float | str, data: st.DataObject
) -> None:
    """Any sequence at all: a linear loss with label 1 has the gradient -value."""
    rule_type = data.draw(st.sampled_from([PerCoordinate, Global]))
    learner = ReadableLearner(
        Linear(), rule_type(rate=rate, radius=1.5), certify=True, scale="none"
    )
    for slot, gradient in gradients:
        learner.play([slot], [-gradient], 1.0)
    ledger = learner.ledger()
    assert ledger.linear_regret is not None
    assert ledger.bound is not None
    assert ledger.linear_regret <= ledger.bound * (1 + 1e-12)


@given(gradients=gradients)
def test_theorem_3_holds_at_its_rate(gradients: list[tuple[int, float]]) -> None:
    learner = ReadableLearner(
        Linear(), PerCoordinate(rate="theory", radius=1), certify=True, scale="none"
    )
    for slot, gradient in gradients:
        learner.play([slot], [-gradient], 1.0)
    ledger = learner.ledger()
    squares = [sum(g**2 for i, g in gradients if i == slot) for slot in range(3)]
    closed_form = sum(2 * np.sqrt(2 * s) for s in squares)
    assert ledger.theorem == pytest.approx(closed_form)
    assert ledger.bound is not None
    assert ledger.bound <= closed_form * (1 + 1e-12)


def test_with_an_offset_there_is_no_closed_form() -> None:
    """Theorem 3's proof needs rates of exactly D_i/√(2 S_i)."""
    rule = PerCoordinate(rate="theory", offset=0.1)
    slow = ReadableLearner("hinge", rule, scale="none")
    slow.play([0], [1.0], 1.0)
    fast = Learner("hinge", rule, columns=1, intercept=False, scale="none")
    learn_rows(fast, [0, 1], [0], [1.0], [1.0])
    assert slow.ledger().theorem is fast.ledger().theorem is None
    assert fast.ledger().bound == pytest.approx(slow.ledger().bound)


@given(gradients=gradients)
def test_theorem_2_holds_when_all_coordinates_are_known(
    gradients: list[tuple[int, float]],
) -> None:
    learner = ReadableLearner(Linear(), Global(rate="theory", radius=1), certify=True, scale="none")
    learner.play([0, 1, 2], [1e-3, 1e-3, 1e-3], 1.0)
    for slot, gradient in gradients:
        learner.play([slot], [-gradient], 1.0)
    ledger = learner.ledger()
    squares = 3e-6 + sum(g**2 for _, g in gradients)
    closed_form = np.sqrt(3) * 2 * np.sqrt(2 * squares)
    assert ledger.theorem == pytest.approx(closed_form)
    assert ledger.bound is not None
    assert ledger.bound <= closed_form * (1 + 1e-9)


def test_the_global_rate_rises_as_coordinates_appear_and_the_bound_still_holds() -> None:
    """Erratum E15: with D counted as it grows, 1/η falls, and D²/(2η_T) would be too small."""
    rounds = [Round([0], [1.0], 1.0, 1.0) for _ in range(50)]
    rounds += [Round([j], [0.01], 1.0, 1.0) for j in range(1, COLUMNS)]
    rule = Global(rate="theory", radius=1)
    learner = ReadableLearner(Linear(), rule, certify=True, scale="none")
    steps = []
    for each in rounds:
        learner.play(*each)
        steps.append(learner.step.rate)
    assert any(later > earlier for earlier, later in pairwise(steps))
    naive = learner.tally.energy + COLUMNS * rule.width**2 / (2 * steps[-1])
    bound = learner.ledger().bound
    assert bound is not None
    assert bound > naive
    assert_order(Linear(), rounds, rule, learner.ledger(), 1e-9)
