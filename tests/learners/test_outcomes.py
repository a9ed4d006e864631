"""Are the sums over labels those of the arrays, however the examples are cut into blocks?"""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest

from lessregret import Learner, PerCoordinate, ReadableLearner
from lessregret.data.examples import Rows
from lessregret.learners.outcomes import LabelSums

LABELS = (1e6 + np.random.default_rng(5).normal(size=90)).astype(np.float32).astype(np.float64)
IMPORTANCES = np.resize([0.5, 2.0, 0.0], 90)


@pytest.mark.parametrize("readable", [False, True])
@pytest.mark.parametrize("block", [1, 7, 90])
def test_sums_are_those_of_the_arrays(readable: bool, block: int) -> None:
    """Labels far from 0, whose squares would leave no digits for the variance."""
    fast = Learner("squared", PerCoordinate(), columns=1)
    learner = ReadableLearner("squared", PerCoordinate()) if readable else fast
    found = []
    for start in range(0, 90, block):
        y, h = LABELS[start : start + block], IMPORTANCES[start : start + block]
        entries = np.arange(len(y) + 1), np.zeros(len(y), dtype=int), np.ones(len(y))
        rows = Rows(*entries, labels=y, importances=h, space=fast)
        found.append(learner.learn(rows).label_sums())
    joined = reduce(LabelSums.joined, found)
    mean = np.average(LABELS, weights=IMPORTANCES)
    variance = np.average((LABELS - mean) ** 2, weights=IMPORTANCES)
    assert joined.importance == IMPORTANCES.sum()
    assert joined.mean == pytest.approx(mean, rel=1e-14)
    assert joined.variance == pytest.approx(variance, rel=1e-9)
    assert joined.size == pytest.approx(np.sqrt(mean**2 + variance))


def test_no_labels_have_no_size() -> None:
    nothing = LabelSums().joined(LabelSums())
    assert (nothing, nothing.variance, nothing.size) == (LabelSums(), 0.0, 0.0)
