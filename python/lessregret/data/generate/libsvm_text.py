"""The log as LIBSVM text."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from lessregret.data.generate.log import Block
from lessregret.data.generate.numbering import NO_COLUMN, Columns, cross_rows
from lessregret.data.generate.pages import POSITIONS

if TYPE_CHECKING:
    from lessregret.data.generate.world import ClickWorld


@dataclass(frozen=True)
class LibsvmFragments:
    """The text of a line is a label, a position, a query, an ad, a cross and a pair.

    Pairs are the most, and written when they are met.
    """

    labels: dict[int, bytes]
    positions: list[bytes]
    queries: list[bytes]
    ads: list[bytes]
    crosses: list[bytes]


def libsvm_lines(world: ClickWorld, block: Block) -> bytes:
    """The block as LIBSVM text, a line for each impression, with the features of `vw_lines`.

    An index is a column of `world.numbering` and one: they start at 1 and ascend in each line.

    >>> from lessregret.data.generate import ClickWorld, impressions
    >>> world = ClickWorld(seed=1, queries=50, ads=64, words=40)
    >>> libsvm_lines(world, next(impressions(world, 1)))[:33]
    b'-1 1:1 13:1 55:1 56:1 58:1 107:1 '
    """
    text = world.libsvm_fragments
    pieces = zip(
        map(text.labels.__getitem__, block.labels.tolist()),
        map(text.positions.__getitem__, block.positions.tolist()),
        map(text.queries.__getitem__, block.queries.tolist()),
        map(text.ads.__getitem__, block.ads.tolist()),
        map(text.crosses.__getitem__, cross_rows(block).tolist()),
        map(b" %d:1\n".__mod__, (world.numbering.pairs(block) + 1).tolist()),
        strict=True,
    )
    return b"".join(chain.from_iterable(pieces))


def libsvm_fragments(world: ClickWorld) -> LibsvmFragments:
    """The pieces of text that a world's lines are joined from."""
    of = world.numbering
    return LibsvmFragments(
        labels={1: b"1", -1: b"-1"},
        positions=[b" %d:1" % (column + 1) for column in range(POSITIONS)],
        queries=_features(of.queries),
        ads=_features(of.ads),
        crosses=_features(of.crosses),
    )


def _features(table: Columns) -> list[bytes]:
    return [
        b"".join(b" %d:1" % (column + 1) for column in row if column != NO_COLUMN)
        for row in table.tolist()
    ]
