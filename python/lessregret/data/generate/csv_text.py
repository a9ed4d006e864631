"""The log as CSV, for tools that want columns with headings."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from io import StringIO
from itertools import chain
from typing import TYPE_CHECKING

from lessregret.data.generate.log import Block
from lessregret.data.generate.pages import POSITIONS
from lessregret.data.generate.vw_text import spelled

if TYPE_CHECKING:
    from lessregret.data.generate.world import ClickWorld

CSV_HEADER = b"click,query,query_words,ad,advertiser,keyword,ad_words,position\n"


@dataclass(frozen=True)
class CsvFragments:
    """The text of a line is a label, a query, an ad and a position."""

    labels: dict[int, bytes]
    queries: list[bytes]
    ads: list[bytes]
    positions: list[bytes]


def csv_lines(world: ClickWorld, block: Block) -> bytes:
    """The block as CSV, a line for each impression, without `CSV_HEADER`.

    click is 1 or 0; the words of a query or an ad stand in one cell, with blanks between. Crosses
    are left out, because they follow: each query word with the ad's keyword, the query with the ad.

    >>> from lessregret.data.generate import ClickWorld, impressions
    >>> world = ClickWorld(seed=1, queries=50, ads=64, words=40)
    >>> csv_lines(world, next(impressions(world, 1)))
    b'0,q8,cheap best free,a12,v202,cheap,cheap software flowers auto quotes new,0\\n'
    """
    text = world.csv_fragments
    pieces = zip(
        map(text.labels.__getitem__, block.labels.tolist()),
        map(text.queries.__getitem__, block.queries.tolist()),
        map(text.ads.__getitem__, block.ads.tolist()),
        map(text.positions.__getitem__, block.positions.tolist()),
        strict=True,
    )
    return b"".join(chain.from_iterable(pieces))


def csv_fragments(world: ClickWorld) -> CsvFragments:
    """The pieces of text that a world's lines are joined from."""
    market, words = world.market, world.spellings
    owned = zip(market.advertisers.tolist(), market.ad_words.tolist(), strict=True)
    return CsvFragments(
        labels={1: b"1,", -1: b"0,"},
        queries=[
            _cells(f"q{q}", " ".join(spelled(words, row)))
            for q, row in enumerate(market.query_words.tolist())
        ],
        ads=[
            _cells(f"a{a}", f"v{v}", words[a % world.keywords], " ".join(spelled(words, row)))
            for a, (v, row) in enumerate(owned)
        ],
        positions=[b"%d\n" % position for position in range(POSITIONS)],
    )


def _cells(*cells: str) -> bytes:
    """The cells, quoted where they must be, each with a comma after it."""
    line = StringIO()
    csv.writer(line, lineterminator=",").writerow(cells)
    return line.getvalue().encode()
