"""Passes over data by several workers, with merges in between."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lessregret.data.column_choices import ColumnChoices
from lessregret.data.given import given_data
from lessregret.distributed.checkpoint import Checkpoint
from lessregret.distributed.local import Engine
from lessregret.distributed.sources import Described, source_of
from lessregret.errors import SpecError
from lessregret.learners.learner import Learner
from lessregret.learners.merge import merge
from lessregret.training.run import BITS, codes_of_classes, names_of_classes

SYNCS = 64
"""Syncs of a pass: with 8 workers a merged model is then within a percent of one learner's."""

Classes = str | int | Sequence[int | str] | None


class Plan(NamedTuple):
    """What is learned, by how many at the same time, and who runs the intervals."""

    pieces: Sequence[Described]
    workers: int
    engine: Engine
    passes: int = 1

    @property
    def steps(self) -> list[Sequence[Described]]:
        """The pieces between two syncs, for every sync of all passes."""
        starts = range(0, len(self.pieces), self.workers)
        return [self.pieces[k : k + self.workers] for k in starts] * self.passes

    def described(self, start: Learner) -> dict[str, Any]:
        """What two runs must have in common to have the same bits after every sync."""
        pieces = [piece.described() for piece in self.pieces]
        settings = {"workers": self.workers, "passes": self.passes}
        return {"spec": start.spec, "rounds": start.tally().rounds, **settings, "pieces": pieces}


def train(
    data: Any,
    *,
    start: Learner | None = None,
    label: str | None = None,
    columns: Mapping[str, Any] | None = None,
    classes: Classes = None,
    workers: int = 2,
    syncs: int = SYNCS,
    every: int | None = None,
    passes: int = 1,
    format: str = "auto",
    engine: Engine | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Callable[[str], object] | None = None,
) -> Learner:
    """Passes over data by several workers, which are merged after every interval.

    Parameters
    ----------
    data : names of files, a table, a Ray dataset or a Spark DataFrame
        Plain text is cut at line ends, Parquet between row groups; any other file is learned by one
        worker. Patterns such as ``"logs/*"`` are files, too. A table is any object with the Arrow C
        stream interface. Ray runs the intervals of a Ray dataset, Spark those of a DataFrame.
    start : Learner, optional
        The model to start from; it does not change. The default is a new one with 22 bits.
    label, columns
        For a table without ``start``: as for :func:`lessregret.train`.
    classes : "auto", int, or list, optional
        Without ``start``, for more than two classes: as for :func:`lessregret.train`.
    workers : int from 1 up, default 2
        How many pieces are learned at the same time.
    syncs : int from 1 up, default 64
        About how often the workers are merged in a pass.
    every : int from 1 up, optional
        In place of ``syncs``: about how many examples all workers together learn between two
        merges.
    passes : int from 1 up, default 1
        How often the data are gone over.
    format : str
        As for :func:`~lessregret.open_examples`.
    engine : function, optional
        What runs the intervals: ``in_processes``, the default for files and tables, ``in_process``,
        :class:`~lessregret.distributed.on_ray.OnRay`, or a function of your own that sends model
        and pieces to other machines.
    checkpoint : name of a folder, optional
        Where the model is kept after every sync. A run that finds a checkpoint of the same data and
        settings there goes on from it, and ends with the same bits.
    progress : function, optional
        Called with a line of text after every sync.
    """
    _check(workers=workers, syncs=syncs, passes=passes, every=1 if every is None else every)
    choices = ColumnChoices(label=label).over(ColumnChoices.of(columns or {}))
    source = source_of(data, format, choices)
    if start is None:
        start = _new(source.sample(), format, choices, classes)
    elif classes is not None:
        raise SpecError("the start says what the classes are; leave out classes, or start")
    if every is not None:
        syncs = -(-source.examples() // every)
    with source.cut(workers * max(1, syncs), engine) as (pieces, runs):
        return run(Plan(pieces, workers, runs, passes), start, checkpoint, progress)


def run(
    plan: Plan,
    start: Learner,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Callable[[str], object] | None = None,
    *,
    players: int = 1,
) -> Learner:
    """Learn as planned; ``players`` is how many learners go on from the last model."""
    steps, done, learner = plan.steps, 0, start
    kept = None if checkpoint is None else Checkpoint(Path(checkpoint), plan.described(start))
    if kept is not None:
        done, learner = kept.load(start)
    for number, step in enumerate(steps[done:], start=done + 1):
        go_on = players if number == len(steps) else plan.workers
        learner = _synced(learner, plan.engine(learner.to_bytes(), step), go_on)
        if kept is not None:
            kept.save(number, learner)
        if progress is not None:
            progress(f"sync {number} of {len(steps)}, {learner.tally().rounds:,} examples")
    return learner


def _synced(learner: Learner, models: Sequence[bytes], players: int) -> Learner:
    """One learner of the models; the learner itself if no piece had an example."""
    shards = [Learner.from_bytes(model) for model in models]
    return merge(learner, shards or [learner], players=players)


def _check(**asked: int) -> None:
    for name, value in asked.items():
        if value < 1:
            raise SpecError(f"{name} must be 1 or more, found {value}")


def _new(sample: Any, format: str, choices: ColumnChoices, classes: Classes) -> Learner:
    """A new learner for data of which a sample is given, or the names of their files."""
    given = given_data(sample, format=format, choices=choices)
    many = {} if classes is None else codes_of_classes(classes, given.has_columns)
    if not given.has_columns:
        return Learner(bits=BITS, **many)
    if choices.label is None:
        raise SpecError("a table needs a label, the column to predict; give label='…'")
    inferred = given.infer(classes=names_of_classes(classes))
    return Learner(inferred.loss, bits=BITS, schema=inferred.schema, **many)
