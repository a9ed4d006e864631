"""Gradient descent with a rate that falls with the square root of the round.

Plays     w ← clip(w − η_t g),  η_t = rate/√t
Slot      weight, seen            seen = 1 once a gradient came
Regret    Σ_i [D_i²/(2η_T) + ½ Σ_t η_t g²]: Zinkevich 2003, the paper's equation (2)
Source    Zinkevich 2003, Theorem 1
Departs   nowhere; t counts all rounds, whichever coordinates they touch
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

from lessregret.learners.rules.constant import Slot
from lessregret.learners.rules.limits import limited
from lessregret.learners.rules.rule import BoxedRule, ExampleStats, Step


@dataclass(frozen=True, kw_only=True)
class InverseSqrt(BoxedRule):
    """Gradient descent with a rate that falls as 1/√t: w ← clip(w − rate/√t · g).

    Parameters
    ----------
    rate : number above 0, default 1
        The learning rate in the first round. 1 is Zinkevich's choice. The best is D/(G√2), where G
        is the length of the largest gradient. With squared loss gradients may be large; then use
        a smaller rate.
    radius, box
        The limits on every weight, see :class:`BoxedRule`.
    """

    name = "inverse-sqrt"
    empty = Slot()
    coupled = True
    descends = True

    rate: float = limited(1.0, above=0)

    def weight(self, slot: Slot, value: float) -> float:
        return self.clip(slot.weight)

    def absorb(self, slot: Slot, value: float, gradient: float, step: Step) -> tuple[Slot, float]:
        if gradient == 0:
            return slot, step.rate
        return Slot(self.clip(self.weight(slot, value) - step.rate * gradient), 1.0), step.rate

    def spread(self, slot: Slot, step: Step) -> float:
        return self.spread_at(step.rate)

    def step(self, shared: Any, stats: ExampleStats) -> tuple[Any, Step]:
        return shared, Step(self.rate / sqrt(stats.round))
