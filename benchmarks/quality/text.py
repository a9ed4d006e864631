"""Rows as lines of Vowpal Wabbit text, the one format that all contestants read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from scipy.sparse import csr_array

MISSING = ("", "?", "NaN", "nan")
Row = tuple[float, dict[str, str | float]]
"""A label, and the row's columns: text is a category or missing, a number is a number."""


def sparse_lines(X: csr_array, y: np.ndarray, order: Iterable[int]) -> Iterator[bytes]:
    """The rows of a sparse matrix in this order; a value of 1 is not written."""
    for row in order:
        entries = slice(X.indptr[row], X.indptr[row + 1])
        features = (
            f"f{column}" if value == 1 else f"f{column}:{value:.7g}"
            for column, value in zip(X.indices[entries], X.data[entries], strict=True)
        )
        yield f"{int(y[row])} | {' '.join(features)}\n".encode()


def message_lines(content: str) -> Iterator[bytes]:
    """Messages, each with its label before a tab, as counted words in lower case."""
    for line in content.splitlines():
        label, _, text = line.partition("\t")
        words, counts = np.unique(re.findall(r"[a-z0-9]+", text.lower()), return_counts=True)
        features = (w if c == 1 else f"{w}:{c}" for w, c in zip(words, counts, strict=True))
        yield f"{1 if label == 'spam' else -1} | {' '.join(features)}\n".encode()


def dense_lines(rows: Iterable[Row]) -> Iterator[bytes]:
    """The rows of a table: numbers in their units, zeros too; a category is `column=value`."""
    for label, columns in rows:
        features = (feature(name, value) for name, value in columns.items())
        yield f"{label:.9g} | {' '.join(features)}\n".encode()


def feature(column: str, value: str | float) -> str:
    """One column of one row. A missing value is a category of its own and no number."""
    name = re.sub(r"[\s:|=]", "_", column)
    if not isinstance(value, str):
        return f"{name}:{value:.9g}"
    category = "missing" if value in MISSING else re.sub(r"[\s:|]", "_", value)
    return f"{name}={category}"


def shuffled(count: int) -> Sequence[int]:
    """The one shuffled order that is used (seed 0)."""
    return np.random.default_rng(0).permutation(count).tolist()
