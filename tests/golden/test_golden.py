"""Does a user see exactly this? Commands with their files, and what they print and leave by.

A case is a text file: what it shows, then sections, each headed by a line that begins with ``>>>``:

    >>> file NAME       a file of the folder the commands run in
    >>> $ lessregret …  a command; a section ``stdin`` before it is piped in
    >>> stdout          what it printed
    >>> stderr
    >>> exit CODE

``LESSREGRET_GOLDEN=write pytest tests/golden`` writes what is printed now into the cases; then read
the difference line by line before it is committed.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from lessregret.cli import COMMANDS
from tests.support.command_line import CommandLine, Done

MARK = ">>> "
CASES = sorted(Path(__file__).parent.glob("*.txt"))
WRITE = os.environ.get("LESSREGRET_GOLDEN") == "write"

VARYING = [
    (re.compile(r'"seconds": [\d.]+'), '"seconds": 0.0'),
    (re.compile(r"[\d,]+ examples a second"), "0 examples a second"),
    (re.compile(r'(checksum"?:? "?)[0-9a-f]{8}'), r"\g<1>00000000"),
    (re.compile(r'(lessregret |"writer": ")\d+\.\d+\.\d+'), r"\g<1>0.0.0"),
]
"""What is not the same at every run or version, and what stands for it."""
LONG_NUMBER = re.compile(r"\d+\.\d{9,}(e[+-]\d+)?")


class Section(NamedTuple):
    """A head without its mark, and the lines under it."""

    head: str
    body: str


def sections(text: str) -> tuple[str, list[Section]]:
    """The opening words of a case, and its sections."""
    opening, *parts = re.split(rf"^{MARK}", text, flags=re.MULTILINE)
    split = (part.partition("\n") for part in parts)
    return opening, [Section(head, body) for head, _, body in split]


def steady(printed: str) -> str:
    """What was printed, without what varies; the last digits of a logarithm do, too."""
    for pattern, steadily in VARYING:
        printed = pattern.sub(steadily, printed)
    return LONG_NUMBER.sub(lambda found: f"{float(found[0]):.9g}", printed)


def play(lessregret: CommandLine, opening: str, given: list[Section]) -> Iterator[str]:
    """The case as it is today."""
    yield opening
    stdin = None
    for head, body in given:
        if head.startswith(("stdout", "stderr", "exit ")):
            continue
        yield f"{MARK}{head}\n{body}"
        if head == "stdin":
            stdin = body
        elif head.startswith("file "):
            lessregret.write(head.removeprefix("file "), body)
        elif head.startswith("$ lessregret "):
            yield transcript(command(lessregret, head, stdin))
            stdin = None
        else:
            raise AssertionError(f"no such section: {head}")


def command(lessregret: CommandLine, head: str, stdin: str | None) -> Done:
    arguments = shlex.split(head)[2:]
    if stdin is None:
        return lessregret(*arguments)
    return lessregret.apart(*arguments, stdin=stdin.encode())


def transcript(done: Done) -> str:
    return (
        f"{MARK}stdout\n{steady(done.stdout)}"
        f"{MARK}stderr\n{steady(done.stderr)}"
        f"{MARK}exit {done.code}\n"
    )


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_golden(lessregret: CommandLine, path: Path) -> None:
    written = path.read_text(encoding="utf-8")
    played = "".join(play(lessregret, *sections(written)))
    if WRITE:
        path.write_text(played, encoding="utf-8")
    assert played == path.read_text(encoding="utf-8")


def test_every_command_has_its_help_here() -> None:
    helps = {path.stem.removeprefix("help-") for path in CASES if path.stem.startswith("help")}
    assert helps >= {*COMMANDS, "help", "generate-clicks"}
