"""Many classes: progressive log loss and error in one pass, cost by the number of classes, speed.

    python -m benchmarks.classes [--data DIR] [--only quality,cost,speed] [--write RECORD.md]

Every set is written once as Vowpal Wabbit text, and all learners read that file, in its order, with
nothing tuned. Times are CPU times, of contestants that take turns.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from datetime import date
from pathlib import Path

from benchmarks.classes import cost
from benchmarks.classes.contestants import CONTESTANTS, OURS, Score, labels_of, score
from benchmarks.classes.sets import SETS
from lessregret.data.datasets import DataHome

PARTS = ("quality", "cost", "speed")


def quality(folder: Path) -> str:
    """The table of losses and errors."""
    lines = [f"| data | {' | '.join(CONTESTANTS)} |", "| --- |" + " ---: |" * len(CONTESTANTS)]
    for name, data in SETS.items():
        file = folder / data.file
        labels = labels_of(file)
        scores = {who: score(run(file, data.classes), labels) for who, run in CONTESTANTS.items()}
        lines.append(f"| {name} | {' | '.join(map(cell, scores.values()))} |")
        print(lines[-1], verdict(scores), flush=True)
    return "## Log loss (error rate)\n\n" + "\n".join(lines)


def cell(found: Score) -> str:
    """The loss, and the error in per cent."""
    loss = "–" if found.loss != found.loss else f"{found.loss:.4f}"
    return f"{loss} ({found.error:.2%})"


def verdict(scores: dict[str, Score]) -> str:
    """Whether ours are the least."""
    own, others = scores[OURS], [found for name, found in scores.items() if name != OURS]
    least = [
        own.loss <= min(o.loss for o in others if o.loss == o.loss),
        own.error <= min(o.error for o in others),
    ]
    return f"least loss: {least[0]}, least error: {least[1]}"


def main() -> None:
    """Run what was asked for and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.classes")
    parser.add_argument("--data", type=Path, help="the data home")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, with commas between")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--write", type=Path, help="write the tables as a dated record")
    arguments = parser.parse_args()
    home = DataHome(arguments.data) if arguments.data else DataHome.default()
    asked, parts = arguments.only.split(","), []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for data in SETS.values():
            data.write(folder / data.file, home)
        if "quality" in asked:
            parts.append(quality(folder))
        if "cost" in asked:
            parts.append(cost.of_classes(folder, arguments.repeats))
        if "speed" in asked:
            parts.append(cost.from_text(folder, arguments.repeats))
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    text = "\n\n".join([*parts, f"Load average at the end: {load}."])
    print(text)
    if arguments.write:
        arguments.write.write_text(f"# Many classes, {date.today()}\n\n{text}\n")


if __name__ == "__main__":
    main()
