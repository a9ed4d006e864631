"""``lessregret generate``: data made here, for demonstrations and benchmarks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

import click

from lessregret.cli.outputs import check_files, open_bytes

if TYPE_CHECKING:
    from gzip import GzipFile

    from lessregret.data.generate import ClickWorld

FORMATS = ("vw", "libsvm", "csv")


@click.group("generate")
def command() -> None:
    """Generate simulated data."""


@command.command("clicks")
@click.option(
    "--examples",
    type=click.IntRange(1),
    default=100_000,
    show_default=True,
    help="The number of impressions to generate.",
)
@click.option(
    "--skip",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="The number of impressions to leave out at the start of the log. They are not computed.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="The random seed. With the same seed and options, a longer log begins with the shorter "
    "log.",
)
@click.option(
    "--phrase",
    help="Generate only queries that contain this phrase, one of the nine phrases in Table 2 of "
    'the paper, as in --phrase "auto insurance". The default is queries of all kinds.',
)
@click.option(
    "--click-rate",
    type=float,
    show_default="the phrase's, or 0.05",
    help="The expected fraction of impressions that are clicked.",
)
@click.option(
    "--drift",
    type=float,
    default=0.0,
    show_default=True,
    help="How fast the true weights change, from 0 to 10: the number of times per million "
    "impressions that all of them are gradually replaced.",
)
@click.option(
    "--format",
    type=click.Choice(FORMATS),
    default="vw",
    show_default=True,
    help="The format to write: Vowpal Wabbit text, LIBSVM (svmlight) text, or CSV with a header.",
)
@click.option(
    "--output",
    type=click.Path(dir_okay=False, allow_dash=True),
    default="-",
    show_default=True,
    help="The file to write to; '-' is stdout. A file whose name ends in .gz is compressed.",
)
def clicks(
    examples: int,
    skip: int,
    seed: int,
    phrase: str | None,
    click_rate: float | None,
    drift: float,
    format: str,
    output: str,
) -> None:
    """Simulate a log of ad impressions and clicks.

    The frequencies of queries and ads follow power laws. Clicks are drawn from a sparse logistic
    model whose weights are not part of the log.
    """
    from lessregret.data.generate import log_text

    world = _world(seed, phrase, click_rate, drift)
    check_files([], [], output=output)
    _write(log_text(world, examples, format=format, skip=skip), output)


def _world(seed: int, phrase: str | None, click_rate: float | None, drift: float) -> ClickWorld:
    from dataclasses import replace

    from lessregret.data.generate import ClickWorld, phrase_world

    world = ClickWorld() if phrase is None else phrase_world(phrase)
    rate = world.click_rate if click_rate is None else click_rate
    return replace(world, seed=seed, click_rate=rate, drift=drift)


def _write(pieces: Iterable[bytes], output: str) -> None:
    with open_bytes(output) as raw, _packed(raw, output) as file:
        file.writelines(pieces)


@contextmanager
def _packed(raw: IO[bytes], name: str) -> Iterator[IO[bytes] | GzipFile]:
    """The file itself, or one that packs what is written if the name ends in .gz."""
    if not name.endswith(".gz"):
        yield raw
        return
    import gzip

    # No time stamp, so that the same request gives the same bytes.
    with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed:
        yield packed
