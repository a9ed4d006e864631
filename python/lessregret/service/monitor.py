"""How well the service predicts: the last examples, and the loss over time.

The window holds the margins of the last examples, each computed before its example was learned,
and their labels. The curve has a point for every interval of time in which something was learned;
when it is full, neighbours are joined, so that it covers any time in constant memory.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessregret import _core
from lessregret.learners.learner import Learner
from lessregret.ledger import Tally
from lessregret.service.many_classes import hits
from lessregret.training.calibration import Calibration

POINTS = 240
Floats = NDArray[np.float64]


class Point(NamedTuple):
    """An interval of time on the curve."""

    time: float
    loss: float
    """Σ importance · loss"""
    importance: float
    examples: int


class Window:
    """The last examples, in arrays that are written round and round."""

    def __init__(self, size: int) -> None:
        self._rows = np.zeros((3, size))
        self._seen = 0
        self._lock = threading.Lock()

    def add(self, outcomes: Sequence[_core.Outcomes], codes: Sequence[int] | None = None) -> None:
        """Add examples: margins, or hits of many classes; labels; importances."""
        size = self._rows.shape[1]
        rows = [
            (each.margins if codes is None else hits(each, codes), each.labels, each.importances)
            for each in outcomes
        ]
        columns = [np.concatenate(column) for column in zip(*rows, strict=True)]
        taken = np.stack([column[-size:].astype(np.float64) for column in columns])
        with self._lock:
            places = (self._seen + np.arange(taken.shape[1])) % size
            self._rows[:, places] = taken
            self._seen += taken.shape[1]

    def rows(self) -> NDArray[np.float64]:
        """Margins, labels and importances of the examples in the window."""
        with self._lock:
            return self._rows[:, : min(self._seen, self._rows.shape[1])].copy()


class Monitor:
    """Watches a learner; :meth:`watch` is told outcomes by the thread that learns."""

    def __init__(self, size: int) -> None:
        self.window = Window(size)
        self._points: list[Point] = []
        self._step = 1.0
        self._before: Tally | None = None
        self._has_classes = False

    def watch(self, outcomes: Sequence[_core.Outcomes], codes: Sequence[int] | None = None) -> None:
        """Examples were learned; of many classes the codes are told."""
        self._has_classes = codes is not None
        self.window.add(outcomes, codes)

    def note(self, learner: Learner, now: float) -> None:
        """Add a point to the curve if something was learned since the last one."""
        tally, before = learner.tally(), self._before
        self._before = tally
        if before is None or tally.rounds <= before.rounds:
            return
        sums = tally.loss - before.loss, tally.importance - before.importance
        self._add(Point(now, *sums, tally.rounds - before.rounds))

    def _add(self, point: Point) -> None:
        last = self._points[-1] if self._points else None
        if last is not None and point.time - last.time < self._step:
            self._points[-1] = _joined(last, point)._replace(time=last.time)
        else:
            self._points.append(point)
        if len(self._points) > POINTS:
            self._step *= 2
            pairs = zip(self._points[::2], self._points[1::2], strict=False)
            odd = self._points[-1:] if len(self._points) % 2 else []
            self._points = [_joined(*pair) for pair in pairs] + odd

    def curve(self) -> list[tuple[float, float, int]]:
        """Times, mean losses and numbers of examples."""
        return [
            (point.time, point.loss / point.importance, point.examples)
            for point in self._points
            if point.importance > 0
        ]

    def summary(self, is_logistic: bool) -> dict[str, Any]:
        """What the window shows."""
        margins, labels, importances = self.window.rows()
        found: dict[str, Any] = {"examples": len(margins), "auc": None, "calibration": []}
        if self._has_classes:
            total = importances.sum()
            accuracy = float((margins * importances).sum() / total) if total > 0 else None
            return {**found, "accuracy": accuracy}
        if len(margins):
            found["auc"] = area_under_curve(margins, labels, importances)
        if is_logistic and len(margins):
            calibration = Calibration()
            calibration.add(margins, labels, importances)
            found["calibration"] = [one._asdict() for one in calibration.bins()]
        return found


def _joined(first: Point, second: Point) -> Point:
    return Point(second.time, *(a + b for a, b in zip(first[1:], second[1:], strict=True)))  # type: ignore[arg-type]


def area_under_curve(margins: Floats, labels: Floats, importances: Floats) -> float | None:
    """The chance that a positive example has the larger margin; None unless both classes are there.

    Ties count one half; examples count by their importance.

    >>> area_under_curve(np.array([0.1, 0.4, 0.4]), np.array([-1, -1, 1]), np.ones(3))
    0.75
    """
    order = np.argsort(margins, kind="stable")
    margins, labels, h = margins[order], labels[order], importances[order]
    positive, negative = h * (labels > 0), h * (labels <= 0)
    total = positive.sum() * negative.sum()
    if total == 0:
        return None
    starts = np.flatnonzero(np.append(True, margins[1:] != margins[:-1]))
    ups, downs = np.add.reduceat(positive, starts), np.add.reduceat(negative, starts)
    below = np.cumsum(downs) - downs
    return float((ups * (below + downs / 2)).sum() / total)
