"""The dense sets: raw tables of the data home, and the tables that scikit-learn and River carry."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from benchmarks.quality.text import MISSING, Row
from lessregret.data.datasets import DataFile, DataHome

ADULT = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital", "occupation"),
    *("relationship", "race", "sex", "gain", "loss", "hours", "country", "income"),
)


@dataclass(frozen=True)
class Table:
    """A raw table of the data home."""

    name: str
    label: str
    positive: str | None = None
    """the label of the positive rows; None where the label is a number to predict"""
    header: tuple[str, ...] = ()
    """the columns, where the file does not name them"""
    leave_out: tuple[str, ...] = ()

    @property
    def file(self) -> DataFile:
        return DataFile(f"tables/{self.name}.csv")

    def rows(self, home: DataHome) -> list[Row]:
        """All rows in the order of the file."""
        lines = home.read(self.file).decode("utf-8").splitlines()
        found = list(csv.reader((line for line in lines if line), skipinitialspace=True))
        header = list(self.header) or found.pop(0)
        numeric = [name for name, *column in zip(header, *found, strict=True) if is_numeric(column)]
        return [self._row(dict(zip(header, row, strict=True)), numeric) for row in found]

    def _row(self, cells: dict[str, str], numeric: Iterable[str]) -> Row:
        label = cells.pop(self.label)
        for name in self.leave_out:
            del cells[name]
        columns: dict[str, str | float] = dict(cells)
        for name in numeric:
            if name in cells and cells[name] not in MISSING:
                columns[name] = float(cells[name])
        return (float(label) if self.positive is None else sign(label == self.positive)), columns


TABLES = (
    Table("adult", "income", ">50K", header=ADULT),
    Table("bank", "y", "yes"),
    Table("spambase", "58", "1"),
    Table("elec", "class", "1"),
    Table("bike-hours", "cnt", leave_out=("instant", "dteday", "casual", "registered")),
    Table("california-housing", "median_house_value"),
)


def is_numeric(column: Iterable[str]) -> bool:
    """Whether every cell that is there is a number."""
    try:
        return all(float(cell) is not None for cell in column if cell not in MISSING)
    except ValueError:
        return False


def sign(positive: bool) -> float:
    """The label of a class."""
    return 1.0 if positive else -1.0


def from_sklearn(name: str, positive: int | None) -> list[Row]:
    """A table of scikit-learn, one class against the others, or a number to predict."""
    from sklearn import datasets

    found = getattr(datasets, f"load_{name}")(**({} if positive is not None else {"scaled": False}))
    labels = found.target if positive is None else [sign(y == positive) for y in found.target]
    names = [str(name) for name in found.feature_names]
    return [
        (float(y), dict(zip(names, map(float, x), strict=True)))
        for x, y in zip(found.data, labels, strict=True)
    ]


def from_river(name: str, is_number: bool) -> list[Row]:
    """A table of River, in its order."""
    from river import datasets

    return [
        (float(y) if is_number else sign(y), {str(key): cell(value) for key, value in x.items()})
        for x, y in getattr(datasets, name)()
    ]


def cell(value: object) -> str | float:
    """A category as text, anything else as a number."""
    return value if isinstance(value, str) else float(value)  # type: ignore[arg-type]


CARRIED: dict[str, tuple[bool, Callable[[], list[Row]]]] = {
    "breast-cancer": (False, lambda: from_sklearn("breast_cancer", 1)),
    "digits": (False, lambda: from_sklearn("digits", 8)),
    "wine": (False, lambda: from_sklearn("wine", 0)),
    "diabetes": (True, lambda: from_sklearn("diabetes", None)),
    "phishing": (False, lambda: from_river("Phishing", False)),
    "bananas": (False, lambda: from_river("Bananas", False)),
    "trump-approval": (True, lambda: from_river("TrumpApproval", True)),
    "chick-weights": (True, lambda: from_river("ChickWeights", True)),
}
"""Whether the label is a number to predict, and the rows. Digits: 8 against the rest. Wine: class 0
against the rest."""
