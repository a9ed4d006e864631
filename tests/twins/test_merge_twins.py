"""Is the merge of the core the formula of ``learners/merging.py``?"""

from __future__ import annotations

import numpy as np
import pytest
from safetensors.numpy import load

from lessregret import Arow, Coin, Ftrl, Learner, PerCoordinate, merge
from lessregret.data.examples import Rows
from lessregret.learners.merging import class_curvature, merged_classes, merged_slot
from lessregret.learners.mixture import RATES
from lessregret.learners.rules.coin import Shared
from tests.support.model_files import take_apart
from tests.support.shards import after
from tests.support.streams import random_rounds

RULES = (
    PerCoordinate(rate=0.4, offset=0.2),
    PerCoordinate(rate=0.1, radius=0.2),
    Ftrl(rate=0.3, offset=1.0, l1=0.05),
    Coin(),
    Arow(),
)
FIELDS = (("weight", "energy"), ("z", "n"), ("reward", "stake"), ("weight", "precision"))


def slots(learner: Learner) -> np.ndarray:
    """Both fields of every slot, zeros where it was never met; by lane if there are lanes."""
    tensors = load(learner.to_bytes())
    one, other = next(pair for pair in FIELDS if set(pair) <= set(tensors))
    found = np.zeros((learner.slots, 2, *tensors[one].shape[1:]))
    found[tensors["slot"], 0], found[tensors["slot"], 1] = tensors[one], tensors[other]
    return found


def coin_of(merged: Learner) -> Coin:
    """The coin that knows what a learner with it, or with a lane of it, shares."""
    shared = take_apart(merged.to_bytes())[0]["shared"]
    return Coin().knowing(Shared(**shared.get("coin", shared["state"])))


@pytest.mark.parametrize("how", ["matched", "weighted", "average"])
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
@pytest.mark.parametrize("first", [0, 80])
def test_a_merged_slot_is_that_of_the_formula(rule: PerCoordinate, how: str, first: int) -> None:
    ones = [one._replace(values=[1.0] * len(one.slots)) for one in random_rounds(2, 320)]
    start = after(Learner("logistic", rule, columns=40, scale="none"), ones[:first])
    shards = [after(start, ones[first + k :: 3]) for k in range(3)]
    merged = merge(start, shards, how=how)  # type: ignore[arg-type]
    curvature = 0.5 * merged.tally().features / merged.tally().rounds
    before, parts, found = slots(start), [slots(shard) for shard in shards], slots(merged)
    formula = coin_of(merged) if isinstance(rule, Coin) else rule
    for slot in range(len(found)):
        own = [tuple(part[slot]) for part in parts]
        expected = merged_slot(formula, tuple(before[slot]), own, curvature=curvature, how=how)
        assert found[slot] == pytest.approx(np.array(expected), rel=3e-5, abs=1e-6)


def test_a_lane_merges_as_a_learner_at_its_rate() -> None:
    ones = [one._replace(values=[1.0] * len(one.slots)) for one in random_rounds(4, 300)]
    start = after(Learner("logistic", columns=40, scale="none"), ones[:60])
    shards = [after(start, ones[60 + k :: 3]) for k in range(3)]
    merged = merge(start, shards)
    curvature = 0.5 * merged.tally().features / merged.tally().rounds
    before, parts, found = slots(start), [slots(shard) for shard in shards], slots(merged)
    rules = [*(PerCoordinate(rate=rate, offset=0.3) for rate in RATES), coin_of(merged)]
    for slot in range(len(found)):
        for lane, rule in enumerate(rules):
            own = [tuple(part[slot, :, lane]) for part in parts]
            first = tuple(before[slot, :, lane])
            expected = merged_slot(rule, first, own, curvature=curvature)  # type: ignore[arg-type]
            assert found[slot, :, lane] == pytest.approx(np.array(expected), rel=3e-5, abs=1e-6)


@pytest.mark.parametrize("how", ["matched", "weighted", "average"])
@pytest.mark.parametrize("rule", [*RULES[:4], PerCoordinate()], ids=lambda rule: rule.name)
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_a_class_merges_as_the_formula_says(rule: PerCoordinate, how: str, loss: str) -> None:
    """Shards meet the classes in orders of their own."""
    draws = np.random.default_rng(5)
    labels, slots_met = draws.integers(10, size=300), draws.integers(20, size=(300, 3))

    def learned(start: Learner, rounds: slice) -> Learner:
        learner = Learner.from_bytes(start.to_bytes())
        own = [np.unique(row) for row in slots_met[rounds]]
        ends, ones = np.cumsum([0, *map(len, own)]), np.ones(sum(map(len, own)))
        given = labels[rounds].astype(float)
        learner.learn(Rows(ends, np.concatenate(own), ones, labels=given, space=learner))
        return learner

    start = learned(
        Learner(loss, rule, columns=20, scale="none", intercept=False, classes="auto"), slice(4)
    )
    shards = [learned(start, slice(4 + k, None, 3)) for k in range(3)]
    merged = merge(start, shards, how=how)  # type: ignore[arg-type]
    orders = [list(part.classes or ()) for part in (start, *shards)]
    assert len({tuple(order) for order in orders}) == 4
    assert merged.classes is not None
    assert merged.classes[: len(orders[0])] == orders[0]
    assert sorted(merged.classes) == sorted(merged_classes(orders[0], orders[1:]))
    mean = merged.tally().features / merged.tally().rounds
    curvature = class_curvature(0.5 * mean, len(merged.classes), multinomial=loss == "logistic")
    rules = [coin_of(merged) if isinstance(rule, Coin) else rule]
    if getattr(rule, "rate", None) == "auto":
        rules = [*(PerCoordinate(rate=rate, offset=0.3) for rate in RATES), coin_of(merged)]
    width = len(rules)
    all_slots, found = [slots(part) for part in (start, *shards)], slots(merged)
    for slot in range(len(found)):
        for place, code in enumerate(merged.classes):
            for lane, formula in enumerate(rules):
                own = [
                    tuple(part[slot, :, order.index(code) * width + lane])
                    if code in order
                    else (0.0, 0.0)
                    for part, order in zip(all_slots, orders, strict=True)
                ]
                expected = merged_slot(formula, own[0], own[1:], curvature=curvature, how=how)  # type: ignore[arg-type]
                played = found[slot, :, place * width + lane]
                assert played == pytest.approx(np.array(expected), rel=3e-5, abs=1e-6)
