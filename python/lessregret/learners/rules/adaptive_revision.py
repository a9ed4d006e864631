"""Gradient descent with a rate for each coordinate, for gradients that come late.

Plays     w ← clip(w − η g + (η_old − η) b),   η = rate/√z',  b = ḡ − ḡ_old, what was absorbed
          since the play
Slot      weight, energy, largest, sum
          z = (offset x)² + Σ g (g + 2b),  z' the largest z so far,  ḡ = Σ g
Regret    with no delay that of per-coordinate; with delays see the paper
Source    McMahan & Streeter 2014, AdaptiveRevision
Departs   clips to an interval; the offset of per-coordinate in place of a first z of 1
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal, NamedTuple

from lessregret.learners.rules.limits import limited
from lessregret.learners.rules.rule import BoxedRule, Step, rate_number


class Slot(NamedTuple):
    """weight w, energy z, its largest value z', and the sum of the gradients ḡ."""

    weight: float = 0.0
    energy: float = 0.0
    largest: float = 0.0
    sum: float = 0.0


@dataclass(frozen=True, kw_only=True)
class AdaptiveRevision(BoxedRule):
    """Gradient descent with a rate for each coordinate, for gradients that come late.

    A label may come long after its prediction. The gradient is then that of weights that have moved
    on. The rule lowers its rate by how much the late gradients pull the same way, and revises the
    steps that were taken since the prediction as if that rate had been known. A learner that learns
    from each example at once plays what :class:`PerCoordinate` plays.
    :class:`~lessregret.learners.delayed.DelayedLearner` and the service learn late.

    Parameters
    ----------
    rate : number above 0 or "theory", default 0.1
        The learning rate, as of :class:`PerCoordinate`. There is no rate "auto": lanes are mixed by
        the losses of their margins, and no proof is known of a mixture whose losses come late.
    offset : number from 0 up, default 0
        z starts as the square of offset times the first value of the feature.
    radius, box
        The limits on every weight, see :class:`BoxedRule`.

    >>> rule = AdaptiveRevision(rate=0.5, radius=1)
    >>> first, _ = rule.revise(rule.empty, value=1.0, gradient=1.0, reading=0.0)
    >>> first
    Slot(weight=-0.5, energy=1.0, largest=1.0, sum=1.0)
    >>> second, _ = rule.revise(first, value=1.0, gradient=1.0, reading=0.0)
    >>> second == Slot(weight=-0.5, energy=4.0, largest=4.0, sum=2.0)
    True
    """

    name = "adaptive-revision"
    empty = Slot()
    descends = True

    rate: float | Literal["theory"] = limited(0.1, above=0, words=("theory",))
    offset: float = limited(0.0, least=0)

    def weight(self, slot: Slot, value: float) -> float:
        return self.clip(slot.weight)

    def absorb(self, slot: Slot, value: float, gradient: float, step: Step) -> tuple[Slot, float]:
        return self.revise(slot, value, gradient, slot.sum)

    def revise(
        self, slot: Slot, value: float, gradient: float, reading: float
    ) -> tuple[Slot, float]:
        """The slot after a gradient whose round was played when the sum was ``reading``."""
        start = (self.offset * value) ** 2
        energy, before = (slot.energy, slot.largest) if slot.largest else (start, start)
        late = slot.sum - reading
        energy += gradient * (gradient + 2 * late)
        largest = max(before, energy)
        if gradient == 0 or largest == 0:
            return slot, self.rate_at(slot.largest)
        rate = self.rate_at(largest)
        weight = self.clip(self.weight(slot, value) - rate * gradient)
        weight = self.clip(weight + (self.rate_at(before) - rate) * late)
        return Slot(weight, energy, largest, slot.sum + gradient), rate

    def rate_at(self, largest: float) -> float:
        """η = rate/√z', 0 where z' is 0."""
        return rate_number(self.rate, self.width) / sqrt(largest) if largest else 0.0

    def spread(self, slot: Slot, step: Step) -> float:
        return self.spread_at(self.rate_at(slot.largest))

    def theorem(self, slot: Any) -> float | None:
        return self.width * sqrt(2 * slot.largest) if self.offset == 0 else None
