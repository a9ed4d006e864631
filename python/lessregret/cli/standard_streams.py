"""Standard output and error of the process, which may be closed, full or read by nobody.

Messages on standard error may be lost: a run goes on without them. Data on standard output must not
be lost: a write that fails is an error that names standard output.
"""

from __future__ import annotations

import errno
import io
import os
import select
import stat
import sys
from typing import Any

STANDARD_OUTPUT = "standard output"
CHECK_EVERY = 100
"""Milliseconds between two looks for signals while nobody reads a pipe."""


def prepare_streams() -> None:
    """Replace ``sys.stdout`` and ``sys.stderr`` by streams that treat errors in this way."""
    _occupy_closed_descriptors()
    # Names of files and features may have characters that the terminal's encoding lacks.
    sys.stdout = _text(_StandardOutput(1, "wb", closefd=False), sys.stdout)
    sys.stderr = _text(_StandardError(2, "wb", closefd=False), sys.stderr)


def _occupy_closed_descriptors() -> None:
    """Open what is closed of the descriptors 0, 1 and 2.

    Otherwise the next file that is opened would be standard output, and be written into.
    """
    for _ in range(3):
        # Only for reading: what is written to standard output has to fail. The lowest descriptor
        # that is free is taken.
        opened = os.open(os.devnull, os.O_RDONLY)
        if opened > 2:
            os.close(opened)
            return


def _text(raw: io.FileIO, like: Any) -> io.TextIOWrapper:
    """A text stream with the encoding of another, which is None if its descriptor was closed."""
    encoding = getattr(like, "encoding", "utf-8")
    lines = raw.isatty() or isinstance(raw, _StandardError)
    file = io.BufferedWriter(raw)
    return io.TextIOWrapper(file, encoding, errors="backslashreplace", line_buffering=lines)


class _StandardOutput(io.FileIO):
    """A write that fails is an error that names standard output.

    A write to a pipe that nobody reads never returns, and a signal that comes just before it does
    not interrupt it. So a pipe is waited for with a timeout, and is then given no more than it
    takes at once.
    """

    def write(self, content: Any) -> int:
        try:
            if _may_block(self.fileno()):
                _wait_for_room(self.fileno())
                content = memoryview(content)[: select.PIPE_BUF]
            return super().write(content)
        except BrokenPipeError:
            raise
        except OSError as error:
            reason = "it is closed" if error.errno == errno.EBADF else error.strerror
            raise OSError(error.errno, reason, STANDARD_OUTPUT) from None


def _may_block(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return hasattr(select, "poll") and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))


def _wait_for_room(descriptor: int) -> None:
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    while not poll.poll(CHECK_EVERY):
        pass


class _StandardError(io.FileIO):
    """What cannot be written is dropped."""

    def write(self, content: Any) -> int:
        try:
            written = super().write(content)
        except OSError:
            written = None
        # FileIO returns None, too, if a pipe is full and must not be waited for.
        return len(content) if written is None else written
