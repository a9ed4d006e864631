"""Progressive loss in one pass, nothing tuned: our defaults against those of others.

    python -m benchmarks.quality --data DIR [--only a9a,books] [--write RECORD.md]

Every data set is written once as Vowpal Wabbit text, and all learners read that file, in its order,
with 2^22 slots and an intercept. Vowpal Wabbit (from the ``vowpalwabbit`` wheel) runs with its
defaults, ``--ftrl`` and ``--coin``. River (from the ``river`` wheel) runs on the dense sets, its
scaler before its linear model. The loss is that of predictions made before each example was
learned: log loss, or the squared error over the variance of the labels.
"""

from __future__ import annotations

import argparse
import tempfile
from datetime import date
from pathlib import Path

from benchmarks.quality.contestants import CONTESTANTS
from benchmarks.quality.score import Result, as_line, as_table, labels_of, score
from benchmarks.quality.sets import DataSet, data_sets
from lessregret.data.datasets import DataHome


def main() -> None:
    """Run what was asked for and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality")
    parser.add_argument("--data", type=Path, help="the data home")
    parser.add_argument("--only", help="names of data sets, with commas between")
    parser.add_argument("--write", type=Path, help="write the table as a dated record")
    arguments = parser.parse_args()
    home = DataHome(arguments.data) if arguments.data else DataHome.default()
    found = data_sets(home)
    chosen = arguments.only.split(",") if arguments.only else list(found)
    unknown = [name for name in chosen if name not in found]
    if unknown:
        parser.error(f"no data set {', '.join(unknown)}; there are {', '.join(found)}")
    results = []
    for name in chosen:
        results.append(measure(name, found[name]))
        print(as_line(results[-1]), flush=True)
    table = as_table(results)
    print(table)
    if arguments.write:
        arguments.write.write_text(f"# Quality without tuning, {date.today()}\n\n{table}\n")


def measure(name: str, data: DataSet) -> Result:
    """All contestants on one set."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.vw"
        file.write_bytes(b"".join(data.lines()))
        labels = labels_of(file)
        scores = {
            contestant: score(who.run(file, data.is_regression), labels, data.is_regression)
            for contestant, who in CONTESTANTS.items()
            if who.runs_on(data.is_dense, data.is_regression)
        }
    return Result(name, data.is_regression, scores)


if __name__ == "__main__":
    main()
