"""Progressive metrics: scores of predictions that were made before their examples were learned.

They are added up in Rust (``crates/core/src/metrics``), in constant memory, and without arrays of
numpy, since importing it takes longer than learning from a small file. :mod:`.metrics` has the
readable twin of the sums.

The last tenth begins at one of the rounds at which :class:`~lessregret.training.window.Window`
begins: 8 to 17 % of the run are after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from lessregret import _core
from lessregret.learners.outcomes import Outcomes
from lessregret.training.run_warnings import LEAST_EXAMPLES
from lessregret.training.scores import MetricSums, Scores
from lessregret.training.slices import Slicing, slicing_of
from lessregret.training.window import next_mark

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class RunMetrics(NamedTuple):
    """The scores of a run, of its end, and by slice."""

    all: Scores
    """of all rounds of this run; those of earlier runs of a resumed model do not count"""
    last_tenth: Scores | None = None
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


class Progressive:
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
        self._loss, self._before, self._by = loss, before, tuple(by)
        self._rounds = before
        self.core = _core.Metrics(loss)
        self._slices = _core.Slices(loss, len(by)) if by else None

    def next_mark(self, rounds: int) -> int:
        """The round after which the next block is to end."""
        return next_mark(self._before, rounds)

    def add(self, outcomes: Outcomes, rounds: int) -> None:
        """Add a block of rounds, after which there are ``rounds`` in all."""
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

    def go_on(self, rounds: int) -> None:
        """Note how many rounds there are, after a block was added to ``core``."""
        if len(range(self._rounds, rounds)) and next_mark(self._before, rounds - 1) == rounds:
            self.core.mark()
        self._rounds = rounds

    def metrics(self) -> RunMetrics:
        """The metrics so far."""
        long_enough = self._rounds - self._before >= LEAST_EXAMPLES
        return RunMetrics(
            self._scores(end=False),
            self._scores(end=True) if long_enough else None,
            tuple(self._slicing(k, column) for k, column in enumerate(self._by)),
        )

    def _scores(self, *, end: bool) -> Scores:
        return Scores(self._loss, MetricSums(*self.core.sums(end)), self.core.area(end))

    def _slicing(self, number: int, column: str) -> Slicing:
        assert self._slices is not None
        return slicing_of(self._loss, column, *self._slices.column(number))
