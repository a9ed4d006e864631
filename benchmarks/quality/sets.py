"""All data sets, each as pieces of Vowpal Wabbit text.

The order of the rows is that of the source. The sentiment sets are two files of one label each, the
newsgroups are sorted by group, and wine is sorted by label, so those are shuffled once (seed 0).
The raw tables are there twice, in the order of the file and shuffled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from benchmarks.quality.tables import CARRIED, TABLES, Table
from benchmarks.quality.text import Row, dense_lines, message_lines, shuffled, sparse_lines
from lessregret.data.datasets import DATASETS, DataFile, DataHome
from lessregret.data.generate import ClickWorld, log_text

SHUFFLED = ("books", "dvd", "electronics", "kitchen", "20news-comp")
NAMED = ("a9a", "avazu-piece", "ipinyou-piece", "rcv1-piece", *SHUFFLED)
SMS = DataFile("sms_spam/SMSSpamCollection")
CLICKS = 500_000


@dataclass(frozen=True)
class DataSet:
    """A data set that can be had."""

    lines: Callable[[], Iterator[bytes]]
    is_dense: bool = False
    is_regression: bool = False


def data_sets(home: DataHome) -> dict[str, DataSet]:
    """Those whose files are in the data home, and those that packages carry."""
    found = {
        name: DataSet(partial(named_lines, name, home))
        for name in NAMED
        if DATASETS[name].is_there(home)
    }
    if home.find(SMS) is not None:
        found["sms-spam"] = DataSet(lambda: message_lines(home.read(SMS).decode("utf-8")))
    found["clicks"] = DataSet(lambda: log_text(ClickWorld(), CLICKS))
    for table in TABLES:
        if home.find(table.file) is not None:
            found |= both_orders(table, home)
    for name, (is_number, rows) in CARRIED.items():
        lines = partial(table_lines, rows, shuffle=name == "wine")
        found[name] = DataSet(lines, is_dense=True, is_regression=is_number)
    return found


def both_orders(table: Table, home: DataHome) -> dict[str, DataSet]:
    """A raw table in the order of its file, and shuffled."""
    rows = partial(table.rows, home)
    is_number = table.positive is None
    return {
        table.name + ending: DataSet(partial(table_lines, rows, shuffle), True, is_number)
        for ending, shuffle in (("", False), ("-shuffled", True))
    }


def named_lines(name: str, home: DataHome) -> Iterator[bytes]:
    """A data set that the package knows by name."""
    X, y = DATASETS[name].load(home)
    return sparse_lines(X, y, shuffled(len(y)) if name in SHUFFLED else range(len(y)))


def table_lines(rows: Callable[[], list[Row]], shuffle: bool) -> Iterator[bytes]:
    """A table in its order or shuffled."""
    table = rows()
    order = shuffled(len(table)) if shuffle else range(len(table))
    return dense_lines(table[number] for number in order)
