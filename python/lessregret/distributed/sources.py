"""What data may be: each kind says how it is sampled, counted and cut, and who runs its pieces."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

from lessregret.data.arrow_tables import is_table
from lessregret.data.column_choices import ColumnChoices
from lessregret.distributed.cutting import about_examples, cut, cut_table
from lessregret.distributed.local import Engine, in_processes
from lessregret.distributed.pieces import pyarrow_for


class Described(Protocol):
    """A piece of data of any engine."""

    def described(self) -> dict[str, Any]:
        """What tells this piece from others, for the plan of a run."""
        ...


Cut = tuple[Sequence[Described], Engine]
"""Pieces, and what runs intervals on them."""


class Source(ABC):
    """Data that can be cut into pieces."""

    @abstractmethod
    def sample(self) -> Any:
        """What columns are inferred from: names of files, or a table of the first rows."""

    @abstractmethod
    def examples(self) -> int:
        """About how many examples there are."""

    @abstractmethod
    def cut(self, count: int, engine: Engine | None) -> AbstractContextManager[Cut]:
        """About so many pieces, and the engine given, or one for such pieces, for a while."""


class Files(Source):
    """Names of files."""

    def __init__(self, files: Any, format: str, choices: ColumnChoices) -> None:
        given = [files] if isinstance(files, str | os.PathLike) else files
        self.files, self.format, self.choices = given, format, choices

    def sample(self) -> Any:
        return self.files

    def examples(self) -> int:
        return about_examples(self.files, format=self.format)

    @contextmanager
    def cut(self, count: int, engine: Engine | None) -> Iterator[Cut]:
        pieces = cut(self.files, count, format=self.format, choices=self.choices)
        yield pieces, engine or in_processes


class Table(Source):
    """A table in memory, of any library that has the Arrow C stream interface."""

    def __init__(self, table: Any) -> None:
        self.rows = pyarrow_for("a table that is cut").table(table)

    def sample(self) -> Any:
        return self.rows

    def examples(self) -> int:
        count: int = self.rows.num_rows
        return count

    @contextmanager
    def cut(self, count: int, engine: Engine | None) -> Iterator[Cut]:
        yield cut_table(self.rows, count), engine or in_processes


def source_of(data: Any, format: str, choices: ColumnChoices) -> Source:
    """The data as something that can be cut, by their type."""
    library = type(data).__module__
    if library.startswith("ray.data"):
        from lessregret.distributed.on_ray import RayDataset

        return RayDataset(data)
    if library.startswith("pyspark.sql"):
        from lessregret.distributed.on_spark import SparkFrame

        return SparkFrame(data)
    if isinstance(data, Source):
        return data
    if is_table(data):
        return Table(data)
    return Files(data, format, choices)
