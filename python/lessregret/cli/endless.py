"""The options of a training on input that does not end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

follow_option = click.option(
    "--follow",
    is_flag=True,
    help="Follow the files DATA as 'tail -F' does: at the end of a file wait for more lines, go on "
    "with the next file of that name when the file is rotated, and start again when it is "
    "truncated. For text formats. The run ends at Ctrl-C or SIGTERM.",
)


def endless_options(command: Command) -> Command:
    """Add the options to a command."""
    for option in (
        click.option(
            "--save-every",
            metavar="INTERVAL",
            help="Write the model to --model every so often while the run goes on: 10000 is every "
            "10,000 examples, 60s every 60 seconds (also 5m, 1h). A run on standard input, on a "
            "pipe or with --follow also saves when Ctrl-C or SIGTERM ends it.",
        ),
        click.option(
            "--unlabelled",
            type=click.Choice(["error", "predict"]),
            default="error",
            show_default=True,
            help="What to do with an example that has no label: stop with an error, or predict it "
            "and not learn from it, so that one pipe can serve and learn.",
        ),
        follow_option,
    ):
        command = option(command)
    return command
