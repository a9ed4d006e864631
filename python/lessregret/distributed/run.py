"""One pass over files by several workers, with merges in between."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from lessregret.data.output import write_file
from lessregret.distributed.interval import train_interval
from lessregret.distributed.pieces import Piece, cut
from lessregret.errors import LessRegretError, SpecError
from lessregret.learners.learner import Learner
from lessregret.learners.merge import merge

SYNCS = 64
"""Syncs of a pass: with 8 workers a merged model is then within a percent of one learner's."""
TRIES = 5
"""How often an interval is tried whose worker died; it has the same result every time."""

Engine = Callable[[bytes, Sequence[Piece]], list[bytes]]
"""Runs :func:`train_interval` on every piece, in any order and place, and returns the models."""


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


def train(
    files: Sequence[str | os.PathLike[str]],
    *,
    start: Learner,
    workers: int = 2,
    syncs: int = SYNCS,
    format: str = "auto",
    engine: Engine = in_processes,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Callable[[str], object] | None = None,
) -> Learner:
    """One pass over files by several workers, which are merged after every interval.

    Parameters
    ----------
    files : names of files
        Text files. Plain ones are cut at line ends; a packed file is learned by one worker.
    start : Learner
        The model to start from; it does not change.
    workers : int from 1 up, default 2
        How many pieces are learned at the same time.
    syncs : int from 1 up, default 64
        About how often the workers are merged in the pass.
    format : str
        As for :func:`~lessregret.open_examples`.
    engine : function, default in_processes
        What runs the intervals: ``in_process``, ``in_processes``, or a function of your own that
        sends model and pieces to other machines.
    checkpoint : name of a folder, optional
        Where the model is kept after every sync. A run that finds a checkpoint of the same files
        and settings there goes on from it, and ends with the same bits.
    progress : function, optional
        Called with a line of text after every sync.
    """
    if workers < 1 or syncs < 1:
        raise SpecError(f"workers and syncs must be 1 or more, found {workers} and {syncs}")
    pieces = cut(files, workers * syncs, format=format)
    steps = [pieces[k : k + workers] for k in range(0, len(pieces), workers)]
    kept = None if checkpoint is None else _Checkpoint(Path(checkpoint), start, pieces, workers)
    done, learner = (0, start) if kept is None else kept.load(start)
    for number, step in enumerate(steps[done:], start=done + 1):
        shards = [Learner.from_bytes(part) for part in engine(learner.to_bytes(), step)]
        players = 1 if number == len(steps) else workers
        learner = merge(learner, shards, players=players)
        if kept is not None:
            kept.save(number, learner)
        if progress is not None:
            progress(f"sync {number} of {len(steps)}, {learner.tally().rounds:,} examples")
    return learner


class _Checkpoint:
    """A folder with the plan of a run, and the model after its last sync."""

    def __init__(self, folder: Path, start: Learner, pieces: Sequence[Piece], workers: int) -> None:
        self._folder = folder
        plan = {"spec": start.spec, "rounds": start.tally().rounds, "workers": workers}
        self._plan = json.dumps({**plan, "pieces": [asdict(piece) for piece in pieces]}).encode()

    def load(self, start: Learner) -> tuple[int, Learner]:
        """How many syncs are done, and the model after them."""
        self._folder.mkdir(parents=True, exist_ok=True)
        plan = self._folder / "plan.json"
        if not plan.exists():
            write_file(plan, self._plan)
        if plan.read_bytes() != self._plan:
            raise SpecError(
                f"{self._folder} is the checkpoint of a run with other files or settings; give "
                "them again, or another folder"
            )
        done = max((int(path.stem) for path in self._folder.glob("*.model")), default=0)
        return (done, Learner.load(self._path(done))) if done else (0, start)

    def save(self, number: int, learner: Learner) -> None:
        """Keep the model after a sync, and only then forget the one before."""
        learner.save(self._path(number))
        self._path(number - 1).unlink(missing_ok=True)

    def _path(self, number: int) -> Path:
        return self._folder / f"{number}.model"
