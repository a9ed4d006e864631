"""Data cut into pieces: which examples go where, before any of them is read.

    plain text       at line ends
    Parquet          at the ends of row groups
    a table          at any row
    everything else  whole files, since it cannot be read from the middle

The pieces depend on nothing but the files, their number and the sizes asked for, so that a run that
goes on from a checkpoint cuts as the first run did.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from lessregret.data.column_choices import ColumnChoices
from lessregret.data.given import GivenData, given_data
from lessregret.data.sql import PARQUET, rows_of_groups
from lessregret.data.streams import TABLES
from lessregret.distributed.pieces import (
    ArrowRows,
    ByteRange,
    Piece,
    RowGroups,
    Several,
    Single,
    WholeFile,
    pyarrow_for,
)
from lessregret.errors import SpecError

PACKED = (".gz", ".zst", ".xz")
SAMPLE = 1 << 20
"""bytes at the beginning of a text file that tell how long its lines are"""


def cut(
    files: Sequence[str | os.PathLike[str]],
    count: int,
    *,
    format: str = "auto",
    choices: ColumnChoices | None = None,
) -> list[Piece]:
    """Cut files into about so many pieces of about equal size, in the order of the files.

    Plain text is cut at line ends, Parquet between row groups. Other files are not cut, and small
    files become one piece with their neighbours.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     log = Path(folder, "log.vw")
    ...     _ = log.write_text("1 | a\\n-1 | b\\n" * 4)
    ...     [(piece.start, piece.stop) for piece in cut([log], 3)]
    [(0, 19), (19, 39), (39, 52)]
    """
    check_count(count)
    given = given_data(files, format=format, choices=choices)
    size = max(1, -(-sum(map(os.path.getsize, given.files)) // count))
    return list(_joined(_parts(given, size), size))


def cut_table(table: Any, count: int, name: str = "table") -> list[Piece]:
    """Cut a table into about so many pieces of equal numbers of rows; pyarrow does it.

    >>> import pytest
    >>> pyarrow = pytest.importorskip("pyarrow")
    >>> pieces = cut_table(pyarrow.table({"age": [31, 58, 44, 20, 37]}), 2)
    >>> [piece.table["age"].to_pylist() for piece in pieces]
    [[31, 58, 44], [20, 37]]
    """
    check_count(count)
    rows = pyarrow_for("a table that is cut").table(table)
    size = max(1, -(-rows.num_rows // count))
    starts = range(0, rows.num_rows, size)
    return [ArrowRows(rows.slice(k, size), f"{name} from row {k}") for k in starts]


def about_examples(files: Sequence[str | os.PathLike[str]], *, format: str = "auto") -> int:
    """About how many examples files hold; text is judged by the length of its first lines."""
    return sum(map(_examples_of, given_data(files, format=format).files))


def check_count(count: int) -> None:
    """Raise a :class:`SpecError` unless there is at least one piece."""
    if count < 1:
        raise SpecError(f"the number of pieces must be 1 or more, found {count}")


def _parts(given: GivenData, size: int) -> Iterator[tuple[int, Single]]:
    """The sizes of the parts, in bytes, and the parts."""
    is_text = given.recognised.kind == "text" and given.format not in TABLES
    for path in given.files:
        if path.lower().endswith(PARQUET):
            yield from _groups(path, size)
        elif is_text and not given.has_columns and not path.endswith((*PACKED, ".arrow")):
            yield from _ranges(path, size, given.format)
        else:
            whole = WholeFile(path, given.format, given.choices)
            yield os.path.getsize(path), whole


def _ranges(path: str, size: int, format: str) -> Iterator[tuple[int, Single]]:
    end, start = os.path.getsize(path), 0
    with open(path, "rb") as file:
        while start < end:
            file.seek(min(start + size, end) - 1)
            file.readline()
            stop = file.tell()
            yield stop - start, ByteRange(path, start, stop, format)
            start = stop


def _groups(path: str, size: int) -> Iterator[tuple[int, Single]]:
    groups = rows_of_groups(path)
    bytes_a_row = os.path.getsize(path) / max(1, sum(groups))
    start = stop = 0
    for number, rows in enumerate(groups, start=1):
        stop += rows
        length = round((stop - start) * bytes_a_row)
        if stop > start and (length >= size or number == len(groups)):
            yield length, RowGroups(path, start, stop)
            start = stop


def _joined(parts: Iterator[tuple[int, Single]], size: int) -> Iterator[Piece]:
    """Neighbours that are together at most as large as a piece, as one piece."""
    held: list[Single] = []
    together = 0
    for length, part in parts:
        if held and together + length > size:
            yield _one(held)
            held, together = [], 0
        held.append(part)
        together += length
    if held:
        yield _one(held)


def _one(parts: list[Single]) -> Piece:
    return parts[0] if len(parts) == 1 else Several(tuple(parts))


def _examples_of(path: str) -> int:
    if path.lower().endswith(PARQUET):
        return sum(rows_of_groups(path))
    if path.endswith((*PACKED, ".arrow")):
        raise SpecError(
            f"{path}: how many examples a packed file has is not known; give the number of syncs "
            "a pass, not the number of examples between two"
        )
    with open(path, "rb") as file:
        sample = file.read(SAMPLE)
    lines = max(1, sample.count(b"\n"))
    return -(-os.path.getsize(path) * lines // max(1, len(sample)))
