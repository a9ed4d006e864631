"""What is hidden: a weight for every feature, most of them zero."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from lessregret.data.generate.draws import Floats, Ids, Spread, generator, sparse
from lessregret.data.generate.market import ADS_PER_QUERY_KEYWORD, Market

if TYPE_CHECKING:
    from lessregret.data.generate.world import ClickWorld

# Weights do not shrink with frequency: most queries, ads and pairs are rare, and theirs are the
# largest. Were they small, a learner could ignore rare features and one rate for all would do.
QUERY = Spread(0.20, 1.2)
QUERY_WORD = Spread(0.10, 0.5)
ADVERTISER = Spread(0.30, 0.7)
AD = Spread(0.30, 1.2)
AD_WORD = Spread(0.10, 0.5)
WORD_CROSS = Spread(0.05, 1.2)
PAIR = Spread(0.10, 2.5)
POSITION_WEIGHTS = (0.0, -0.5, -0.9, -1.2)


@dataclass(frozen=True)
class Truth:
    """The hidden weights, kind by kind.

    `crosses` go by the market's numbers, and `pairs[q, c]` is the weight of query q crossed with
    its candidate c.
    """

    positions: Floats
    queries: Floats
    query_words: Floats
    ads: Floats
    advertisers: Floats
    ad_words: Floats
    crosses: Floats
    pairs: Floats

    def turned(self, towards: Truth, angle: float) -> Truth:
        """cos(angle) of these weights and sin(angle) of the others; positions stay.

        Independent weights keep their variance this way.
        """
        near, far = np.cos(angle), np.sin(angle)
        names = [field.name for field in fields(self)][1:]
        mixed = (near * getattr(self, name) + far * getattr(towards, name) for name in names)
        return Truth(self.positions, *mixed)


def draw_truth(world: ClickWorld, number: int) -> Truth:
    """The hidden weights of era `number`; positions have the same in all."""
    rng, scale = generator(world, "truth", number), world.truth_scale
    market, vocabulary = world.market, len(world.spellings)
    return Truth(
        positions=world.position_weights,
        queries=scale * sparse(rng, QUERY, world.queries),
        query_words=scale * sparse(rng, QUERY_WORD, vocabulary),
        ads=scale * sparse(rng, AD, world.ads),
        advertisers=scale * sparse(rng, ADVERTISER, world.advertisers),
        ad_words=scale * sparse(rng, AD_WORD, vocabulary),
        crosses=scale * _cross_weights(rng, market),
        pairs=scale * sparse(rng, PAIR, market.candidates.shape),
    )


def _cross_weights(rng: np.random.Generator, market: Market) -> Floats:
    # Weights are drawn for crosses without a word too: published logs were made so.
    weights = sparse(rng, WORD_CROSS, market.absent_crosses + market.cross_count)
    return weights[market.absent_crosses :]


def candidate_margins(market: Market, truth: Truth) -> Floats:
    """The margin of each query with each of its candidates, before intercept and position."""
    query_margins = truth.queries + _sums(truth.query_words, market.query_words)
    ad_margins = (
        truth.ads + truth.advertisers[market.advertisers] + _sums(truth.ad_words, market.ad_words)
    )
    cross_margins = np.repeat(_sums(truth.crosses, market.crosses), ADS_PER_QUERY_KEYWORD, axis=1)
    margins = query_margins[:, None] + ad_margins[market.candidates] + cross_margins + truth.pairs
    return np.asarray(margins, dtype=np.float64)


def _sums(weights: Floats, rows: Ids) -> Floats:
    """The sums over axis 1 of the weights that the rows name; numbers below 0 weigh nothing."""
    return np.asarray(np.append(weights, 0.0)[np.maximum(rows, -1)].sum(axis=1), dtype=np.float64)


def position_weights(world: ClickWorld) -> Floats:
    """The hidden weights of the positions."""
    return world.truth_scale * np.array(POSITION_WEIGHTS)
