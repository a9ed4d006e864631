"""The files of a stream, as the Rust core opens them.

The core opens files by their names and unpacks gzip and zstd. What it does not unpack, xz, Python's
own ``lzma`` does: the core then reads from the Python file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Protocol, TypeAlias

from lessregret.errors import InputError

XZ = b"\xfd7zXZ\x00"


class Readable(Protocol):
    """An open binary file, or anything else with ``read``."""

    def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes; none at the end."""
        ...


File: TypeAlias = "str | os.PathLike[str] | Readable"


class _XzFile:
    """The unpacked bytes of an xz file; an error in it is told with its name by the core."""

    def __init__(self, path: str) -> None:
        self.name = path
        self._file: Readable | None = None

    def read(self, size: int) -> bytes:
        if self._file is None:
            import lzma

            self._file = lzma.open(self.name)  # noqa: SIM115
        return self._file.read(size)


def opened(files: Iterable[File]) -> list[File]:
    """The files as the core takes them: those packed by xz as Python files, all others as given."""
    return [opened_one(file) for file in files]


def opened_one(file: File) -> File:
    """A file as the core takes it."""
    if isinstance(file, str | os.PathLike) and _is_xz(os.fspath(file)):
        return _XzFile(os.fspath(file))
    return file


def _is_xz(path: str) -> bool:
    """Whether a file has xz's first bytes.

    Only files are looked into: a pipe gives its bytes once.
    """
    if path == "-" or not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            return file.read(len(XZ)) == XZ
    except OSError:
        return False  # The core says why it cannot be read.


def first_line(file: File, most: int = 1 << 16) -> bytes:
    """The first line of a file or of standard input, unpacked, which stays there to be read.

    At most ``most`` bytes of it.
    """
    from lessregret import _core

    if file == "-":
        return _core.peek_line(None, most)
    if not isinstance(file, str | os.PathLike):
        raise InputError(
            str(getattr(file, "name", "<file>")), 0, 0, "an open file",
            "the name of a file, whose start can be read twice",
        )  # fmt: skip
    return _core.peek_line(opened_one(file), most)
