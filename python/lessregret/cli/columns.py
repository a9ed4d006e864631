"""``lessregret columns``: what the columns of a table are taken for."""

from __future__ import annotations

import json
from typing import Any

import click

from lessregret.cli.options import data_or_query_argument, format_option, json_option
from lessregret.cli.outputs import check_files
from lessregret.cli.table_options import table_options, take_data
from lessregret.errors import SpecError


@click.command("columns")
@data_or_query_argument
@table_options
@click.option("--cross", multiple=True, metavar="NAME*NAME", help="Cross columns, as in user*hour.")
@click.option("--ignore", multiple=True, metavar="COLUMNS", help="Columns that are not used.")
@format_option
@json_option
def command(as_json: bool, **options: Any) -> None:
    """Show what the columns of DATA are taken for, from the first 10,000 rows.

    'train' reads the table by this schema if it is given the same options.
    """
    given, _ = take_data({**options, "quadratic": (), "cubic": (), "interactions": (), "keep": ()})
    check_files(given.files, [])
    if not given.has_columns:
        raise SpecError(f"{given.recognised.name}: not a table; --format csv reads it as one")
    inferred = given.infer()
    if as_json:
        document = {"loss": inferred.loss, **inferred.schema.as_dict()}
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join(inferred.lines()))
