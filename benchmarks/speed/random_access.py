"""The machine's limit: a random slot read, changed and written; and the learner beside it."""

from __future__ import annotations

import json
import math
import subprocess
from collections import defaultdict
from statistics import median

from benchmarks.speed.machine import available_memory
from benchmarks.speed.programs import program
from benchmarks.speed.settings import Settings
from benchmarks.speed.table import table

BITS = 26
FEATURES = 20
EXAMPLES = 200_000
BYTES = {1: 8, 8: 64}
"""a slot of one lane, and of eight"""
TITLES = {
    "limit": "one random slot changed, pages of 4 kB",
    "limit-large": "one random slot changed, pages of 2 MB",
    "learn": "one feature learned",
    "learn-found": "one feature learned, its line found by a reader",
}
HEADINGS = ["lanes", "what", "slots", "MB", "least, ns", "median, ns"]


def measure(settings: Settings) -> str:
    """The table: nanoseconds for each feature."""
    bits = fitting_bits(settings.cache.scale, available_memory())
    arguments = [bits, FEATURES, EXAMPLES, settings.repeats]
    command = [str(program("random_update")), *map(str, arguments)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    note = f"{FEATURES} random slots an example, {EXAMPLES:,} examples, in memory."
    return f"## random-access\n\n{note}\n\n{as_table(told, bits)}"


def as_table(told: str, bits: int) -> str:
    """The lines of the program, put together."""
    times: dict[tuple[int, str], list[float]] = defaultdict(list)
    for line in map(json.loads, told.splitlines()):
        times[line["lanes"], line["what"]].append(line["nanoseconds"])
    rows = [
        [str(lanes), TITLES[what], f"2^{bits}", f"{BYTES[lanes] * 2**bits / 1e6:,.0f}",
         f"{min(found):.1f}", f"{median(found):.1f}"]
        for (lanes, what), found in times.items()
    ]  # fmt: skip
    return table(HEADINGS, rows, words=2)


def fitting_bits(scale: float, memory: int) -> int:
    """26, less at a smaller scale or where eight lanes, twice, would fill half the memory.

    The learner itself has lines only for the slots it meets.
    """
    by_scale = BITS + math.floor(math.log2(min(scale, 1.0)))
    by_memory = math.floor(math.log2(memory / (4 * BYTES[8])))
    return max(10, min(by_scale, by_memory))
