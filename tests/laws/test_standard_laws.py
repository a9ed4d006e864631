"""What the standard scale promises: units and offsets of columns do not matter."""

from __future__ import annotations

import numpy as np
import pytest

from lessregret import Learner
from lessregret.learners.rules import parse_rule
from tests.support.model_files import take_apart
from tests.support.pairs import PAIRS
from tests.support.raw_tables import random_table
from tests.support.rows import learn_rows

ROWS = 400
ALWAYS = 5
"""The columns that are in every row."""


def table(seed: int, loss: str) -> tuple[np.ndarray, ...]:
    """A table as CSR arrays, with a quarter of the last columns' cells missing."""
    rounds = random_table(seed, ROWS, missing=0.25, regression=loss == "squared")
    indptr = np.cumsum([0, *(len(each.slots) for each in rounds)])
    indices = np.concatenate([each.slots for each in rounds])
    values = np.concatenate([each.values for each in rounds])
    return indptr, indices, values, np.array([each.label for each in rounds])


def margins(loss: str, rule: str, rows: tuple[np.ndarray, ...]) -> np.ndarray:
    # A rate that overshoots makes rounding grow.
    overshoots = loss == "squared" and rule in ("constant", "inverse-sqrt")
    rate = 0.01 if overshoots else None
    learner = Learner(loss, parse_rule(rule, rate=rate), columns=8, scale="standard")
    return learn_rows(learner, *rows)


@pytest.mark.parametrize(("loss", "rule"), PAIRS)
@pytest.mark.parametrize("seed", range(3))
def test_an_affine_change_of_columns_changes_no_prediction(seed: int, loss: str, rule: str) -> None:
    indptr, indices, values, labels = table(seed, loss)
    rng = np.random.default_rng(seed)
    units = 10.0 ** rng.uniform(-4, 4, 8) * rng.choice([1, -1], 8)
    offsets = units * rng.uniform(-20, 20, 8)
    units[ALWAYS:], offsets[ALWAYS:] = 1, 0
    changed = values * units[indices] + offsets[indices]
    plain = margins(loss, rule, (indptr, indices, values, labels))
    others = margins(loss, rule, (indptr, indices, changed, labels))
    np.testing.assert_allclose(others, plain, rtol=0, atol=1e-3 * max(1, np.abs(plain).max()))


@pytest.mark.parametrize("seed", range(3))
def test_large_units_of_a_column_with_missing_cells_change_no_prediction(seed: int) -> None:
    """Its size is above 1 in both units."""
    indptr, indices, values, labels = table(seed, "logistic")
    changed = np.where(indices == 5, 1024 * values, values)
    plain = margins("logistic", "per-coordinate", (indptr, indices, values, labels))
    others = margins("logistic", "per-coordinate", (indptr, indices, changed, labels))
    assert np.abs(others - plain).max() < 1e-3 * max(1, np.abs(plain).max())


def test_labels_do_not_touch_the_statistics() -> None:
    indptr, indices, values, labels = table(7, "logistic")
    learners = [Learner("logistic", columns=8, scale="standard") for _ in "ab"]
    learn_rows(learners[0], indptr, indices, values, labels)
    learn_rows(learners[1], indptr, indices, values, np.roll(labels, 1))
    one, other = (take_apart(learner.to_bytes())[1] for learner in learners)
    assert one["weight"].tolist() != other["weight"].tolist()
    for name in ("count", "mean", "squares"):
        assert one[name].tolist() == other[name].tolist(), name
