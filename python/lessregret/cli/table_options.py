"""The options that say what the columns of a table are, for all commands that read tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from lessregret.cli.namespaces import with_namespaces
from lessregret.data.column_choices import ColumnChoices
from lessregret.errors import SpecError

if TYPE_CHECKING:
    from lessregret.data.given import GivenData

Command = TypeVar("Command", bound=Callable[..., Any])


class Words(click.ParamType[tuple[str, ...]]):
    """Words with commas between them."""

    name = "words"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, ...]:
        return value if isinstance(value, tuple) else tuple(value.split(","))


def _several(kind: str, help: str) -> Callable[[Command], Command]:
    return click.option(f"--{kind}", type=Words(), multiple=True, metavar="COLUMNS", help=help)


def _one(kind: str, help: str) -> Callable[[Command], Command]:
    return click.option(f"--{kind}", metavar="COLUMN", help=help)


READING: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--query",
        metavar="SELECT",
        help="Read the rows of this query in place of files. DuckDB runs it: names of CSV, Parquet "
        "and JSON files in quotes are tables, and DATA are databases whose tables it may name.",
    ),
    click.option(
        "--table", metavar="NAME", help="The table to read, if DATA is a database with several."
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
CHOOSING: tuple[Callable[[Any], Any], ...] = (
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
    _one(
        "base",
        "The column with a score that another model gave, which is added to the margin of each "
        "row.",
    ),
    _one("tag", "The column that is written beside the prediction of each row."),
    click.option(
        "--missing",
        type=Words(),
        multiple=True,
        metavar="SPELLINGS",
        help="How missing cells are spelled, beside empty cells. The default is ?, NA, N/A, NaN, "
        "nan, null and NULL.",
    ),
)


def table_options(command: Command) -> Command:
    """Add all options of tables to a command."""
    for option in reversed((*READING, *CHOOSING)):
        command = option(command)
    return command


def table_reading_options(command: Command) -> Command:
    """Add the options that say how a table is read, for a model that knows its columns."""
    for option in reversed(READING):
        command = option(command)
    return command


def take_data(options: dict[str, Any]) -> tuple[GivenData, dict[str, Any]]:
    """The data that options name, and the other options, with ``namespaces`` among them.

    ``--cross`` and ``--ignore`` are about the columns of tables and the namespaces of text.
    """
    from lessregret.data.given import given_data

    rest = dict(options)
    choices = choices_of(rest)
    query, table = rest.pop("query"), rest.pop("table")
    if not rest["data"] and query is None:
        raise click.UsageError("Missing argument 'DATA...'.")
    given = given_data(
        rest["data"], query=query, table=table, format=rest["format"], choices=choices
    )
    given.negatives_kept = rest.pop("negatives_kept", 1.0)
    given.follow = rest.pop("follow", False)
    _check_follow(given)
    if given.has_columns:
        given.choices = _of_columns(rest).over(choices)
    return given, with_namespaces({**NO_NAMESPACES, **rest})


def _check_follow(given: GivenData) -> None:
    if given.follow and len(given.files) != 1:
        found = f"{len(given.files)} files" if given.files else "a query"
        raise SpecError(f"--follow: expected one file, which does not end, found {found}")
    if given.follow and given.has_columns:
        raise SpecError(
            f"--follow: only text is followed, and {given.name} is a table, whose header would "
            "come again in every new file; give its rows by a pipe"
        )
    if given.follow and given.files == ["-"]:
        raise SpecError("--follow: standard input is always read as it comes; leave out --follow")


NO_NAMESPACES = dict.fromkeys(("quadratic", "cubic", "interactions", "cross", "keep", "ignore"), ())


def _of_columns(options: dict[str, Any]) -> ColumnChoices:
    """Crosses and what is ignored, taken out of the options, as choices of columns."""
    for name in ("quadratic", "cubic", "interactions", "keep"):
        if options.get(name):
            raise SpecError(
                f"--{name} is about namespaces, and a table has columns; use --cross user*hour and "
                "--ignore"
            )
    crosses, ignored = options.get("cross", ()), options.get("ignore", ())
    options.update({name: () for name in ("cross", "ignore") if name in options})
    return ColumnChoices(cross=crosses, ignore=tuple(w for one in ignored for w in one.split(",")))


def with_data(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a command, with the ``given`` data and a place for their ``schema``."""
    given, rest = take_data(options)
    return {**rest, "data": tuple(given.files) or (given.name,), "given": given, "schema": None}


def inferred_settings(
    ctx: click.Context, given: GivenData, quiet: bool, classes: list[str] | None = None
) -> dict[str, Any]:
    """For a table: the schema, and the loss that fits its labels, if none was asked for."""
    if not given.has_columns:
        return {}
    asked = ctx.get_parameter_source("loss") is ParameterSource.COMMANDLINE
    inferred = given.infer(ctx.params["loss"] if asked else None, classes)
    if inferred.schema.label is None:
        names = ", ".join(column.name for column in inferred.schema.columns)
        raise SpecError(f"a table needs --label, the column to predict; it has {names}")
    if not quiet:
        click.echo("\n".join([*inferred.lines(), ""]), err=True)
    return {"schema": inferred.schema, "loss": inferred.loss}


ONE = ("label", "positive", "weight", "base", "tag")
"""Options of tables that are one word."""


def choices_of(options: dict[str, Any]) -> ColumnChoices:
    """Take the options of tables out of all options of a command."""
    said = {name: options.pop(name, None) for name in ONE}
    for kind in ("number", "category", "text", "time"):
        said[kind] = tuple(_flat(options.pop(kind, ())))
    missing = tuple(_flat(options.pop("missing", ())))
    header, no_header = options.pop("header"), options.pop("no_header")
    delimiter = options.pop("delimiter")
    choices = ColumnChoices(
        **said,
        missing=("", *missing) if missing else None,
        header=() if no_header else header,
        delimiter="\t" if delimiter == "tab" else delimiter,
    )
    file = options.pop("columns_file", None)
    return choices if file is None else choices.over(ColumnChoices.read(file))


def _flat(lists: tuple[tuple[str, ...], ...]) -> Iterator[str]:
    return (word for words in lists for word in words)
