"""Engines that run intervals on this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any

from lessregret.distributed.interval import train_interval
from lessregret.distributed.pieces import Piece
from lessregret.errors import LessRegretError

TRIES = 5
"""How often an interval is tried whose worker died; it has the same result every time."""
TIMEOUT = 3600.0
"""Seconds in which some interval must end."""

Engine = Callable[[bytes, Sequence[Any]], list[bytes]]
"""Runs :func:`train_interval` on every piece, in any order and place, and returns the models. The
pieces are what the data were cut into; engines with data of their own have their own pieces."""


def in_process(model: bytes, pieces: Sequence[Piece]) -> list[bytes]:
    """The engine that runs one piece after another, in this process."""
    return [train_interval(model, piece) for piece in pieces]


def in_processes(model: bytes, pieces: Sequence[Piece], *, timeout: float = TIMEOUT) -> list[bytes]:
    """The engine that runs every piece in a process of its own, and again if the process dies.

    If no interval ends in ``timeout`` seconds, the processes are killed and a LessRegretError tells
    how many are missing.
    """
    for _ in range(TRIES):
        models = _by_pool(model, pieces, timeout)
        if models is not None:
            return models
    raise LessRegretError(
        f"a worker died {TRIES} times in one interval; look for the limit of memory, or use fewer "
        "workers"
    )


def _by_pool(model: bytes, pieces: Sequence[Piece], timeout: float) -> list[bytes] | None:
    """The models after the pieces; None if a process died."""
    try:
        # Not forked: the threads of the core do not survive a fork.
        with ProcessPoolExecutor(len(pieces), mp_context=get_context("spawn")) as pool:
            intervals = [pool.submit(train_interval, model, piece) for piece in pieces]
            _wait(pool, intervals, timeout)
            return [interval.result() for interval in intervals]
    except BrokenProcessPool:
        return None


def _wait(pool: ProcessPoolExecutor, intervals: Sequence[Future[bytes]], timeout: float) -> None:
    """Return when all intervals have ended; raise an error if none does for too long."""
    missing = set(intervals)
    while missing:
        ended, missing = wait(missing, timeout, FIRST_COMPLETED)
        if not ended:
            # Python 3.14 has kill_workers.
            for process in list(pool._processes.values()):
                process.kill()
            raise LessRegretError(
                f"no process ended its interval in {timeout:g} s; {len(missing)} of "
                f"{len(intervals)} are missing; raise the time-out of in_processes, or use more "
                "syncs, so that intervals are shorter"
            )
