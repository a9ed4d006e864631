"""The recorder collects the data of a report while a run goes on, in constant memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from lessregret.learners.learner import Learner
from lessregret.learners.outcomes import Outcomes
from lessregret.learners.sources import Source
from lessregret.ledger import Ledger, Tally
from lessregret.training.curve import Curve
from lessregret.training.late_rounds import LateRounds
from lessregret.training.progressive import Marks
from lessregret.training.window import Window, WindowMarks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lessregret.training.calibration import Calibration

    Write: TypeAlias = Callable[[NDArray[np.float64]], None]

NEVER = 1 << 62


class Unrecorded:
    """For a run that nobody will report. It knows the later part of the run, and its metrics.

    Parameters
    ----------
    before : Tally
        The sums of earlier runs of a resumed model; an empty Tally for a new model.
    progressive : Marks, optional
        What adds up the metrics of the run.
    """

    def __init__(self, before: Tally, progressive: Marks | None = None) -> None:
        self.late = LateRounds(before)
        self._progressive = progressive

    def next_mark(self, rounds: int) -> int:
        """The round at which :meth:`mark` wants to be called next."""
        return NEVER

    def learn(
        self, learner: Learner, examples: Source, limit: int, write: Write | None = None
    ) -> int:
        """Let the learner learn from the next examples, at most ``limit``; how many there were.

        Their margins go to ``write``, if there is one.
        """
        rounds = learner.tally().rounds
        if self._progressive is not None:
            limit = min(limit, self._progressive.next_mark(rounds) - rounds)
        outcomes = learner.learn(examples, limit=limit)
        self.late.add(outcomes.label_sums(), learner.tally())
        if self._progressive is not None:
            self._progressive.add(outcomes, learner.tally().rounds)
        self.note(outcomes)
        if write is not None:
            write(outcomes.margins)
        return len(outcomes)

    def note(self, outcomes: Outcomes) -> None:
        """Keep what the report shows of a block of examples."""

    def mark(self, ledger: Ledger) -> None:
        """Note where the run stands."""


class Recorder(Unrecorded):
    """Records the curve of a run, its window and, optionally, the calibration of probabilities.

    Parameters
    ----------
    before : Tally
        The sums of earlier runs of a resumed model; an empty Tally for a new model.
    progressive : Marks, optional
        What adds up the metrics of the run.
    calibrates : bool
        Whether to record the calibration. Only logistic loss has probabilities.
    """

    def __init__(
        self, before: Tally, progressive: Marks | None = None, *, calibrates: bool
    ) -> None:
        from lessregret.training.calibration import Calibration

        super().__init__(before, progressive)
        self.curve = Curve(before)
        self.calibration: Calibration | None = Calibration() if calibrates else None
        self.window: Window | None = None
        """about the last tenth of the run; None before its end"""
        self._marks = WindowMarks(before.rounds)

    def next_mark(self, rounds: int) -> int:
        return self.curve.next_mark(rounds)

    def learn(
        self, learner: Learner, examples: Source, limit: int, write: Write | None = None
    ) -> int:
        rounds = learner.tally().rounds
        stop = min(self._marks.next_mark(rounds), self.curve.next_step(rounds))
        count = super().learn(learner, examples, min(limit, stop - rounds), write)
        self._marks.note(learner)
        self.curve.step(learner.tally())
        return count

    def note(self, outcomes: Outcomes) -> None:
        if self.calibration is not None:
            known = outcomes.labels == outcomes.labels
            self.calibration.add(
                outcomes.margins[known], outcomes.labels[known], outcomes.importances[known]
            )

    def mark(self, ledger: Ledger) -> None:
        self.curve.mark(ledger.tally, ledger.linear_regret, ledger.bound, ledger.statement)

    def finish(self, learner: Learner, ledger: Ledger) -> None:
        """Note the end of the run, with the ledger of that moment."""
        self.mark(ledger)
        self.curve.step(ledger.tally, end=True)
        self.window = self._marks.window(learner, ledger)
