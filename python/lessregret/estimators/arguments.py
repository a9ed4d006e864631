"""What estimators are given, as the learner wants it: rows, importances, boxes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_array

from lessregret import _core
from lessregret.errors import InputError, SpecError


def as_csr(table: Any, *, zeros: bool) -> Any:
    """A table of any kind as a sparse one; with ``zeros`` every cell of a dense one is an entry."""
    if issparse(table):
        return table
    if not zeros:
        return csr_array(table)
    rows, columns = table.shape
    indices = np.tile(np.arange(columns, dtype=np.int32), rows)
    return csr_array((table.ravel(), indices, np.arange(rows + 1) * columns), table.shape)


def are_dicts(X: Any) -> bool:
    """Whether the examples are dicts, by the first of them."""
    return isinstance(X, Sequence) and len(X) > 0 and isinstance(X[0], Mapping)


def hashed_rows(examples: Sequence[Mapping[str, Any]], bits: int) -> Any:
    """The dicts as rows of 2^bits columns; names that share a column add up in the learner."""
    features = [list(features_of(row, example)) for row, example in enumerate(examples)]
    names = [name for example in features for name, _ in example]
    values = np.array([value for example in features for _, value in example], np.float64)
    ends = np.cumsum([0, *map(len, features)])
    return csr_array((values, _core.hash_features(names, bits), ends), (len(ends) - 1, 1 << bits))


def names_of(example: Mapping[str, Any], bits: int) -> dict[int, tuple[str, bool]]:
    """The first name in each column of a dict's features, and whether there is another."""
    names = [name for name, _ in features_of(0, example)]
    found: dict[int, tuple[str, bool]] = {}
    for column, name in zip(_core.hash_features(names, bits).tolist(), names, strict=True):
        first, shared = found.get(column, (name, False))
        found[column] = first, shared or first != name
    return found


def features_of(row: int, example: Any) -> Iterator[tuple[str, float]]:
    """{"name": number} as it is; {"field": "value"} is the feature "field=value" of value 1."""
    if not isinstance(example, Mapping):
        raise InputError(f"X[{row}]", 0, 0, repr(example), "a dict, as in the first row")
    for name, value in example.items():
        place = f"X[{row}][{name!r}]"
        if not isinstance(name, str):
            raise InputError(place, 0, 0, repr(name), "a string as the name of a feature")
        if isinstance(value, str):
            yield f"{name}={value}", 1.0
        elif isinstance(value, Real | np.bool_) and isfinite(value):
            yield name, float(value)
        else:
            raise InputError(place, 0, 0, repr(value), "a finite number or a string")


def importances_of(sample_weight: ArrayLike | None, rows: int) -> NDArray[np.float64] | None:
    """The weights of the samples, one a row."""
    if sample_weight is None:
        return None
    importances: NDArray[np.float64] = check_array(
        sample_weight,
        dtype=np.float64,
        ensure_2d=False,
        ensure_min_samples=0,
        ensure_non_negative=True,
        input_name="sample_weight",
    )
    if importances.shape != (rows,):
        raise ValueError(f"sample_weight must have shape ({rows},), found {importances.shape}")
    return importances


def box_ends(
    box: tuple[ArrayLike, ArrayLike], columns: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The lower and the upper end of every column."""
    try:
        low, high = (np.asarray(end, dtype=np.float64) for end in box)
    except (TypeError, ValueError):
        raise SpecError(f"box must be two arrays of numbers, (low, high), found {box!r}") from None
    for name, end in ("low", low), ("high", high):
        if end.shape != (columns,):
            raise SpecError(f"box: {name} must have shape ({columns},), found {end.shape}")
    return low, high
