"""Progressive log loss in one pass, nothing tuned: our defaults against Vowpal Wabbit's.

    python benchmarks/quality.py --data DIR [--only a9a,books] [--write RECORD.md]

Every data set is written once as Vowpal Wabbit text, and all learners read that file, in its order,
with 2^22 slots and an intercept. Vowpal Wabbit (from the ``vowpalwabbit`` wheel) runs with its
defaults, ``--ftrl`` and ``--coin``, all with ``--loss_function logistic``. The loss is the mean log
loss of predictions made before each example was learned.

The order of the files: as their sources have it, but for the sentiment sets, which are two files of
one label each and the newsgroups, which are sorted by group: those are shuffled once (seed 0).
"""

from __future__ import annotations

import argparse
import math
import re
import tempfile
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from lessregret.data.datasets import DATASETS, DataFile, DataHome
from lessregret.data.generate import ClickWorld, log_text
from lessregret.data.streams import open_examples
from lessregret.learners.learner import Learner

BITS = 22
VW = {"vw": "", "vw --ftrl": "--ftrl", "vw --coin": "--coin"}
SHUFFLED = ("books", "dvd", "electronics", "kitchen", "20news-comp")
NAMED = ("a9a", "avazu-piece", "ipinyou-piece", "rcv1-piece", *SHUFFLED)
SMS = DataFile("sms_spam/SMSSpamCollection")
CLICKS = 500_000


def main() -> None:
    """Run what was asked for and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", type=Path, help="the data home")
    parser.add_argument("--only", help="names of data sets, with commas between")
    parser.add_argument("--write", type=Path, help="write the table as a dated record")
    arguments = parser.parse_args()
    home = DataHome(arguments.data) if arguments.data else DataHome.default()
    chosen = arguments.only.split(",") if arguments.only else list(sources(home))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen:
            file = Path(folder) / f"{name}.vw"
            file.write_bytes(b"".join(sources(home)[name]()))
            rows.append((name, ours(file), [theirs(file, options) for options in VW.values()]))
            print(as_line(*rows[-1]), flush=True)
    table = as_table(rows)
    print(table)
    if arguments.write:
        arguments.write.write_text(f"# Quality without tuning, {date.today()}\n\n{table}\n")


def sources(home: DataHome) -> dict[str, Callable[[], Iterator[bytes]]]:
    """The data sets that can be had, each as pieces of Vowpal Wabbit text."""
    found: dict[str, Callable[[], Iterator[bytes]]] = {}
    for name in NAMED:
        if DATASETS[name].is_there(home):
            found[name] = lambda name=name: as_text(name, *DATASETS[name].load(home))
    if home.find(SMS) is not None:
        found["sms-spam"] = lambda: sms_text(home.read(SMS).decode("utf-8"))
    found["clicks"] = lambda: log_text(ClickWorld(), CLICKS)
    return found


def as_text(name: str, X: csr_array, y: np.ndarray) -> Iterator[bytes]:
    """Rows as lines; a value of 1 is not written."""
    order = np.random.default_rng(0).permutation(len(y)) if name in SHUFFLED else range(len(y))
    for row in order:
        entries = slice(X.indptr[row], X.indptr[row + 1])
        features = (
            f"f{column}" if value == 1 else f"f{column}:{value:.7g}"
            for column, value in zip(X.indices[entries], X.data[entries], strict=True)
        )
        yield f"{int(y[row])} | {' '.join(features)}\n".encode()


def sms_text(content: str) -> Iterator[bytes]:
    """Messages as counted words, lower case."""
    for line in content.splitlines():
        label, _, text = line.partition("\t")
        words, counts = np.unique(re.findall(r"[a-z0-9]+", text.lower()), return_counts=True)
        features = (w if c == 1 else f"{w}:{c}" for w, c in zip(words, counts, strict=True))
        yield f"{1 if label == 'spam' else -1} | {' '.join(features)}\n".encode()


def ours(file: Path) -> float:
    """The mean log loss of our defaults."""
    learner = Learner("logistic", bits=BITS)
    learner.learn(open_examples([file], learner, format="vw"))
    return learner.ledger().mean_loss or math.nan


def theirs(file: Path, options: str) -> float:
    """The mean log loss of Vowpal Wabbit."""
    from vowpalwabbit import Workspace

    run = Workspace(f"-d {file} --loss_function logistic -b {BITS} --quiet --no_stdin {options}")
    loss = run.get_sum_loss() / run.get_weighted_examples()
    run.finish()
    return float(loss)


def as_line(name: str, our: float, their: list[float]) -> str:
    """One row: the losses, and how much better ours is than the best of theirs."""
    better = 1 - our / min(their)
    losses = " | ".join(f"{loss:.4f}" for loss in [our, *their])
    return f"| {name} | {losses} | {better:+.1%} |"


def as_table(rows: list[tuple[str, float, list[float]]]) -> str:
    """All rows, and the mean improvement."""
    heading = f"| data | lessregret | {' | '.join(VW)} | better than their best by |"
    mean = sum(1 - our / min(their) for _, our, their in rows) / len(rows)
    lines = [heading, "| --- |" + " ---: |" * (len(VW) + 2), *(as_line(*row) for row in rows)]
    return "\n".join([*lines, "", f"Mean: {mean:+.1%}."])


if __name__ == "__main__":
    main()
