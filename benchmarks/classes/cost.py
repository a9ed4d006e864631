"""What twenty classes cost: of the learner alone beside two classes, and from text beside others.

All times are CPU times, user and system, of contestants that take turns: the least says what the
work costs, the median how steady it is. The learner alone gets rows that are in memory already and
runs in this process; from text every contestant is a process of its own.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.classes.contestants import matrix
from benchmarks.classes.sets import COMPUTERS, SETS, two_classes
from lessregret.data.examples import Rows
from lessregret.learners.learner import Learner

NEWS, CLASSES, BITS = "20 newsgroups", 20, 22
VW = """
import sys
from vowpalwabbit import Workspace
Workspace(sys.argv[1]).finish()
"""
NOTHING = "import sys; from vowpalwabbit import Workspace"


def of_classes(folder: Path, repeats: int) -> str:
    """The learner alone: two and twenty classes on the same words."""
    X, labels = matrix(folder / SETS[NEWS].file)
    signs = [1.0 if label in COMPUTERS else -1.0 for label in labels.tolist()]
    found: dict[str, list[float]] = {}
    for turn in range(repeats + 1):
        for name, classes, given in (("two", None, signs), ("twenty", CLASSES, labels)):
            learner = Learner("logistic", columns=X.shape[1], classes=classes)
            rows = Rows.from_csr(X, [float(y) for y in given], space=learner)
            spent = cpu(lambda learner=learner, rows=rows: learner.learn(rows))
            found.setdefault(name, []).extend([spent] if turn else [])
    ratios = [of(found["twenty"]) / of(found["two"]) for of in (min, statistics.median)]
    return (
        f"## The learner alone, {NEWS}\n\n{times(found)}\n\n"
        f"Twenty classes over two: {ratios[0]:.1f} (least), {ratios[1]:.1f} (median); "
        f"1.3 K/2 is {1.3 * CLASSES / 2:.0f}."
    )


def from_text(folder: Path, repeats: int) -> str:
    """From text to a model: ours and Vowpal Wabbit's."""
    file, two = folder / SETS[NEWS].file, folder / "two.vw"
    two.write_text("".join(two_classes(file.read_text())))
    vw = f"-d {file} --oaa {CLASSES} -b {BITS} --quiet --no_stdin"
    ours = [sys.executable, "-m", "lessregret.cli", "train", "--quiet", "--json"]
    asked = ["--classes", str(CLASSES)]
    commands = {
        "ours, --classes 20": [*ours, str(file), *asked],
        "ours, --classes 20, one rate": [*ours, str(file), *asked, "--rate", "0.1"],
        "vw --oaa 20": [sys.executable, "-c", VW, vw],
        "vw --oaa 20, logistic": [sys.executable, "-c", VW, f"{vw} --loss_function logistic"],
        "ours, two classes": [*ours, str(two)],
        "start of Python and vw": [sys.executable, "-c", NOTHING],
    }
    processor: dict[str, list[float]] = {}
    wall: dict[str, list[float]] = {}
    for turn in range(repeats + 1):
        for name, command in commands.items():
            spent, passed = process(command)
            processor.setdefault(name, []).extend([spent] if turn else [])
            wall.setdefault(name, []).extend([passed] if turn else [])
    return (
        f"## From text to a model, {NEWS}\n\nCPU time:\n\n{times(processor)}\n\n"
        f"Time on the clock, on a shared machine:\n\n{times(wall)}"
    )


def cpu(work: Callable[[], object]) -> float:
    """The CPU time of a call, of all threads."""
    start = time.process_time()
    work()
    return time.process_time() - start


def process(command: list[str]) -> tuple[float, float]:
    """The CPU time of a process and the time that passed."""
    start, before = time.perf_counter(), os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    spent = after.children_user + after.children_system
    spent -= before.children_user + before.children_system
    return spent, time.perf_counter() - start


def times(found: dict[str, list[float]]) -> str:
    """The least and the median of each, and over the first."""
    lines = ["| contestant | least, s | median, s | median over the first |", "|" + " --- |" * 4]
    base = statistics.median(next(iter(found.values())))
    for name, spent in found.items():
        median = statistics.median(spent)
        lines.append(f"| {name} | {min(spent):.2f} | {median:.2f} | {median / base:.2f} |")
    return "\n".join(lines)
