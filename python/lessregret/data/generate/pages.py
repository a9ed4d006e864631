"""Which queries are asked, and which ads win a place on their pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lessregret.data.generate.draws import Floats, Ids, ranks

if TYPE_CHECKING:
    from lessregret.data.generate.world import ClickWorld

POSITIONS = 4
PAGES_PER_DRAW = 4096
IMPRESSIONS_PER_DRAW = POSITIONS * PAGES_PER_DRAW

# Auctions favour ads that are clicked, so position and quality are confounded, as in real logs.
BID_DEVIATION = 1.0
QUALITY_IN_AUCTION = 0.5


class Pages(NamedTuple):
    """The queries of some pages, the candidates that won there, best first, and their margins."""

    queries: Ids
    winners: Ids
    margins: Floats


def draw_pages(
    world: ClickWorld, rng: np.random.Generator, margins_of: Callable[[Ids], Floats]
) -> Pages:
    """Candidates arrive after exponential times at the rates of their strengths; the first win.

    So the order is Plackett and Luce's: the next place goes to each with odds of its strength.
    `margins_of` gives the margins of all candidates of some queries, before the intercept.
    """
    queries = ranks(rng, world.query_shares, PAGES_PER_DRAW)
    margins = margins_of(queries)
    bids = BID_DEVIATION * world.market.bids[world.market.candidates[queries]]
    strengths = np.exp(bids + QUALITY_IN_AUCTION * margins)
    arrivals = rng.standard_exponential(strengths.shape) / strengths
    winners = arrivals.argsort(axis=1)[:, :POSITIONS]
    shown = np.take_along_axis(margins, winners, axis=1)
    return Pages(queries, winners, shown + world.position_weights)
