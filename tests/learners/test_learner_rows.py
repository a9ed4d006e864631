"""Rows of a matrix: however they are written, what is learned from them is what they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from lessregret import PerCoordinate
from lessregret.errors import InputError
from lessregret.learners.learner import Learner
from tests.support.rows import learn_rows, predict_rows

COLUMNS = 40
ROWS = 300
"""More than a block of rows, so that some begin where a block does."""

Rate = float | Literal["auto"]
Entries = tuple[NDArray[np.int32], NDArray[np.float64]]


def matrix(seed: int) -> csr_matrix:
    """Rows of no entry to all, none of them 0; every seventh row is empty."""
    rng = np.random.default_rng(seed)
    dense = rng.uniform(0.1, 1.0, (ROWS, COLUMNS)) * (rng.random((ROWS, COLUMNS)) < 0.3)
    dense[::7] = 0
    return csr_matrix(dense.astype(np.float32).astype(np.float64))


def rewritten(plain: csr_matrix, write: Callable[[Entries], Entries]) -> csr_matrix:
    """The same matrix with every row written otherwise."""
    rows = [
        write((plain.indices[start:end], plain.data[start:end]))
        for start, end in zip(plain.indptr[:-1], plain.indptr[1:], strict=True)
    ]
    ends = np.cumsum([0, *(len(indices) for indices, _ in rows)])
    indices = np.concatenate([indices for indices, _ in rows])
    values = np.concatenate([values for _, values in rows])
    return csr_matrix((values, indices, ends), plain.shape)


def with_zeros(entries: Entries) -> Entries:
    indices, values = entries
    absent = np.setdiff1d(np.arange(COLUMNS), indices)[:3]
    every = np.concatenate([indices, absent]).astype(np.int32)
    order = np.argsort(every)
    return every[order], np.concatenate([values, np.zeros(len(absent))])[order]


def in_halves(entries: Entries) -> Entries:
    """Every entry twice, each half as large: one behind the other, so that no row ascends."""
    indices, values = entries
    return np.repeat(indices, 2), np.repeat(values / 2, 2)


def learned(rate: Rate, X: csr_matrix, scale: str = "cap") -> tuple[bytes, bytes]:
    learner = Learner("logistic", PerCoordinate(rate=rate), columns=COLUMNS, scale=scale)
    labels = np.where(np.arange(ROWS) % 3, 1.0, -1.0)
    margins = learn_rows(learner, X.indptr, X.indices, X.data, labels)
    return margins.tobytes(), predict_rows(learner, X.indptr, X.indices, X.data).tobytes()


@pytest.mark.parametrize("rate", [0.1, "auto"])
@pytest.mark.parametrize("write", [with_zeros, in_halves])
def test_how_rows_are_written_does_not_matter(
    rate: Rate, write: Callable[[Entries], Entries]
) -> None:
    plain = matrix(1)
    assert learned(rate, rewritten(plain, write)) == learned(rate, plain)


@pytest.mark.parametrize("rate", [0.1, "auto"])
@pytest.mark.parametrize("types", [(np.int64, np.float64), (np.int32, np.float32)])
def test_types_of_arrays_do_not_matter(
    rate: Rate, types: tuple[type[np.generic], type[np.generic]]
) -> None:
    plain = matrix(2)
    other = plain.copy()
    other.indptr, other.indices = plain.indptr.astype(types[0]), plain.indices.astype(types[0])
    other.data = plain.data.astype(types[1])
    assert learned(rate, other) == learned(rate, plain)


@pytest.mark.parametrize("rate", [0.1, "auto"])
@pytest.mark.parametrize("row", [1, 64, ROWS - 1])
def test_one_large_value_is_scaled_wherever_it_stands(rate: Rate, row: int) -> None:
    X = matrix(3)
    X.data[X.indptr[row]] = 8.0
    assert learned(rate, X) != learned(rate, X, scale="none")
    assert learned(rate, matrix(3)) == learned(rate, matrix(3), scale="none")


@pytest.mark.parametrize("row", [1, 62, 64, 65, ROWS - 1])
@pytest.mark.parametrize(
    ("field", "value", "found"),
    [("indices", COLUMNS, str(COLUMNS)), ("indices", -1, "-1"), ("data", np.inf, "inf")],
)
def test_one_bad_entry_is_named_and_nothing_is_learned(
    row: int, field: str, value: float, found: str
) -> None:
    X = matrix(4)
    getattr(X, field)[X.indptr[row]] = value
    learner = Learner("logistic", PerCoordinate(), columns=COLUMNS)
    with pytest.raises(InputError, match=rf"X\[{row}, .*{found}"):
        learn_rows(learner, X.indptr, X.indices, X.data, np.ones(ROWS))
    assert learner.tally().rounds == 0
