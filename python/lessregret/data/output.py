"""Writing a file as a whole: it has its old content until the new one is complete.

The core (``crates/core/src/atomic_file``) writes a temporary file in the same folder and renames it
at the end. Pipes and devices cannot be renamed to; they are written directly.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from lessregret import _core

MOST_LINKS = 40
"""As many as Linux follows."""
DESCRIPTORS = re.compile(r"/dev|/dev/fd|/proc/(self|\d+)(/task/\d+)?/fd")
"""Folders whose entries are open files, such as /dev/stdout."""


def is_direct(path: str | os.PathLike[str]) -> bool:
    """Whether this is a pipe, a device or an open file such as /dev/stdout."""
    if os.path.exists(path):
        return not os.path.isfile(path) or _is_descriptor(os.fspath(path))
    return _is_descriptor(os.fspath(path))


def _is_descriptor(path: str) -> bool:
    """Whether a link leads through an open file, whose other writers a rename would cut off."""
    for _ in range(MOST_LINKS):
        folder, name = os.path.split(os.path.abspath(path))
        folder = os.path.realpath(folder)
        if DESCRIPTORS.fullmatch(folder):
            return True
        try:
            path = os.path.join(folder, os.readlink(os.path.join(folder, name)))
        except OSError:
            return False
    return False


@contextmanager
def open_output(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write bytes to. It appears under its name if the block ends without an error."""
    if is_direct(path):
        with _named_errors(path), open(path, "wb") as direct:
            yield direct
        return
    raw = _TemporaryFile(path)
    try:
        file = io.BufferedWriter(raw, 1 << 16)
        yield file
        file.flush()
        raw.finish()
    finally:
        raw.discard()


@contextmanager
def open_text_output(path: str | os.PathLike[str]) -> Iterator[IO[str]]:
    """A file to write text to, as UTF-8; otherwise like :func:`open_output`."""
    with open_output(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="\n")
        yield text
        text.flush()
        # Else the text would close the file before it is finished.
        text.detach()


def write_file(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file as a whole: afterwards it has this content, or, after an error, the old one."""
    with open_output(path) as file:
        file.write(content)


class _TemporaryFile(io.RawIOBase):
    """The temporary file of an output. What is written after :meth:`discard` is dropped."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file: _core.AtomicFile | None = _core.AtomicFile(path)

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        content = bytes(content)
        if self._file is not None:
            self._file.write(content)
        return len(content)

    def finish(self) -> None:
        if self._file is not None:
            self._file.finish()

    def discard(self) -> None:
        """Remove the file, unless it is finished."""
        if self._file is not None:
            self._file.discard()
            self._file = None


@contextmanager
def _named_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Add the name of the file to errors of writing, which do not have it."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is None:
            error.filename = os.fspath(path)
        raise
