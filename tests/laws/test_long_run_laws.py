"""Do the sums of a slot go on growing, and do the guarantees hold, after many millions of rounds?

A float32 sum that is rounded to the nearest stops growing when its terms fall below half a unit in
its last place: a sum of equal squares after 2^24 of them.
"""

from __future__ import annotations

from math import isclose

import numpy as np
import pytest

from lessregret import CW, Arow, Constant, Ftrl, Learner, PerCoordinate
from lessregret.data.examples import Examples, Rows
from lessregret.learners.rules import Rule
from tests.support.model_files import Tensors, edited, take_apart

BLOCK = 1 << 20


def one_feature(learner: Learner, labels: np.ndarray, value: float = 0.5) -> Examples:
    """Examples of a single feature."""
    count = len(labels)
    rows = Rows(
        np.arange(count + 1), np.zeros(count, int), np.full(count, value), labels, space=learner
    )
    return Examples.collect(rows)


def learner_of(rule: Rule) -> Learner:
    return Learner("hinge", rule, columns=1, intercept=False, scale="none")


def field(learner: Learner, name: str) -> float:
    _, tensors = take_apart(learner.to_bytes())
    return float(np.ravel(tensors[name])[0])


def with_field(learner: Learner, name: str, number: float) -> Learner:
    """The learner with another number in its slot, as after a longer run."""

    def edit(_: object, tensors: Tensors) -> None:
        tensors[name] = np.full_like(tensors[name], number)

    return Learner.from_bytes(edited(learner.to_bytes(), edit))


GROWING = [
    (PerCoordinate(rate=0.5, radius=1), "energy", 0.25),
    (Ftrl(rate=0.5, radius=1), "n", 0.25),
    (Arow(form="precision", regularisation=4), "precision", 1 / 16),
]
"""A rule, a sum in its slot, and what every round of a hinge that is never met adds to it."""


@pytest.mark.parametrize(("rule", "name", "term"), GROWING, ids=["energy", "n", "precision"])
def test_a_sum_grows_however_large_it_is(rule: Rule, name: str, term: float) -> None:
    learner = learner_of(rule)
    # AROW meets its margin unless labels alternate; alternating ones keep every round a loss.
    labels = np.tile([1.0, -1.0], BLOCK // 2)
    learner.learn(one_feature(learner, labels[:2]))
    late = with_field(learner, name, term * 2**30)
    late.learn(one_feature(late, labels))
    grown = field(late, name) - term * 2**30
    # A unit in the last place is 128 terms there, so 8192 units were taken.
    assert isclose(grown, BLOCK * term, rel_tol=0.01)


def test_a_weight_moves_by_steps_far_below_its_last_place() -> None:
    learner = learner_of(Constant(rate=1e-8, radius=10))
    learner.learn(one_feature(learner, np.array([1.0])))
    late = with_field(learner, "weight", 1.5)
    # Every gradient is -0.5: 1.5 moves by 5e-9 a round, where its last place is 1.2e-7.
    late.learn(one_feature(late, np.ones(BLOCK)))
    assert isclose(field(late, "weight") - 1.5, BLOCK * 0.5e-8, rel_tol=0.01)


def test_the_precision_of_a_confidence_weighted_rule_grows_too() -> None:
    learner = learner_of(CW())
    learner.learn(one_feature(learner, np.array([1.0, -1.0])))
    late = with_field(learner, "precision", 2.0**30)
    # The mean was learned at a low precision: its first step adds much to the new one.
    late.learn(one_feature(late, np.array([1.0, -1.0])))
    before = field(late, "precision")
    late.learn(one_feature(late, np.tile([1.0, -1.0], BLOCK)))
    # About 1 a round, where a unit in the last place is 128: rounded to the nearest it would stall.
    assert isclose(field(late, "precision") - before, 2 * BLOCK, rel_tol=0.01)


def test_a_square_below_the_smallest_float32_is_covered_by_the_bound() -> None:
    learner = Learner("hinge", PerCoordinate(rate="theory", radius=1e25), columns=1,
                      intercept=False, scale="none", certify=True)  # fmt: skip
    learner.learn(one_feature(learner, np.ones(100), value=1e-23))
    ledger = learner.ledger()
    # With weight 1e25 the margin is 100 and the loss 0: all that was lost is regret.
    regret = ledger.total
    assert 0 < regret <= ledger.linear_regret <= ledger.bound
    assert ledger.theorem >= regret
    assert learner.weight(0) > 0


@pytest.mark.slow
def test_the_theorem_holds_beyond_2_to_the_25_rounds() -> None:
    rule = PerCoordinate(rate="theory", radius=1)
    learner = Learner("hinge", rule, columns=1, intercept=False, scale="none", certify=True)
    block = one_feature(learner, np.tile([1.0, -1.0], BLOCK // 2))
    blocks = 100
    for _ in range(blocks):
        learner.learn(block)
    rounds, ledger = blocks * BLOCK, learner.ledger()
    # Every fixed weight loses 1 a round on average.
    regret = ledger.total - rounds
    assert regret <= ledger.linear_regret <= ledger.bound
    assert regret <= ledger.theorem
    assert isclose(field(learner, "energy"), 0.25 * rounds, rel_tol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("rule", [PerCoordinate(radius=1), Ftrl(rate=0.1, radius=1)])
def test_every_lane_takes_in_every_square_beyond_2_to_the_25_rounds(rule: Rule) -> None:
    learner = learner_of(rule)
    block = one_feature(learner, np.ones(BLOCK))
    for _ in range(40):
        learner.learn(block)
    _, tensors = take_apart(learner.to_bytes())
    # The last lane of per-coordinate is the coin, which sums no squares and leaves the box.
    is_coined = isinstance(rule, PerCoordinate)
    sums = np.ravel(tensors["energy"][:, :-1] if is_coined else tensors["n"])
    np.testing.assert_allclose(sums, 0.25 * 40 * BLOCK, rtol=1e-4)
