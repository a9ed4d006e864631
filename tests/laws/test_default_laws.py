"""What the defaults promise: no rate to tune, and no value that spoils the rest."""

from __future__ import annotations

from collections.abc import Callable
from math import log, log1p
from typing import Any

import numpy as np
import pytest

from lessregret import Learner, PerCoordinate, ReadableLearner
from lessregret.data.generate import rows
from lessregret.learners.mixture import DEFAULT_SHARE, EXPERTS
from tests.support.click_logs import SMALL
from tests.support.pairs import ONE_OF_EACH
from tests.support.rows import learn_rows, predict_rows
from tests.support.slow import slow
from tests.support.streams import Round, as_csr, random_rounds

COLUMNS = 40
ROUNDS = 2000


def drawn(loss: str) -> list[Round]:
    rounds = random_rounds(11, ROUNDS, COLUMNS, regression=loss == "squared")
    return [each._replace(importance=1.0) for each in rounds]


def flipped(loss: str) -> list[Round]:
    """What was learned in the first half is wrong in the second."""
    rounds = drawn(loss)
    turned = [each._replace(label=-each.label) for each in rounds[ROUNDS // 2 :]]
    return rounds[: ROUNDS // 2] + turned


def sorted_by_label(loss: str) -> list[Round]:
    return sorted(drawn(loss), key=lambda each: each.label)


def too_steep(loss: str) -> list[Round]:
    """200 values of 30 a round and labels without sense: the large rates go to the box's ends."""
    rng = np.random.default_rng(5)
    labels = rng.choice([-1.0, 1.0], size=ROUNDS // 10)
    every = list(range(COLUMNS))
    return [Round(every, [30.0] * COLUMNS, float(label), 1.0) for label in labels]


def contrary(loss: str) -> list[Round]:
    """An adversary that labels against the margin just played."""
    learner, rounds = Learner(loss, columns=COLUMNS, intercept=False, scale="none"), []
    for each in drawn(loss)[:500]:
        row = [0, len(each.slots)], each.slots, each.values
        label = -1.0 if predict_rows(learner, *row)[0] > 0 else 1.0
        rounds.append(each._replace(label=label))
        learn_rows(learner, *row, [label])
    return rounds


SEQUENCES = [drawn, flipped, sorted_by_label, too_steep, contrary]


@pytest.mark.parametrize("fixed_share", [0.0, DEFAULT_SHARE])
@pytest.mark.parametrize("scale", ["none", slow("cap"), slow("full"), "standard"])
@pytest.mark.parametrize("make", SEQUENCES)
@pytest.mark.parametrize("loss", ONE_OF_EACH)
def test_mixing_costs_no_more_than_it_says(
    loss: str, make: Callable[[str], list[Round]], scale: str, fixed_share: float
) -> None:
    wishes: dict[str, Any] = {"scale": scale, "fixed_share": fixed_share}
    learner = Learner(loss, columns=COLUMNS, intercept=False, **wishes)
    rounds = make(loss)
    learn_rows(learner, *as_csr(rounds))
    ledger = learner.ledger()
    assert ledger.mixing_cost is not None
    assert ledger.stack is not None
    least = min(ledger.stack.loss, *(lane.loss for lane in ledger.lanes))
    assert ledger.tally.loss <= least + ledger.mixing_cost + 1e-9 * least
    if loss == "logistic":
        price = -len(rounds) * log1p(fixed_share / EXPERTS - fixed_share)
        assert ledger.tally.loss <= least + log(EXPERTS) + price + 1e-9 * least


@pytest.mark.parametrize("fast", [False, True])
def test_labels_that_leave_their_range_again_and_again(fast: bool) -> None:
    """Clipped to the labels so far, every prediction comes too late; the lanes' own do not.

    In round 2t the only feature has the value ±t and the label is that value, so that a weight of 1
    predicts all labels, each of which is outside the range of those before.
    """
    steps = np.repeat(np.arange(1.0, 201.0), 2) * np.resize([1, -1], 400)
    rounds = [Round([0], [step], step, 1.0) for step in steps.tolist()]
    if fast:
        learner = Learner("squared", columns=1, intercept=False, scale="none")
        learn_rows(learner, *as_csr(rounds))
        ledger = learner.ledger()
    else:
        slow = ReadableLearner("squared", PerCoordinate(), scale="none")
        for each in rounds:
            slow.play(*each)
        ledger = slow.ledger()
    least = min(lane.loss for lane in ledger.lanes)
    assert ledger.mixing_cost is not None
    assert ledger.tally.loss <= least + ledger.mixing_cost


def test_the_sequences_make_a_lane_diverge() -> None:
    """Else the law above would be about tame sequences only."""
    learner = Learner("logistic", columns=COLUMNS, intercept=False, scale="none")
    learn_rows(learner, *as_csr(too_steep("logistic")))
    losses = [lane.loss for lane in learner.ledger().lanes]
    assert max(losses) > 20 * min(losses)


@pytest.mark.parametrize("loss", ONE_OF_EACH)
def test_units_change_no_prediction_with_full(loss: str) -> None:
    """Every feature in units of its own, from a millionth to a million."""
    rounds = drawn(loss)
    units = 10.0 ** np.random.default_rng(3).uniform(-6, 6, COLUMNS)
    indptr, indices, values, *rest = as_csr(rounds)
    plain = Learner(loss, columns=COLUMNS, scale="full")
    others = Learner(loss, columns=COLUMNS, scale="full")
    margins = learn_rows(plain, indptr, indices, values, *rest)
    theirs = learn_rows(others, indptr, indices, values * units[indices], *rest)
    if loss == "logistic":
        margins, theirs = 1 / (1 + np.exp(-margins)), 1 / (1 + np.exp(-theirs))
    assert np.abs(theirs - margins).max() < 1e-3


@pytest.mark.parametrize("place", [0, 7, 500, 4000])
@pytest.mark.parametrize("feature", [0, 3, -1])
def test_one_value_of_1e30_does_not_spoil_the_rest(place: int, feature: int) -> None:
    """In a click log: the loss of all other examples changes by less than 1 %."""
    [(X, y)] = rows(SMALL, 5000, block_size=5000)
    lost = []
    for value in (1.0, 1e30):
        X.data[X.indptr[place : place + 2][-1 if feature < 0 else 0] + feature] = value
        learner = Learner("logistic", columns=X.shape[1])
        margins = learn_rows(learner, X.indptr, X.indices, X.data, y)
        lost.append(np.delete(np.logaddexp(0, -y * margins), place).sum())
    assert abs(lost[1] / lost[0] - 1) < 0.01


def test_a_feature_outlives_a_value_of_1e30() -> None:
    """One that is in every example, and alone tells the label."""
    labels = np.resize([1.0, -1.0, -1.0], 3000)
    values = labels.copy()
    values[10] = 1e30
    rows = np.arange(3001), np.zeros(3000, dtype=int), values, labels
    margins = learn_rows(Learner("logistic", columns=1, intercept=False), *rows)
    assert np.mean(labels * margins > 0) > 0.99
    assert np.logaddexp(0, -labels * margins)[-1000:].mean() < 0.02
