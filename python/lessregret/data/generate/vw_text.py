"""The log as Vowpal Wabbit text."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from lessregret.data.generate.log import Block
from lessregret.data.generate.market import NO_WORD
from lessregret.data.generate.numbering import cross_rows
from lessregret.data.generate.pages import POSITIONS

if TYPE_CHECKING:
    from lessregret.data.generate.world import ClickWorld


@dataclass(frozen=True)
class Fragments:
    """The text of a line is a label, a query, an ad, a cross, the end of a pair and a position.

    Not a query with an ad: there are many more pairs than queries and ads.
    """

    labels: dict[int, bytes]
    queries: list[bytes]
    ads: list[bytes]
    crosses: list[bytes]
    pair_ends: list[bytes]
    positions: list[bytes]


def vw_lines(world: ClickWorld, block: Block) -> bytes:
    """The block as Vowpal Wabbit text, a line for each impression.

    Namespaces: q the query, w its words, a the ad and its advertiser, t the ad's words, x the
    query's words crossed with the ad's keyword and the query with the ad, p the position.

    >>> from lessregret.data.generate import ClickWorld, impressions
    >>> world = ClickWorld(seed=1, queries=50, ads=64, words=40)
    >>> line = vw_lines(world, next(impressions(world, 1))).decode().strip()
    >>> for namespace in line.split(" |"):
    ...     print(namespace)
    -1
    q q8
    w cheap best free
    a a12 v202
    t cheap software flowers auto quotes new
    x cheap^cheap best^cheap free^cheap q8^a12
    p p0
    """
    text = world.vw_fragments
    queries, ads = block.queries.tolist(), block.ads.tolist()
    pieces = zip(
        map(text.labels.__getitem__, block.labels.tolist()),
        map(text.queries.__getitem__, queries),
        map(text.ads.__getitem__, ads),
        map(text.crosses.__getitem__, cross_rows(block).tolist()),
        map(text.pair_ends.__getitem__, ads),
        map(text.positions.__getitem__, block.positions.tolist()),
        strict=True,
    )
    return b"".join(chain.from_iterable(pieces))


def vw_fragments(world: ClickWorld) -> Fragments:
    """The pieces of text that a world's lines are joined from."""
    market, words = world.market, world.spellings
    query_words = [spelled(words, row) for row in market.query_words.tolist()]
    ad_words = [spelled(words, row) for row in market.ad_words.tolist()]
    advertisers = market.advertisers.tolist()
    return Fragments(
        labels={1: b"1", -1: b"-1"},
        queries=[f" |q q{q} |w {' '.join(row)}".encode() for q, row in enumerate(query_words)],
        ads=[
            f" |a a{a} v{v} |t {' '.join(row)}".encode()
            for a, (v, row) in enumerate(zip(advertisers, ad_words, strict=True))
        ],
        crosses=[
            f" |x {' '.join(_crossed(row, words[keyword]))} q{q}".encode()
            for q, row in enumerate(query_words)
            for keyword in market.query_keywords[q].tolist()
        ],
        pair_ends=[f"^a{a}".encode() for a in range(len(advertisers))],
        positions=[f" |p p{position}\n".encode() for position in range(POSITIONS)],
    )


def spelled(words: list[str], row: list[int]) -> list[str]:
    """The words of a row, spelled."""
    return [words[word] for word in row if word != NO_WORD]


def _crossed(query_words: list[str], keyword: str) -> list[str]:
    return [f"{word}^{keyword}" for word in query_words]
