"""An interval of learning, the pure function that every engine runs."""

from __future__ import annotations

from lessregret.distributed.pieces import Piece, singles
from lessregret.learners.learner import Learner


def train_interval(model: bytes, piece: Piece) -> bytes:
    """The model after it has learned from a piece. It depends on nothing but these two.

    ``model`` is what :meth:`Learner.to_bytes` returns.
    """
    learner = Learner.from_bytes(model)
    for part in singles(piece):
        stream = part.open(learner)
        learner.learn(stream)
        learner.keep_names(stream)
    return learner.to_bytes()
