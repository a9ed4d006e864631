"""What the writer is asked to do: each job writes to the log, then something is learned.

A job looks first and writes last: if it refuses, it has written nothing, and the other jobs of its
transaction are not touched.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple

from lessregret import _core
from lessregret.errors import InputError
from lessregret.service.bodies import Bodies, Labelled, with_label
from lessregret.service.json_examples import LabelOf
from lessregret.service.log import Log
from lessregret.service.refusals import BadInputError, BusyError
from lessregret.service.settings import Settings

LEARNED, LATE, DOUBLE, UNKNOWN = "learned", "late", "double", "unknown"
FATES = {"learned": DOUBLE, "negative": LATE, "dropped": LATE}
"""What is answered for an id that does not wait any more, by what became of it."""
NEGATIVE = -1.0


class Surroundings(NamedTuple):
    """What a job works with."""

    log: Log
    bodies: Bodies
    settings: Settings
    now: float


class Job(ABC):
    """One thing to do."""

    def __init__(self) -> None:
        self.future: Future[dict[str, Any]] = Future()
        self.to_learn: Labelled | None = None
        """what is learned once the log has it"""
        self.position = 0
        """where it stands in the log; 0 if nothing was added"""
        self.answer: dict[str, Any] = {}
        self.wants_snapshot = False

    @abstractmethod
    def write(self, given: Surroundings) -> None:
        """Write to the log, inside a transaction."""

    def append(self, given: Surroundings, media: str, body: bytes, key: str | None = None) -> None:
        """Add the entry of :attr:`to_learn` to the log."""
        assert self.to_learn is not None
        self.position = given.log.append(given.now, media, len(self.to_learn.examples), body, key)


class Learn(Job):
    """Learn from the examples of a body. A key makes it safe to ask twice."""

    def __init__(self, examples: _core.Examples, media: str, body: bytes, key: str | None) -> None:
        super().__init__()
        self._examples, self._media, self._body, self._key = examples, media, body, key

    def write(self, given: Surroundings) -> None:
        known = None if self._key is None else given.log.with_key(self._key)
        if known is not None:
            self.answer = {"examples": known[1], "position": known[0], "repeated": True}
            return
        self.to_learn = Labelled(self._examples)
        self.append(given, self._media, self._body, self._key)
        self.answer = {"examples": len(self._examples), "position": self.position}


class Keep(Job):
    """Keep predicted examples until their labels come; ``examples`` are ids and their JSON."""

    def __init__(self, examples: Sequence[tuple[str, bytes]]) -> None:
        super().__init__()
        self._examples = examples

    def write(self, given: Surroundings) -> None:
        most = given.settings.most_waiting
        if given.log.waiting + len(self._examples) > most:
            raise BusyError(f"{most:,} predictions wait for their label, which is the most")
        added = [given.log.wait_for(id, given.now, example) for id, example in self._examples]
        self.answer = {"kept": sum(added), "repeated": len(added) - sum(added)}


class Settle(Job):
    """Learn from the labels of predictions that were made before."""

    def __init__(self, labels: Sequence[LabelOf]) -> None:
        super().__init__()
        self._labels = labels

    def write(self, given: Surroundings) -> None:
        examples: dict[str, Any] = {}
        results = [self._look(given, one, examples) for one in self._labels]
        self._learn(given, list(examples.values()))
        for id in examples:
            given.log.settle(id, given.now, "learned")
        self.answer = {"position": self.position, "results": results, **Counter(results)}

    def _look(self, given: Surroundings, label: LabelOf, examples: dict[str, Any]) -> str:
        """What is answered for one label; its example is added if it is to be learned."""
        waiting = given.log.example_of(label.id)
        if label.id in examples:
            return DOUBLE
        if waiting is None:
            return FATES.get(given.log.fate_of(label.id) or "", UNKNOWN)
        [example], _ = given.bodies.kept.document(waiting)
        examples[label.id] = with_label(example, label.label)
        return LEARNED

    def _learn(self, given: Surroundings, examples: list[Any]) -> None:
        if not examples:
            return
        try:
            self.to_learn, media, body = given.bodies.labelled(examples)
        except InputError as error:
            raise BadInputError.of(error) from None
        self.append(given, media, body)


class TakeSnapshot(Job):
    """Write a snapshot now."""

    def __init__(self) -> None:
        super().__init__()
        self.wants_snapshot = True

    def write(self, given: Surroundings) -> None:
        """Nothing is added to the log."""


class Probe(Job):
    """Write something, to see whether the log can be written again."""

    def write(self, given: Surroundings) -> None:
        given.log.note("probed", str(given.now))


class GiveUp(Job):
    """Learn as negative, or drop, what waited too long for its label."""

    MOST = 10_000

    def write(self, given: Surroundings) -> None:
        overdue = given.log.overdue(given.now - given.settings.wait, self.MOST)
        is_drop = given.settings.drops_absent(given.bodies.space.labels)
        if overdue and not is_drop:
            decoded = (given.bodies.kept.document(waiting)[0][0] for _, waiting in overdue)
            examples = [with_label(each, _negative(given.bodies)) for each in decoded]
            self.to_learn, media, body = given.bodies.labelled(examples)
            self.append(given, media, body)
        for id, _ in overdue:
            given.log.settle(id, given.now, "dropped" if is_drop else "negative")
        self.answer = {"absent": len(overdue)}


def _negative(bodies: Bodies) -> Any:
    """The negative label, as the model's table calls it if it has one."""
    schema = bodies.space.schema
    if bodies.has_columns and schema is not None and schema.classes is not None:
        negative, positive = schema.classes
        return f"not {positive}" if negative is None else negative
    return NEGATIVE
