"""Streams as tables, and one estimator for each loss and rule, for the tests of this folder."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.sparse import csr_array

from lessregret.estimators import OnlineClassifier, OnlineRegressor
from lessregret.learners.losses import LOSSES
from lessregret.learners.rules import Rule, parse_rule
from tests.support.pairs import PAIRS
from tests.support.streams import as_csr, random_rounds

COLUMNS = 40
SEED = 5
CLASSES = [-1, 1]
EVERY = pytest.mark.parametrize(
    ("loss", "rule"),
    [pytest.param(loss, parse_rule(name), id=f"{loss}-{name}") for loss, name in PAIRS],
)


class Table(NamedTuple):
    """Rows, labels and importances."""

    X: Any
    y: np.ndarray
    h: np.ndarray

    def part(self, start: int, end: int) -> Table:
        return Table(self.X[start:end], self.y[start:end], self.h[start:end])


def table(loss: str = "logistic", rounds: int = 200) -> Table:
    """A random stream whose values all fit a float32."""
    stream = list(random_rounds(SEED, rounds, COLUMNS, regression=loss == "squared"))
    indptr, indices, values, labels, importances = as_csr(stream)
    return Table(csr_array((values, indices, indptr), (rounds, COLUMNS)), labels, importances)


def estimator(loss: str = "logistic", rule: Rule | None = None, **parameters: Any) -> Any:
    kind = OnlineClassifier if LOSSES[loss].is_classification else OnlineRegressor
    return kind(loss, rule, **parameters)


def go_on(learning: Any, rows: Table) -> Any:
    """Learn from one more batch."""
    classes = {"classes": CLASSES} if isinstance(learning, OnlineClassifier) else {}
    return learning.partial_fit(rows.X, rows.y, sample_weight=rows.h, **classes)
