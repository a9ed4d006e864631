"""A service without HTTP: predict, learn, settle, and say how it goes."""

from __future__ import annotations

import math
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lessregret import _core
from lessregret.errors import InputError, SpecError
from lessregret.learners.learner import Learner
from lessregret.service.bodies import JSON, NDJSON
from lessregret.service.jobs import Keep, Learn, Settle, TakeSnapshot
from lessregret.service.json_examples import BODY, Decoder, LabelOf
from lessregret.service.measures import Measures
from lessregret.service.monitor import Monitor
from lessregret.service.predictor import Predictor, checked_id
from lessregret.service.refusals import (
    BadInputError,
    RefusedError,
    UnavailableError,
    UnknownMediaError,
)
from lessregret.service.settings import Settings
from lessregret.service.snapshots import Snapshot
from lessregret.service.state import State

if TYPE_CHECKING:
    pass

Answer = Future[dict[str, Any]]


class Service(Predictor):
    """What the endpoints ask of a service that learns."""

    def __init__(self, model: Path, state: Path, settings: Settings) -> None:
        self.settings = settings
        self.monitor = Monitor(settings.window)
        self.measures = Measures(self)
        self.state = State(state, model, settings, self._watch)
        self.writer = self.state.writer
        self._settle = Decoder(LabelOf)
        super().__init__(self.writer.learner, self.writer.bodies)
        self.monitor.note(self.learner, self.writer.clock.now())
        self.writer.start()

    def _watch(self, outcomes: list[_core.Outcomes]) -> None:
        self.monitor.watch(outcomes, self.learner.classes)
        if self.writer.replayed_all:
            self.monitor.note(self.learner, self.writer.clock.now())
        self.measures.learned += sum(map(len, outcomes))

    @property
    def learner(self) -> Learner:
        """The learner as it is now."""
        return self.writer.learner

    def now(self) -> float:
        """The time of the service."""
        return self.writer.clock.now()

    @property
    def waiting(self) -> int:
        """Predictions that wait for their label."""
        return self.writer.log.waiting

    @property
    def absent(self) -> int:
        """Labels that did not come in time."""
        return self.writer.absent

    def close(self) -> None:
        """Do what waits, write a snapshot and end."""
        self.state.close()

    def _check_read(self) -> None:
        if not self.writer.replayed_all:
            raise UnavailableError(self.writer.trouble or "the log is being read")

    def keep(self, to_keep: list[tuple[str, bytes]]) -> Answer:
        """Keep predicted examples until their labels come."""
        return self.writer.submit(Keep(to_keep))

    def learn(self, media: str, body: bytes, key: str | None) -> Answer:
        """Learn from all examples of a body, or from none."""
        try:
            examples = self.bodies.examples(media, body)
            if self._classes is not None:
                self._classes.check(self.learner, examples)
        except InputError as error:
            raise BadInputError.of(error) from None
        return self.writer.submit(Learn(examples, media, body, key))

    def settle(self, media: str, body: bytes) -> Answer:
        """Learn from labels of earlier predictions."""
        if media not in (JSON, NDJSON):
            raise UnknownMediaError(f"expected {JSON} or {NDJSON}, found {media}")
        try:
            decoder = self._settle
            labels = decoder.lines(body) if media == NDJSON else decoder.document(body)[0]
            self.bodies.check_count(len(labels))
            self._check_labels(labels)
        except InputError as error:
            raise BadInputError.of(error) from None
        future = self.writer.submit(Settle(labels))
        future.add_done_callback(self._count_outcomes)
        return future

    def _check_labels(self, labels: list[LabelOf]) -> None:
        for number, one in enumerate(labels):
            checked_id(one.id)
            if not self.bodies.has_columns:
                self.bodies.number_of(one.label, f"{BODY}[{number}].label")

    def _count_outcomes(self, future: Answer) -> None:
        if future.exception() is None:
            self.measures.outcomes.update(future.result()["results"])

    def snapshot(self) -> Answer:
        """Write a snapshot now."""
        return self.writer.submit(TakeSnapshot())

    def newest_snapshot(self) -> Snapshot:
        """The newest snapshot."""
        snapshots = self.writer.snapshots.all()
        if not snapshots:
            raise UnavailableError("there is no snapshot")
        return snapshots[0]

    def readiness(self) -> dict[str, Any]:
        """Whether examples can be predicted and learned, and if not, why."""
        writer = self.writer
        found: dict[str, Any] = {"ready": writer.is_ready, "position": writer.position}
        if writer.trouble is not None:
            found["reason"] = writer.trouble
        if not writer.replayed_all:
            found |= {"replayed": writer.replayed, "to_replay": writer.to_replay}
        warnings = self.warnings()
        return {**found, "warnings": warnings} if warnings else found

    def warnings(self) -> list[str]:
        """What an operator should know, though the service works."""
        writer = self.writer
        found = [] if writer.snapshot_trouble is None else [writer.snapshot_trouble]
        if writer.snapshots.torn:
            found.append(
                f"a snapshot was torn ({writer.snapshots.torn[0]}); the one before is used"
            )
        if writer.clock.behind > 1:
            behind = f"{writer.clock.behind:,.0f} s"
            found.append(
                f"the system's clock was behind the log by {behind}; labels are waited for"
            )
        return found

    def gauges(self) -> dict[str, tuple[str, float]]:
        """Numbers that go up and down, with what they are."""
        writer = self.writer
        tally = self.learner.tally()
        mean_loss = tally.loss / tally.importance if tally.importance else math.nan
        return {
            "ready": ("Whether examples can be learned.", float(writer.is_ready)),
            "log_position": ("The position of the log that was learned last.", writer.position),
            "waiting_labels": ("Predictions that wait for a label.", writer.log.waiting),
            "rounds": ("Examples that the model has learned from.", tally.rounds),
            "mean_loss": ("The mean loss of all rounds.", mean_loss),
            "absent_labels": ("Labels that did not come in time.", writer.absent),
            "snapshot_position": ("The position of the newest snapshot.", self._snapshot_at()),
            "snapshot_age_seconds": (
                "Time since the newest snapshot, or the start.",
                writer.clock.now() - writer.snapshot_time,
            ),
        }

    def _snapshot_at(self) -> float:
        try:
            return self.newest_snapshot().position
        except RefusedError:
            return math.nan


def open_service(model: Path, state: Path, settings: Settings) -> Service:
    """A running service; errors are those of the files and of the settings."""
    if not model.is_file():
        raise SpecError(f"{model}: no such model file")
    return Service(model, state, settings)
