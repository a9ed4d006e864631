"""Text as sparse matrices, by scikit-learn's own readers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction import FeatureHasher

from benchmarks.speed.rivals.vw_text import features, tokens

BLOCK = 50_000
"""Lines hashed at a time: the memory of a few hundred megabytes of Python strings is not needed."""
COLUMNS = 50_000
"""The columns of the svmlight text."""


def matrices(file: str, bits: int, dtype: type) -> Iterator[tuple[Any, Any]]:
    """The rows and labels of a file, in one block or several."""
    if file.endswith(".svmlight"):
        X, y = load_svmlight_file(file, n_features=COLUMNS, dtype=dtype, zero_based=False)
        # The reader gives 64-bit indices, and SGDClassifier does not take them.
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        yield X, y
        return
    with open(file, encoding="ascii") as lines:
        counted = ":" in lines.readline()
        lines.seek(0)
        while block := list(islice(lines, BLOCK)):
            yield hashed(block, bits, counted, dtype), labels(block)


def hashed(lines: list[str], bits: int, counted: bool, dtype: type) -> Any:
    """Lines as rows of 2^bits columns, as in other hashing learners without a sign of their own."""
    kind, split = ("pair", features) if counted else ("string", tokens)
    hasher = FeatureHasher(2**bits, input_type=kind, dtype=dtype, alternate_sign=False)
    return hasher.transform(map(split, lines))


def labels(lines: list[str]) -> Any:
    return np.array([1.0 if line.startswith("1") else -1.0 for line in lines])
