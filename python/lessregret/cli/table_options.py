"""The options that say what the columns of a table are, for all commands that read tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import click

from lessregret.data.column_choices import ColumnChoices

Command = TypeVar("Command", bound=Callable[..., Any])


class Words(click.ParamType):
    """Words with commas between them."""

    name = "words"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, ...]:
        return value if isinstance(value, tuple) else tuple(value.split(","))


def _several(kind: str, help: str) -> Callable[[Command], Command]:
    return click.option(f"--{kind}", type=Words(), multiple=True, metavar="COLUMNS", help=help)


def _one(kind: str, help: str) -> Callable[[Command], Command]:
    return click.option(f"--{kind}", metavar="COLUMN", help=help)


OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--columns",
        "columns_file",
        type=click.Path(dir_okay=False),
        help='A TOML file with these options of tables, such as label = "clicked". Options on '
        "the command line come first.",
    ),
    _one("label", "For tables: the column to predict."),
    click.option(
        "--positive",
        metavar="LABEL",
        help="For tables: the label of the positive class. Every other label is then negative. The "
        "default, for two labels, is the one that sorts last.",
    ),
    _several("number", "Columns of numbers, with commas between. Other kinds are inferred."),
    _several("category", "Columns of categories."),
    _several(
        "text",
        "Columns of text, whose words are features. body:2 also has features for pairs of words "
        "that follow each other.",
    ),
    _several("time", "Columns of dates and times, in ISO 8601."),
    _one("weight", "The column with the importance of each row."),
    _one("tag", "The column that is written beside the prediction of each row."),
    click.option(
        "--missing",
        type=Words(),
        multiple=True,
        metavar="SPELLINGS",
        help="How missing cells are spelled, beside empty cells. The default is ?, NA, N/A, NaN, "
        "nan, null and NULL.",
    ),
    click.option(
        "--header",
        type=Words(),
        metavar="NAMES",
        help="The names of the columns, for a file without a header line.",
    ),
    click.option(
        "--no-header",
        is_flag=True,
        help="The file has no header line; its columns are called c1, c2 and so on.",
    ),
    click.option(
        "--delimiter",
        metavar="CHARACTER",
        help="What separates the cells of a CSV file: one character, or 'tab'. The default is "
        "found in the first line.",
    ),
)


def table_options(command: Command) -> Command:
    """Add all options of tables to a command."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def choices_of(options: dict[str, Any]) -> ColumnChoices:
    """Take the options of tables out of all options of a command."""
    said = {name: options.pop(name) for name in ("label", "positive", "weight", "tag")}
    for kind in ("number", "category", "text", "time", "ignore", "cross"):
        said[kind] = tuple(_flat(options.pop(kind, ())))
    missing = tuple(_flat(options.pop("missing")))
    header, no_header = options.pop("header"), options.pop("no_header")
    delimiter = options.pop("delimiter")
    choices = ColumnChoices(
        **said,
        missing=("", *missing) if missing else None,
        header=() if no_header else header,
        delimiter="\t" if delimiter == "tab" else delimiter,
    )
    file = options.pop("columns_file")
    return choices if file is None else choices.over(ColumnChoices.read(file))


def _flat(lists: tuple[tuple[str, ...], ...]) -> Iterator[str]:
    return (word for words in lists for word in words)
