"""What the live page shows: one document, made at most once a second for all who watch."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lessregret.service.core import Service
    from lessregret.service.replica import Replica

EVERY = 1.0
"""seconds between two documents"""
LEDGER_EVERY = 5.0
"""seconds between two ledgers, each of which takes a pass over all slots in use"""


class Kept:
    """A value that is made again when it is too old."""

    def __init__(self, make: Callable[[], Any], seconds: float) -> None:
        self._make, self._seconds = make, seconds
        self._lock = threading.Lock()
        self._made = -seconds
        self._value: Any = None

    def get(self) -> Any:
        """The value."""
        with self._lock:
            if monotonic() - self._made >= self._seconds:
                self._value, self._made = self._make(), monotonic()
            return self._value


class Status:
    """Makes the document of a service."""

    def __init__(self, service: Service | Replica) -> None:
        self._service = service
        self._ledger = Kept(self._ledger_now, LEDGER_EVERY)
        self._document = Kept(self._document_now, EVERY)

    def document(self) -> dict[str, Any]:
        """The document as it was at most a second ago."""
        document: dict[str, Any] = self._document.get()
        return document

    def _document_now(self) -> dict[str, Any]:
        service = self._service
        measures, tally = service.measures, service.learner.tally()
        spec = service.learner.spec
        return {
            **service.readiness(),
            "time": service.now(),
            "model": {"loss": spec["loss"], "rule": spec["rule"]["name"]},
            "rounds": tally.rounds,
            "mean_loss": tally.loss / tally.importance if tally.importance else None,
            "curve": service.monitor.curve(),
            "window": service.monitor.summary(spec["loss"] == "logistic"),
            **self._ledger.get(),
            "requests": measures.requests,
            "predicted": service.predicted,
            "learned": measures.learned,
            "latency": measures.quantiles(),
            "waiting": service.waiting,
            "absent": service.absent,
            "outcomes": dict(measures.outcomes),
            "snapshot": self._snapshot(),
        }

    def _ledger_now(self) -> dict[str, Any]:
        ledger = self._service.learner.ledger()
        statement = ledger.statement
        return {
            "certificate": None if statement is None else statement.as_dict(),
            "lanes": [{"name": lane.name, "share": lane.share} for lane in ledger.lanes],
            "stack": None if ledger.stack is None else ledger.stack.share,
        }

    def _snapshot(self) -> dict[str, float]:
        gauges = self._service.gauges()
        names = {"position": "snapshot_position", "age": "snapshot_age_seconds"}
        return {short: gauges[name][1] for short, name in names.items()}
