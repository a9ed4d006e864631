"""Laws of the rule coin: its potential, the wealth of its gambler, and its bound."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import exp, sqrt, tanh
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessregret import Learner, ReadableLearner
from lessregret.learners.rules import Coin
from lessregret.learners.rules.coin import Shared, Slot
from tests.support.regret_streams import COLUMNS, best_fixed
from tests.support.rows import learn_rows
from tests.support.streams import Round, as_csr, random_rounds


def potential(reward: float, stake: float, largest: float) -> float:
    return exp(reward**2 / (2 * largest * (largest + stake))) / sqrt(1 + stake / largest)


@given(
    largest=st.floats(1, 1e3),
    stake=st.floats(0, 1e4),
    part=st.floats(-1, 1),
    bet=st.floats(-1, 1),
)
def test_one_bet_wins_at_least_what_the_potential_grows_by(
    largest: float, stake: float, part: float, bet: float
) -> None:
    """F(θ − g, A + |g|) ≤ F(θ, A) (1 − g/G tanh(θ/(A + 2G))) for all |θ| ≤ A and |g| ≤ G."""
    # Beyond this size the potential has no float64.
    stake = min(stake, 1000 * largest)
    reward, gradient = part * stake, bet * largest
    won = 1 - gradient / largest * tanh(reward / (stake + 2 * largest))
    grown = potential(reward - gradient, stake + abs(gradient), largest)
    assert grown <= potential(reward, stake, largest) * won * (1 + 1e-9)


@given(st.lists(st.floats(-1, 1), max_size=200), st.floats(0, 50))
def test_the_gambler_has_at_least_the_wealth_that_is_played_with(
    gradients: list[float], rise: float
) -> None:
    """Also when ε falls in the middle, because N rises."""
    rule, slot, shared = Coin(), Slot(), Shared()
    wealth = rule.wealth
    for k, gradient in enumerate(gradients):
        wealth -= gradient * rule.knowing(shared).weight(slot, 1.0)
        slot = Slot(slot.reward - gradient, slot.stake + abs(gradient))
        shared = Shared(size=1 + rise * k / len(gradients))
        assert wealth >= rule.wealth / shared.size * potential(*slot, 1.0) * (1 - 1e-9)


def one_side(_: Any) -> list[Round]:
    return [Round([0, 1], [1.0, 0.5], 1.0, 1.0)] * 300


def against_the_learner(learner: ReadableLearner) -> list[Round]:
    """Each label is the one that the learner expects less."""
    rounds = []
    for k in range(300):
        slots, values = [k % 3, 3 + k % 7], [1.0, -0.5]
        label = -1.0 if learner.margin(slots, values) > 0 else 1.0
        rounds.append(Round(slots, values, label, 1.0))
        learner.play(*rounds[-1])
    return rounds


def changing_sides(_: Any) -> list[Round]:
    return [Round([0], [1.0], 1.0 if k // 50 % 2 else -1.0, 1.0) for k in range(300)]


def noise(_: Any) -> list[Round]:
    rounds = random_rounds(5, 300, COLUMNS)
    values = [np.clip(each.values, -1, 1).tolist() for each in rounds]
    pairs = zip(random_rounds(5, 300, COLUMNS), values, strict=True)
    return [each._replace(values=clipped, importance=1.0) for each, clipped in pairs]


@pytest.mark.parametrize("make_stream", [one_side, against_the_learner, changing_sides, noise])
@pytest.mark.parametrize("radius", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_regret_is_below_the_bound(
    loss: str, radius: float, make_stream: Callable[[Any], list[Round]]
) -> None:
    rule = Coin(radius=radius)
    rounds = make_stream(ReadableLearner(loss, rule, scale="none"))
    slow = ReadableLearner(loss, rule, scale="none", certify=True)
    for each in rounds:
        slow.play(*each)
    fast = Learner(loss, rule, columns=COLUMNS, intercept=False, scale="none", certify=True)
    learn_rows(fast, *as_csr(rounds))
    _, least = best_fixed(slow.loss, rounds, rule)
    for ledger, slack in ((slow.ledger(), 1e-9), (fast.ledger(), 1e-4)):
        assert ledger.bound is not None
        assert ledger.linear_regret is not None
        slack *= 1 + ledger.bound
        assert ledger.total - least <= ledger.linear_regret + slack
        assert ledger.linear_regret <= ledger.bound + slack


def test_the_bound_grows_with_the_radius_and_is_small_near_0() -> None:
    """Against u = 0 no more is lost than the wealth that was granted."""
    bounds = []
    for radius in (1e-6, 0.1, 1.0, 10.0):
        learner = ReadableLearner("logistic", Coin(radius=radius), scale="none")
        for each in noise(None):
            learner.play(*each)
        bounds.append(learner.ledger().bound)
    assert all(one < other for one, other in pairwise(bounds))
    assert bounds[0] <= learner.shared.granted + 1e-3


@pytest.mark.parametrize("make", [Learner, ReadableLearner])
def test_no_bound_is_told_when_a_gradient_is_above_1(make: Any) -> None:
    wishes = {} if make is ReadableLearner else {"columns": COLUMNS, "intercept": False}
    learner = make("logistic", Coin(), scale="none", **wishes)
    rows = [Round([0], [1.0], label, importance) for label, importance in ((1.0, 1.0), (-1.0, 3.0))]
    learn_rows(learner, *as_csr(rows[:1]))
    assert learner.ledger().bound is not None
    learn_rows(learner, *as_csr(rows[1:]))
    assert learner.ledger().bound is None
