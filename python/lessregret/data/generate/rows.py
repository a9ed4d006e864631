"""Rows of a sparse matrix: the log straight into a learner, with no text between."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from lessregret.data.generate.draws import Floats
from lessregret.data.generate.log import Block, impressions
from lessregret.data.generate.numbering import NO_COLUMN, cross_rows
from lessregret.data.generate.pages import IMPRESSIONS_PER_DRAW

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from lessregret.data.generate.world import ClickWorld


def rows(
    world: ClickWorld, examples: int, *, skip: int = 0, block_size: int = IMPRESSIONS_PER_DRAW
) -> Iterator[tuple[csr_array, Floats]]:
    """Blocks of the log as (X, y): a row for each impression, and its label, 1 or -1.

    The parameters are those of `impressions`. The columns are those of LIBSVM text less one, and
    X has `world.columns` of them; its values are 1 in float32. The memory is that of one block.

    >>> from lessregret import Learner, Rows
    >>> from lessregret.data.generate import ClickWorld
    >>> world = ClickWorld(queries=50, ads=64, words=40)
    >>> learner = Learner("logistic", columns=world.columns)
    >>> for X, y in rows(world, 20_000):
    ...     outcomes = learner.learn(Rows.from_csr(X, y, space=learner))
    >>> learner.ledger().rounds
    20000
    """
    blocks = impressions(world, examples, skip=skip, block_size=block_size)
    return ((csr_rows(world, block), block.labels.astype(np.float64)) for block in blocks)


def csr_rows(world: ClickWorld, block: Block) -> csr_array:
    """The features of a block's impressions as rows of a sparse matrix.

    >>> from lessregret.data.generate import ClickWorld
    >>> world = ClickWorld(seed=1, queries=50, ads=64, words=40)
    >>> csr_rows(world, next(impressions(world, 1))).indices.tolist()
    [0, 12, 54, 55, 57, 106, 360, 558, 563, 577, 583, 584, 596, 598, 602, 610, 718]
    """
    # Imported here, so that a log as text need not wait for it.
    from scipy.sparse import csr_array

    of = world.numbering
    named = np.hstack(
        [
            block.positions[:, None].astype(np.int32),
            of.queries[block.queries],
            of.ads[block.ads],
            of.crosses[cross_rows(block)],
            of.pairs(block)[:, None].astype(np.int32),
        ]
    )
    there = named != NO_COLUMN
    indices = named[there]
    indptr = np.zeros(len(block) + 1, dtype=np.int32)
    np.cumsum(there.sum(axis=1), out=indptr[1:])
    ones = np.ones(len(indices), dtype=np.float32)
    return csr_array((ones, indices, indptr), shape=(len(block), of.columns))
