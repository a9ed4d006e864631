"""One contestant, once: a process of its own, its time, its processor time, its peak memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LINUX = sys.platform.startswith("linux")


class ContestantFailedError(Exception):
    """A process that did not end well, with the last line it wrote."""


@dataclass(frozen=True)
class Run:
    """What one process used, and what it said of itself."""

    wall: float
    """seconds from its start to its end"""
    user: float
    """seconds of processor time, of all its threads, outside the kernel"""
    peak: int
    """the most memory it held, in bytes"""
    said: Mapping[str, Any] = field(default_factory=dict)
    """the JSON on its stdout, if that is what is there"""


def run(command: Sequence[str]) -> Run:
    """Run to the end, in the repository's root, where Python finds the scripts; and measure.

    ``wait4`` counts what the parent held before the ``exec`` as the child's; that is why this
    package keeps its own process small.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaints:
        begin = perf_counter()
        process = subprocess.Popen(
            command, stdout=output, stderr=complaints, cwd=ROOT, env=environment()
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise ContestantFailedError(last_line(read(complaints), process.returncode))
        peak = usage.ru_maxrss * (1024 if LINUX else 1)
        return Run(wall, usage.ru_utime, peak, as_document(read(output)))


def environment() -> dict[str, str]:
    """Ours, but Python may keep what it compiled, as it does of an installed package."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def read(file: Any) -> str:
    file.seek(0)
    return str(file.read().decode(errors="replace"))


def last_line(text: str, code: int) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else f"ended with code {code} and no word"


def as_document(text: str) -> dict[str, Any]:
    """The JSON object that a text is, or nothing."""
    try:
        document = json.loads(text)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}
