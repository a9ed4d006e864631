"""A fixed number for every feature of a world, known before the first impression.

Columns, from 0, go kind by kind, and by number within a kind:

    positions · queries · query words · ads · advertisers · ad words · crosses · pairs

A feature that no impression shows has a column all the same. Rows name their columns ascending,
because an impression names its features in the order of the kinds and words are sorted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lessregret.data.generate.draws import Floats, Ids
from lessregret.data.generate.market import ADS_PER_QUERY_KEYWORD, CANDIDATES, KEYWORDS_PER_QUERY
from lessregret.data.generate.pages import POSITIONS

if TYPE_CHECKING:
    from lessregret.data.generate.log import Block
    from lessregret.data.generate.truth import Truth
    from lessregret.data.generate.world import ClickWorld

Columns: TypeAlias = NDArray[np.int32]
NO_COLUMN = -1

KINDS = (
    "positions",
    "queries",
    "query_words",
    "ads",
    "advertisers",
    "ad_words",
    "crosses",
    "pairs",
)


@dataclass(frozen=True)
class Numbering:
    """The columns by kind, and of each query, ad and query with keyword, ascending.

    `first[kind]` is the first column of a kind. Rows of fewer features have `NO_COLUMN` in front.
    """

    first: dict[str, int]
    columns: int
    queries: Columns
    ads: Columns
    crosses: Columns

    def pairs(self, block: Block) -> Ids:
        """The column of each impression's query crossed with its ad."""
        return self.first["pairs"] + block.queries * CANDIDATES + block.candidates

    def flat(self, truth: Truth) -> Floats:
        """The weights by column."""
        return np.concatenate([getattr(truth, kind).ravel() for kind in KINDS])

    def names(self, world: ClickWorld) -> list[str]:
        """The name of each column, `namespace^feature` as in Vowpal Wabbit text."""
        market, words = world.market, world.spellings
        return [
            *(f"p^p{k}" for k in range(POSITIONS)),
            *(f"q^q{k}" for k in range(world.queries)),
            *(f"w^{word}" for word in words),
            *(f"a^a{k}" for k in range(world.ads)),
            *(f"a^v{k}" for k in range(world.advertisers)),
            *(f"t^{word}" for word in words),
            *_cross_names(world),
            *(f"x^q{q}^a{a}" for q, row in enumerate(market.candidates.tolist()) for a in row),
        ]


def cross_rows(block: Block) -> Ids:
    """For each impression the row of `crosses`: its query with the keyword that the ad bids on."""
    return block.queries * KEYWORDS_PER_QUERY + block.candidates // ADS_PER_QUERY_KEYWORD


def number_features(world: ClickWorld) -> Numbering:
    """The numbering of a world."""
    market, vocabulary = world.market, len(world.spellings)
    counts = (
        POSITIONS,
        world.queries,
        vocabulary,
        world.ads,
        world.advertisers,
        vocabulary,
        market.cross_count,
        world.queries * CANDIDATES,
    )
    ends = np.cumsum(counts).tolist()
    first = dict(zip(KINDS, [0, *ends], strict=False))
    advertisers = market.advertisers[:, None]
    crosses = market.crosses.transpose(0, 2, 1).reshape(world.queries * KEYWORDS_PER_QUERY, -1)
    return Numbering(
        first=first,
        columns=ends[-1],
        queries=_table(
            (first["queries"], _each(world.queries)), (first["query_words"], market.query_words)
        ),
        ads=_table(
            (first["ads"], _each(world.ads)),
            (first["advertisers"], advertisers),
            (first["ad_words"], market.ad_words),
        ),
        crosses=_table((first["crosses"], crosses)),
    )


def _each(count: int) -> Ids:
    return np.arange(count)[:, None]


def _table(*parts: tuple[int, Ids]) -> Columns:
    """Numbers of several kinds side by side, as columns; those below 0 are nobody's."""
    columns = np.hstack([np.where(ids < 0, NO_COLUMN, first + ids) for first, ids in parts])
    return np.sort(columns, axis=1).astype(np.int32)


def _cross_names(world: ClickWorld) -> list[str]:
    market, words = world.market, world.spellings
    _, places = np.unique(market.crosses, return_index=True)
    q, i, k = np.unravel_index(places[-market.cross_count :], market.crosses.shape)
    met = zip(market.query_words[q, i].tolist(), market.query_keywords[q, k].tolist(), strict=True)
    return [f"x^{words[word]}^{words[keyword]}" for word, keyword in met]
