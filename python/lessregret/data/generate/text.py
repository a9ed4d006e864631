"""The text formats of a log by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from lessregret.data.generate.csv_text import CSV_HEADER, csv_lines
from lessregret.data.generate.libsvm_text import libsvm_lines
from lessregret.data.generate.log import Block, impressions
from lessregret.data.generate.vw_text import vw_lines
from lessregret.errors import SpecError

if TYPE_CHECKING:
    from lessregret.data.generate.world import ClickWorld


class TextFormat(NamedTuple):
    """What stands above the lines, and the lines of a block."""

    header: bytes
    lines: Callable[[ClickWorld, Block], bytes]


FORMATS = {
    "vw": TextFormat(b"", vw_lines),
    "libsvm": TextFormat(b"", libsvm_lines),
    "csv": TextFormat(CSV_HEADER, csv_lines),
}


def log_text(
    world: ClickWorld, examples: int, *, format: str = "vw", skip: int = 0
) -> Iterator[bytes]:
    """The log as text, its header included, some thousand lines at a time.

    >>> from lessregret.data.generate import ClickWorld
    >>> world = ClickWorld(seed=1, queries=50, ads=64, words=40)
    >>> print(b"".join(log_text(world, 1, format="csv")).decode(), end="")
    click,query,query_words,ad,advertiser,keyword,ad_words,position
    0,q8,cheap best free,a12,v202,cheap,cheap software flowers auto quotes new,0
    """
    if format not in FORMATS:
        raise SpecError(f"format must be one of {', '.join(FORMATS)}; got {format!r}")
    header, lines = FORMATS[format]
    blocks = impressions(world, examples, skip=skip)
    return chain([header], (lines(world, block) for block in blocks))
