"""What holds of every merge: one shard, idle shards, any order, the certificate, the price."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from math import log, log1p

import numpy as np
import pytest
from scipy.optimize import minimize

from lessregret import Ftrl, Learner, PerCoordinate, Rule, merge
from lessregret.learners.losses import loss_named
from lessregret.learners.mixture import EXPERTS
from tests.support.hostile_shards import HOSTILE
from tests.support.shards import after, synced
from tests.support.streams import Round, random_rounds

LOSSES = ("logistic", "hinge", "squared")
SCALES = ("none", "cap", "full", "standard")
RULES = (PerCoordinate(), PerCoordinate(rate=0.4), Ftrl(rate=0.3, l1=0.01))


def stream(loss: str, ones: bool) -> list[Round]:
    found = list(random_rounds(seed=11, rounds=240, regression=loss == "squared"))
    return [round._replace(values=[1.0] * len(round.slots)) for round in found] if ones else found


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("ones", [True, False], ids=["ones", "values"])
def test_one_shard_idle_shards_and_any_order(loss: str, scale: str, ones: bool) -> None:
    rounds = stream(loss, ones)
    for rule in RULES:
        for first in (0, 60):
            start = after(Learner(loss, rule, columns=40, scale=scale), rounds[:first])
            shards = [after(start, rounds[first + k :: 3]) for k in range(3)]
            assert merge(start, [start]).to_bytes() == start.to_bytes()
            assert merge(start, shards[:1]).to_bytes() == shards[0].to_bytes()
            assert merge(start, [start, shards[1]]).to_bytes() == shards[1].to_bytes()
            together = merge(start, shards).to_bytes()
            for order in permutations(shards):
                assert merge(start, [order[0], start, *order[1:]]).to_bytes() == together


def least_loss(loss: str, rounds: list[Round], radius: float) -> float:
    """The least loss of fixed weights in the box, or a little more, which is harder for the law."""
    features = np.zeros((len(rounds), 4))
    for row, one in zip(features, rounds, strict=True):
        row[one.slots] = one.values
    labels = np.array([one.label for one in rounds])
    weights = np.array([one.importance for one in rounds])
    value = loss_named(loss).value

    def total(point: np.ndarray) -> float:
        margins = features @ point
        lost = [value(float(m), float(y)) for m, y in zip(margins, labels, strict=True)]
        return float(np.dot(weights, lost))

    starts = [np.zeros(4), np.full(4, radius), np.full(4, -radius)]
    found = [minimize(total, x, bounds=[(-radius, radius)] * 4, method="Powell") for x in starts]
    return min(float(one.fun) for one in found)


@pytest.mark.parametrize("make", HOSTILE, ids=["opposed", "turning", "noise"])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_certificate_covers_all_plays_of_all_shards(
    loss: str, make: Callable[[int], list[Round]]
) -> None:
    rounds = make(96)
    for radius in (0.5, 3.0):
        best = least_loss(loss, rounds, radius)
        for rule in (PerCoordinate(radius=radius), PerCoordinate(rate=0.7, radius=radius)):
            for shards, syncs in ((2, 3), (3, 1), (8, 4), (16, 6)):
                start = Learner(loss, rule, columns=4, intercept=False, scale="none", certify=True)
                ledger = synced(start, rounds, shards, syncs).ledger()
                assert ledger.rounds == len(rounds)
                assert ledger.linear_regret is not None
                assert ledger.linear_regret >= ledger.total - best - 1e-6
                assert ledger.bound is None


@pytest.mark.parametrize("make", HOSTILE, ids=["opposed", "turning", "noise"])
@pytest.mark.parametrize("fixed_share", [0.0, 1e-4])
def test_mixing_costs_at_most_ln_9_a_shard(
    make: Callable[[int], list[Round]], fixed_share: float
) -> None:
    """While K shards play on, all of them together lose K ln 9 more than the best expert."""
    rounds = [one._replace(importance=1.0) for one in make(640)]
    for shards in (2, 4, 16):
        start = Learner(
            "logistic", columns=4, intercept=False, scale="none", fixed_share=fixed_share
        )
        ledger = synced(start, rounds, shards, 20).ledger()
        assert ledger.stack is not None
        best = min([*(lane.loss for lane in ledger.lanes), ledger.stack.loss])
        sharing = -len(rounds) * log1p(fixed_share / EXPERTS - fixed_share)
        assert ledger.tally.loss <= best + shards * log(EXPERTS) + sharing + 1e-6


def test_the_sums_are_those_of_all_rounds() -> None:
    rules: tuple[Rule, ...] = (PerCoordinate(), PerCoordinate(rate=0.4))
    for rule in rules:
        rounds = stream("logistic", ones=False)
        start = after(Learner("logistic", rule, columns=40), rounds[:60])
        shards = [after(start, rounds[60 + k :: 3]) for k in range(3)]
        tally, own = merge(start, shards).tally(), start.tally()
        for name in ("rounds", "features", "importance", "loss", "mistakes", "played"):
            parts = [getattr(shard.tally(), name) - getattr(own, name) for shard in shards]
            assert getattr(tally, name) == pytest.approx(getattr(own, name) + sum(parts), rel=1e-12)
