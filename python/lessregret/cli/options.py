"""Options that several commands share."""

from __future__ import annotations

import click

FORMATS = ("auto", "svmlight", "vw")

data_argument = click.argument("data", nargs=-1, required=True, metavar="DATA...")
format_option = click.option(
    "--format",
    type=click.Choice(FORMATS),
    default="auto",
    show_default=True,
    help="The format of DATA; 'auto' takes a first line with a '|' for Vowpal Wabbit's.",
)
bad_lines_option = click.option(
    "--bad-lines",
    type=click.Choice(["stop", "skip"]),
    default="stop",
    show_default=True,
    help="Stop at a bad line, or count it and go on.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
