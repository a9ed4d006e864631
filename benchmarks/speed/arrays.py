"""What all learners in memory need: rows, a clock, and a score."""

from __future__ import annotations

import json
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks.speed.score import score

COLUMNS = 50_000
FEW = 100
Rows = tuple[csr_matrix, Any]


def load(file: str) -> Rows:
    """The rows and labels of a file; all rows are equally long."""
    with np.load(file) as arrays:
        columns, values, labels = arrays["columns"], arrays["values"], arrays["labels"]
    ends = np.arange(0, columns.size + 1, columns.shape[1], dtype=np.int32)
    matrix = csr_matrix((values.ravel(), columns.ravel(), ends), (len(labels), COLUMNS))
    return matrix, labels


def first(rows: Rows) -> Rows:
    """A few rows, to call once before the clock starts.

    The first call of a process imports modules and looks for plug-ins; scikit-learn's checks do.
    """
    matrix, labels = rows
    return matrix[:FEW], labels[:FEW]


def tell(
    learn: Callable[[], object], predict: Callable[[], Any], labels: Any, scale: float
) -> None:
    """Time both calls and say what they came to; ``scale`` is all rows over those learned here."""
    begin = perf_counter()
    learn()
    learned = perf_counter()
    probabilities = predict()
    done = perf_counter()
    found = score([label > 0 for label in labels], [float(p) for p in probabilities])
    times = {"learn": scale * (learned - begin), "predict": done - learned}
    print(json.dumps({**times, "loss": found.loss, "error": found.error}))
