"""Progressive metrics: scores of predictions that were made before their examples were learned.

They are added up in Rust (``crates/core/src/metrics``), in constant memory, and without arrays of
numpy, since importing it takes longer than learning from a small file. :mod:`.metrics` has the
readable twin of the sums.

The last tenth begins at one of the rounds at which :class:`~lessregret.training.window.Window`
begins: 8 to 17 % of the run are after it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from lessregret import _core
from lessregret.learners.learner import Learner
from lessregret.learners.outcomes import Outcomes
from lessregret.training.class_scores import ClassScores, ClassSums
from lessregret.training.run_warnings import LEAST_EXAMPLES
from lessregret.training.scores import MetricSums, Scores
from lessregret.training.slices import Slicing, slicing_of
from lessregret.training.window import next_mark

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class RunMetrics(NamedTuple):
    """The scores of a run, of its end, and by slice."""

    all: Scores | ClassScores
    """of all rounds of this run; those of earlier runs of a resumed model do not count"""
    last_tenth: Scores | ClassScores | None = None
    """of the last tenth, more or less; None for runs of fewer than 1,000 examples"""
    slices: tuple[Slicing, ...] = ()
    """for every column that was asked for"""

    def as_dict(self) -> dict[str, Any]:
        """All scores, for JSON."""
        return {
            "all": self.all.as_dict(),
            "last_tenth": None if self.last_tenth is None else self.last_tenth.as_dict(),
            "slices": {slicing.column: slicing.as_dict() for slicing in self.slices},
        }


class Marks(ABC):
    """Metrics that are added up while a run goes on, and know where its last tenth begins."""

    def __init__(self, before: int) -> None:
        self._before = self._rounds = before

    def next_mark(self, rounds: int) -> int:
        """The round after which the next block is to end."""
        return next_mark(self._before, rounds)

    def go_on(self, rounds: int) -> None:
        """Note how many rounds there are, after a block was added to ``core``."""
        if len(range(self._rounds, rounds)) and next_mark(self._before, rounds - 1) == rounds:
            self._mark()
        self._rounds = rounds

    @property
    def is_long_enough(self) -> bool:
        """Whether the last tenth has enough rounds to say something."""
        return self._rounds - self._before >= LEAST_EXAMPLES

    @abstractmethod
    def add(self, outcomes: Outcomes, rounds: int) -> None:
        """Add a block of rounds, after which there are ``rounds`` in all."""

    @abstractmethod
    def metrics(self) -> RunMetrics:
        """The metrics so far."""

    @abstractmethod
    def _mark(self) -> None:
        """Let the end of the run begin at the mark before this one."""


class ProgressiveClasses(Marks):
    """Adds up the metrics of a learner of many classes while its run goes on."""

    def __init__(self, learner: Learner) -> None:
        super().__init__(learner.tally().rounds)
        self._learner = learner
        self.core = _core.ClassMetrics(learner.spec["loss"])

    def add(self, outcomes: Outcomes, rounds: int) -> None:
        outcomes.add_to_classes(self.core, self._learner.classes or [])
        self.go_on(rounds)

    def metrics(self) -> RunMetrics:
        late = self._scores(end=True) if self.is_long_enough else None
        return RunMetrics(self._scores(end=False), late)

    def _mark(self) -> None:
        self.core.mark()

    def _scores(self, *, end: bool) -> ClassScores:
        names, sums = self._learner.class_names or [], ClassSums.of(self.core.sums(end))
        return ClassScores(self._learner.spec["loss"], sums, tuple(map(str, names)))


class Progressive(Marks):
    """Adds up the metrics of a run while it goes on.

    Parameters
    ----------
    loss : str
        The loss of the learner, whose margins are scored.
    before : int, default 0
        The rounds of earlier runs.
    by : names of columns or namespaces, default none
        What slices are made by. The outcomes must be those of a stream that was opened with the
        same names.

    >>> progressive = Progressive("logistic")
    >>> progressive.metrics().all.mean_loss is None
    True
    """

    def __init__(self, loss: str, before: int = 0, by: Sequence[str] = ()) -> None:
        super().__init__(before)
        self._loss, self._by = loss, tuple(by)
        self.core = _core.Metrics(loss)
        self._slices = _core.Slices(loss, len(by)) if by else None

    def add(self, outcomes: Outcomes, rounds: int) -> None:
        outcomes.add_to(self.core)
        if self._slices is not None:
            outcomes.add_to_slices(self._slices)
        self.go_on(rounds)

    def add_rounds(
        self,
        margins: NDArray[np.float64],
        labels: NDArray[np.float32],
        importances: NDArray[np.float32],
    ) -> None:
        """Add rounds that were learned in one call, cut where marks are to be.

        Only the last two marks are ever used, so those before them are left out.
        """
        rounds = self._rounds + len(margins)
        marks = [self._rounds]
        while (mark := next_mark(self._before, marks[-1])) <= rounds:
            marks.append(mark)
        cuts = [self._rounds, *marks[1:][-2:], rounds]
        for start, end in pairwise(cuts):
            part = slice(start - cuts[0], end - cuts[0])
            self.core.add_arrays(margins[part], labels[part], importances[part])
            self.go_on(end)

    def _mark(self) -> None:
        self.core.mark()

    def metrics(self) -> RunMetrics:
        return RunMetrics(
            self.scores(),
            self.scores(end=True) if self.is_long_enough else None,
            tuple(self._slicing(k, column) for k, column in enumerate(self._by)),
        )

    def scores(self, *, end: bool = False) -> Scores:
        """The scores of all rounds so far, or of those of the end of the run."""
        return Scores(self._loss, MetricSums(*self.core.sums(end)), self.core.area(end))

    def _slicing(self, number: int, column: str) -> Slicing:
        assert self._slices is not None
        return slicing_of(self._loss, column, *self._slices.column(number))
