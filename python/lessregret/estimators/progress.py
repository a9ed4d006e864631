"""The progressive metrics of an estimator: scores of predictions made before they were learned.

They are added up after each call, as ``lessregret.train`` does after each block
(:mod:`lessregret.training.progressive`). Of examples that are told one by one only the margin is
noted, and a thousand of them are added at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lessregret.training.progressive import Progressive, RunMetrics

if TYPE_CHECKING:
    from lessregret.learners.outcomes import Outcomes

NOTED = 1024
"""The examples told one by one that are noted before they are added."""


class Progress:
    """Adds up the metrics of an estimator.

    >>> progress = Progress("hinge")
    >>> progress.add_one(0.5, -1.0, 1.0)
    >>> progress.metrics().all.mean_loss, progress.metrics().all.error
    (1.5, 1.0)
    """

    def __init__(self, loss: str, before: int = 0) -> None:
        self._progressive = Progressive(loss, before)
        self._noted: list[tuple[float, float, float]] = []

    def add(self, outcomes: Outcomes) -> None:
        """Add the rounds of a call."""
        self._add_noted()
        self._progressive.add_rounds(outcomes.margins, outcomes.labels, outcomes.importances)

    def add_one(self, margin: float, label: float, importance: float) -> None:
        """Add one round."""
        self._noted.append((margin, label, importance))
        if len(self._noted) == NOTED:
            self._add_noted()

    def metrics(self) -> RunMetrics:
        """The metrics so far."""
        self._add_noted()
        return self._progressive.metrics()

    def _add_noted(self) -> None:
        if not self._noted:
            return
        margins, labels, importances = np.array(self._noted, dtype=np.float64).T.copy()
        self._noted.clear()
        self._progressive.add_rounds(
            margins, labels.astype(np.float32), importances.astype(np.float32)
        )
