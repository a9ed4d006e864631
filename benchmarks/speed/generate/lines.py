"""Text from arrays without a loop over features.

A line is a row of fields of fixed width, filled up with NUL; dropping all NULs gives the text. That
takes a few nanoseconds a byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Fields = NDArray[np.bytes_]


def spelled(texts: Iterable[str]) -> Fields:
    """A table of texts, to be indexed by arrays of numbers."""
    return np.array([text.encode() for text in texts], dtype=np.bytes_)


def joined(columns: Sequence[Fields]) -> bytes:
    """The lines: for each row its entries of all columns one after another, then a line feed.

    A column has one entry a row, or several: those of one feature come together before the next.

    >>> joined([spelled(["1", "-1"]), np.array([[b" a", b" b"], [b" c", b" d"]])])
    b'1 a b\\n-1 c d\\n'
    """
    rows = len(columns[0])
    parts = [_bytes_of(column, rows) for column in columns]
    text = np.concatenate([*parts, np.full((rows, 1), ord("\n"), np.uint8)], axis=1)
    lines: bytes = text[text != 0].tobytes()
    return lines


def paired(first: Fields, second: Fields) -> Fields:
    """Two columns as one, entry beside entry."""
    pair = np.zeros(first.shape, dtype=[("first", first.dtype), ("second", second.dtype)])
    pair["first"], pair["second"] = first, second
    return pair.view(f"S{pair.dtype.itemsize}")


def _bytes_of(column: Fields, rows: int) -> NDArray[np.uint8]:
    return np.ascontiguousarray(column).view(np.uint8).reshape(rows, -1)
