"""``python -m benchmarks.speed``: measure, print the tables, write the record if asked."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from benchmarks.speed import growth, in_memory, instructions, machine, random_access, record
from benchmarks.speed.contestants import CONTESTANTS
from benchmarks.speed.data import Cache, check_folder, default_folder
from benchmarks.speed.programs import CannotMeasureError, program
from benchmarks.speed.settings import Settings
from benchmarks.speed.text_sets import measure

PARTS: dict[str, Callable[[Settings], str]] = {
    "tfidf": partial(measure, "tfidf"),
    "clicks": partial(measure, "clicks"),
    "dense": partial(measure, "dense"),
    "tiny": partial(measure, "tiny"),
    "memory": in_memory.measure,
    "growth": growth.measure,
    "random-access": random_access.measure,
    "instructions": instructions.measure,
}
Number = TypeVar("Number", int, float)
QUIET = 0.5
"""A load average above this before the start gets a warning."""


def main() -> None:
    """Do what was asked for."""
    arguments = parser().parse_args()
    parts = some("--only", arguments.only, list(PARTS)) or list(PARTS)
    contestants = some("--contestants", arguments.contestants, known_contestants())
    cache = Cache(check_folder(arguments.cache), arguments.scale)
    settings = Settings(cache, arguments.repeats, contestants)
    if arguments.prepare:
        prepare(settings)
        return
    loads = [machine.load()]
    if loads[0] > QUIET:
        print(f"the machine is busy: its load average is {loads[0]:.1f}", file=sys.stderr)
    sections = [section(part, settings) for part in parts]
    text = record.document(parts, command(arguments), [*loads, machine.load()], sections)
    print(text)
    if arguments.write:
        print(f"written: {record.write(parts, text).name}", file=sys.stderr)


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("--only", default="", help=f"some of {', '.join(PARTS)}, with commas")
    parser.add_argument("--contestants", default="", help="some contestants, as in vw,one,auto")
    parser.add_argument(
        "--scale", type=positive(float), default=1.0, help="sizes of all data sets; 1"
    )
    parser.add_argument("--repeats", type=positive(int), default=5, help="timed runs of each; 5")
    parser.add_argument("--cache", type=Path, default=default_folder(), help="data and rivals")
    parser.add_argument("--prepare", action="store_true", help="only fill the cache")
    parser.add_argument("--write", action="store_true", help="write a record, too")
    return parser


def some(option: str, text: str, known: Sequence[str]) -> list[str]:
    """The words of a list with commas, all of them known."""
    words = [word for word in text.split(",") if word]
    if unknown := [word for word in words if word not in known]:
        expected = ", ".join(known)
        raise SystemExit(f"{option}: expected some of {expected}; found {', '.join(unknown)}")
    return words


def known_contestants() -> list[str]:
    """All keys, and what stands before their hyphens."""
    keys = [c.key for part in CONTESTANTS.values() for c in part] + list(in_memory.CONTESTANTS)
    return sorted({*keys, *(key.partition("-")[0] for key in keys)})


def positive(kind: type[Number]) -> Callable[[str], Number]:
    """A reader of numbers above 0, for an option."""

    def read(text: str) -> Number:
        number = kind(text)
        if number <= 0:
            raise argparse.ArgumentTypeError(f"expected a number above 0, found {text}")
        return number

    return read


def prepare(settings: Settings) -> None:
    """Everything that a run would make first."""
    settings.rivals_python()
    for name in ("tfidf", "clicks", "dense", "tiny", "memory"):
        settings.cache.prepare(name)
    for part in range(1, max(growth.TIMES) + 1):
        settings.cache.file("clicks", "vw", part)
    try:
        program("random_update")
        program("kernels")
    except CannotMeasureError as reason:
        print(f"random-access and instructions cannot be measured: {reason}", file=sys.stderr)


def section(part: str, settings: Settings) -> str:
    """The table of a part, or why there is none."""
    print(part, file=sys.stderr, flush=True)
    try:
        return PARTS[part](settings)
    except CannotMeasureError as reason:
        return f"## {part}\n\nNot measured: {reason}."


def command(arguments: argparse.Namespace) -> str:
    """The command as it can be repeated; where the cache is, is nobody's business."""
    words = ["python -m benchmarks.speed"]
    words += [f"--only {arguments.only}"] if arguments.only else []
    words += [f"--contestants {arguments.contestants}"] if arguments.contestants else []
    words += [f"--scale {arguments.scale:g}"] if arguments.scale != 1 else []
    return " ".join([*words, f"--repeats {arguments.repeats}"])


if __name__ == "__main__":
    main()
