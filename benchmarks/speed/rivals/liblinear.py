"""LIBLINEAR: L2-regularised logistic regression to convergence, by its default method for that.

The package from PyPI has no ``train`` program, and its own reader is a loop in Python; so
scikit-learn reads for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from liblinear.liblinearutil import predict, train
from scipy.sparse import vstack

from benchmarks.speed.rivals.matrices import matrices
from benchmarks.speed.rivals.task import task


def probabilities(model: Any, file: str, bits: int) -> Iterator[float]:
    """The probability of label 1 for every row of a file."""
    positive = model.get_labels().index(1)
    for X, y in matrices(file, bits, np.float64):
        _, _, rows = predict(y, X, model, "-b 1 -q")
        yield from (row[positive] for row in rows)


def main() -> None:
    """Learn from all rows at once; then, if asked, predict."""
    asked = task()
    X, y = zip(*matrices(asked.data, asked.bits, np.float64), strict=True)
    model = train(np.concatenate(y), vstack(X, format="csr"), "-s 0 -B 1 -q")
    asked.learned()
    if asked.held_out:
        asked.predict(probabilities(model, asked.held_out, asked.bits))


if __name__ == "__main__":
    main()
