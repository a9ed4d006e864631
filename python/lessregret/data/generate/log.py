"""The log: impressions in blocks, each drawn from a generator of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lessregret.data.generate.draws import Floats, Ids, generator
from lessregret.data.generate.drift import moment, sigmoid
from lessregret.data.generate.limits import NUMBER, Limits, require
from lessregret.data.generate.pages import (
    IMPRESSIONS_PER_DRAW,
    PAGES_PER_DRAW,
    POSITIONS,
    draw_pages,
)

if TYPE_CHECKING:
    from lessregret.data.generate.world import ClickWorld

Labels: TypeAlias = NDArray[np.int8]


@dataclass(frozen=True)
class Block:
    """Consecutive impressions of a log, one array entry each.

    `first` is the number of the first in the log; `candidates` says which of the query's candidates
    the ad is; `labels` are 1 for a click and -1 for none, drawn from the true `probabilities`.
    """

    first: int
    queries: Ids
    ads: Ids
    candidates: Ids
    positions: Ids
    labels: Labels
    probabilities: Floats

    def __len__(self) -> int:
        return len(self.labels)

    def part(self, start: int, stop: int) -> Block:
        """The impressions of the block from `start` to before `stop`."""
        piece = slice(start, stop)
        return Block(
            self.first + start,
            self.queries[piece],
            self.ads[piece],
            self.candidates[piece],
            self.positions[piece],
            self.labels[piece],
            self.probabilities[piece],
        )

    @property
    def entropy(self) -> float:
        """The mean log loss, in nats, that the truth itself expects on these impressions.

        mean of -p log p - (1 - p) log(1 - p): no predictor can expect less.
        """
        return float(binary_entropy(self.probabilities).mean())


def impressions(
    world: ClickWorld, examples: int, *, skip: int = 0, block_size: int = IMPRESSIONS_PER_DRAW
) -> Iterator[Block]:
    """The impressions numbered `skip` to `skip + examples` of the world's log, in blocks.

    Parameters
    ----------
    examples : at least 0.
    skip : at least 0. What precedes is not computed: use it for a fresh sample of the same world.
    block_size : 1 to 16,384, the longest block to yield; it does not change the log. The default
        is how many are drawn at once.

    Examples
    --------
    >>> from lessregret.data.generate import ClickWorld
    >>> world = ClickWorld(queries=50, ads=64, words=40)
    >>> [len(block) for block in impressions(world, 20_000)]
    [16384, 3616]
    """
    require("examples", examples, NUMBER)
    require("skip", skip, NUMBER)
    require("block_size", block_size, Limits(1, IMPRESSIONS_PER_DRAW))
    return _blocks(world, skip, skip + examples, block_size)


def binary_entropy(probabilities: Floats) -> Floats:
    """The expected log loss, in nats, of predicting each probability where it is the truth.

    -p log p - (1 - p) log(1 - p), for 0 < p < 1. At the click rate it is the loss of the best
    constant.

    >>> binary_entropy(np.array([0.5]))
    array([0.69314718])
    """
    p = probabilities
    return -p * np.log(p) - (1 - p) * np.log1p(-p)


def _blocks(world: ClickWorld, start: int, stop: int, block_size: int) -> Iterator[Block]:
    for number in range(start // IMPRESSIONS_PER_DRAW, -(-stop // IMPRESSIONS_PER_DRAW)):
        drawn = _draw(world, number)
        begin = max(start - drawn.first, 0)
        end = min(stop - drawn.first, len(drawn))
        for cut in range(begin, end, block_size):
            yield drawn.part(cut, min(cut + block_size, end))


def _draw(world: ClickWorld, number: int) -> Block:
    rng, now = generator(world, "log", number), moment(world, number)
    pages = draw_pages(world, rng, now.margins)
    probabilities = sigmoid(now.intercept + pages.margins).ravel()
    clicked = rng.random(IMPRESSIONS_PER_DRAW) < probabilities
    return Block(
        first=number * IMPRESSIONS_PER_DRAW,
        queries=np.repeat(pages.queries, POSITIONS),
        ads=world.market.candidates[pages.queries[:, None], pages.winners].ravel(),
        candidates=pages.winners.ravel(),
        positions=np.tile(np.arange(POSITIONS), PAGES_PER_DRAW),
        labels=np.where(clicked, 1, -1).astype(np.int8),
        probabilities=probabilities,
    )
