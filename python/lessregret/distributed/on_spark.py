"""Spark as the engine: intervals run where the rows of a DataFrame are, by ``mapInArrow``.

    DataFrame ─repartition, sort─▶ workers × syncs partitions, kept by Spark
    each sync: the model is broadcast; a job over the partitions of the sync returns their models

The rows of a DataFrame have no order, and after a shuffle they come in whatever order they arrive.
So rows are dealt to partitions and sorted there by a hash of all their cells: an order that looks
random, and that is the same when Spark runs a task again or a later run goes on. A Python worker
that dies is Spark's to start again, as often as ``spark.task.maxFailures`` says.

Cost: the data are shuffled once. A sync took 0.7 to 1 s with three workers on one machine and a
model of 1 MB (PySpark 4.3, 2026-11-18).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

from lessregret.data.arrow_tables import open_table
from lessregret.distributed.checkpoint import last_model, save_model
from lessregret.distributed.interval import train_interval
from lessregret.distributed.local import Engine
from lessregret.distributed.pieces import ArrowRows, pyarrow_for
from lessregret.distributed.run import Plan, run
from lessregret.distributed.sources import Cut, Source
from lessregret.distributed.waiting import within
from lessregret.errors import LessRegretError, SpecError
from lessregret.learners.learner import Learner

SAMPLE = 10_000
TIMEOUT = 3600.0
"""Seconds in which the intervals between two syncs must end."""
OUTPUT = "model binary"

Interval = Callable[[bytes, Any], bytes]
T = TypeVar("T")


class Partition(NamedTuple):
    """A piece of a DataFrame: one of its partitions."""

    number: int
    of: int

    def described(self) -> dict[str, Any]:
        """What tells this piece from others, for the plan of a run."""
        return self._asdict()


class OnSpark:
    """The engine that runs intervals on partitions of one DataFrame.

    Parameters
    ----------
    frame : DataFrame of pyspark
        The rows, with one partition for every piece.
    timeout : number of seconds, default 3600
        If the intervals of a sync do not end in this time, they are cancelled and a LessRegretError
        tells what is missing.
    interval : function, default train_interval
        The function of model and piece; another one is for tests.
    """

    def __init__(
        self, frame: Any, *, timeout: float = TIMEOUT, interval: Interval = train_interval
    ) -> None:
        self._frame, self._timeout, self._interval = frame, timeout, interval
        self._context = frame.sparkSession.sparkContext

    def __call__(self, model: bytes, pieces: Sequence[Partition]) -> list[bytes]:
        """The models after the pieces; a partition without rows has none."""
        shared = self._context.broadcast(model)
        models = self._frame.mapInArrow(_on_partition(shared, self._interval), OUTPUT).rdd
        numbers = [piece.number for piece in pieces]
        try:
            return _within(
                self._context,
                self._timeout,
                lambda: _models(self._context, models, numbers),
                f"end {len(pieces)} intervals",
            )
        finally:
            shared.unpersist()


class SparkFrame(Source):
    """A DataFrame of pyspark."""

    def __init__(
        self, frame: Any, *, timeout: float = TIMEOUT, interval: Interval = train_interval
    ) -> None:
        if not hasattr(frame, "rdd") or "connect" in type(frame).__module__:
            raise SpecError("Spark Connect has no partitions to choose from; use a classic session")
        self.frame, self._timeout, self._interval = frame, timeout, interval

    def sample(self) -> Any:
        return self._within(lambda: self.frame.limit(SAMPLE).toArrow(), "give the first rows")

    def examples(self) -> int:
        count: int = self._within(self.frame.count, "count the rows")
        return count

    def _within(self, call: Callable[[], T], what: str) -> T:
        return _within(self.frame.sparkSession.sparkContext, self._timeout, call, what)

    @contextmanager
    def cut(self, count: int, engine: Engine | None) -> Iterator[Cut]:
        if engine is not None:
            raise SpecError("the rows of a DataFrame are learned by Spark; leave out the engine")
        rows = _dealt(self.frame, count).persist()
        try:
            pieces = [Partition(number, count) for number in range(count)]
            yield pieces, OnSpark(rows, timeout=self._timeout, interval=self._interval)
        finally:
            rows.unpersist()


def predict(
    model: Learner | str | os.PathLike[str], frame: Any, *, column: str = "prediction"
) -> Any:
    """The DataFrame with a column of predictions, computed where its rows are.

    Predictions are probabilities for logistic loss and margins or values for others, as those of
    ``lessregret predict``.

    Parameters
    ----------
    model : Learner, or path of a model file
        A model of a table; the DataFrame has its columns, in any order. It is broadcast.
    frame : DataFrame of pyspark
        The rows; a label is not needed.
    column : str, default "prediction"
        The name of the new column.
    """
    learner = model if isinstance(model, Learner) else Learner.load(model)
    if column in frame.columns:
        raise SpecError(f"the DataFrame has a column {column!r} already; give another name")
    shared = frame.sparkSession.sparkContext.broadcast(learner.to_bytes())
    schema = type(frame.schema)([*frame.schema.fields]).add(column, "double")
    return frame.mapInArrow(_predicting(shared, column), schema)


def learn_batches(
    folder: str | os.PathLike[str], *, start: Learner, workers: int = 2, syncs: int = 1
) -> Callable[[Any, int], None]:
    """The function that ``writeStream.foreachBatch`` calls to learn from a stream.

    The model after batch 7 is the file ``7.model`` in the folder, and the only one there. Spark may
    give a batch twice after a crash: a batch whose model is there is not learned again. So the
    model file is the checkpoint, beside Spark's own ``checkpointLocation``.

    Parameters
    ----------
    folder : path
        Where the model is kept; a model that is there is gone on from.
    start : Learner
        The model before the first batch.
    workers, syncs
        How many learn at the same time, and how often they are merged in a batch.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)

    def learn(frame: Any, number: int) -> None:
        done, learner = last_model(place) or (-1, start)
        if number <= done:
            return
        with SparkFrame(frame).cut(workers * syncs, None) as (pieces, engine):
            plan = Plan(pieces, workers, engine)
            # The workers of the next batch go on from this model.
            save_model(place, number, run(plan, learner, players=workers))

    return learn


def _models(context: Any, models: Any, partitions: list[int]) -> list[bytes]:
    try:
        found: list[bytes] = context.runJob(models, _contents, partitions)
    except Exception as error:
        # Whatever Py4J raises: the message of the interval stands in Spark's.
        raise _told(error) from error
    return found


def _within(context: Any, timeout: float, call: Callable[[], T], what: str) -> T:
    """What a call returns that runs jobs; they are cancelled if they take too long."""
    group = f"lessregret-{uuid4()}"

    def in_group() -> T:
        # The group is that of the thread, so it is set in the thread that runs the jobs.
        context.setJobGroup(group, f"lessregret: {what}", True)
        return call()

    def missing() -> str:
        context.cancelJobGroup(group)
        return (
            f"Spark did not {what} in {timeout:g} s, with {context.defaultParallelism} cores; look "
            "at the executors of the application, raise the time-out, or use more syncs"
        )

    return within(timeout, in_group, missing)


def _dealt(frame: Any, count: int) -> Any:
    """The rows in so many partitions, each in an order that depends on the rows alone."""
    from pyspark.sql.functions import xxhash64

    mixed = xxhash64(*(frame[name] for name in frame.columns))
    return frame.repartition(count, mixed).sortWithinPartitions(mixed, *frame.columns)


def _on_partition(shared: Any, interval: Interval) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def learn(batches: Iterator[Any]) -> Iterator[Any]:
        arrow = pyarrow_for("a Spark worker")
        first = next(batches, None)
        if first is None:
            return

        def rows() -> Iterator[Any]:
            yield first
            yield from batches

        reader = arrow.RecordBatchReader.from_batches(first.schema, rows())
        model = interval(shared.value, ArrowRows(reader, "DataFrame"))
        yield arrow.RecordBatch.from_pydict({"model": [model]})

    return learn


def _predicting(shared: Any, column: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def predicted(batches: Iterator[Any]) -> Iterator[Any]:
        from lessregret.training.predictions import link

        arrow = pyarrow_for("a Spark worker")
        learner = Learner.from_bytes(shared.value)
        space, shown = learner.space.unlabelled(), link(learner.spec["loss"])
        for batch in batches:
            outcomes = learner.predict(open_table(batch, space, name="DataFrame"))
            yield batch.append_column(column, arrow.array(shown(outcomes.margins)))

    return predicted


def _contents(rows: Iterator[Any]) -> list[bytes]:
    return [bytes(row.model) for row in rows]


def _told(error: Exception) -> LessRegretError:
    """What an interval raised, found in Spark's account of it."""
    lines = [line.strip() for line in str(error).splitlines()]
    own = [line.split(": ", 1)[1] for line in lines if line.startswith("lessregret.errors.")]
    return LessRegretError(own[0] if own else f"Spark gave up on an interval ({lines[0]})")
