"""The schema of a table: what each of its columns is.

A schema is part of the feature space, so a model reads the columns of new tables as it read those
that it was trained on. ``docs/reference/formats.md`` says which features a column of each kind has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from lessregret.errors import SpecError

ColumnKind = Literal[
    "number", "category", "text", "time", "label", "weight", "base", "tag", "ignore"
]
KINDS: tuple[str, ...] = get_args(ColumnKind)
MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL")
"""How a missing cell may be spelled, unless it is said otherwise."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Parameters
    ----------
    name : str
        The name in the header of the table.
    kind : one of KINDS
        What its cells are: features (``"number"``, ``"category"``, ``"text"``, ``"time"``), the
        ``"label"``, the ``"weight"`` (importance) of the row, its ``"base"`` (a score of another
        model, added to the margin), a ``"tag"`` that is written beside the prediction, or nothing
        (``"ignore"``).
    words : 1, 2 or 3, default 1
        For text: the longest run of words that is a feature.

    >>> Column("age", "number").kind
    'number'
    """

    name: str
    kind: ColumnKind
    words: int = 1

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            expected = ", ".join(KINDS)
            raise SpecError(
                f"column {self.name!r}: expected a kind ({expected}), found {self.kind!r}"
            )


@dataclass(frozen=True)
class Schema:
    """What the columns of a table are, and how its cells are read.

    Parameters
    ----------
    columns : Columns
        The columns, in the order of the table.
    missing : strings, default MISSING
        The spellings of a missing cell.
    classes : (negative, positive), optional
        For labels of two classes: their names in the table. A negative class of None means every
        value other than the positive one.
    crosses : tuples of column names, default none
        Each cross has a feature for every combination of the features of its columns.
    names : strings, default none
        For labels of more than two classes: their names in the table. The label of a class is the
        place of its name.

    >>> columns = Column("age", "number"), Column("clicked", "label")
    >>> Schema(columns, classes=("no", "yes")).label
    'clicked'
    """

    columns: tuple[Column, ...]
    missing: tuple[str, ...] = MISSING
    classes: tuple[str | None, str] | None = None
    crosses: tuple[tuple[str, ...], ...] = field(default=())
    names: tuple[str, ...] = ()

    @property
    def label(self) -> str | None:
        """The name of the label's column."""
        return self.first("label")

    def first(self, kind: ColumnKind) -> str | None:
        """The name of the first column of a kind; None if there is none."""
        return next((column.name for column in self.columns if column.kind == kind), None)

    def as_dict(self) -> dict[str, Any]:
        """The schema as it is written in a spec."""
        negative, positive = self.classes or (None, None)
        return {
            "columns": [vars(column).copy() for column in self.columns],
            "missing": list(self.missing),
            "classes": self.classes and {"negative": negative, "positive": positive},
            "crosses": [list(cross) for cross in self.crosses],
            **({"names": list(self.names)} if self.names else {}),
        }

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Schema:
        """The schema that a spec holds."""
        classes = document["classes"]
        return cls(
            columns=tuple(Column(**column) for column in document["columns"]),
            missing=tuple(document["missing"]),
            classes=classes and (classes["negative"], classes["positive"]),
            crosses=_tuples(document["crosses"]),
            names=tuple(document.get("names", ())),
        )


def _tuples(lists: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(names) for names in lists)
