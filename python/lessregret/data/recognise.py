"""What data are: text, CSV, or a table with columns.

    a query, or an object with __arrow_c_stream__     table
    *.parquet, *.jsonl, *.arrow, *.duckdb, *.sqlite   table
    *.csv, *.tsv, packed or not                       csv
    everything else, and ``-``                        text: svmlight, Vowpal Wabbit, Arrow examples

Files are recognised by their names, and Arrow files also by what they hold. Patterns such as
``logs/*.parquet`` become the files that they match.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal, NamedTuple

from lessregret.data.arrow_tables import Openable, is_table
from lessregret.data.sql import Query, expanded, is_file_of_tables, open_files, shown
from lessregret.errors import SpecError

CSV = (".csv", ".tsv")
PACKED = (".gz", ".zst", ".xz")
STREAM = "-"

Names = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


class Recognised(NamedTuple):
    """What data are."""

    kind: Literal["text", "csv", "table"]
    files: tuple[str, ...]
    """the files, with patterns expanded; none for an object or a query without databases"""
    table: object | None
    """for a table: what :class:`~lessregret.data.arrow_tables.ArrowTable` takes, any number of
    times, unless it is a reader that the user gave"""
    name: str
    """what messages call the data"""


def recognise(
    data: object = (), *, query: str | None = None, table: str | None = None
) -> Recognised:
    """Find out what data are.

    Parameters
    ----------
    data : name or names of files, or object with ``__arrow_c_stream__``
        The data. With a query: DuckDB files whose tables it names.
    query : str, optional
        One SELECT for DuckDB.
    table : str, optional
        For a database: the name of its table.

    >>> recognise("train.vw").kind, recognise(["a.csv.gz", "b.tsv"]).kind
    ('text', 'csv')
    """
    if query is None and (is_table(data) or isinstance(data, Openable)):
        return Recognised("table", (), data, getattr(data, "name", "table"))
    files = tuple(_names(data))
    if query is not None:
        files = tuple(expanded(files))
        return Recognised("table", files, Query(query, files), "query")
    kinds = [_kind(file) for file in files]
    if len(set(kinds)) > 1:
        found = " and ".join(sorted(set(kinds)))
        raise SpecError(
            f"{shown(files)}: expected files of one kind, found {found}; train on one, then "
            "--resume with the other"
        )
    kind = kinds[0] if kinds else "text"
    if kind == "table":
        opened = open_files(files, table)
        return Recognised(kind, tuple(expanded(files)), opened, shown(expanded(files)))
    if table is not None:
        raise SpecError(
            f"table {table!r} was given, but {shown(files or ('data',))} is no database"
        )
    return Recognised(kind, tuple(_expanded(files)), None, shown(files or ("data",)))


def _names(data: object) -> list[str]:
    given = [data] if isinstance(data, (str, os.PathLike)) else data
    if not isinstance(given, Sequence):
        found = f"an object of type {type(data).__name__!r}"
        raise SpecError(
            f"data: expected names of files or a table with __arrow_c_stream__, found {found}"
        )
    return [os.fspath(file) for file in given]


def _kind(file: str) -> Literal["text", "csv", "table"]:
    if file == STREAM:
        return "text"
    name = file.lower()
    for ending in PACKED:
        name = name.removesuffix(ending)
    if name.endswith(CSV):
        return "csv"
    return "table" if is_file_of_tables(file) else "text"


def _expanded(files: Sequence[str]) -> list[str]:
    """The files, with those that patterns match in their place."""
    return [found for file in files for found in ([file] if file == STREAM else expanded([file]))]
