"""Tables of other libraries as streams of examples.

A table is any object with ``__arrow_c_stream__`` or ``__arrow_c_array__``: a data frame of pandas
or polars, a table, batch or reader of pyarrow, a relation of DuckDB, or one of :mod:`.sql`. Its
columns are read where they are, without a copy, batch by batch and on all cores; the GIL is free
meanwhile. Whether pandas copies a column first is its own matter: strings of pandas 3 it does not.

A feature space with a schema says what the columns are. Columns are found by their names, so their
order does not matter; columns that the schema does not have are left out and told.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from lessregret import _core
from lessregret.data.streams import ExampleStream
from lessregret.errors import InputError, LessRegretError
from lessregret.learners.schema import MISSING
from lessregret.learners.space import FeatureSpace, HasSpace, space_of

SAMPLE = 10_000
"""Rows that are looked at to infer what columns are."""
INDEX = re.compile(r"__index_level_\d+__")
"""How pandas names an index without a name, when it gives a data frame to others."""


class ArrowTable:
    """A table of another library, which can be sampled and then read once.

    Parameters
    ----------
    table : object with ``__arrow_c_stream__`` or ``__arrow_c_array__``
        The table. A reader that can be read once is used up by the sample and the examples
        together: rows of the sample are kept, and the examples begin with the first row.
    name : str, default "table"
        What to call the table in messages, which name rows as ``table:17``.
    """

    def __init__(self, table: object, name: str = "table") -> None:
        self.name = name
        self.core = _imported(table, name)

    @property
    def columns(self) -> list[tuple[str, str]]:
        """The names of the columns and their Arrow types."""
        return self.core.columns

    def sample(self, missing: Sequence[str] = MISSING, rows: int = SAMPLE) -> dict[str, Any]:
        """What the first rows show of the columns, as :func:`lessregret.data.tables.sample_csv`."""
        table: dict[str, Any] = json.loads(self.core.sample(list(missing), rows))
        columns = [one for one in table["columns"] if not INDEX.fullmatch(one["name"])]
        return {**table, "columns": columns}

    def examples(
        self,
        space: FeatureSpace | HasSpace,
        *,
        bad_lines: Literal["stop", "skip"] = "stop",
        names: bool = False,
        scale: str = "none",
        threads: int | None = None,
        by: Sequence[str] = (),
        unlabelled: str = "error",
    ) -> ExampleStream:
        """The rows as examples; :func:`open_table` explains the parameters."""
        space = replace(space_of(space), scale=scale)
        core = _core.Stream.over_table(
            self.core,
            space.to_json(),
            bad_lines=bad_lines,
            names=names,
            threads=threads,
            by=list(by),
            unlabelled=unlabelled == "predict",
        )
        return ExampleStream(core)


def open_table(
    table: object,
    space: FeatureSpace | HasSpace,
    *,
    name: str = "table",
    bad_lines: Literal["stop", "skip"] = "stop",
    names: bool = False,
    scale: str = "none",
    threads: int | None = None,
) -> ExampleStream:
    """Open a table as a stream of examples.

    Parameters
    ----------
    table : ArrowTable, or object with ``__arrow_c_stream__`` or ``__arrow_c_array__``
        The table.
    space : FeatureSpace, or a learner or source of examples that has one
        The feature space of the learner that the examples are for, with a schema. A column of the
        schema that the table does not have is an error. With ``space.unlabelled()`` the label, the
        weight and the tag may be left out.
    name : str, default "table"
        What to call the table in messages, which name rows as ``table:17``.
    bad_lines, names, scale, threads
        As for :func:`open_examples`; rows are what lines are there.

    >>> from lessregret import Column, Learner, Schema
    >>> columns = Column("age", "number"), Column("clicked", "label")
    >>> schema = Schema(columns, classes=("no", "yes"))
    >>> space = FeatureSpace(bits=10, schema=schema)
    """
    opened = table if isinstance(table, ArrowTable) else ArrowTable(table, name)
    return opened.examples(space, bad_lines=bad_lines, names=names, scale=scale, threads=threads)


def is_table(data: object) -> bool:
    """Whether this object gives its rows as Arrow columns."""
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def _imported(table: object, name: str) -> _core.Table:
    try:
        return table.open(name) if isinstance(table, Openable) else _core.Table(table, name)
    except LessRegretError:
        raise
    except Exception as error:
        # Whatever the other library raises: a type that Arrow lacks, a query that fails.
        found = f"trouble ({one_line(error)})"
        raise InputError(name, 0, 0, found, "a table that can be read") from error


class Openable(ABC):
    """A table that gives its rows as text, without Arrow."""

    @abstractmethod
    def open(self, name: str) -> _core.Table:
        """The table, called ``name`` in messages."""


def one_line(error: BaseException) -> str:
    """The first line of an error's message."""
    text: Any = str(error).strip() or type(error).__name__
    return str(text).splitlines()[0]
