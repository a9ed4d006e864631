"""Gradient descent with a rate that falls with the number of gradients.

Plays     w ← clip(w − η g),  η = rate/steps
Slot      weight, steps           steps of the gradients, this round's included
Regret    none stated
Source    a toy, to show how a rule is added
Departs   nowhere
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from lessregret.learners.rules.limits import limited
from lessregret.learners.rules.rule import BoxedRule, Step


class Slot(NamedTuple):
    """weight w, and how many gradients came."""

    weight: float = 0.0
    steps: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Counting(BoxedRule):
    """Gradient descent with a rate that falls with the number of gradients."""

    name = "counting"
    empty = Slot()

    rate: float = limited(0.5, above=0)

    def weight(self, slot: Slot, value: float) -> float:
        return self.clip(slot.weight)

    def absorb(self, slot: Slot, value: float, gradient: float, step: Step) -> tuple[Slot, float]:
        steps = slot.steps + 1
        rate = self.rate / steps
        return Slot(self.clip(self.weight(slot, value) - rate * gradient), steps), rate

    def spread(self, slot: Slot, step: Step) -> float:
        return self.spread_at(self.rate / slot.steps)
