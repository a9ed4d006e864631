"""How many faults, fuzzed inputs and kills were tested, and whether a long run keeps its bound.

    python benchmarks/reliability.py [--seconds 60] [--rounds 1000000000] [--write RECORD.md]

Needs cargo, pytest and an installed lessregret. It runs the tests that inject faults, the fuzz
targets, the test that kills trainings, and a learner on one feature for many rounds. It prints the
counts. ``.ci/run`` runs the same tests; its longest run has 10⁸ rounds.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lessregret import Learner, PerCoordinate
from lessregret.data.examples import Examples, Rows

ROOT = Path(__file__).parent.parent
TESTS = shlex.split(
    "cargo test --locked -p lessregret-core --lib --test model_files --test read_faults "
    "-- --nocapture"
)
FUZZ = shlex.split("cargo run --release --locked --quiet -p lessregret-core --example fuzz")
KILLS = shlex.split("-m pytest -q -s -n 0 -m slow tests/cli/test_train_killed.py")
BLOCK = 1_000_000
FAULTS = {
    "faults injected into the operations of a save": r"faults injected into saves: (\d+)",
    "faults injected into the allocations of tables": r"(\d+) allocations failed",
    "faults injected into reads: an error, an early end, an interrupt": r"(\d+) reads failed",
    "learners with extreme settings that were saved and loaded": r"(\d+) learners saved",
}


class Row(NamedTuple):
    """One line of the record."""

    what: str
    count: str


def main() -> None:
    """Run everything and print the record."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seconds", type=int, default=60, help="the time for each fuzz target")
    parser.add_argument("--rounds", type=int, default=1_000_000_000, help="those of the long run")
    parser.add_argument("--write", type=Path, help="write the table as a dated record")
    arguments = parser.parse_args()
    rows = []
    for part in (faults(), fuzzed(arguments.seconds), killed(), long_run(arguments.rounds)):
        for row in part:
            print(f"{row.what}: {row.count}", flush=True)
            rows.append(row)
    if arguments.write:
        arguments.write.write_text(as_record(rows), encoding="utf-8")


def output_of(*command: str, **more: str) -> str:
    """What a command that succeeds prints, on both streams."""
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **more}, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def faults() -> list[Row]:
    """The faults that the tests of the core inject, and the learners that they save."""
    told = output_of(*TESTS)
    counts = {what: sum(map(int, re.findall(found, told))) for what, found in FAULTS.items()}
    if 0 in counts.values():
        sys.exit(f"a test does not print its count: {counts}")
    return [Row(what, f"{count:,}") for what, count in counts.items()]


def fuzzed(seconds: int) -> list[Row]:
    """The executions of each fuzz target."""
    told = output_of(*FUZZ, LESSREGRET_FUZZ_SECONDS=str(seconds))
    found = re.findall(r"(\w+): (\d+) executions, (\d+) accepted", told)
    return [
        Row(f"fuzzed inputs of `{target}`, {seconds} s", f"{int(all_):,}, {int(good):,} accepted")
        for target, all_, good in found
    ]


def killed() -> list[Row]:
    """Trainings that were killed at random moments."""
    told = output_of(sys.executable, *KILLS)
    counts = dict(re.findall(r"'(\w+)': (\d+)", told))
    return [
        Row("trainings that got a SIGKILL", counts["kills"]),
        Row("trainings that were still running then", counts["alive"]),
        Row("trainings that left a temporary file, half written", counts["saving"]),
    ]


def long_run(rounds: int) -> list[Row]:
    """Hinge loss, alternating labels, value 0.5, the theorem's rate, radius 1."""
    rule = PerCoordinate(rate="theory", radius=1)
    learner = Learner("hinge", rule, columns=1, intercept=False, scale="none", certify=True)
    labels, ends = np.tile([1.0, -1.0], BLOCK // 2), np.arange(BLOCK + 1)
    rows = Rows(ends, np.zeros(BLOCK, int), np.full(BLOCK, 0.5), labels, space=learner)
    block = Examples.collect(rows)
    for _ in range(rounds // BLOCK):
        learner.learn(block)
    ledger = learner.ledger()
    # The box is 2 wide, so the theorem is 2 √(2 S).
    energy, exact = (ledger.theorem or 0.0) ** 2 / 8, 0.25 * ledger.rounds
    return [
        Row("rounds of the long run", f"{ledger.rounds:,}"),
        Row("long run: relative error of the energy", f"{abs(energy / exact - 1):.1e}"),
        # Every fixed weight loses 1 a round on average.
        Row("long run: regret", f"{ledger.total - ledger.rounds:,.1f}"),
        Row("long run: linearised regret", f"{ledger.linear_regret:,.1f}"),
        Row("long run: bound", f"{ledger.bound:,.1f}"),
        Row("long run: theorem", f"{ledger.theorem:,.1f}"),
    ]


def as_record(rows: list[Row]) -> str:
    """The table, with the date and the command."""
    lines = [f"| {row.what} | {row.count} |" for row in rows]
    return "\n".join([
        f"# Reliability, {date.today()}\n",
        "Made by `python benchmarks/reliability.py --write FILE`. No test failed: every fault,",
        "input and kill ended as the page",
        "[reliability](../../docs/explanation/reliability.md) promises.\n",
        "| what | count |",
        "| --- | --- |",
        *lines,
        "",
    ])  # fmt: skip


if __name__ == "__main__":
    main()
