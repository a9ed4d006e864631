"""``lessregret demo``: the main job in under a minute, with nothing to download."""

from __future__ import annotations

import json
import sys
import tempfile
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lessregret.cli.options import json_option
from lessregret.cli.outputs import check_files
from lessregret.report.wording import number

if TYPE_CHECKING:
    from lessregret.learners.learner import Learner
    from lessregret.learners.rules import Rule
    from lessregret.ledger import Ledger

BITS = 20
RADIUS = 1.0
FIRST_BLOCK = 1000
TENTH = 0.1 * 2**0.5 * RADIUS
"""§5.2 of the paper scales its formulas by 0.1: here the theorem's D_i/√2 = √2 R (see E16)."""


@click.command("demo")
@click.option(
    "--examples",
    type=click.IntRange(1000),
    default=500_000,
    show_default=True,
    help="The number of ad impressions to simulate.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="The random seed of the click log.",
)
@click.option(
    "--picture",
    type=click.Path(dir_okay=False),
    default="lessregret-demo.png",
    show_default=True,
    help="The file to write the plot of the losses to.",
)
@json_option
def command(examples: int, seed: int, picture: str, as_json: bool) -> None:
    """Train on a simulated click log with one global rate and with one rate per coordinate.

    The setting is that of §5.2 of the paper (Streeter and McMahan 2010, "Less Regret via Online
    Conditioning"): logistic loss, weights in [-1, 1]. Each of the two rules runs twice, as in the
    paper: at the rate for which its theorem is proved, and at a tenth of that rate. The fifth run
    is the default of this package, a mixture of several lanes. No parameter is tuned.
    """
    from lessregret.report.demo_picture import draw

    check_files([], [], picture=picture)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "clicks.vw"
        least = _write_log(log, examples, seed)
        runs = _learn_all(log)
    document = _document(runs, examples, seed, least, picture)
    draw(picture, runs, least)
    if as_json:
        click.echo(json.dumps(document, indent=2))
    else:
        _print(document)


@dataclass
class Run:
    """One rule on the log, and how it went."""

    title: str
    rule: Rule
    learner: Learner
    rounds: list[int] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    certificates: list[float] = field(default_factory=list)
    bounds: list[float] = field(default_factory=list)

    def checkpoint(self) -> Ledger:
        """Note where the run stands."""
        ledger = self.learner.ledger()
        self.rounds.append(ledger.rounds)
        self.losses.append(ledger.mean_loss or 0.0)
        self.certificates.append((ledger.linear_regret or 0.0) / ledger.rounds)
        self.bounds.append((ledger.bound or 0.0) / ledger.rounds)
        return ledger


def _write_log(path: Path, examples: int, seed: int) -> float:
    """Write the click log; the mean entropy of its clicks, which no predictor can beat."""
    from lessregret.data.generate import ClickWorld, impressions, vw_lines

    world = ClickWorld(seed=seed)
    entropy = 0.0
    with path.open("wb") as file:
        for block in impressions(world, examples):
            file.write(vw_lines(world, block))
            entropy += block.entropy * len(block)
    return entropy / examples


def _runs() -> list[Run]:
    from lessregret.learners.learner import Learner
    from lessregret.learners.rules import Global, PerCoordinate

    rules: list[tuple[str, Rule]] = [
        ("Global, theorem's rate", Global(rate="theory", radius=RADIUS)),
        ("Per-Coord, theorem's rate", PerCoordinate(rate="theory", radius=RADIUS)),
        ("Global, a tenth of it", Global(rate=TENTH, radius=RADIUS)),
        ("Per-Coord, a tenth of it", PerCoordinate(rate=TENTH, radius=RADIUS)),
        ("Per-Coord, no rate chosen", PerCoordinate(radius=RADIUS)),
    ]
    return [
        Run(title, rule, Learner("logistic", rule, bits=BITS, certify=True))
        for title, rule in rules
    ]


def _learn_all(log: Path) -> list[Run]:
    """All runs side by side, a block of examples each in turn."""
    from lessregret.data.streams import BLOCK, open_examples

    runs = _runs()
    streams = [open_examples([str(log)], run.learner) for run in runs]
    with _Display(runs, log.stat().st_size) as display:
        more = True
        limit = FIRST_BLOCK
        while more:
            for run, stream in zip(runs, streams, strict=True):
                more = len(run.learner.learn(stream, limit=limit)) > 0
                if more:
                    run.checkpoint()
            display.update(streams[0].bytes_read)
            # Short blocks first, so that the curves show the beginning.
            limit = min(BLOCK, 2 * limit)
    return runs


class _Display:
    """A bar for each rule on a terminal, a line at the end of each on a pipe."""

    def __init__(self, runs: list[Run], total: int) -> None:
        self._runs = runs
        self._total = total
        self._live = sys.stderr.isatty()

    def __enter__(self) -> _Display:
        if self._live:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            columns = (
                TextColumn("{task.description:<26}"),
                BarColumn(),
                TextColumn("{task.fields[loss]}"),
            )
            self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
            self._progress.start()
            self._tasks = [
                self._progress.add_task(run.title, total=self._total, loss="") for run in self._runs
            ]
        return self

    def update(self, bytes_read: int) -> None:
        if not self._live:
            return
        for task, run in zip(self._tasks, self._runs, strict=True):
            loss = f"loss so far {run.losses[-1]:.4f}"
            self._progress.update(task, completed=bytes_read, loss=loss)

    def __exit__(self, *_: Any) -> None:
        if self._live:
            self._progress.stop()


def _document(
    runs: list[Run], examples: int, seed: int, least: float, picture: str
) -> dict[str, Any]:
    return {
        "examples": examples,
        "seed": seed,
        "entropy": least,
        "rows": [
            {
                "title": run.title,
                "rule": run.rule.name,
                "rate": run.learner.spec["rule"]["rate"],
                "mean_loss": run.losses[-1],
                "linear_regret": run.certificates[-1] * examples,
                "bound": run.bounds[-1] * examples,
            }
            for run in runs
        ],
        "picture": picture,
    }


def _print(document: dict[str, Any]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    examples = document["examples"]
    table = Table(box=box.SIMPLE_HEAD, title=f"{examples:,} ad impressions, weights in [-1, 1]")
    table.add_column("rule")
    for heading in (
        "mean log loss",
        "regret/round\nat most, measured",
        "regret/round\nat most, proved",
    ):
        table.add_column(heading, justify="right")
    *others, default = document["rows"]
    # First what a user would run.
    for row in (default, *others):
        table.add_row(
            row["title"],
            number(row["mean_loss"], 4),
            number(row["linear_regret"] / examples, 4),
            number(row["bound"] / examples, 4),
        )
    Console(width=86, highlight=False).print(table)
    click.echo(textwrap.fill(_sentence(document), width=86))
    click.echo(f"Picture: {document['picture']}")


def _sentence(document: dict[str, Any]) -> str:
    """What the table shows, in sentences made from its numbers."""
    wide, own, *_, mixed = document["rows"]
    ratio = wide["bound"] / own["bound"]
    return (
        f"With no rate chosen, several models mixed by their losses lose {mixed['mean_loss']:.3f}; "
        f"no predictor could expect less than {document['entropy']:.3f}. `lessregret train` mixes "
        f"them in the same way. The other four are the paper's: at the rates their theorems are "
        f"proved for, a rate for each coordinate is guaranteed {ratio:.1f} times less regret than "
        f"one rate for all, and its loss is {own['mean_loss']:.3f} against "
        f"{wide['mean_loss']:.3f}. Smaller rates do better on this log, though less is proved of "
        f"them."
    )
