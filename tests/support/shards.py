"""Learners that go on from one start, each on examples of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lessregret import Learner, merge
from lessregret.data.examples import Rows
from tests.support.streams import Round, as_csr


def copy(learner: Learner) -> Learner:
    """Another learner with the same bits."""
    return Learner.from_bytes(learner.to_bytes())


def after(start: Learner, rounds: Iterable[Round]) -> Learner:
    """What the start becomes on these rounds."""
    learner, rounds = copy(start), list(rounds)
    if rounds:
        indptr, indices, values, labels, importances = as_csr(rounds)
        learner.learn(Rows(indptr, indices, values, labels, importances, space=learner))
    return learner


def synced(
    start: Learner, rounds: Sequence[Round], shards: int, syncs: int, how: str = "matched"
) -> Learner:
    """The learner of a bulk-synchronous pass; shards take turns at the rounds."""
    learner, size = start, -(-len(rounds) // syncs)
    for number in range(syncs):
        part = rounds[number * size : (number + 1) * size]
        parts = [after(learner, part[k::shards]) for k in range(shards)]
        players = 1 if number == syncs - 1 else shards
        learner = merge(learner, parts, how=how, players=players)  # type: ignore[arg-type]
    return learner
