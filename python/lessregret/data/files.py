"""The files of a run, checked before the first of them is opened.

A file that is missing, or that cannot be written, is told before another one is learned from for an
hour, and an output never takes the place of a file that the run reads.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

from lessregret import _core
from lessregret.data.output import is_direct
from lessregret.errors import InputError, SpecError

STREAM = "-"
"""Standard input or output."""


class Output(NamedTuple):
    """A file that a run is to write."""

    option: str
    """what the user calls it, such as ``--model``"""
    thing: str
    """what it holds, such as ``the model``"""
    path: str
    may_replace_model: bool = False
    """whether it may be written over a model that the run has read"""
    may_be_direct: bool = False
    """whether it may be a pipe or a device, which is written directly"""


def check_files(data: Iterable[str], models: Iterable[str], outputs: Iterable[Output]) -> None:
    """Raise an error if data are missing, or if an output cannot or must not be written."""
    data, outputs = list(data), list(outputs)
    for output in outputs:
        check_place(output)
    check_inputs(data)
    check_outputs(data, outputs)
    check_outputs(models, [output for output in outputs if not output.may_replace_model])


def check_inputs(files: Iterable[str]) -> None:
    """Raise an :class:`InputError` for the first file that is not there.

    What else may be wrong with a file the core says when it opens the file.
    """
    for file in files:
        if file != STREAM and _is_missing(file):
            # Names need not be UTF-8; what is not is shown as the core shows it.
            shown = os.fsencode(file).decode("utf-8", "replace")
            raise InputError(shown, 0, 0, "no such file", "a file that can be read")


def _is_missing(file: str) -> bool:
    try:
        os.stat(file)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False


def check_outputs(read: Iterable[str], outputs: Iterable[Output]) -> None:
    """Raise a :class:`SpecError` for an output that the run reads, or writes twice.

    Two names mean one file if they lead to the same device and inode, links included.
    """
    used = {_identity(file) for file in read if file != STREAM}
    for output in outputs:
        if output.path == STREAM or _is_special(output.path):
            continue
        identity = _identity(output.path)
        if identity in used:
            raise SpecError(
                f"{output.option} {output.path}: the run uses this file, too; give {output.thing} "
                "another name"
            )
        used.add(identity)


def check_place(output: Output) -> None:
    """Raise a :class:`SpecError` if a file cannot be created where an output is to be."""
    if output.may_be_direct and (output.path == STREAM or is_direct(output.path)):
        return
    if _is_special(output.path):
        raise _refused(output, f"this is not a file; give {output.thing} another name")
    # The target of a link may be in another folder.
    if not os.path.islink(output.path):
        _check_folder(output)
    _try_to_create(output)


def _check_folder(output: Output) -> None:
    folder = os.path.dirname(output.path)
    if folder and not os.path.isdir(folder):
        raise _refused(output, f"there is no folder {folder}")
    if not os.access(folder or ".", os.W_OK):
        raise _refused(output, f"you may not write into the folder {folder or '.'}")


def _try_to_create(output: Output) -> None:
    """Create the temporary file of an output and remove it.

    Only trying shows that a name is too long, or that a disk is full or cannot be written to.
    """
    try:
        _core.AtomicFile(output.path).discard()
    except OSError as error:
        raise _refused(output, f"{error.strerror}; give {output.thing} another name") from error


def _refused(output: Output, reason: str) -> SpecError:
    return SpecError(f"{output.option} {output.path}: {reason}")


def _is_special(path: str) -> bool:
    """Whether this is a device or a pipe, which many may write to."""
    return os.path.exists(path) and not os.path.isfile(path)


def _identity(path: str) -> tuple[int, int] | str:
    """What two names of one file have in common."""
    try:
        found = os.stat(path)
    except OSError:
        return os.path.realpath(path)
    return found.st_dev, found.st_ino
