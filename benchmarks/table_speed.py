"""From a table to a model: 1,000,000 rows of 20 categories, as CSV, Parquet, a frame and text.

    python -m benchmarks.table_speed [--rows 1000000] [--repeats 5] [--write RECORD.md]

Every contestant is a process of its own, and they take turns. Ours reads CSV, Parquet or a pandas
frame, or the same rows as Vowpal Wabbit text; Vowpal Wabbit (from its wheel) reads that text;
scikit-learn gets a hundredth of the rows, by pandas' read_csv and FeatureHasher before
SGDClassifier, and its time is scaled up. The time is that of the whole process, but for the frame,
which is in memory before the clock starts.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path
from typing import NamedTuple

COLUMNS = 20
BITS = 22
SHARE = 0.01
OURS = [sys.executable, "-m", "lessregret.cli", "train"]
FRAME = """
import sys, time, pandas, lessregret
frame = pandas.read_csv(sys.argv[1], dtype=str)
start = time.perf_counter()
lessregret.train(frame, label="label", bits=22)
print(time.perf_counter() - start)
"""
SKLEARN = """
import sys, pandas
from sklearn.feature_extraction import FeatureHasher
from sklearn.linear_model import SGDClassifier
frame = pandas.read_csv(sys.argv[1], dtype=str)
labels = frame.pop("label")
rows = ([f"{c}={v}" for c, v in zip(frame.columns, row)] for row in frame.itertuples(index=False))
X = FeatureHasher(2**22, input_type="string").transform(rows)
SGDClassifier(loss="log_loss", max_iter=1, tol=None, shuffle=False).fit(X, labels)
"""
VW = """
import sys
from vowpalwabbit import Workspace
Workspace(f"-d {sys.argv[1]} --loss_function logistic -b 22 --no_stdin --quiet").finish()
"""


class Run(NamedTuple):
    """One process."""

    seconds: float
    megabytes: float


def write_table(folder: Path, rows: int) -> None:
    """The table as CSV, Parquet and Vowpal Wabbit text, and a piece of it for the slow."""
    import duckdb
    import numpy as np

    draw = np.random.default_rng(20_260)
    sizes = np.maximum(3, (10 ** draw.uniform(0.5, 4.5, COLUMNS)).astype(int))
    weights = [draw.normal(0, 0.6, size) for size in sizes]
    with open(folder / "table.csv", "w") as table, open(folder / "table.vw", "w") as text:
        table.write(",".join([*(f"column{k}" for k in range(COLUMNS)), "label"]) + "\n")
        for start in range(0, rows, 50_000):
            count = min(50_000, rows - start)
            cells = [(s * draw.random(count) ** 3).astype(int) for s in sizes]
            margins = sum(w[c] for w, c in zip(weights, cells, strict=True)) - 1
            labels = draw.random(count) < 1 / (1 + np.exp(-margins))
            for row, label in zip(np.stack(cells, axis=1).tolist(), labels.tolist(), strict=True):
                values = [f"v{cell}" for cell in row]
                table.write(f"{','.join(values)},{int(label)}\n")
                names = " ".join(f"column{k}={value}" for k, value in enumerate(values))
                text.write(f"{1 if label else -1} | {names}\n")
    source = f"read_csv('{folder / 'table.csv'}', all_varchar=true)"
    duckdb.sql(f"COPY (SELECT * FROM {source}) TO '{folder / 'table.parquet'}' (FORMAT parquet)")
    with open(folder / "table.csv") as table, open(folder / "piece.csv", "w") as piece:
        for _, line in zip(range(1 + round(SHARE * rows)), table, strict=False):
            piece.write(line)


def commands(folder: Path) -> dict[str, list[str]]:
    """The command of each contestant."""
    ours = ["--bits", str(BITS), "--quiet", "--json"]
    python = [sys.executable, "-c"]
    return {
        "ours, CSV": [*OURS, str(folder / "table.csv"), "--label", "label", *ours],
        "ours, Vowpal Wabbit text": [*OURS, str(folder / "table.vw"), *ours],
        "ours, Parquet": [*OURS, str(folder / "table.parquet"), "--label", "label", *ours],
        "ours, pandas frame": [*python, FRAME, str(folder / "table.csv")],
        "Vowpal Wabbit": [*python, VW, str(folder / "table.vw")],
        "pandas, FeatureHasher, SGDClassifier": [*python, SKLEARN, str(folder / "piece.csv")],
    }


def run(name: str, command: list[str]) -> Run:
    """Run a process; its time and its peak memory."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        raise SystemExit(f"{name} failed")
    if name == "ours, pandas frame":
        seconds = float(said)
    return Run(seconds, usage.ru_maxrss / 1024)


def start_up() -> float:
    """What Python and scikit-learn need before the first row, the least of three.

    The first import reads files that are not in memory yet.
    """
    imports = "import pandas, sklearn.feature_extraction, sklearn.linear_model"
    command = [sys.executable, "-c", imports]
    return min(run("the imports of scikit-learn", command).seconds for _ in range(3))


def table_of(found: dict[str, list[Run]], reference: str) -> str:
    """Least and median time, and the median over that of ours from CSV."""
    lines = ["| contestant | least, s | median, s | times CSV | peak, MB |", "|" + " --- |" * 5]
    base = statistics.median(run.seconds for run in found[reference])
    for name, runs in found.items():
        times = [run.seconds for run in runs]
        median = statistics.median(times)
        peak = max(run.megabytes for run in runs)
        lines.append(
            f"| {name} | {min(times):.2f} | {median:.2f} | {median / base:.2f} | {peak:.0f} |"
        )
    return "\n".join(lines)


def measure(folder: Path, repeats: int) -> dict[str, list[Run]]:
    """All contestants in turns; the first round is not counted."""
    asked, found = commands(folder), {name: [] for name in commands(folder)}
    start = start_up()
    for round_ in range(repeats + 1):
        for name, command in asked.items():
            seen = run(name, command)
            if name.startswith("pandas"):
                seen = seen._replace(seconds=start + (seen.seconds - start) / SHARE)
            if round_:
                found[name].append(seen)
                print(json.dumps({name: round(seen.seconds, 2)}), file=sys.stderr, flush=True)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.table_speed")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--write", type=Path, help="write the table as a dated record")
    parser.add_argument("--generate", type=Path, help="only write the data into this folder")
    arguments = parser.parse_args()
    if arguments.generate:
        write_table(arguments.generate, arguments.rows)
        return
    with tempfile.TemporaryDirectory() as name:
        # In a process of its own: ``wait4`` counts what this one holds as the memory of all.
        own = [sys.executable, "-m", "benchmarks.table_speed", "--generate", name]
        subprocess.run([*own, "--rows", str(arguments.rows)], check=True)
        text = table_of(measure(Path(name), arguments.repeats), "ours, CSV")
    print(text)
    if arguments.write:
        what = f"{arguments.rows:,} rows of {COLUMNS} categories, {arguments.repeats} turns."
        what += " Load average at the end: " + ", ".join(f"{x:.1f}" for x in os.getloadavg())
        arguments.write.write_text(
            f"# From a table to a model, {date.today()}\n\n{what}\n\n{text}\n"
        )


if __name__ == "__main__":
    main()
