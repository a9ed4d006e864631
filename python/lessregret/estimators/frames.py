"""Data frames whose columns are not all numbers, as hashed rows.

A frame is any object with the Arrow C stream interface that has columns: of pandas, polars or
pyarrow. A frame of numbers without missing cells is a matrix, as in scikit-learn, with a weight for
each column. Any other frame is a table: a schema says what its columns are, and names of features
are hashed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from lessregret.data.arrow_tables import ArrowTable, is_table
from lessregret.data.column_choices import ColumnChoices
from lessregret.data.given import given_data
from lessregret.errors import SpecError
from lessregret.learners.schema import Schema
from lessregret.learners.space import FeatureSpace

NUMBERS = ("Int", "UInt", "Float", "Boolean")
"""how the names of Arrow's types of numbers begin"""
BLOCK = 1 << 16
"""rows that are encoded at a time"""


def is_mixed_frame(X: Any) -> bool:
    """Whether X is a frame with a column that is not numbers, or with missing cells."""
    if issparse(X) or isinstance(X, np.ndarray) or not is_table(X):
        return False
    if hasattr(X, "dtypes") and hasattr(X, "isna"):
        kinds = {getattr(dtype, "kind", "O") for dtype in X.dtypes}
        return not kinds <= set("biuf") or bool(X.isna().to_numpy().any())
    types = [type_name for _, type_name in ArrowTable(X, "X").columns]
    if not all(type_name.startswith(NUMBERS) for type_name in types):
        return True
    return bool(np.isnan(np.asarray(X, dtype=np.float64)).any())


def schema_of(frame: Any, columns: Mapping[str, Any] | None, crosses: Any) -> Schema:
    """What the columns of a frame are, inferred from its first rows but for what is said."""
    choices = ColumnChoices.of(columns or {})
    words = [cross if isinstance(cross, str) else "*".join(cross) for cross in crosses or ()]
    if choices.label or choices.weight:
        raise SpecError(
            "columns: the labels of an estimator are y, and its weights sample_weight; leave out "
            "label and weight"
        )
    choices = ColumnChoices(cross=tuple(words)).over(choices)
    schema: Schema = given_data(frame, choices=choices).infer().schema
    return schema


class FrameRows(csr_array):
    """The rows of a frame as a sparse matrix, with the base margins that its columns hold."""

    bases: NDArray[np.float32] | None = None


def encoded(frame: Any, schema: Schema, bits: int) -> FrameRows:
    """The rows of a frame as a sparse matrix with 2^bits columns. Zeros are stored as values."""
    space = FeatureSpace(bits=bits, labels="any", intercept=False, schema=schema)
    core = ArrowTable(frame, "X").examples(space).core
    starts, columns, values, bases = [np.zeros(1, np.int64)], [], [], []
    while True:
        ends, slots, numbers, _, _, base, _ = core.read(BLOCK, zeros=True)
        if len(ends) == 1:
            break
        bases.append(base if len(base) else np.zeros(len(ends) - 1, np.float32))
        starts.append(ends[1:] + starts[-1][-1])
        columns.append(slots)
        values.append(numbers)
    indptr = np.concatenate(starts)
    parts = _joined(values, np.float32), _joined(columns, np.uint32).astype(np.int64), indptr
    rows = FrameRows(parts, shape=(len(indptr) - 1, 1 << bits))
    rows.bases = _joined(bases, np.float32) if schema.first("base") else None
    return rows


def _joined(arrays: list[Any], dtype: type) -> Any:
    return np.concatenate([np.empty(0, dtype), *arrays])
