"""Is the later part of a run at least its second half, with the losses and labels of its rounds?"""

from __future__ import annotations

import numpy as np
import pytest

from lessregret import Learner
from lessregret.data.examples import Rows
from lessregret.learners.outcomes import LabelSums
from lessregret.ledger import Tally
from lessregret.training.late_rounds import LateRounds, second_half
from tests.support.pairs import ONE_OF_EACH

LABELS = np.resize([1.0, -1.0, -1.0], 2000)
VALUES = np.random.default_rng(2).normal(size=2000)


def rows(learner: Learner, start: int, end: int) -> Rows:
    y, columns = LABELS[start:end], np.zeros(end - start, dtype=int)
    return Rows(np.arange(len(y) + 1), columns, VALUES[start:end], labels=y, space=learner)


@pytest.mark.parametrize("rounds", [1, 2, 3, 4, 127, 128, 500, 1023, 1024, 1025])
def test_the_part_is_at_least_half_of_the_run(rounds: int) -> None:
    """In blocks that end at powers of two, as those of a run do."""
    learner, late, losses = Learner("logistic", columns=1), LateRounds(Tally()), [0.0]
    for k in range(rounds):
        late.add(learner.learn(rows(learner, k, k + 1)).label_sums(), learner.tally())
        losses.append(learner.tally().loss)
    part = late.part()
    assert part.of == rounds
    assert rounds / 2 <= part.rounds <= 0.75 * rounds or rounds < 3
    assert part.loss == pytest.approx(losses[-1] - losses[rounds - part.rounds])
    labels = LABELS[rounds - part.rounds : rounds]
    assert part.labels.importance == part.rounds
    assert part.labels.mean == pytest.approx(labels.mean(), abs=1e-12)
    assert part.labels.variance == pytest.approx(labels.var(), abs=1e-12)
    assert late.all_labels.importance == rounds
    assert late.all_labels.variance == pytest.approx(LABELS[:rounds].var(), abs=1e-12)


def test_a_resumed_run_is_a_run_of_its_own() -> None:
    late = LateRounds(Tally(rounds=1000, loss=700.0))
    late.add(LabelSums(20.0, 1.0, 0.0), Tally(rounds=1020, loss=710.0))
    assert late.part()[:3] == (20, 20, 10.0)


@pytest.mark.parametrize("loss", ONE_OF_EACH)
def test_the_second_half_of_rows_loses_what_the_learner_says(loss: str) -> None:
    whole, halves = Learner(loss, columns=1), Learner(loss, columns=1)
    part = second_half(loss, whole.learn(rows(whole, 0, 2000)), 6000)
    halves.learn(rows(halves, 0, 1000))
    before = halves.tally().loss
    labels = halves.learn(rows(halves, 1000, 2000)).label_sums()
    assert (part.of, part.rounds) == (6000, 1000)
    assert part.loss == pytest.approx(halves.tally().loss - before)
    assert part.mean_loss == part.loss / 1000
    assert part.labels == pytest.approx(labels)
