"""Many rules on the same data: losses and mistakes, over shuffles or as the data stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev
from typing import Any, NamedTuple

from lessregret.data.examples import Examples, shuffled
from lessregret.learners.learner import Learner, learn_many
from lessregret.learners.rules import Rule
from lessregret.learners.sources import Source
from lessregret.ledger import Ledger
from lessregret.training.curve import Curve, next_mark
from lessregret.training.progressive import Progressive
from lessregret.training.scores import Scores

MakeLearner = Callable[[Rule], Learner]


@dataclass(frozen=True)
class Row:
    """One rule's scores, one for each run."""

    rule: str
    losses: tuple[float, ...]
    mistakes: tuple[float, ...]
    """empty for regression"""
    left: tuple[float, ...] = ()
    """the part of the loss that fixed weights as large as the learned ones could save, at most"""
    curve: Curve | None = None
    """how the loss went; None over shuffles"""
    scores: tuple[Scores, ...] = ()
    """those of each run"""

    @property
    def mean_loss(self) -> float:
        """The mean over the runs."""
        return fmean(self.losses)

    @property
    def mistake_rate(self) -> float | None:
        """The mean over the runs; None for regression."""
        return fmean(self.mistakes) if self.mistakes else None

    def as_dict(self) -> dict[str, Any]:
        """The row for JSON; standard deviations are None for fewer than two runs."""
        return {
            "rule": self.rule,
            "mean_loss": self.mean_loss,
            "mistake_rate": self.mistake_rate,
            "left": fmean(self.left) if self.left else None,
            "sd_loss": _spread(self.losses),
            "sd_mistakes": _spread(self.mistakes),
            "metrics": self._metrics(),
        }

    def mean_score(self, name: str) -> float | None:
        """The mean over the runs of a score, such as ``"auc"``; None where it is not defined."""
        found = [scores.told.get(name) for scores in self.scores]
        known = [score for score in found if score is not None]
        return fmean(known) if known and len(known) == len(found) else None

    def _metrics(self) -> dict[str, Any] | None:
        """The means over the runs of all scores."""
        if not self.scores:
            return None
        return {name: self.mean_score(name) for name in self.scores[0].told}


def compare_shuffled(
    rules: Mapping[str, Rule],
    make: MakeLearner,
    examples: Examples,
    *,
    shuffles: int,
    seed: int = 0,
    done: Callable[[int], None] = lambda number: None,
) -> list[Row]:
    """Every rule on the same shuffles of examples in memory, all side by side."""
    ledgers: dict[str, list[Ledger]] = {name: [] for name in rules}
    scores: dict[str, list[Scores]] = {name: [] for name in rules}
    for number in range(shuffles):
        learners = {name: make(rule) for name, rule in rules.items()}
        progressive = _progressive(learners)
        order = shuffled(len(examples), seed, number)
        cores = [one.core for one in progressive.values()]
        learn_many(list(learners.values()), examples, order=order, metrics=cores)
        for name, learner in learners.items():
            ledgers[name].append(learner.ledger())
            scores[name].append(progressive[name].scores())
        done(number + 1)
    return [_row(name, runs, scores[name]) for name, runs in ledgers.items()]


def compare_stream(
    rules: Mapping[str, Rule],
    make: MakeLearner,
    stream: Source,
    *,
    block: int,
    done: Callable[[int], None] = lambda rounds: None,
) -> list[Row]:
    """Every rule on the examples of a stream as they come: parsed once, learned by all."""
    learners = {name: make(rule) for name, rule in rules.items()}
    curves = {name: Curve() for name in rules}
    leader = next(iter(curves.values()))
    progressive = _progressive(learners)
    everyone, cores = list(learners.values()), [one.core for one in progressive.values()]
    rounds, mark = 0, next_mark(0)
    while count := learn_many(
        everyone,
        stream,
        limit=min(block, mark - rounds, leader.next_step(rounds) - rounds),
        metrics=cores,
    ):
        rounds += count
        done(rounds)
        _step_all(curves, learners)
        if rounds == mark:
            mark = next_mark(rounds)
            _mark_all(curves, learners)
    _mark_all(curves, learners)
    _step_all(curves, learners, end=True)
    return [
        _row(name, [learner.ledger()], [progressive[name].scores()], curves[name])
        for name, learner in learners.items()
    ]


def _progressive(learners: Mapping[str, Learner]) -> dict[str, Progressive]:
    """What adds up the metrics of each learner."""
    return {name: Progressive(learner.spec["loss"]) for name, learner in learners.items()}


def _mark_all(curves: Mapping[str, Curve], learners: Mapping[str, Learner]) -> None:
    for name, curve in curves.items():
        curve.mark(learners[name].tally())


def _step_all(
    curves: Mapping[str, Curve], learners: Mapping[str, Learner], *, end: bool = False
) -> None:
    for name, curve in curves.items():
        curve.step(learners[name].tally(), end=end)


def _row(
    rule: str, ledgers: Sequence[Ledger], scores: Sequence[Scores], curve: Curve | None = None
) -> Row:
    losses = tuple(ledger.mean_loss for ledger in ledgers if ledger.mean_loss is not None)
    rates = tuple(ledger.mistake_rate for ledger in ledgers if ledger.mistake_rate is not None)
    said = (ledger.statement for ledger in ledgers)
    left = tuple(statement.left for statement in said if statement is not None)
    return Row(rule, losses, rates, left, curve, tuple(scores))


class Difference(NamedTuple):
    """How much more one rule lost than another, with a 95 % interval; the ends may be equal."""

    mean: float
    low: float
    high: float


def difference(row: Row, other: Row) -> Difference:
    """How much more a rule lost than another on the same examples, on average.

    Over shuffles the interval is Student's for the differences of the runs. In one run it is that
    of batch means (Law and Kelton, "Simulation modeling and analysis", chapter 9): the examples are
    cut into 32 to 64 stretches, whose differences are taken as independent. With fewer than five
    parts there is no interval.

    >>> one = Row("one", (0.5, 0.6, 0.7) * 4, ())
    >>> two = Row("two", (0.4, 0.5, 0.7) * 4, ())
    >>> [round(end, 3) for end in difference(one, two)]
    [0.067, 0.035, 0.098]
    """
    if row.curve is None or other.curve is None:
        parts = [(1.0, a - b) for a, b in zip(row.losses, other.losses, strict=True)]
    else:
        mine, others = row.curve.stretches(), other.curve.stretches()
        parts = [
            (a.importance, a.importance * (a.loss - b.loss))
            for a, b in zip(mine, others, strict=True)
        ]
    return _batch_means(parts)


LEAST_PARTS = 5


def _batch_means(parts: Sequence[tuple[float, float]]) -> Difference:
    """The ratio of the sums of (importance, total) pairs, with Student's 95 % interval."""
    from scipy.special import stdtrit

    count, importance = len(parts), sum(h for h, _ in parts)
    mean = sum(total for _, total in parts) / importance
    if count < LEAST_PARTS:
        return Difference(mean, mean, mean)
    squares = sum((total - mean * h) ** 2 for h, total in parts)
    reach = float(stdtrit(count - 1, 0.975)) * sqrt(squares * count / (count - 1)) / importance
    return Difference(mean, mean - reach, mean + reach)


def _spread(scores: Sequence[float]) -> float | None:
    return stdev(scores) if len(scores) > 1 else None
