"""Regret measured: rules run over data, set against the best fixed point at ever more rounds.

    regret  =  Σ f_t(x_t) − min over F of Σ f_t(x)       f_t the loss, with L2 where asked for
            ∈  [Σ f_t(x_t) − total, Σ f_t(x_t) − lower]  the comparator's enclosure
            ≤  linearised regret  ≤  bound

Every number of a :class:`RegretPoint` is per example (per unit of importance), as in Table 2 of the
paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isinf
from typing import Any, Protocol, TypeAlias

import numpy as np

from lessregret.data.examples import Examples
from lessregret.data.streams import BLOCK, ExampleStream
from lessregret.errors import SpecError
from lessregret.learners.learner import Learner, learn_many
from lessregret.learners.rules import Rule
from lessregret.ledger import Ledger
from lessregret.regret.comparator import BestFixed, InMemory, OverFiles, Passes, iterate_best_fixed

FIRST_MARK = 512
"""Rounds before which regret per example is mostly that of the first few examples."""

Ends: TypeAlias = tuple[float, float]
Watch: TypeAlias = Callable[[int, BestFixed, bool], bool]


@dataclass(frozen=True)
class RegretPoint:
    """A rule's account after some rounds, and the best fixed point for those rounds if sought."""

    ledger: Ledger
    best: BestFixed | None

    @property
    def rounds(self) -> int:
        """Rounds played."""
        return self.ledger.rounds

    @property
    def mean_total(self) -> float:
        """Loss and penalty per example."""
        return self.ledger.total / self.ledger.tally.importance

    @property
    def best_total(self) -> float | None:
        """The same of the best fixed point."""
        return None if self.best is None else self.best.mean_total

    @property
    def regret_low(self) -> float | None:
        """The regret is at least this."""
        return None if self.best is None else self._mean(self.best.regret(self.ledger).low)

    @property
    def regret_high(self) -> float | None:
        """The regret is at most this."""
        return None if self.best is None else self._mean(self.best.regret(self.ledger).high)

    @property
    def linear_regret(self) -> float | None:
        """The linearised regret; None for rules without a box."""
        return self._mean(self.ledger.linear_regret)

    @property
    def bound(self) -> float | None:
        """The bound for the rates used."""
        return self._mean(self.ledger.bound)

    @property
    def theorem(self) -> float | None:
        """The closed form of Theorem 2 or 3, which is for the rates of those theorems."""
        return self._mean(self.ledger.theorem)

    def _mean(self, total: float | None) -> float | None:
        return None if total is None else total / self.ledger.tally.importance

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        best = self.best
        return {
            "rounds": self.rounds,
            "mean_loss": self.ledger.mean_loss,
            "mean_penalty": self.ledger.mean_penalty,
            "mistake_rate": self.ledger.mistake_rate,
            "best_loss": None if best is None else best.mean_loss,
            "best_total": self.best_total,
            "gap": None if best is None else best.gap,
            "regret_low": self.regret_low,
            "regret_high": self.regret_high,
            "linear_regret": self.linear_regret,
            "bound": self.bound,
            "theorem": self.theorem,
        }


@dataclass(frozen=True)
class Measured:
    """One rule's regret as it grew."""

    rule: str
    box: Ends
    marks: tuple[RegretPoint, ...]

    @property
    def last(self) -> RegretPoint:
        """The account of the whole run."""
        return self.marks[-1]

    def as_dict(self) -> dict[str, Any]:
        """For JSON: the whole run, then how it grew."""
        growth = [mark.as_dict() for mark in self.marks]
        return {"rule": self.rule, "box": list(self.box), **growth[-1], "growth": growth}


class Source(Protocol):
    """Examples that learners can be led through, and the comparator over any that were passed."""

    def stops(self) -> Iterator[int]:
        """Where to look, in rounds from the start."""
        ...

    def advance(self, learners: Sequence[Learner], stop: int) -> tuple[int, bool]:
        """Let the learners learn up to ``stop``; the rounds reached, and whether all are done."""
        ...

    def passes(self, loss: str, rounds: int, done: bool) -> Passes | None:
        """The first ``rounds`` examples for the comparator; None where that is not to be had."""
        ...


class FromMemory:
    """Examples in memory; the comparator can be sought after any of them."""

    def __init__(self, examples: Examples, *, growth: bool = True) -> None:
        self._examples, self._growth, self._rounds = examples, growth, 0

    def stops(self) -> Iterator[int]:
        total = len(self._examples)
        halvings = max((total // FIRST_MARK).bit_length(), 1) if self._growth else 1
        return (total >> halving for halving in reversed(range(halvings)))

    def advance(self, learners: Sequence[Learner], stop: int) -> tuple[int, bool]:
        learn_many(learners, self._examples, order=np.arange(self._rounds, stop, dtype=np.uint32))
        self._rounds = stop
        return stop, stop == len(self._examples)

    def passes(self, loss: str, rounds: int, done: bool) -> Passes | None:
        return InMemory(self._examples, loss, None if done else rounds)


class FromFiles:
    """Files that are learned from as a stream; the comparator reads them again, at the end only."""

    def __init__(self, stream: ExampleStream, again: Callable[[str], OverFiles]) -> None:
        self._stream, self._again, self._rounds = stream, again, 0

    def stops(self) -> Iterator[int]:
        stop = FIRST_MARK
        while True:
            yield stop
            stop *= 2

    def advance(self, learners: Sequence[Learner], stop: int) -> tuple[int, bool]:
        while self._rounds < stop:
            count = learn_many(learners, self._stream, limit=min(BLOCK, stop - self._rounds))
            if count == 0:
                return self._rounds, True
            self._rounds += count
        return self._rounds, False

    def passes(self, loss: str, rounds: int, done: bool) -> Passes | None:
        return self._again(loss) if done else None


def measure(
    rules: Mapping[str, Rule],
    make: Callable[[Rule], Learner],
    source: Source,
    *,
    radius: float = 100.0,
    gap: float = 1e-4,
    start: BestFixed | None = None,
    watch: Watch | None = None,
) -> list[Measured]:
    """Run the rules side by side and measure their regret.

    Parameters
    ----------
    rules : by what to call them.
    make : the learner for a rule; its loss and L2 are those of the comparator. It must not scale
        values: a source that scales lets rules and comparator see the same ones.
    source : FromMemory or FromFiles.
    radius : the comparator's box for rules that have none of their own.
    gap : the comparator's, per example.
    start : a best fixed point to start the last search from.
    watch : called after every step of a search with the rounds, the best so far, and whether this
        is the search over all examples; where it returns False the search ends with the gap it has.

    Rounds before the first example of any importance have no mark: nothing was lost in them.

    >>> from scipy.sparse import csr_array
    >>> from lessregret.learners.rules import PerCoordinate
    >>> def make(rule):
    ...     return Learner(
    ...         "squared", rule, columns=1, intercept=False, certify=True, scale="none"
    ...     )
    >>> rule = PerCoordinate(radius=2, rate=1)
    >>> examples = Examples.from_csr(csr_array([[1.0]] * 3), [1, 1, -1], space=make(rule))
    >>> [measured] = measure({"mine": rule}, make, FromMemory(examples))
    >>> mark = measured.last
    >>> bool(mark.regret_low <= mark.regret_high <= mark.linear_regret <= mark.bound)
    True
    """
    learners = {name: make(rule) for name, rule in rules.items()}
    spec = next(iter(learners.values())).spec
    _check_scale(spec)
    boxes = {name: _box(rule, radius) for name, rule in rules.items()}
    marks: dict[str, dict[int, RegretPoint]] = {name: {} for name in rules}
    found: dict[Ends, BestFixed] = {}
    for stop in source.stops():
        rounds, done = source.advance(list(learners.values()), stop)
        if rounds and (done or _has_weight(learners.values())):
            passes = source.passes(spec["loss"], rounds, done)
            if passes is not None:
                ask = partial(_ask, watch, rounds, done)
                for box in dict.fromkeys(boxes.values()):
                    begin = found.get(box) if start is None or not done else start
                    found[box] = _search(passes, spec, box, gap, begin, ask)
            for name, learner in learners.items():
                best = None if passes is None else found[boxes[name]]
                marks[name][rounds] = RegretPoint(learner.ledger(), best)
        if done:
            break
    return [Measured(name, boxes[name], tuple(marks[name].values())) for name in rules]


def _check_scale(spec: Mapping[str, Any]) -> None:
    """A learner that scales plays another game than the comparator over the values as they are."""
    if spec["scale"] != "none":
        raise SpecError(
            f"the learners have scale {spec['scale']!r}, which the comparator does not see; make "
            "them with scale='none', and scale the source: open_examples(..., scale='cap')"
        )


def _has_weight(learners: Iterable[Learner]) -> bool:
    return next(iter(learners)).tally().importance > 0


def _ask(watch: Watch | None, rounds: int, done: bool, best: BestFixed) -> bool:
    return watch is None or watch(rounds, best, done)


def _search(
    passes: Passes,
    spec: Mapping[str, Any],
    box: Ends,
    gap: float,
    start: BestFixed | None,
    go_on: Callable[[BestFixed], bool],
) -> BestFixed:
    best = None
    steps = iterate_best_fixed(
        passes,
        spec["loss"],
        box,
        spec["l2"],
        gap=gap,
        l2_scope=spec["l2_scope"],
        start=start,
    )
    for best in steps:
        if not go_on(best):
            break
    assert best is not None
    return best


def _box(rule: Rule, radius: float) -> Ends:
    return (-radius, radius) if isinf(rule.width) else (rule.low, rule.high)
