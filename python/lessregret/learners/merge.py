"""Learners that went on from one start become one learner.

Shards start from the same model, and each learns from examples of its own:

    start ─┬─ examples ─▶ shard 1 ─┐
           ├─ examples ─▶ shard 2 ─┼─ merge(start, shards) ─▶ one learner
           └─ examples ─▶ shard 3 ─┘

:mod:`lessregret.learners.merging` states the formula.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal

from lessregret import _core
from lessregret.errors import MergeError
from lessregret.learners.learner import Learner

Way = Literal["matched", "weighted", "average"]
WAYS: tuple[Way, ...] = ("matched", "weighted", "average")

Model = Learner | str | os.PathLike[str]


def merge(
    start: Model, shards: Sequence[Model], *, how: Way = "matched", players: int = 1
) -> Learner:
    """The learner that shards become which went on from one start; none of those given changes.

    The merged ledger counts the rounds of the start once and those of every shard. Its certificate
    holds for all rounds that all shards played. It reports no bound, because no proof covers
    weights that jump. The order of the shards does not matter, to the last bit.

    Parameters
    ----------
    start : Learner or path of a model file
        The model that every shard started from.
    shards : sequence of Learners or paths of model files
        What the start became on different examples.
    how : "matched", "weighted" or "average", default "matched"
        How weights are merged. ``"matched"`` puts each weight where one learner would be that saw
        what all shards saw: near the sum of the moves where shards moved little, near their average
        where they converged. ``"weighted"`` is the average weighted by the sums of squared
        gradients, as in Vowpal Wabbit. ``"average"`` is the plain average.
    players : int from 1 up, default 1
        How many learners go on from the merged one before they are merged again. With several, the
        losses of the lanes count only so many times less, because else every one of them would
        react to all losses; see ``docs/explanation/beyond-one-machine.md``.

    >>> from lessregret.data.examples import Rows
    >>> start = Learner("logistic", columns=2, intercept=False)
    >>> def after(column: int) -> Learner:
    ...     shard = Learner.from_bytes(start.to_bytes())
    ...     _ = shard.learn(Rows([0, 1], [column], [1.0], labels=[1], space=shard))
    ...     return shard
    >>> merged = merge(start, [after(0), after(1)])
    >>> merged.tally().rounds, merged.ledger().bound
    (2, None)
    """
    cores = [_loaded(shard)._core for shard in shards]
    if not cores:
        raise MergeError("there is no shard to merge; give at least one")
    return Learner._around(_core.Learner.merge(_loaded(start)._core, cores, how, players))


def _loaded(model: Model) -> Learner:
    return model if isinstance(model, Learner) else Learner.load(model)
