"""The curve of a run: its losses and what is certified at a few rounds, for a plot.

These rounds are called marks: 1, 2, 4, 5, 8, 11, 16, …, ⌊2^(k/2)⌋, two for each doubling. A run of
a billion rounds has 60 marks. For a plot on an even axis there are steps too, at multiples of a
stride: whenever there are 64 of them, every second one is forgotten and the stride doubles. A step
costs a copy of a few sums; a mark goes over all slots.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from math import isqrt
from typing import NamedTuple

from lessregret.ledger import Statement, Tally

MOST_STEPS = 64
"""More would be noise in a plot; that many batches suffice for an interval."""


class CurvePoint(NamedTuple):
    """The losses of a run after some number of rounds, and what is certified of them."""

    rounds: int
    importance: float
    """the sum so far; the rounds, where each has importance 1"""
    loss: float
    """the sum over all rounds so far, in the game that the regret is about"""
    mean_loss: float | None
    loss_since: float | None
    """the mean loss since the previous mark"""
    linear_regret: float | None
    """over all rounds so far; None unless certified"""
    bound: float | None
    """over all rounds so far; None for a rule without a bound"""
    statement: Statement | None = None
    """of fixed weights as large as those learned by then; None unless certified"""


class Stretch(NamedTuple):
    """The rounds between two steps."""

    rounds: int
    """at its end, those of earlier runs included"""
    importance: float
    """in the stretch alone"""
    loss: float
    """the mean of the stretch alone"""
    mean_so_far: float


@dataclass
class Curve:
    """The marks of a run.

    >>> curve = Curve()
    >>> curve.mark(Tally(rounds=1, importance=1.0, loss=0.75))
    >>> curve.mark(Tally(rounds=2, importance=2.0, loss=1.0))
    >>> [(mark.mean_loss, mark.loss_since) for mark in curve.marks]
    [(0.75, 0.75), (0.5, 0.25)]
    """

    before: Tally = field(default_factory=Tally)
    """the sums of earlier runs, if this run resumed from a model"""
    marks: list[CurvePoint] = field(default_factory=list)
    _last: Tally | None = field(default=None, repr=False, compare=False)
    _steps: list[Tally] = field(default_factory=list, repr=False, compare=False)
    stride: int = field(default=1, repr=False, compare=False)
    """rounds between two steps"""

    def next_mark(self, rounds: int) -> int:
        """The next round to be marked; the rounds of earlier runs do not count."""
        return self.before.rounds + next_mark(rounds - self.before.rounds)

    def next_step(self, rounds: int) -> int:
        """The next round to be noted as a step; the rounds of earlier runs do not count."""
        done = rounds - self.before.rounds
        return self.before.rounds + (done // self.stride + 1) * self.stride

    def step(self, tally: Tally, *, end: bool = False) -> None:
        """Note the sums if this is a step, or the end of the run."""
        done = tally.rounds - self.before.rounds
        known = self._steps[-1].rounds if self._steps else self.before.rounds
        if tally.rounds == known or (done % self.stride and not end):
            return
        self._steps.append(tally)
        if len(self._steps) == MOST_STEPS and not end:
            self._steps = self._steps[1::2]
            self.stride *= 2

    def stretches(self) -> list[Stretch]:
        """The rounds between steps, in order, without those of importance 0.

        >>> curve = Curve()
        >>> for n in range(1, 67):
        ...     curve.step(Tally(rounds=n, importance=float(n), loss=n / 2))
        >>> [len(curve.stretches()), *curve.stretches()[-1]]
        [33, 66, 2.0, 0.5, 0.5]
        """
        known = [self.before, *self._steps]
        return [
            Stretch(b.rounds, h, (b.loss - a.loss) / h, b.loss / b.importance)
            for a, b in zip(known, self._steps, strict=False)
            if (h := b.importance - a.importance) > 0
        ]

    def mark(
        self,
        tally: Tally,
        linear_regret: float | None = None,
        bound: float | None = None,
        statement: Statement | None = None,
    ) -> None:
        """Note where the run stands; a round is noted once."""
        last = self._last or self.before
        if tally.rounds == last.rounds:
            return
        since = _mean(tally.loss - last.loss, tally.importance - last.importance)
        mean = _mean(tally.loss, tally.importance)
        sums = tally.rounds, tally.importance, tally.game_loss
        self.marks.append(CurvePoint(*sums, mean, since, linear_regret, bound, statement))
        self._last = tally


def next_mark(rounds: int) -> int:
    """The least ⌊2^(k/2)⌋ above a number of rounds.

    >>> next_mark(0), next_mark(8), next_mark(1000)
    (1, 11, 1024)
    """
    powers = count(2 * max(0, rounds.bit_length() - 1))
    return next(mark for k in powers if (mark := isqrt(1 << k)) > rounds)


def _mean(total: float, importance: float) -> float | None:
    return total / importance if importance > 0 else None
