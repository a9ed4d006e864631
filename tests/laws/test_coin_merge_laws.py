"""Laws of merged coins: they play within reach of the shards, keep their stake, and learn on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessregret import Coin, Learner, merge
from lessregret.learners.merging import merged_slot
from lessregret.learners.rules.coin import Shared, Slot
from tests.support.hostile_shards import HOSTILE
from tests.support.model_files import take_apart
from tests.support.shards import after, synced
from tests.support.streams import Round

GRADIENTS = st.lists(st.floats(-1, 1), max_size=30)
RUNS = st.tuples(st.lists(st.sampled_from([-1.0, -0.25, 1.0]), max_size=40), st.integers(1, 200))
"""Gradients, and how often they come one after another: long runs on one side are the hardest."""


def told(slot: Slot, gradients: Sequence[float]) -> Slot:
    for gradient in gradients:
        slot = Slot(slot.reward - gradient, slot.stake + abs(gradient))
    return slot


def repeated(run: tuple[list[float], int]) -> list[float]:
    return [gradient for gradient in run[0] for _ in range(run[1])]


@given(
    RUNS,
    st.lists(RUNS, min_size=2, max_size=16),
    st.floats(0.1, 100),
    st.sampled_from(["matched", "weighted", "average"]),
)
def test_a_merged_coin_plays_within_reach_of_its_shards(
    before: tuple[list[float], int],
    runs: list[tuple[list[float], int]],
    curvature: float,
    how: str,
) -> None:
    """|w − w_0| is at most the sum of the shards' moves, and the stake covers the reward."""
    rule = Coin().knowing(Shared(size=8.0))
    start = told(Slot(), repeated(before))
    shards = [told(start, repeated(run)) for run in runs]
    merged = Slot(*merged_slot(rule, start, shards, curvature=curvature, how=how))
    first = rule.weight(start, 1.0)
    moves = [abs(rule.weight(shard, 1.0) - first) for shard in shards]
    moved = abs(rule.weight(merged, 1.0) - first)
    assert moved <= sum(moves) * (1 + 1e-6) + 1e-9 * (1 + abs(first))
    assert abs(merged.reward) <= merged.stake * (1 + 1e-12)
    gained = sum(shard.stake - start.stake for shard in shards)
    assert merged.stake == pytest.approx(start.stake + gained, abs=1e-9)


@given(GRADIENTS, st.lists(GRADIENTS, min_size=2, max_size=8), GRADIENTS)
def test_the_gambler_who_goes_on_is_never_in_debt(
    before: list[float], runs: list[list[float]], later: list[float]
) -> None:
    """With the wealth of the merged slot it keeps at least that of the slots that follow."""

    def owned(slot: Slot) -> float:
        """εF"""
        return rule.wealth * exp(slot.reward**2 / (2 * (1 + slot.stake))) / sqrt(1 + slot.stake)

    rule, start = Coin(), told(Slot(), before)
    shards = [told(start, run) for run in runs]
    slot = Slot(*merged_slot(rule, start, shards, curvature=1.0))
    wealth = owned(slot)
    for gradient in later:
        wealth -= gradient * rule.weight(slot, 1.0)
        slot = told(slot, [gradient])
        assert wealth >= owned(slot) * (1 - 1e-9)


def coin_weights(learner: Learner) -> dict[int, float]:
    """The weights of the coin lane by slot."""
    header, tensors = take_apart(learner.to_bytes())
    rule = Coin().knowing(Shared(**header["shared"]["coin"]))
    lane = zip(tensors["weight"][:, -1], tensors["energy"][:, -1], strict=True)
    weights = [rule.weight(Slot(float(reward), float(stake)), 1.0) for reward, stake in lane]
    return dict(zip(tensors["slot"].tolist(), weights, strict=True))


@pytest.mark.parametrize("make", HOSTILE, ids=["opposed", "turning", "noise"])
@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared"])
@pytest.mark.parametrize("shards", [2, 8, 64])
def test_the_lane_of_a_merged_learner_plays_within_reach_too(
    loss: str, make: Callable[[int], list[Round]], shards: int
) -> None:
    """Sync after sync; float32 rewards give a weight about five digits."""
    rounds = make(1280)
    learner = Learner(loss, columns=4, intercept=False, scale="none")
    for part in (rounds[k : k + 128] for k in range(0, len(rounds), 128)):
        parts = [after(learner, part[k::shards]) for k in range(shards)]
        merged = merge(learner, parts, players=shards)
        before, own = coin_weights(learner), [coin_weights(each) for each in parts]
        for slot, weight in coin_weights(merged).items():
            first = before.get(slot, 0.0)
            ways = [abs(each.get(slot, 0.0)) + abs(first) for each in own]
            assert abs(weight - first) <= sum(ways) * (1 + 1e-4) + 1e-6
        learner = merged


@pytest.mark.parametrize(("shards", "syncs"), [(8, 16), (8, 64), (64, 16)])
def test_the_lane_of_many_shards_loses_about_what_that_of_one_learner_loses(
    shards: int, syncs: int
) -> None:
    """Added up, the rewards of these shards give mean losses from 0.7 to 10^8."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=5)
    rounds = []
    for _ in range(6000):
        slots = [0, *(k for k in range(1, 5) if rng.random() < 0.5)]
        label = 1.0 if rng.random() < 1 / (1 + exp(-truth[slots].sum())) else -1.0
        rounds.append(Round(slots, [1.0] * len(slots), label, 1.0))
    start = Learner("logistic", columns=5, intercept=False, scale="none")
    one, many = after(start, rounds).ledger(), synced(start, rounds, shards, syncs).ledger()
    assert many.lanes[-1].loss <= 1.1 * one.lanes[-1].loss
