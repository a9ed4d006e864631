"""What each part of the default learner is worth: the loss without it over that with it.

    python -m benchmarks.ablation --data DIR [--only elec,diabetes] [--write RECORD.md]

One pass, progressive loss: log loss, or the squared error over the variance of the labels. Parts
with a switch are left out of the product, on all rows. Parts without one are left out of the
readable learner, on the first 3,000 rows, and compared with the readable default on the same rows.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.ablation_parts import LOSES, READABLE, SWITCHED, Play, learner_of
from benchmarks.ablation_record import Found, Limits, record
from benchmarks.quality.contestants import Run, parsed
from benchmarks.quality.score import labels_of, score
from benchmarks.quality.sets import DataSet, data_sets
from lessregret.data.datasets import DataHome
from lessregret.data.streams import open_examples

SETS = (
    *("adult", "adult-shuffled", "bank", "bank-shuffled", "spambase", "spambase-shuffled"),
    *("elec", "elec-shuffled", "breast-cancer", "digits", "sms-spam", "20news-comp"),
    *("bike-hours", "bike-hours-shuffled", "california-housing", "california-housing-shuffled"),
    "diabetes",
)
LIMITS = Limits(readable_rows=3_000, tiny_rows=100, outlier_row=1_000, outlier_times=1_000)
LONG_ROWS = ("20news-comp",)
PROCESSES = 2


def main() -> None:
    """Run what was asked for and print the record."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ablation")
    parser.add_argument("--data", type=Path, help="the data home")
    parser.add_argument("--only", help="names of data sets, with commas between")
    parser.add_argument("--write", type=Path, help="write the tables as a dated record")
    arguments = parser.parse_args()
    home = DataHome(arguments.data) if arguments.data else DataHome.default()
    there = data_sets(home)
    wanted = arguments.only.split(",") if arguments.only else SETS
    names = [name for name in wanted if name in there]
    if missing := [name for name in wanted if name not in there]:
        print(f"not in the data home, left out: {', '.join(missing)}", flush=True)
    with ProcessPoolExecutor(PROCESSES) as pool:
        short = names if arguments.only else [name for name in names if name not in LONG_ROWS]
        runs = ((switched, names), (readable, short), (tiny, names))
        found = [list(pool.map(partial(run, home), which)) for run, which in runs]
        regressions = [name for name in names if there[name].is_regression]
        found.append(list(pool.map(partial(with_outlier, home), regressions)))
    text = record(LIMITS, *found)
    print(text)
    if arguments.write:
        arguments.write.write_text(text, encoding="utf-8")


def switched(home: DataHome, name: str) -> Found:
    """The product with and without what a switch leaves out, on all rows."""
    data = data_sets(home)[name]
    return _found(name, data, list(data.lines()), SWITCHED)


def tiny(home: DataHome, name: str) -> Found:
    """The product on the first rows alone."""
    data = data_sets(home)[name]
    return _found(name, data, list(data.lines())[: LIMITS.tiny_rows], LOSES)


def readable(home: DataHome, name: str) -> Found:
    """The readable learner with and without each part, on the first rows."""
    data = data_sets(home)[name]
    with written(list(data.lines())[: LIMITS.readable_rows]) as file:
        labels, losses = labels_of(file), {}
        for variant, part in READABLE.items():
            if part.for_classes or data.is_regression:
                play = part.learner(data.is_regression).play
                margins = [play(*row).margin for row in rows_of(file)]
                losses[variant] = score(Run(np.array(margins)), labels, data.is_regression).loss
            else:
                losses[variant] = None
    return Found(name, data.is_regression, len(labels), losses)


def with_outlier(home: DataHome, name: str) -> Found:
    """The product where one label is 1,000 times what it is; that row does not count."""
    data = data_sets(home)[name]
    lines = list(data.lines())
    row = min(LIMITS.outlier_row, len(lines) // 2)
    label, _, rest = lines[row].partition(b" ")
    wild = [
        *lines[:row],
        b"%.9g %s" % (LIMITS.outlier_times * float(label), rest),
        *lines[row + 1 :],
    ]
    after = slice(row + 1, None)
    losses: dict[str, float | None] = {}
    for variant, options in LOSES.items():
        losses[variant] = _loss(lines, data, options, after)
        losses[f"{variant}, outlier"] = _loss(wild, data, options, after)
    return Found(name, True, len(lines), losses)


def _found(name: str, data: DataSet, lines: list[bytes], variants: dict[str, dict]) -> Found:
    losses = {variant: _loss(lines, data, options) for variant, options in variants.items()}
    return Found(name, data.is_regression, len(lines), losses)


def _loss(
    lines: list[bytes], data: DataSet, options: dict, counted: slice = slice(None)
) -> float | None:
    """What the product loses on these lines; only those that count."""
    with written(lines) as file:
        labels, learner = labels_of(file), learner_of(data.is_regression, options)
        margins = learner.learn(open_examples([file], learner, format="vw")).margins
    return score(Run(margins[counted]), labels[counted], data.is_regression).loss


@contextmanager
def written(lines: Sequence[bytes]) -> Iterator[Path]:
    """The lines as a file that is there for a while."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.vw"
        file.write_bytes(b"".join(lines))
        yield file


def rows_of(file: Path) -> Iterator[Play]:
    """The rows as slots, values and label; slot 0 is the intercept."""
    slots: dict[str, int] = {}
    for label, numbers, categories in parsed(file):
        row = numbers | categories
        yield (
            [0, *(slots.setdefault(key, len(slots) + 1) for key in row)],
            [1.0, *row.values()],
            label,
        )


if __name__ == "__main__":
    main()
