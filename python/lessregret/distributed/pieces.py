"""Pieces of data, small enough to be sent anywhere: each says where its examples are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any
from zlib import crc32

from lessregret.data.arrow_tables import open_table
from lessregret.data.column_choices import ColumnChoices
from lessregret.data.given import given_data
from lessregret.data.sql import ParquetRows
from lessregret.data.streams import ExampleStream, open_examples
from lessregret.errors import SpecError
from lessregret.learners.learner import Learner


@dataclass(frozen=True)
class WholeFile:
    """A file, packed or not, of any format that ``train`` reads."""

    path: str
    format: str = "auto"
    choices: ColumnChoices = field(default_factory=ColumnChoices)

    def open(self, learner: Learner) -> ExampleStream:
        """The examples of the file."""
        return given_data([self.path], format=self.format, choices=self.choices).open(learner)

    def described(self) -> dict[str, Any]:
        """What tells this piece from others, for the plan of a run."""
        return asdict(self)


@dataclass(frozen=True)
class ByteRange:
    """The lines of a plain text file from byte ``start`` up to byte ``stop``, both at line ends."""

    path: str
    start: int
    stop: int
    format: str = "auto"

    def open(self, learner: Learner) -> ExampleStream:
        """The examples of the lines."""
        return open_examples([_Part(self)], learner, format=self.format)

    def described(self) -> dict[str, Any]:
        """What tells this piece from others, for the plan of a run."""
        return asdict(self)


@dataclass(frozen=True)
class RowGroups:
    """The rows of a Parquet file from row ``start`` up to row ``stop``, both at ends of row groups.

    DuckDB reads only the row groups that hold these rows.
    """

    path: str
    start: int
    stop: int

    def open(self, learner: Learner) -> ExampleStream:
        """The examples of the rows."""
        rows = ParquetRows(self.path, self.start, self.stop)
        return open_table(rows, learner, name=rows.name)

    def described(self) -> dict[str, Any]:
        """What tells this piece from others, for the plan of a run."""
        return asdict(self)


@dataclass(frozen=True)
class ArrowRows:
    """Rows of a table that go with the piece: a table, batch or reader of pyarrow."""

    table: Any
    name: str = "table"

    def open(self, learner: Learner) -> ExampleStream:
        """The examples of the rows."""
        return open_table(self.table, learner, name=self.name)

    def described(self) -> dict[str, Any]:
        """What tells this piece from others, for the plan of a run."""
        return {"rows": self.table.num_rows, "crc32": crc32(_packed(self.table)), "name": self.name}

    def __reduce__(self) -> tuple[Any, tuple[bytes, str]]:
        # By Arrow's own format: pickle would send all rows of a table of which this is a slice.
        return _unpacked, (_packed(self.table), self.name)


@dataclass(frozen=True)
class Several:
    """Pieces that are learned one after another, such as many small files."""

    pieces: tuple[WholeFile | ByteRange | RowGroups | ArrowRows, ...]

    def described(self) -> dict[str, Any]:
        """What tells this piece from others, for the plan of a run."""
        return {"pieces": [piece.described() for piece in self.pieces]}


Single = WholeFile | ByteRange | RowGroups | ArrowRows
Piece = Single | Several


def singles(piece: Piece) -> Iterator[Single]:
    """The pieces that a piece is made of, in their order."""
    if isinstance(piece, Several):
        yield from piece.pieces
    else:
        yield piece


class _Part:
    """The bytes of a range, as a file that is read once; its name is what errors show."""

    def __init__(self, piece: ByteRange) -> None:
        self.name = f"{piece.path} from byte {piece.start}"
        self._path, self._next, self._stop = piece.path, piece.start, piece.stop

    def read(self, most: int = -1) -> bytes:
        """The next bytes, at most so many."""
        left = self._stop - self._next
        # Opened for every read, so that nothing is left open where a reader stops early.
        with open(self._path, "rb") as file:
            file.seek(self._next)
            found = file.read(left if most < 0 else min(most, left))
        self._next += len(found)
        return found


def pyarrow_for(what: str) -> Any:
    """The package pyarrow, or an error that says what it is needed for."""
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError as error:
        raise SpecError(f"{what} needs pyarrow; install it with 'pip install pyarrow'") from error
    return pyarrow


def _packed(table: Any) -> bytes:
    arrow = pyarrow_for("a piece of a table")
    sink = arrow.BufferOutputStream()
    with arrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _unpacked(content: bytes, name: str) -> ArrowRows:
    arrow = pyarrow_for("a piece of a table")
    return ArrowRows(arrow.ipc.open_stream(content).read_all(), name)
