"""Training by several workers, of this machine or of a Ray cluster: the options, and the run."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from lessregret.errors import SpecError

if TYPE_CHECKING:
    from lessregret.data.given import GivenData
    from lessregret.distributed.local import Engine
    from lessregret.learners.learner import Learner
    from lessregret.training.run import Training

Command = TypeVar("Command", bound=Callable[..., Any])
OPTIONS = ("ray", "count", "syncs", "every", "checkpoint")
WORKERS = 2
SYNCS = 64

worker_choices: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--workers",
        "count",
        type=click.IntRange(1),
        metavar="N",
        help="Let N workers learn from different pieces of DATA at the same time, and merge them "
        "into one model again and again. The default with --ray is 2. Without --ray they are "
        "processes of this machine.",
    ),
    click.option(
        "--ray",
        metavar="ADDRESS",
        help="Let the workers be tasks of the Ray cluster whose head has this address; 'local' "
        "starts one on this machine. It needs lessregret[ray].",
    ),
    click.option(
        "--syncs",
        type=click.IntRange(1),
        metavar="N",
        help="With --workers or --ray: how often the workers are merged in a pass. The default is "
        f"{SYNCS}.",
    ),
    click.option(
        "--every",
        type=click.IntRange(1),
        metavar="N",
        help="In place of --syncs: merge whenever all workers together have learned about N "
        "examples.",
    ),
    click.option(
        "--checkpoint",
        type=click.Path(file_okay=False),
        metavar="FOLDER",
        help="With --workers or --ray: keep the model after every merge in this folder. A run that "
        "was stopped goes on from there, and ends with the same bits.",
    ),
)


def worker_options(command: Command) -> Command:
    """Add the options of workers to a command."""
    for option in reversed(worker_choices):
        command = option(command)
    return command


class Run(Protocol):
    """What a run by workers must know of a request."""

    @property
    def passes(self) -> int: ...
    @property
    def model(self) -> str | None: ...
    @property
    def slim(self) -> bool: ...
    @property
    def quiet(self) -> bool: ...


@dataclass(frozen=True)
class Workers:
    """Who learns, and how often they are merged."""

    ray: str | None
    count: int
    syncs: int
    every: int | None
    checkpoint: str | None

    def check(self, request: Any) -> None:
        """Raise a SpecError for options that only a single learner has."""
        single = {
            "--predictions": request.predictions,
            "--by": request.by,
            "--report": request.report,
            "--names": request.names,
            "--threads": request.threads,
            "-P": request.every_line,
            "--bad-lines skip": request.bad_lines == "skip",
        }
        for option in (name for name, value in single.items() if value):
            raise SpecError(f"{option} is for one learner; leave it out, or --workers and --ray")
        if "-" in request.data or not request.data:
            raise SpecError("workers read files; standard input and queries cannot be cut")

    def engine(self) -> AbstractContextManager[Engine]:
        """What runs the intervals."""
        from lessregret.distributed.local import in_processes

        if self.ray is None:
            return nullcontext(in_processes)
        from lessregret.distributed.on_ray import OnRay

        return OnRay(self.ray)


def take_workers(options: dict[str, Any]) -> dict[str, Any]:
    """The options with ``workers`` in place of those that say who learns; None for one learner."""
    rest = {name: value for name, value in options.items() if name not in OPTIONS}
    said = {name: options[name] for name in OPTIONS}
    if said["ray"] is None and said["count"] is None:
        for name in (name for name in OPTIONS if said[name] is not None):
            raise SpecError(f"--{name} is about workers; say how many with --workers")
        return {**rest, "workers": None}
    if said["syncs"] is not None and said["every"] is not None:
        raise SpecError("--syncs and --every both say when to merge; give one of them")
    defaults = {"count": said["count"] or WORKERS, "syncs": said["syncs"] or SYNCS}
    return {**rest, "workers": Workers(**{**said, **defaults})}


def trained_by(workers: Workers, given: GivenData, start: Learner, request: Run) -> Training:
    """The run of a request by workers."""
    from lessregret.distributed.cutting import about_examples, cut
    from lessregret.distributed.run import Plan, run
    from lessregret.training.run import Training

    started, syncs = time.perf_counter(), workers.syncs
    if workers.every is not None:
        syncs = max(1, -(-about_examples(given.files, format=given.format) // workers.every))
    pieces = cut(given.files, workers.count * syncs, format=given.format, choices=given.choices)
    with workers.engine() as engine:
        plan = Plan(pieces, workers.count, engine, request.passes)
        learner = run(plan, start, workers.checkpoint, None if request.quiet else _tell)
    if request.model is not None:
        learner.save(request.model, slim=request.slim)
    return Training(
        learner=learner,
        ledger=learner.ledger(),
        data=tuple(given.files),
        passes=request.passes,
        skipped=0,
        first_skipped=None,
        seconds=time.perf_counter() - started,
        model=request.model,
        resumed=None,
        recorder=None,
    )


def _tell(line: str) -> None:
    click.echo(line, err=True)
