"""Engines that run intervals on this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context
from typing import Any

from lessregret.distributed.interval import train_interval
from lessregret.distributed.pieces import Piece
from lessregret.errors import LessRegretError

TRIES = 5
"""How often an interval is tried whose worker died; it has the same result every time."""

Engine = Callable[[bytes, Sequence[Any]], list[bytes]]
"""Runs :func:`train_interval` on every piece, in any order and place, and returns the models. The
pieces are what the data were cut into; engines with data of their own have their own pieces."""


def in_process(model: bytes, pieces: Sequence[Piece]) -> list[bytes]:
    """The engine that runs one piece after another, in this process."""
    return [train_interval(model, piece) for piece in pieces]


def in_processes(model: bytes, pieces: Sequence[Piece]) -> list[bytes]:
    """The engine that runs every piece in a process of its own, and again if the process dies."""
    for _ in range(TRIES):
        models = _by_pool(model, pieces)
        if models is not None:
            return models
    raise LessRegretError(
        f"a worker died {TRIES} times in one interval; look for the limit of memory, or use fewer "
        "workers"
    )


def _by_pool(model: bytes, pieces: Sequence[Piece]) -> list[bytes] | None:
    """The models after the pieces; None if a process died."""
    try:
        # Not forked: the threads of the core do not survive a fork.
        with ProcessPoolExecutor(len(pieces), mp_context=get_context("spawn")) as pool:
            return list(pool.map(partial(train_interval, model), pieces))
    except BrokenProcessPool:
        return None
