"""Learners on bare arrays, for tests that care for the margins only."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lessregret import FeatureSpace, Learner, ReadableLearner, Rows

READABLE = FeatureSpace(bits=31, labels="real", intercept=False)
"""For readable learners, which take any space."""


def learn_rows(
    learner: Learner | ReadableLearner,
    indptr: ArrayLike,
    indices: ArrayLike,
    values: ArrayLike,
    labels: ArrayLike,
    importances: ArrayLike | None = None,
) -> np.ndarray:
    """Learn from the rows of a CSR matrix; the margins, each made before its row was learned."""
    space = learner if isinstance(learner, Learner) else READABLE
    return learner.learn(Rows(indptr, indices, values, labels, importances, space=space)).margins


def predict_rows(
    learner: Learner | ReadableLearner, indptr: ArrayLike, indices: ArrayLike, values: ArrayLike
) -> np.ndarray:
    """The margins of the rows of a CSR matrix."""
    space = learner if isinstance(learner, Learner) else READABLE
    return learner.predict(Rows(indptr, indices, values, space=space)).margins
