"""What estimators are given, as the learner wants it: rows, importances, boxes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_array

from lessregret import _core
from lessregret.errors import InputError, SpecError
from lessregret.learners.namespaces import STAR, Namespaces


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


class Feature(NamedTuple):
    """A feature of a dict, and the key that it comes from."""

    key: str
    name: str
    value: float


def hashed_rows(
    examples: Sequence[Mapping[str, Any]], bits: int, crosses: Namespaces | None = None
) -> Any:
    """The dicts as rows of 2^bits columns; names that share a column add up in the learner."""
    rows = [list(features_of(row, example)) for row, example in enumerate(examples)]
    shape = len(rows), 1 << bits
    if crosses is not None:
        return csr_array(_crossed(rows, bits, crosses), shape)
    slots, values = _hashed((feature for row in rows for feature in row), bits)
    return csr_array((values, slots, np.cumsum([0, *map(len, rows)])), shape)


def crosses_of_keys(crosses: Any) -> Namespaces | None:
    """The crosses of an estimator, ``("user", "hour")`` or ``"user*hour"``; None without any."""
    if crosses is None or crosses == ():
        return None
    for cross in crosses if isinstance(crosses, list | tuple) else ():
        if isinstance(cross, str) and STAR not in cross:
            raise SpecError(
                f"crosses: expected keys with '*' between, as in 'user*hour', found {cross!r}"
            )
    return Namespaces(crosses, of="keys")


def _crossed(
    rows: Sequence[Sequence[Feature]], bits: int, crosses: Namespaces
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Values, columns and ends of the rows, with crossed features after the others."""
    keys = list(dict.fromkeys(key for cross in crosses.crosses for key in cross))
    # The features of keys that are not crossed are the last group of a row.
    groups = [group for row in rows for group in _groups(row, keys)]
    slots, values = _hashed((feature for group in groups for feature in group), bits)
    ends = np.cumsum([len(group) for group in groups], dtype=np.int64)
    places = [[keys.index(key) for key in cross] for cross in crosses.crosses]
    ends, slots, values = _core.cross_rows(ends, slots, values, len(keys) + 1, places, bits)
    return values, slots, ends


def _groups(row: Sequence[Feature], keys: Sequence[str]) -> Iterator[list[Feature]]:
    for key in keys:
        yield [feature for feature in row if feature.key == key]
    yield [feature for feature in row if feature.key not in keys]


def _hashed(
    features: Iterable[Feature], bits: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    listed = list(features)
    slots = _core.hash_features([feature.name for feature in listed], bits)
    return slots, np.array([feature.value for feature in listed], np.float64)


def names_of(example: Mapping[str, Any], bits: int) -> dict[int, tuple[str, bool]]:
    """The first name in each column of a dict's features, and whether there is another."""
    names = [feature.name for feature in features_of(0, example)]
    found: dict[int, tuple[str, bool]] = {}
    for column, name in zip(_core.hash_features(names, bits).tolist(), names, strict=True):
        first, shared = found.get(column, (name, False))
        found[column] = first, shared or first != name
    return found


def features_of(row: int, example: Any) -> Iterator[Feature]:
    """{"name": number} as it is; {"field": "value"} is the feature "field=value" of value 1."""
    if not isinstance(example, Mapping):
        raise InputError(f"X[{row}]", 0, 0, repr(example), "a dict, as in the first row")
    for name, value in example.items():
        place = f"X[{row}][{name!r}]"
        if not isinstance(name, str):
            raise InputError(place, 0, 0, repr(name), "a string as the name of a feature")
        if isinstance(value, str):
            yield Feature(name, f"{name}={value}", 1.0)
        elif isinstance(value, Real | np.bool_) and isfinite(value):
            yield Feature(name, name, float(value))
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
