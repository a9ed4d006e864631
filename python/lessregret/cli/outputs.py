"""The files that a command writes: checked before it runs, and accounted for if it is stopped."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, NamedTuple, TypeAlias

import click

from lessregret.data import files
from lessregret.data.files import STREAM, Output
from lessregret.data.output import is_direct, open_output, open_text_output
from lessregret.errors import SpecError

THINGS = {
    "--checkpoint": "the checkpoint",
    "--model": "the model",
    "--output": "the output",
    "--picture": "the picture",
    "--predictions": "the predictions",
    "--report": "the page",
}
"""What the files of these options hold."""
DIRECT = ("--output", "--picture", "--predictions")
"""Options whose file may be a pipe or a device."""
PICTURES = (".png", ".svg", ".pdf")

Mark: TypeAlias = tuple[int, int, int]
"""The inode, the time of the last change and the size of a file."""


class Planned(NamedTuple):
    """An output of the command, and the file that had its name when the command began."""

    output: Output
    before: Mark | None


PLANNED: list[Planned] = []
"""The outputs of the command that runs in this process."""


def check_files(
    data: Iterable[str],
    also_read: Iterable[str | None],
    *,
    direct: bool = True,
    **written: str | None,
) -> None:
    """Say before a run, not after it, which of its files is missing or cannot be written.

    ``written`` are the paths by the names of their options. A model may be written over the one
    that the run goes on from, since it is read before. Without ``direct`` no output may be a pipe.
    """
    outputs = [
        Output(option, THINGS[option], path, name == "model", direct and option in DIRECT)
        for name, path in written.items()
        if path is not None and (option := f"--{name}")
    ]
    for output in outputs:
        if output.option == "--picture":
            _check_ending(output.path)
    plan(outputs)
    files.check_files(data, filter(None, also_read), outputs)


def _check_ending(path: str) -> None:
    if os.path.splitext(path)[1].lower() not in PICTURES:
        raise SpecError(f"--picture {path}: a picture ends in {', '.join(PICTURES)}")


def plan(outputs: Iterable[Output]) -> None:
    """Note what the command is to write."""
    PLANNED[:] = [Planned(output, _mark(output.path)) for output in outputs]


def account() -> str:
    """What of the outputs was written and what was not, for a command that was stopped."""
    shown: dict[str, list[str]] = {}
    for planned in PLANNED:
        name = f"{planned.output.option} {planned.output.path}"
        shown.setdefault(_fate(planned), []).append(name)
    fates = [f"{fate}: {', '.join(names)}" for fate, names in sorted(shown.items(), reverse=True)]
    return "; ".join(fates) or "no file was written"


def _fate(planned: Planned) -> str:
    """Whether an output was written.

    Files are written as a whole, so another file under the name is complete. A folder gets its
    files one by one.
    """
    path = planned.output.path
    if path == STREAM or (is_direct(path) and not os.path.isdir(path)):
        return "perhaps written in part"
    if _mark(path) != planned.before:
        return "perhaps written in part" if os.path.isdir(path) else "written"
    return "not written" if planned.before is None else "left as it was"


def _mark(path: str) -> Mark | None:
    """What differs between a file and the one that replaces it; None if there is no file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


@contextmanager
def open_bytes(path: str) -> Iterator[IO[bytes]]:
    """An output for bytes: standard output, a pipe, or a file that appears when it is complete."""
    if path != STREAM:
        with open_output(path) as file:
            yield file
        return
    with click.open_file(path, "wb") as stdout:
        yield stdout
        stdout.flush()


@contextmanager
def open_text(path: str) -> Iterator[IO[str]]:
    """An output for text, as UTF-8; otherwise like :func:`open_bytes`."""
    if path != STREAM:
        with open_text_output(path) as file:
            yield file
        return
    with click.open_file(path, "w", encoding="utf-8") as stdout:
        yield stdout
        stdout.flush()
