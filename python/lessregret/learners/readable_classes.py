"""The readable learner of many classes: plain Python in float64, a slot for (feature, class).

    p_c      = Σ_i weight(slot_i,c, x_i) x_i              for every class c that counts
    α        = h ∇ℓ(p, y)                                 one slope for each class
    slot_i,c ← absorb(slot_i,c, x_i, α_c x_i, step)       wherever α_c x_i ≠ 0

A class counts from the first round if it was declared, and from the round of its first example if
classes are found as they come. Before, its weights are 0 and it has no part in the loss.

At rate "auto" there are eight lanes and the stack, s_c = Σ_k v_k p_k,c, with one weight for each
lane, whatever the class. What is played is their mixture.

The twin of ``crates/core/src/learn/classes/``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf, isinf, sqrt
from typing import Any, Literal

import numpy as np

from lessregret.errors import SpecError
from lessregret.learners.class_loss import ClassLoss, ClassMixture
from lessregret.learners.losses import Loss, loss_named
from lessregret.learners.mixture import LANES, check_fixed_share, default_share, lane_rates
from lessregret.learners.outcomes import Outcomes
from lessregret.learners.readable import CsrRows, ReadableLearner, _Arrays
from lessregret.learners.rules import Coin, ExampleStats, Rule, Step
from lessregret.learners.scale import AnyScales, Scales
from lessregret.learners.stack import Stack
from lessregret.learners.standard import StandardScales
from lessregret.ledger import Outcome, Tally

LEAST = 2.0**-126
"""The smallest normal float32."""


class ReadableClasses:
    """The :class:`lessregret.Learner` of many classes in plain Python: slow, and easy to read.

    Parameters
    ----------
    loss : str or Loss
        A loss of two classes.
    rule : Rule
        A rule that follows the gradient.
    classes : "auto" or ints
        The classes that count from the first round on, or "auto".
    certify, intercept, scale, fixed_share
        The parameters of :class:`~lessregret.learners.readable.ReadableLearner`.

    >>> from lessregret.learners.rules import PerCoordinate
    >>> rule = PerCoordinate(rate=0.5)
    >>> learner = ReadableClasses("logistic", rule, classes=[1, 2, 3], scale="none")
    >>> round(learner.play([0], [1.0], label=2).loss, 4)
    1.0986
    >>> learner.play([0], [1.0], label=2).mistake
    False
    """

    def __init__(
        self,
        loss: str | Loss,
        rule: Rule,
        *,
        classes: Literal["auto"] | Sequence[int],
        certify: bool = False,
        intercept: int | None = None,
        scale: str = "standard",
        fixed_share: float | None = None,
    ) -> None:
        two = loss_named(loss) if isinstance(loss, str) else loss
        if not two.is_classification or isinf(rule.width):
            raise SpecError(f"loss {two.name!r} and rule {rule.name!r} do not learn many classes")
        fixed_share = default_share(rule) if fixed_share is None else fixed_share
        check_fixed_share(fixed_share, rule)
        self.loss, self.rule = ClassLoss(two), rule
        self.auto = isinstance(classes, str)
        self.classes: list[int] = [] if isinstance(classes, str) else list(classes)
        self.intercept, self.keeps_zeros = intercept, scale == "standard"
        rates = lane_rates(rule) if getattr(rule, "rate", None) == "auto" else ()
        rules: list[Rule] = [
            Coin() if rate is None else replace(rule, rate=rate)  # type: ignore[call-arg]
            for rate in rates
        ]
        self.lanes = [_Lane(self.loss, each, intercept, scale) for each in rules or [rule]]
        self.mixture = ClassMixture(self.loss, fixed_share=float(fixed_share))  # type: ignore[arg-type]
        self.stack = Stack(two, lanes=LANES)
        self.sums: dict[tuple[int, int], float] | None = {} if certify else None
        self.tally = Tally()
        self.last: list[float] = []
        """the margins of the last round"""

    @property
    def has_lanes(self) -> bool:
        """Whether there are several lanes, mixed."""
        return len(self.lanes) > 1

    def margins(self, slots: Sequence[int], values: Sequence[float]) -> list[float]:
        """The margins of the classes that count; at rate "auto" logarithms of probabilities."""
        return self._played([lane.margins(slots, values, len(self.classes)) for lane in self.lanes])

    def _played(self, margins: list[list[float]]) -> list[float]:
        if not self.has_lanes:
            return margins[0]
        return self.mixture.class_margins([*margins, self._stacked(margins)])

    def _stacked(self, margins: list[list[float]]) -> list[float]:
        return [self.stack.margin(of_class) for of_class in zip(*margins, strict=True)]

    def play(
        self, slots: Sequence[int], values: Sequence[float], label: int, importance: float = 1.0
    ) -> Outcome:
        """Play one round: predict the example, compute the loss, update the slots."""
        is_new = label not in self.classes
        if is_new and not self.auto:
            raise SpecError(f"class {label!r} was not declared")
        self.classes += [label] if is_new else []
        y = self.classes.index(label)
        seen = [lane.play(slots, values, y, importance, len(self.classes)) for lane in self.lanes]
        margins = [margins for margins, _ in seen]
        self.last = played = self._played(margins)
        outcome = Outcome(
            margin=played[y],
            loss=self.loss.value(played, y),
            mistake=is_new or self.loss.is_mistake(played, y),
            importance=importance,
            penalty=0.0,
            played=0.0 if self.has_lanes else self.lanes[0].last_played,
            energy=0.0 if self.has_lanes else seen[0][1],
            features=len(slots),
        )
        slopes = [importance * slope for slope in self.loss.slopes(played, y)]
        outcome = outcome._replace(played=self._take_tangent(slopes, played, outcome.played))
        self.tally.record(outcome)
        if self.has_lanes:
            self._learn_mixture(margins, y, importance)
        return outcome

    def _take_tangent(self, slopes: list[float], margins: list[float], known: float) -> float:
        """Add α_c x to the sums of the certificate; Σ_c α_c p_c."""
        if self.sums is None:
            return known
        for i, x in zip(*self.lanes[0].seen, strict=True):
            for c, slope in enumerate(slopes):
                self.sums[i, c] = self.sums.get((i, c), 0.0) + slope * x
        return sum(a * p for a, p in zip(slopes, margins, strict=True))

    def _learn_mixture(self, margins: list[list[float]], y: int, importance: float) -> None:
        stacked = self._stacked(margins)
        self.mixture.absorb([*margins, stacked], y, importance)  # type: ignore[list-item]
        by_class = list(zip(*margins, strict=True))
        self.stack.absorb_classes(by_class, self.loss.slopes(stacked, y), importance)

    def weights(self, slot: int, lane: int = 0) -> list[float]:
        """The weights of a slot for scaled values, one for each class."""
        own = self.lanes[lane]
        return [own.rule.weight(own.slot(slot, c), 1.0) for c in range(len(self.classes))]

    @property
    def bound(self) -> float | None:
        """Σ D²/(2η_T) + ½ Σ g² η over all coordinates; None at rate "auto" and if not proved."""
        return None if self.has_lanes else self.lanes[0].bound(self.tally.energy)

    @property
    def linear_regret(self) -> float:
        """Σ α·p − min over the box of G·w: at least the regret."""
        assert self.sums is not None
        low, high = self.rule.low, self.rule.high
        return self.tally.played - sum(min(low * g, high * g) for g in self.sums.values())

    def learn(self, examples: CsrRows) -> Outcomes:
        """Train on the rows of a matrix, whose labels are classes."""
        if examples.labels is None:
            raise SpecError("rows without labels cannot be learned from; give labels, or predict")
        y, rows = examples.labels, ReadableLearner._rows(self, examples)  # type: ignore[arg-type]
        h = np.ones(len(y)) if examples.importances is None else examples.importances
        margins = []
        for k, row in enumerate(rows):
            self.play(*row, int(y[k]), h[k])
            margins.append(self.last)
        return self._outcomes(margins, examples)

    def predict(self, examples: CsrRows) -> Outcomes:
        """Predict the rows of a matrix without learning from them."""
        rows = ReadableLearner._rows(self, examples)  # type: ignore[arg-type]
        return self._outcomes([self.margins(*row) for row in rows], examples)

    def _outcomes(self, margins: list[list[float]], examples: CsrRows) -> Outcomes:
        width, count = len(self.classes), len(margins)
        padded = [row + [-inf] * (width - len(row)) for row in margins]
        labels = np.full(count, np.nan) if examples.labels is None else examples.labels
        h = np.ones(count) if examples.importances is None else examples.importances
        arrays = np.array(padded, np.float64).ravel(), labels.astype(np.float32)
        return Outcomes(_Arrays(*arrays, np.asarray(h, np.float32), [b""] * count, width))


class _Lane:
    """One rule on every coordinate (feature, class)."""

    def __init__(self, loss: ClassLoss, rule: Rule, intercept: int | None, scale: str) -> None:
        self.loss, self.rule = loss, rule
        self.slots: dict[tuple[int, int], Any] = {}
        self.shared, self.step, self.rounds = rule.no_shared, Step(), 0
        self.seen: tuple[Sequence[int], Sequence[float]] = ((), ())
        self.last_played = 0.0
        unit = rule.unit_values
        self.scales: AnyScales = (
            StandardScales(intercept, unit=unit)
            if scale == "standard"
            else Scales(scale, unit=unit)
        )

    def slot(self, slot: int, c: int) -> Any:
        return self.slots.get((slot, c), self.rule.empty)

    def margins(self, slots: Sequence[int], values: Sequence[float], classes: int) -> list[float]:
        return self._margins(self.scales.seen(slots, values), classes)

    def _margins(self, seen: tuple[Sequence[int], Sequence[float]], classes: int) -> list[float]:
        features = list(zip(*seen, strict=True))
        return [
            sum((self.rule.weight(self.slot(i, c), x) * x for i, x in features), start=0.0)
            for c in range(classes)
        ]

    def play(
        self,
        slots: Sequence[int],
        values: Sequence[float],
        y: int,
        importance: float,
        classes: int,
    ) -> tuple[list[float], float]:
        """The margins, and ½ Σ g² η; the slots have learned."""
        self.rounds += 1
        self.seen = self.scales.played(slots, values)
        margins = self._margins(self.seen, classes)
        norm = sum(x**2 for x in self.seen[1])
        slopes = [_flushed(importance * a, norm) for a in self.loss.slopes(margins, y)]
        self.last_played = sum(a * p for a, p in zip(slopes, margins, strict=True))
        if self.rule.coupled:
            self._couple(slopes)
        return margins, self._absorb(slopes)

    def _couple(self, slopes: list[float]) -> None:
        """The step of a coupled rule, from the coordinates that have a gradient."""
        # |g| is that of the largest coordinate for coins, which bet on each, else that of all.
        size = max(map(abs, slopes)) if self.rule.unit_values else sqrt(sum(a**2 for a in slopes))
        norm = sum(x**2 for x in self.seen[1])
        stats = ExampleStats(self.rounds, False, 0.0, 0.0, 0.0, size, norm)
        for i, x in zip(*self.seen, strict=True):
            for c, slope in enumerate(slopes):
                if slope:
                    self.rule.look(self.slot(i, c), x, stats)
        self.shared, self.step = self.rule.step(self.shared, stats)

    def _absorb(self, slopes: list[float]) -> float:
        energy = 0.0
        for i, x in zip(*self.seen, strict=True):
            for c, slope in enumerate(slopes):
                if slope * x == 0:
                    continue
                slot, gradient = self.slot(i, c), slope * x
                self.slots[i, c], rate = self.rule.absorb(slot, x, gradient, self.step)
                energy += gradient**2 * rate
        self.rule = self.rule.knowing(self.shared)
        return energy / 2

    def bound(self, energy: float) -> float | None:
        spreads = [self.rule.spread(slot, self.step) for slot in self.slots.values() if any(slot)]
        if not self.rule.is_proved(self.shared) or None in spreads:
            return None
        total = sum(spread for spread in spreads if spread is not None)
        return total + self.rule.shared_spread(self.shared) + energy


def _flushed(slope: float, square_norm: float) -> float:
    """0 if the gradients would be too small for a float32, which is what slots hold.

    Whether a coordinate has a gradient matters to rules whose coordinates share a rate: classes
    that are all but impossible have none.
    """
    return 0.0 if slope**2 * square_norm < LEAST**2 else slope
