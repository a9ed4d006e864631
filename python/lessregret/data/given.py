"""The data of a run: text, CSV files or a table, opened for the feature space of a learner.

    names of files, a query, a data frame ─recognise─▶ given data ─infer─▶ schema
                                                            └──────open──▶ examples

Whatever the data are, what comes out are examples. Tables need a schema: it is inferred for a new
model, and a model that was trained on a table has one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lessregret.data.arrow_tables import ArrowTable
from lessregret.data.column_choices import ColumnChoices
from lessregret.data.recognise import Recognised, recognise
from lessregret.data.streams import TABLES, TEXTS, Data, ExampleStream, open_examples, total_bytes
from lessregret.data.tables import Inferred, delimiter_of, inferred_from, sample_csv
from lessregret.errors import SpecError
from lessregret.learners.space import FeatureSpace, HasSpace, space_of


@dataclass
class GivenData(Data):
    """Data that were recognised, with what the user says of their columns.

    :func:`given_data` creates it.
    """

    recognised: Recognised
    format: str = "auto"
    choices: ColumnChoices = field(default_factory=ColumnChoices)
    negatives_kept: float = 1.0
    """the fraction of the negatives that the data kept: each stands for 1/negatives_kept of them"""
    follow: bool = False
    """whether the lines are those of a log that grows, as ``tail -F`` reads it"""
    on_open: Callable[[ExampleStream], object] | None = None
    """told of every stream that is opened"""
    _sampled: ArrowTable | None = None

    @property
    def files(self) -> list[str]:
        """The names of the files; none for an object and for a query."""
        return list(self.recognised.files)

    @property
    def name(self) -> str:
        """What messages call the data."""
        named = ", ".join("<stdin>" if file == "-" else file for file in self.files)
        return named or self.recognised.name

    @property
    def is_endless(self) -> bool:
        """Whether more may come at the end: the data are followed, or a file is a pipe."""
        return self.follow or any(map(_is_pipe, self.files))

    @property
    def has_columns(self) -> bool:
        """Whether the data are rows of a table."""
        is_text = self.recognised.kind == "text" and self.format not in TABLES
        return not is_text or (self.format == "auto" and self.choices.label is not None)

    @property
    def total_bytes(self) -> int | None:
        """The size of the files, for a progress bar; None where bytes are not counted."""
        is_counted = self.recognised.kind != "table" and self.files and not self.follow
        return total_bytes(self.files) if is_counted else None

    def infer(self, loss: str | None = None, classes: Sequence[str] | None = None) -> Inferred:
        """What the columns are and which loss fits the labels, if no loss is given.

        ``classes`` are the names of many classes; an empty list asks for those of the first rows.
        """
        if self.recognised.kind == "table":
            self._sampled = self._table()
            sampled = self._sampled.sample(self.choices.spellings)
        else:
            choices = replace(self.choices, delimiter=self._delimiter)
            sampled = sample_csv(self.files[0], choices)
        return inferred_from(sampled, self.choices, loss=loss, classes=classes)

    def open(self, space: FeatureSpace | HasSpace, **options: Any) -> ExampleStream:
        """The examples; the options are those of :func:`open_examples`."""
        stream = self._open(space, options)
        if self.negatives_kept != 1:
            stream.core.negatives_kept(self.negatives_kept)
        if self.on_open is not None:
            self.on_open(stream)
        return stream

    def _open(self, space: FeatureSpace | HasSpace, options: dict[str, Any]) -> ExampleStream:
        options.pop("format", None)
        if self.follow:
            options["follow"] = self._check_follow(space)
        if self.recognised.kind == "table":
            # The rows of a sample come first, for a reader that can be read only once.
            table, self._sampled = self._sampled or self._table(), None
            return table.examples(space, **options)
        is_text = self.format in TEXTS or not (self.has_columns or _has_columns(space))
        if is_text:
            return open_examples(self.files, space, format=self.format, **options)
        return self._open_csv(space, options)

    def _check_follow(self, space: FeatureSpace | HasSpace) -> bool:
        if self.has_columns or _has_columns(space):
            raise SpecError(
                f"{self.name}: only text is followed, and this is a table, whose header would come "
                "again in every new file; give its rows by a pipe, with '-' and --format csv"
            )
        return True

    def _open_csv(self, space: FeatureSpace | HasSpace, options: dict[str, Any]) -> ExampleStream:
        header = self.choices.header
        names = list(header) if header else None
        schema = space_of(space).schema
        if header == () and schema is not None:
            # A file without a header has the columns of the schema, in their order.
            names = [column.name for column in schema.columns]
        return open_examples(
            self.files,
            space,
            format="csv",
            delimiter=self._delimiter,
            header=header is None,
            column_names=names,
            **options,
        )

    @property
    def _delimiter(self) -> str:
        if self.choices.delimiter is not None:
            return self.choices.delimiter
        return "\t" if self.format == "tsv" else delimiter_of(self.files[0])

    def _table(self) -> ArrowTable:
        return ArrowTable(self.recognised.table, self.recognised.name)


def given_data(
    data: Any,
    *,
    query: str | None = None,
    table: str | None = None,
    format: str = "auto",
    choices: ColumnChoices | None = None,
) -> GivenData:
    """Find out what data are; see :func:`lessregret.train` for the parameters."""
    choices = choices or ColumnChoices()
    if isinstance(data, GivenData):
        return data
    given = GivenData(recognise(data, query=query, table=table), format, choices)
    if choices.are_made and not given.has_columns and format != "auto":
        raise SpecError(
            f"{given.recognised.name}: columns are named, but {format} text has none; leave out "
            "what is said of columns, or the format"
        )
    return given


def _is_pipe(file: str) -> bool:
    return file == "-" or (os.path.exists(file) and not os.path.isfile(file))


def _has_columns(space: FeatureSpace | HasSpace) -> bool:
    schema = space_of(space).schema
    return schema is not None and bool(schema.columns)
