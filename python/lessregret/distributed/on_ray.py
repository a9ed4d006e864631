"""Ray as the engine: every interval is a task, and Ray tries again what a dead worker did not end.

Tasks and not actors, because an actor that is started again has lost its state, and a task has
none. The model is put into Ray's object store once a sync. A result that was on a node that died is
made again from the same model and piece, with the same bits.

Cost: a sync moves the model to every node and a model back from every worker. With a cluster of
three nodes on one machine, warm, 3 × 16 MiB took 0.2 to 0.4 s (Ray 2.60).
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from lessregret.distributed.interval import train_interval
from lessregret.distributed.local import Engine
from lessregret.distributed.pieces import ArrowRows
from lessregret.distributed.sources import Cut, Source
from lessregret.distributed.waiting import within
from lessregret.errors import LessRegretError, SpecError

LOCAL = "local"
TIMEOUT = 600.0
"""Seconds in which some interval must end. Ray waits for ever for a CPU that is not there."""
REACHED = 10.0
"""seconds for the head of a cluster to answer"""
RETRIES = 5
"""How often Ray runs an interval again whose worker or node died."""
SAMPLE = 10_000

Interval = Callable[[bytes, Any], bytes]
T = TypeVar("T")


class OnRay:
    """The engine that runs intervals as tasks of Ray.

    Ray is started, or joined, at the first interval, unless the process has joined a cluster
    before. Workers must have this package and reach the files. As a context manager it leaves Ray
    at the end, if it was the one to join it.

    Parameters
    ----------
    address : str, default "local"
        The address of the cluster's head, ``host:port`` or ``ray://host:port``; ``"auto"`` looks
        for a cluster on this machine, and ``"local"`` starts one for this process.
    timeout : number of seconds, default 600
        If no interval ends in this time, a LessRegretError tells what is missing.
    retries : int, default 5
        How often Ray runs an interval again whose worker died.
    interval : function, default train_interval
        The function of model and piece; another one is for tests.
    """

    def __init__(
        self,
        address: str = LOCAL,
        *,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
        interval: Interval = train_interval,
    ) -> None:
        self.address, self.timeout = address, timeout
        self._ray = _imported()
        self._joined = False
        remote = self._ray.remote(num_cpus=1, max_retries=retries)
        self._task = remote(_interval_of(interval))

    def __call__(self, model: bytes, pieces: Sequence[Any]) -> list[bytes]:
        """The models after the pieces."""
        self.join()
        shared = self._ray.put(model)
        # A block of a dataset is given as a reference, which Ray replaces where the task runs.
        parts = [piece.block if isinstance(piece, Block) else piece for piece in pieces]
        tasks = [self._task.remote(shared, part) for part in parts]
        try:
            self._wait(tasks)
            models: list[bytes] = self._ray.get(tasks, timeout=self.timeout)
        except self._ray.exceptions.RayError as error:
            raise self._told(error) from error
        return models

    def join(self) -> None:
        """Start or join Ray, unless this process has."""
        if self._ray.is_initialized():
            return
        _check_reached(self.address)
        quiet = {"logging_level": "ERROR", "log_to_driver": False}
        starts = {"include_dashboard": False} if self.address == LOCAL else {}
        try:
            self._ray.init(address=self.address, **quiet, **starts)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise _unreached(self.address, error) from error
        self._joined = True

    def close(self) -> None:
        """Leave Ray, if this engine joined it."""
        if self._joined:
            self._ray.shutdown()
            self._joined = False

    def __enter__(self) -> OnRay:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _wait(self, tasks: Sequence[Any]) -> None:
        """Return when all tasks have ended; raise an error if none does for too long."""
        missing = list(tasks)
        while missing:
            ended, missing = self._ray.wait(missing, timeout=self.timeout, fetch_local=False)
            if not ended:
                for task in missing:
                    self._ray.cancel(task, force=True)
                raise LessRegretError(self._what_is_missing(len(missing), len(tasks)))

    def _what_is_missing(self, missing: int, of: int) -> str:
        return (
            f"Ray ended no interval in {self.timeout:g} s; {missing} of {of} are missing, and each "
            f"needs 1 CPU. {_cluster(self._ray)}, or cut the data into smaller pieces"
        )

    def _told(self, error: Exception) -> Exception:
        """The error of an interval as if it had run here; Ray's own errors in a sentence."""
        cause = getattr(error, "cause", None)
        if isinstance(cause, LessRegretError):
            return cause
        if isinstance(error, self._ray.exceptions.GetTimeoutError):
            return LessRegretError(
                f"models of intervals that had ended did not arrive in {self.timeout:g} s; look "
                "at the network of the cluster, or raise the time-out"
            )
        first = str(error).strip().splitlines()[0]
        return LessRegretError(f"Ray gave up on an interval ({type(error).__name__}: {first})")


class Block(NamedTuple):
    """A piece of a dataset: a reference to a table in Ray's object store."""

    block: Any
    number: int
    rows: int

    def described(self) -> dict[str, Any]:
        """What tells this piece from others, for the plan of a run."""
        return {"block": self.number, "rows": self.rows}


class RayDataset(Source):
    """A Ray dataset; its rows stay in the object store.

    Parameters
    ----------
    dataset : Dataset of Ray
        The rows.
    timeout : number of seconds, default 600
        If sampling, counting or cutting the rows takes longer, a LessRegretError tells what is
        missing.
    """

    def __init__(self, dataset: Any, *, timeout: float = TIMEOUT) -> None:
        self.dataset, self._timeout = dataset, timeout

    def sample(self) -> Any:
        return self._within("first rows", self._first_rows)

    def examples(self) -> int:
        return self._within("count of rows", self._count)

    @contextmanager
    def cut(self, count: int, engine: Engine | None) -> Iterator[Cut]:
        if engine is not None and not isinstance(engine, OnRay):
            raise SpecError("the blocks of a Ray dataset are learned by Ray; leave out the engine")
        runs = engine or OnRay("auto")
        yield self._within("blocks", lambda: self._blocks(count)), runs

    def _first_rows(self) -> Any:
        return self.dataset.take_batch(SAMPLE, batch_format="pyarrow")

    def _count(self) -> int:
        count: int = self.dataset.count()
        return count

    def _blocks(self, count: int) -> list[Block]:
        with _rows_in_order():
            blocks = self.dataset.repartition(count).to_arrow_refs()
        ray = _imported()
        rows = ray.get([ray.remote(_rows).remote(block) for block in blocks])
        numbered = enumerate(zip(blocks, rows, strict=True))
        return [Block(block, number, each) for number, (block, each) in numbered if each]

    def _within(self, what: str, call: Callable[[], T]) -> T:
        def missing() -> str:
            return (
                f"Ray did not give the {what} of the dataset in {self._timeout:g} s. "
                f"{_cluster(_imported())}"
            )

        return within(self._timeout, call, missing)


@contextmanager
def _rows_in_order() -> Iterator[None]:
    """Let Ray keep the order of blocks, so that equal data are cut into equal pieces."""
    from ray.data import DataContext

    options = DataContext.get_current().execution_options
    before, options.preserve_order = options.preserve_order, True
    try:
        yield
    finally:
        options.preserve_order = before


def _cluster(ray: Any) -> str:
    """What a cluster has, and what to do if that is too little."""
    nodes = sum(node["Alive"] for node in ray.nodes())
    cpus = ray.cluster_resources().get("CPU", 0)
    free = ray.available_resources().get("CPU", 0)
    cure = "raise the time-out" if cpus else "start a node with CPUs"
    return f"The cluster has {nodes} nodes with {cpus:g} CPUs, of which {free:g} are free; {cure}"


def _rows(table: Any) -> int:
    count: int = table.num_rows
    return count


def _interval_of(interval: Interval) -> Interval:
    """The interval as a task: a table that Ray has fetched becomes a piece."""

    def run(model: bytes, piece: Any) -> bytes:
        return interval(model, piece if hasattr(piece, "described") else ArrowRows(piece))

    return run


def _imported() -> Any:
    try:
        import ray
    except ImportError as error:
        raise SpecError("Ray is not installed; 'pip install lessregret[ray]' does it") from error
    return ray


def _check_reached(address: str) -> None:
    """Raise an error if nothing listens at an address: Ray would wait for ever."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=REACHED).close()
    except OSError as error:
        raise _unreached(address, error) from error


def _unreached(address: str, error: Exception) -> LessRegretError:
    first = (str(error).strip() or type(error).__name__).splitlines()[0]
    return LessRegretError(
        f"there is no Ray cluster at {address} ({first}); start one with 'ray start --head', or "
        "give 'local' for one on this machine"
    )
