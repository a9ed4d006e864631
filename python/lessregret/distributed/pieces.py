"""Pieces of data, small enough to be sent anywhere: each says where its examples are."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from lessregret.data.streams import ExampleStream, open_examples
from lessregret.errors import SpecError
from lessregret.learners.learner import Learner

PACKED = (".gz", ".zst", ".xz")


@dataclass(frozen=True)
class WholeFile:
    """A file of text, packed or not, or an Arrow file of examples."""

    path: str
    format: str = "auto"

    def open(self, learner: Learner) -> ExampleStream:
        """The examples of the file."""
        return open_examples([self.path], learner, format=self.format)


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


Piece = WholeFile | ByteRange


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


def cut(
    files: Sequence[str | os.PathLike[str]], count: int, *, format: str = "auto"
) -> list[Piece]:
    """Cut files into about so many pieces of about equal size, in the order of the files.

    Plain text is cut at line ends. A packed file is one piece, because it cannot be read from the
    middle.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     log = Path(folder, "log.vw")
    ...     _ = log.write_text("1 | a\\n-1 | b\\n" * 4)
    ...     [(piece.start, piece.stop) for piece in cut([log], 3)]
    [(0, 19), (19, 39), (39, 52)]
    """
    if count < 1:
        raise SpecError(f"the number of pieces must be 1 or more, found {count}")
    paths = [os.fspath(file) for file in files]
    size = max(1, -(-sum(map(os.path.getsize, paths)) // count))
    return [piece for path in paths for piece in _pieces(path, size, format)]


def _pieces(path: str, size: int, format: str) -> list[Piece]:
    if path.endswith((*PACKED, ".arrow")):
        return [WholeFile(path, format)]
    end, start, found = os.path.getsize(path), 0, list[Piece]()
    with open(path, "rb") as file:
        while start < end:
            file.seek(min(start + size, end) - 1)
            file.readline()
            found.append(ByteRange(path, start, file.tell(), format))
            start = file.tell()
    return found
