"""Measured regret: the loss of rules on data, minus the loss of the best fixed point.

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
from lessregret.regret.comparator import (
    BestFixed,
    InMemory,
    OverFiles,
    Passes,
    class_passes,
    iterate_best_fixed,
)

FIRST_MARK = 512
"""Rounds before which regret per example is mostly that of the first few examples."""

LEARNED = 1 << 16
"""Rounds between two calls of a watcher."""

Ends: TypeAlias = tuple[float, float]
Watch: TypeAlias = Callable[[int, BestFixed, bool], bool]


@dataclass(frozen=True)
class RegretPoint:
    """The regret of a rule after some number of rounds.

    ``ledger`` holds the losses of the rule in these rounds. ``best`` is the best fixed point for
    these rounds, or None if it was not computed; then the regret is None, too. All numbers are per
    example.
    """

    ledger: Ledger
    best: BestFixed | None

    @property
    def rounds(self) -> int:
        """The number of rounds."""
        return self.ledger.rounds

    @property
    def mean_total(self) -> float:
        """The mean of loss plus L2 penalty of the rule."""
        return self.ledger.total / self.ledger.tally.importance

    @property
    def best_total(self) -> float | None:
        """The mean of loss plus L2 penalty of the best fixed point."""
        return None if self.best is None else self.best.mean_total

    @property
    def regret_low(self) -> float | None:
        """The lower end of the interval that contains the regret."""
        return None if self.best is None else self.ledger.mean(self.best.regret(self.ledger).low)

    @property
    def regret_high(self) -> float | None:
        """The upper end of the interval that contains the regret."""
        if self.best is None:
            return None
        ends = self.ledger.mean(self.best.regret(self.ledger).high), self.linear_regret
        # The linearised regret is an upper end too, and the lower one where the gap is wide.
        return min(end for end in ends if end is not None)

    @property
    def linear_regret(self) -> float | None:
        """The linearised regret; None for rules without a feasible set."""
        return self.ledger.mean(self.ledger.linear_regret)

    @property
    def bound(self) -> float | None:
        """The proved bound on the regret, for the rates that were used."""
        return self.ledger.mean(self.ledger.bound)

    @property
    def theorem(self) -> float | None:
        """The bound of Theorem 2 or 3, which holds only at rate "theory"."""
        return self.ledger.mean(self.ledger.theorem)

    def as_dict(self) -> dict[str, Any]:
        """The numbers as a dict, for JSON."""
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
    """The regret of one rule at increasing numbers of rounds, the marks."""

    rule: str
    box: Ends
    marks: tuple[RegretPoint, ...]

    @property
    def last(self) -> RegretPoint:
        """The regret after all rounds."""
        return self.marks[-1]

    def as_dict(self) -> dict[str, Any]:
        """The numbers as a dict, for JSON: those after all rounds, and those of every mark."""
        growth = [mark.as_dict() for mark in self.marks]
        return {"rule": self.rule, "box": list(self.box), **growth[-1], "growth": growth}


class Source(Protocol):
    """The examples of a measurement, for the learners and for the best fixed point."""

    def stops(self) -> Iterator[int]:
        """The numbers of rounds after which to measure the regret."""
        ...

    def advance(self, learners: Sequence[Learner], stop: int) -> tuple[int, bool]:
        """Train up to round ``stop``; return the rounds reached, and whether all are done."""
        ...

    @property
    def is_of_classes(self) -> bool:
        """Whether there may be more than two classes."""
        ...

    def passes(self, loss: str, rounds: int, done: bool) -> Passes | None:
        """The first ``rounds`` examples, for the best fixed point; None if not available."""
        ...


class FromMemory:
    """Examples in memory, for :func:`measure`.

    With ``growth`` the regret is measured after the first half, quarter, … of the examples, too.
    ``watch`` is called after every block with the numbers of rounds learned and of all rounds.
    """

    def __init__(
        self,
        examples: Examples,
        *,
        growth: bool = True,
        watch: Callable[[int, int], object] | None = None,
    ) -> None:
        self._examples, self._growth, self._rounds = examples, growth, 0
        self._watch = watch
        self._classes: list[int] | None = None

    def stops(self) -> Iterator[int]:
        total = len(self._examples)
        halvings = max((total // FIRST_MARK).bit_length(), 1) if self._growth else 1
        return (total >> halving for halving in reversed(range(halvings)))

    def advance(self, learners: Sequence[Learner], stop: int) -> tuple[int, bool]:
        total, step = len(self._examples), stop if self._watch is None else LEARNED
        while self._rounds < stop:
            end = min(self._rounds + step, stop)
            order = np.arange(self._rounds, end, dtype=np.uint32)
            learn_many(learners, self._examples, order=order)
            self._rounds = end
            if self._watch is not None:
                self._watch(end, total)
        # Classes that are found as they come are those of the rounds so far.
        self._classes = learners[0].classes
        return stop, stop == total

    @property
    def is_of_classes(self) -> bool:
        return self._examples.space.labels == "classes"

    def passes(self, loss: str, rounds: int, done: bool) -> Passes | None:
        count = None if done else rounds
        if self._classes is not None:
            return class_passes(self._examples, loss, self._classes, count)
        return InMemory(self._examples, loss, count)


class FromFiles:
    """Examples of files too large for memory, for :func:`measure`.

    The learners read ``stream``. ``again(loss)`` opens the files again for the search of the best
    fixed point, which is computed only for all examples together. ``watch`` is called after every
    block with the bytes and the examples read so far.
    """

    def __init__(
        self,
        stream: ExampleStream,
        again: Callable[[str], OverFiles],
        *,
        watch: Callable[[int, int], object] | None = None,
    ) -> None:
        self._stream, self._again, self._rounds = stream, again, 0
        self._watch = watch

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
            if self._watch is not None:
                self._watch(self._stream.bytes_read, self._rounds)
        return self._rounds, False

    @property
    def is_of_classes(self) -> bool:
        return False

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
    """Train one learner per rule on the same examples and measure the regret of each.

    A mark at which all importances so far are 0 is left out.

    Parameters
    ----------
    rules : dict of name to Rule
        The rules to measure.
    make : function from a Rule to a Learner
        Makes the learner of a rule. The best fixed point has the loss and the L2 of the learner.
        The learner must have ``scale="none"``, so that it learns from the same values that the best
        fixed point is computed for. To scale values, open the source with ``scale``.
    source : FromMemory or FromFiles
        The examples.
    radius : number above 0, default 100
        The best fixed point has weights within [-radius, radius] if the rule does not limit
        weights. Otherwise it has the limits of the rule.
    gap : number above 0, default 1e-4
        How precisely to compute the loss of the best fixed point, per example.
    start : BestFixed, optional
        The point from which the search over all examples starts.
    watch : function, optional
        Called after every step of a search with the number of rounds, the best point so far, and
        whether the search is over all examples. If it returns False, the search stops.

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
            "them with scale='none', and scale the source: "
            f"open_examples(..., scale={spec['scale']!r})"
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
