"""``lessregret generate``: data made here, for demonstrations and benchmarks."""

from __future__ import annotations

import click


@click.group("generate")
def command() -> None:
    """Generate data."""


@command.command("clicks")
@click.option(
    "--examples",
    type=click.IntRange(1),
    default=100_000,
    show_default=True,
    help="How many impressions.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="The same seed gives the same log; a longer log begins with the shorter one.",
)
@click.option(
    "--click-rate",
    type=float,
    default=0.05,
    show_default=True,
    help="The share of impressions that are clicked, about.",
)
@click.option(
    "--output",
    type=click.Path(dir_okay=False, allow_dash=True),
    default="-",
    show_default=True,
    help="Where to; a name in .gz is gzipped.",
)
def clicks(examples: int, seed: int, click_rate: float, output: str) -> None:
    """Simulate a log of ad impressions, as Vowpal Wabbit text.

    Queries and ads follow power laws; a hidden sparse logistic model decides the clicks.
    """
    from lessregret.generate import ClickWorld, impressions, vw_lines

    world = ClickWorld(seed=seed, click_rate=click_rate)
    blocks = impressions(world, examples)
    with click.open_file(output, "wb") as raw:
        if output.endswith(".gz"):
            import gzip

            # No time stamp, so that the same request gives the same bytes.
            with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed:
                packed.writelines(vw_lines(world, block) for block in blocks)
        else:
            raw.writelines(vw_lines(world, block) for block in blocks)
