"""Write docs/reference/cli.md from what ``--help`` says.

    python docs/generate_cli_reference.py

A test fails while the page and the command line differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from lessregret.cli import cli

PAGE = Path(__file__).parent / "reference" / "cli.md"
WIDTH = 78
HEAD = """\
# Command line

This page is what `--help` prints, written by `docs/generate_cli_reference.py`. Do not edit it.

stdout is data, stderr is for people. Exit codes: 0 done, 1 failed, 2 misused, 128 + n stopped by
signal n; see [errors](errors.md). The fields of `--json` are in [ledger](ledger.md#json-documents).
"""


def render() -> str:
    """The page."""
    return "\n".join([HEAD, *sections(cli, "lessregret", None)])


def sections(command: click.Command, name: str, parent: click.Context | None) -> Iterator[str]:
    """The help of a command, then those of its own commands."""
    context = click.Context(
        command, parent, info_name=name, terminal_width=WIDTH, **command.context_settings
    )
    yield f"## `{context.command_path}`\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            assert found is not None
            yield from sections(found, child, context)


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
