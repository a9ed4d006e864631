"""The command line: one command a file, imported when it is called.

stdout is data, stderr is for people. Exit codes: 0 done, 1 failed, 2 misused, 128 + n stopped by
signal n.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from lessregret.cli.outputs import PLANNED, account
from lessregret.cli.standard_streams import STANDARD_OUTPUT, prepare_streams
from lessregret.cli.stopping import (
    FIRST_CODE,
    die_of,
    raise_at_signals,
    raise_waiting,
    signal_of,
)

COMMANDS = {
    "demo": "Compare per-coordinate rates with a global rate on a simulated click log.",
    "train": "Train a model on tables or text and report its loss and regret.",
    "columns": "Show what the columns of a table are taken for.",
    "predict": "Predict examples with a trained model.",
    "explain": "Show what each feature gave to a prediction.",
    "serve": "Learn while serving, over HTTP.",
    "merge": "Merge models that were trained on from one start.",
    "convert": "Convert text to an Arrow file, which is read faster.",
    "inspect": "Show the contents of a model file.",
    "compare": "Compare several rules on the same data.",
    "regret": "Measure the regret of rules against the best fixed model.",
    "paper": "Re-run a claim of the paper that this package implements.",
    "generate": "Generate simulated data.",
    "data": "List the real data sets that can be loaded, and which are missing.",
}


class LazyCommands(click.Group):
    """A group that knows its commands' names and first lines, and imports one when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"lessregret.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda ctx, _, asked: _show_version(ctx, asked),
    help="Show the version.",
)
def cli() -> None:
    """Online learning of linear models, with a report of the regret."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    prepare_streams()
    raise_at_signals()
    code = run(sys.argv[1:] if arguments is None else arguments)
    die_of(code)
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run the command line; every error becomes a sentence on stderr and an exit code."""
    PLANNED.clear()
    try:
        # Commands find what was typed as the object of their context.
        given = list(arguments)
        outcome = cli.main(given, prog_name="lessregret", standalone_mode=False, obj=given.copy())
        sys.stdout.flush()
        raise_waiting()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (BrokenPipeError, SystemExit):
        # The reader of our output has gone, as after `| head`; click then leaves by SystemExit.
        # Python would complain once more when it flushes stdout at exit.
        sys.stdout = None
        return 1
    except (Exception, KeyboardInterrupt) as error:
        return _fail(*_explained(error))
    return outcome if isinstance(outcome, int) else 0


def _explained(error: BaseException) -> tuple[str, int]:
    """What to say of an error, and the exit code."""
    from lessregret.errors import LessRegretError, SpecError

    if isinstance(error, click.Abort) and error.__cause__ is not None:
        # click turns an interrupt into an Abort, whose cause it is.
        error = error.__cause__
    number = signal_of(error)
    if number is not None:
        return f"stopped by {number.name}; {account()}", FIRST_CODE + number
    if isinstance(error, LessRegretError):
        return str(error), 2 if isinstance(error, SpecError) else 1
    if isinstance(error, OSError):
        if error.filename == STANDARD_OUTPUT:
            # Python would complain once more when it flushes stdout at exit.
            sys.stdout = None
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror or error}", 1
    if isinstance(error, MemoryError):
        return "out of memory; use fewer --bits", 1
    if os.environ.get("LESSREGRET_TRACEBACK"):
        raise error
    cure = "a bug of lessregret's; set LESSREGRET_TRACEBACK=1 to see where, and report it"
    return f"{type(error).__name__}: {error} ({cure})", 1


def _fail(sentence: str, code: int) -> int:
    click.echo(f"lessregret: error: {sentence}", err=True)
    return code


def _show_version(ctx: click.Context, asked: bool) -> None:
    if not asked or ctx.resilient_parsing:
        return
    from lessregret._core import __version__

    click.echo(f"lessregret {__version__}")
    ctx.exit()
