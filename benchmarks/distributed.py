"""How well and how fast learners on many machines learn, beside one learner on one.

    python -m benchmarks.distributed [--data DIR] [--only a9a,clicks] [--shards 8] [--syncs 64]
    python -m benchmarks.distributed --orders 8 [--only a9a,clicks]

K shards are simulated in one process, which gives the bits that K machines would. One pass; the
last fifth of the examples is held out. The table holds the log loss there over that of one learner.
Shards take turns at random examples, or with ``--by time`` each has an interval of its own, or with
``--by feature`` each has the examples of some values of one feature, as with one log a campaign.

``--orders`` says how much of such a difference is luck: the losses of one learner after random
orders of the same examples, over its loss after the order of the data, and then merged learners
over one learner of the same order, on average.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from benchmarks.classes.sets import digits
from benchmarks.quality.sets import data_sets, named_lines
from benchmarks.speed.generate import clicks as ctr
from lessregret import Learner, PerCoordinate, merge, open_examples
from lessregret.data.datasets import DataHome
from lessregret.data.examples import Examples

SETS = ("clicks", "ctr", "a9a", "avazu-piece", "20news-comp", "sentiment")
SENTIMENT = ("books", "dvd", "electronics", "kitchen")
DIGITS = 10
"""the classes of the set ``digits``, which is run if it is asked for"""
WAYS = ("matched", "weighted", "average")
CTR_LINES = 200_000
SYNCS = 64
BITS = 22

Order = NDArray[np.uint32]


class Task(NamedTuple):
    """Examples, and which of them are learned from, in which order, and which are held out."""

    name: str
    examples: Examples
    train: Order
    test: Order
    groups: NDArray[np.int64]
    """of each example to learn from, a value that a log might be kept by"""
    fresh: Learner
    """the default learner in its initial state"""


def main() -> None:
    """Run what was asked for and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.distributed")
    parser.add_argument("--data", type=Path, help="the data home")
    parser.add_argument("--only", help="names of data sets, with commas between")
    parser.add_argument("--shards", default="8", help="numbers of shards, with commas between")
    parser.add_argument("--syncs", default=str(SYNCS), help="syncs a pass, with commas between")
    parser.add_argument("--ways", default=",".join(WAYS), help="ways to merge, with commas between")
    parser.add_argument("--by", choices=("turns", "time", "feature"), default="turns")
    parser.add_argument("--orders", type=int, help="try one learner after so many random orders")
    parser.add_argument("--rate", type=float, help="learn at one rate, without lanes")
    given = parser.parse_args()
    home = DataHome(given.data) if given.data else DataHome.default()
    ways = given.ways.split(",")
    if given.orders:
        for name in given.only.split(",") if given.only else SETS:
            for shards in map(int, given.shards.split(",")):
                print(luck(made(name, home, given.rate), given.orders, shards, ways), flush=True)
        return
    print(f"| data | shards | syncs | one learner | {' | '.join(ways)} | seconds a sync |")
    print("| --- |" + " ---: |" * (len(ways) + 4))
    for name in given.only.split(",") if given.only else SETS:
        task = made(name, home, given.rate)
        one = score(task, after(task.fresh.to_bytes(), task, task.train))
        for shards in map(int, given.shards.split(",")):
            for syncs in map(int, given.syncs.split(",")):
                print(row(task, one, shards, syncs, ways, given.by), flush=True)


def row(task: Task, one: float, shards: int, syncs: int, ways: Sequence[str], by: str) -> str:
    """A line of the table."""
    cells, seconds = [], 0.0
    for way in ways:
        learner, seconds = trained(task, shards, syncs, way, by)
        cells.append(f"{score(task, learner) / one - 1:+.2%}")
    cells = [task.name, str(shards), str(syncs), f"{one:.4f}", *cells, f"{seconds / syncs:.3f}"]
    return f"| {' | '.join(cells)} |"


def luck(task: Task, orders: int, shards: int, ways: Sequence[str]) -> str:
    """A line about random orders: one learner's losses over that after the order of the data, and
    merged learners' over those of one learner that saw the same order, their mean and its error."""
    one = score(task, after(task.fresh.to_bytes(), task, task.train))
    alone, merged = [], []
    for seed in range(orders):
        own = task._replace(train=np.random.default_rng(100 + seed).permutation(task.train))
        alone.append(score(own, after(own.fresh.to_bytes(), own, own.train)))
        losses = [score(own, trained(own, shards, SYNCS, way, "turns")[0]) for way in ways]
        merged.append(np.array(losses) / alone[-1] - 1)
    over = np.array(alone) / one - 1
    cells = [
        task.name,
        f"{over.min():+.1%}",
        f"{over.max():+.1%}",
        f"{over.std():.1%}",
        str(shards),
    ]
    errors = np.std(merged, axis=0, ddof=1) / np.sqrt(orders)
    means = zip(np.mean(merged, axis=0), errors, strict=True)
    return f"| {' | '.join([*cells, *(f'{mean:+.1%} ± {error:.1%}' for mean, error in means)])} |"


def made(name: str, home: DataHome, rate: float | None = None) -> Task:
    """A data set in memory; sets without an order in time are shuffled."""
    with tempfile.NamedTemporaryFile(suffix=".vw") as file:
        file.writelines(lines_of(name, home))
        file.flush()
        learner = fresh(rate, DIGITS if name == "digits" else None)
        examples = Examples.collect(open_examples([file.name], learner, format="vw"))
        with open(file.name, "rb") as lines:
            groups = np.array([crc32(b"".join(line.split()[2:3])) for line in lines])
    order = np.arange(len(examples), dtype=np.uint32)
    if name in ("a9a", "rcv1-piece", "sms-spam", "digits"):
        np.random.default_rng(0).shuffle(order)
    cut = len(order) * 4 // 5
    return Task(name, examples, order[:cut], order[cut:], groups[order[:cut]], learner)


def lines_of(name: str, home: DataHome) -> Iterator[bytes]:
    """The lines of a set. The four sets of sentiment are one, in a shuffled order."""
    if name == "digits":
        return (line.encode() for line in digits(home))
    if name == "ctr":
        return ctr.vw(1, CTR_LINES)
    if name == "sentiment":
        lines = [line for part in SENTIMENT for line in named_lines(part, home)]
        return iter([lines[k] for k in np.random.default_rng(0).permutation(len(lines))])
    return data_sets(home)[name].lines()


def fresh(rate: float | None, classes: int | None = None) -> Learner:
    """The default learner in its initial state, or one at a rate."""
    rule = None if rate is None else PerCoordinate(rate=rate)
    return Learner("logistic", rule, bits=BITS, certify=False, classes=classes)


def after(model: bytes, task: Task, order: Order) -> Learner:
    """A shard that went on from a model."""
    learner = Learner.from_bytes(model)
    learner.learn(task.examples, order=order)
    return learner


def score(task: Task, learner: Learner) -> float:
    """The mean log loss of the examples that were held out."""
    outcomes = learner.predict(task.examples, order=task.test)
    if learner.classes is not None:
        places = np.searchsorted(learner.classes, outcomes.labels)
        own = outcomes.margins[np.arange(len(places)), places]
        return float(np.mean(np.logaddexp.reduce(outcomes.margins, axis=1) - own))
    return float(np.mean(np.logaddexp(0.0, -outcomes.labels * outcomes.margins)))


def trained(task: Task, shards: int, syncs: int, way: str, by: str) -> tuple[Learner, float]:
    """The merged learner of one pass, and how long the merges took."""
    learner, seconds = task.fresh, 0.0
    for number, pieces in enumerate(zip(*dealt(task, shards, syncs, by), strict=True), start=1):
        model = learner.to_bytes()
        parts = [after(model, task, piece) for piece in pieces if len(piece)]
        start = time.perf_counter()
        players = 1 if number == syncs else shards
        learner = merge(Learner.from_bytes(model), parts, how=way, players=players)  # type: ignore[arg-type]
        seconds += time.perf_counter() - start
    return learner, seconds


def dealt(task: Task, shards: int, syncs: int, by: str) -> list[list[Order]]:
    """For every shard its pieces."""
    order = task.train
    if by == "turns":
        return [[piece[k::shards] for piece in np.array_split(order, syncs)] for k in range(shards)]
    if by == "feature":
        own = [order[task.groups % shards == k] for k in range(shards)]
    else:
        own = np.array_split(order, shards)
    return [np.array_split(part, syncs) for part in own]


if __name__ == "__main__":
    main()
