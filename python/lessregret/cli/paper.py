"""``lessregret paper``: a claim of the paper, re-run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lessregret.cli.options import json_option
from lessregret.paper import CLAIMS, module_of

if TYPE_CHECKING:
    from lessregret.paper.finding import Finding


@click.command("paper", epilog="\b\n" + "\n".join(f"{k}: {v}" for k, v in CLAIMS.items()))
@click.argument("name", type=click.Choice(list(CLAIMS)))
@click.option("--data", "folder", type=click.Path(file_okay=False), help="The data home.")
@click.option(
    "--shuffles", type=click.IntRange(1), default=20, show_default=True, help="Runs to average."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the runs.")
@click.option(
    "--out",
    type=click.Path(file_okay=False),
    help="Write NAME.md, NAME.json and NAME.png into this folder.",
)
@json_option
def command(
    name: str, folder: str | None, shuffles: int, seed: int, out: str | None, as_json: bool
) -> None:
    """Re-run one claim of the paper: its table, a verdict, a picture.

    Prints Markdown, or one JSON document with --json.
    """
    from lessregret.datasets import DataHome
    from lessregret.paper.finding import Request

    module = module_of(name)
    home = DataHome(Path(folder)) if folder else DataHome.default()
    done = lambda what: click.echo(f"done: {what}", err=True)  # noqa: E731
    finding = module.run(Request(home, shuffles, seed), done)
    if out is not None:
        _write(Path(out), name, finding, module)
    if as_json:
        click.echo(json.dumps(finding.as_dict(), indent=2))
    else:
        click.echo(finding.markdown(), nl=False)


def _write(folder: Path, name: str, finding: Finding, module: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text(finding.markdown(), encoding="utf-8")
    document = json.dumps(finding.as_dict(), indent=2)
    (folder / f"{name}.json").write_text(document + "\n", encoding="utf-8")
    module.draw(finding, str(folder / f"{name}.png"))
