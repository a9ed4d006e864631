"""``lessregret paper``: a claim of the paper, re-run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lessregret.cli.options import json_option
from lessregret.cli.outputs import plan
from lessregret.data.files import Output
from lessregret.data.output import write_file
from lessregret.paper import CLAIMS, module_of

if TYPE_CHECKING:
    from lessregret.paper.finding import Finding, Request

NAMES = "\n\n".join(f"\b\n{name}\n  {about}" for name, about in CLAIMS.items())


@click.command("paper", epilog=f"The claims:\n\n{NAMES}")
@click.argument("name", type=click.Choice([*CLAIMS, "all"]), metavar="NAME")
@click.option(
    "--data",
    "folder",
    type=click.Path(file_okay=False),
    help="The folder that holds the data sets. 'lessregret data' shows the default folder.",
)
@click.option(
    "--shuffles",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="The number of random orders of the examples that table1 averages over.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="The random seed.",
)
@click.option(
    "--examples",
    type=click.IntRange(1000),
    default=1_000_000,
    show_default=True,
    help="The number of ad impressions in each simulated click log of table2.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False),
    help="Write NAME.md, NAME.json and NAME.png into this folder. 'all' also writes index.html.",
)
@json_option
def command(
    name: str,
    folder: str | None,
    shuffles: int,
    seed: int,
    examples: int,
    out: str | None,
    as_json: bool,
) -> None:
    """Re-run one claim of the paper, or all of them, and report whether the claim holds.

    The paper is Streeter and McMahan (2010), "Less Regret via Online Conditioning". The result is
    printed as Markdown, or as one JSON document with --json. 'all --out DIR' also writes
    DIR/index.html, one page with the tables, verdicts and pictures of all claims.
    """
    from lessregret.data.datasets import DataHome
    from lessregret.paper.finding import Request

    home = DataHome(Path(folder)) if folder else DataHome.default()
    plan([Output("--out", "the pages", out)] if out else [])
    names = list(CLAIMS) if name == "all" else [name]
    request = Request(home, shuffles, seed, examples)
    findings: dict[str, Finding] = {}
    for place, each in enumerate(names, start=1):
        if len(names) > 1:
            click.echo(f"{each}: {place} of {len(names)}", err=True)
        findings[each] = _run(each, request)
        # Each as soon as it is there: all of them take minutes, and a later one may fail.
        if out is not None:
            _write(Path(out), each, findings[each])
    if out is not None and name == "all":
        _write_page(Path(out), findings)
    if as_json:
        documents = [finding.as_dict() for finding in findings.values()]
        click.echo(json.dumps({"findings": documents} if name == "all" else documents[0], indent=2))
    else:
        click.echo("\n".join(finding.markdown() for finding in findings.values()), nl=False)


def _run(name: str, request: Request) -> Finding:
    def done(what: str) -> None:
        click.echo(f"{name}: {what}", err=True)

    finding: Finding = module_of(name).run(request, done)
    click.echo(f"{name}: {finding.verdict}", err=True)
    return finding


def _write(folder: Path, name: str, finding: Finding) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / f"{name}.md", finding.markdown().encode())
    document = json.dumps(finding.as_dict(), indent=2)
    write_file(folder / f"{name}.json", f"{document}\n".encode())
    if finding.rows:
        module_of(name).draw(finding, str(folder / f"{name}.png"))


def _write_page(folder: Path, findings: dict[str, Finding]) -> None:
    from lessregret.paper.page import write_page

    modules = {name: module_of(name) for name in findings}
    write_page(folder / "index.html", findings, modules, "lessregret paper all --out DIR")
