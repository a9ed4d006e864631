"""Is AdaptiveRevision the algorithm of its paper?

McMahan & Streeter (2014). Only the abstract was at hand; the update is that of the notes, and these
laws say what it must be for.
"""

from __future__ import annotations

import random
from collections import deque
from math import sqrt
from pathlib import Path

import pytest

from lessregret import Learner, open_examples
from lessregret.data.generate import ClickWorld, log_text
from lessregret.errors import SpecError
from lessregret.learners.delayed import DelayedLearner, Played
from lessregret.learners.rules import rule_named
from lessregret.learners.rules.adaptive_revision import AdaptiveRevision
from lessregret.learners.rules.per_coordinate import PerCoordinate
from lessregret.learners.rules.rule import Step


def gradients(seed: int, count: int) -> list[float]:
    source = random.Random(seed)
    return [source.gauss(0.1, 1.0) for _ in range(count)]


@pytest.mark.parametrize("offset", [0.0, 0.3])
@pytest.mark.parametrize("rate", [0.3, "theory"])
def test_without_delay_it_is_per_coordinate_to_the_bit(rate: float | str, offset: float) -> None:
    late = AdaptiveRevision(rate=rate, offset=offset, radius=1)  # type: ignore[arg-type]
    plain = PerCoordinate(rate=rate, offset=offset, radius=1)  # type: ignore[arg-type]
    one, other = late.empty, plain.empty
    for gradient in gradients(1, 500):
        one, eta = late.absorb(one, 1.5, gradient, Step())
        other, eta_other = plain.absorb(other, 1.5, gradient, Step())
        assert (one.weight, one.energy, eta) == (other.weight, other.energy, eta_other)
        assert one.largest == one.energy


def test_learners_in_rust_without_delay_are_the_same_to_the_bit() -> None:
    source = random.Random(2)
    models = [
        Learner(rule=rule_named(name, rate=0.2, radius=1), bits=8, loss="logistic")
        for name in ("adaptive-revision", "per-coordinate")
    ]
    for _ in range(500):
        example = {f"f{source.randrange(30)}": source.gauss(0, 1) for _ in range(5)}
        label = source.choice((-1, 1))
        one, other = (model.learn_one(example, label) for model in models)
        assert one == other


def test_the_weight_is_that_of_one_rate_for_all_gradients_that_were_late() -> None:
    """k gradients that were all played at the start are one step at the last rate.

    This is what the revision is for: earlier steps are as if the last rate had been known. All pull
    the same way, so that z grows and no weight is clipped.
    """
    rule = AdaptiveRevision(rate=0.5, radius=1000)
    slot, late = rule.empty, [abs(g) + 0.1 for g in gradients(3, 50)]
    for gradient in late:
        slot, rate = rule.revise(slot, 1.0, gradient, 0.0)
    assert slot.energy == pytest.approx(sum(late) ** 2)
    assert rate == pytest.approx(0.5 / sum(late))
    assert slot.weight == pytest.approx(-rate * sum(late))


def test_the_rate_never_grows_and_the_slot_is_that_of_the_formulas() -> None:
    source = random.Random(4)
    rule, slot = AdaptiveRevision(rate=0.4, radius=1000), AdaptiveRevision.empty
    readings = [0.0]
    weight = energy = largest = total = 0.0
    for gradient in gradients(5, 300):
        reading = source.choice(readings[-20:])
        late = total - reading
        before = 0.4 / sqrt(largest) if largest else 0.0
        energy += gradient**2 + 2 * gradient * late
        largest = max(largest, energy)
        rate = 0.4 / sqrt(largest)
        weight += -rate * gradient + (before - rate) * late
        total += gradient
        slot, found = rule.revise(slot, 1.0, gradient, reading)
        assert found == pytest.approx(rate)
        assert not before or rate <= before
        assert tuple(slot) == pytest.approx((weight, energy, largest, total))
        readings.append(slot.sum)


def test_the_numbers_that_the_rust_twin_is_tested_with() -> None:
    rule, slot = AdaptiveRevision(rate=0.5, radius=2), AdaptiveRevision.empty
    for gradient, reading in [(1.0, 0.0), (0.5, 0.0), (-0.75, 0.0), (0.25, 1.5)]:
        slot, _ = rule.revise(slot, 1.0, gradient, reading)
    assert tuple(slot) == pytest.approx((-1 / 3, 0.25, 2.25, 1.0))


def test_late_labels_move_weights_by_the_margin_that_was_played() -> None:
    learner = DelayedLearner(rule_named("per-coordinate", rate=0.5))
    waiting = [learner.play([1, 2], [1.0, 2.0]) for _ in range(3)]
    assert [played.margin for played in waiting] == [0.0] * 3
    for played in waiting:
        learner.absorb(played, -1.0)
    assert learner.play([1], [1.0]).margin < -0.5


def test_a_delayed_learner_needs_one_rate_and_a_rule_without_coupling() -> None:
    for rule in (rule_named("arow"), rule_named("per-coordinate")):
        with pytest.raises(SpecError, match="not coupled"):
            DelayedLearner(rule)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_on_clicks_with_late_labels_its_regret_is_below_that_of_plain_descent(
    seed: int, tmp_path: Path
) -> None:
    """Both learn from the gradients of the margins that were played, 1,000 rounds late.

    Against any fixed weights the regrets differ as the losses do. On small dense streams at small
    rates plain descent may lose less: the law is about streams like this one.
    """
    path = tmp_path / "clicks.vw"
    path.write_bytes(b"".join(log_text(ClickWorld(seed=seed), 6000)))
    data = [
        (each.slots.tolist(), each.values.tolist(), each.label)
        for each in open_examples([path], Learner(bits=18))
    ]
    plain, late = (total_loss(name, data, 1000) for name in ("per-coordinate", "adaptive-revision"))
    assert late < 0.9 * plain
    assert total_loss("adaptive-revision", data, 0) == total_loss("per-coordinate", data, 0)


def total_loss(name: str, data: list[tuple[list[int], list[float], float]], delay: int) -> float:
    """Σ loss of all margins, each played before the labels of the last rounds came."""
    learner, total = DelayedLearner(rule_named(name, rate=0.1)), 0.0
    waiting: deque[tuple[Played, float]] = deque()
    for slots, values, label in data:
        played = learner.play(slots, values)
        total += learner.loss.value(played.margin, label)
        waiting.append((played, label))
        if len(waiting) > delay:
            learner.absorb(*waiting.popleft())
    return total
