"""Ours from 1x to 8x the clicks: does time grow in proportion, and memory not at all?"""

from __future__ import annotations

from pathlib import Path

from benchmarks.speed.contestants import BITS, OURS
from benchmarks.speed.rounds import Standing, take_turns
from benchmarks.speed.settings import Settings
from benchmarks.speed.table import megabytes, seconds, table

TIMES = (1, 2, 4, 8)
RATES = {"rate 0.1": "0.1", "eight rates mixed": "auto"}
HEADINGS = ["rates", "clicks", "lines", "MB", "least, s", "median, s", "µs a line", "peak, MB"]


def measure(settings: Settings) -> str:
    """The table: k times the clicks are the first k parts, each of other lines."""
    parts = [settings.cache.file("clicks", "vw", part) for part in range(1, max(TIMES) + 1)]
    commands = {
        f"{title}, {k}x": [*OURS, "train", *map(str, parts[:k]), "--bits", str(BITS), "--quiet",
                           "--rate", rate]
        for title, rate in RATES.items()
        for k in TIMES
    }  # fmt: skip
    warm(parts)
    standings = take_turns(commands, settings.repeats)
    rows = []
    for title in RATES:
        for k in TIMES:
            size = sum(part.stat().st_size for part in parts[:k])
            lines = k * settings.cache.rows("clicks")
            rows.append(row(title, k, lines, size, standings[f"{title}, {k}x"]))
    return f"## growth\n\n{table(HEADINGS, rows)}"


def warm(files: list[Path]) -> None:
    """Read the files once, so that the first run does not wait for the disk."""
    for file in files:
        with open(file, "rb") as content:
            while content.read(1 << 20):
                pass


def row(title: str, k: int, lines: int, size: int, standing: Standing) -> list[str]:
    sizes = [title, f"{k}x", f"{lines:,}", megabytes(size)]
    if standing.failure:
        return [*sizes, f"failed: {standing.failure}", "", "", ""]
    least, median = (figure(lambda run: run.wall) for figure in (standing.least, standing.median))
    peak = megabytes(standing.median(lambda run: run.peak))
    return [*sizes, seconds(least), seconds(median), f"{1e6 * median / lines:.2f}", peak]
