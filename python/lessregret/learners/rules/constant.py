"""Gradient descent with one fixed rate.

Plays     w ← clip(w − η g),  η = rate
Slot      weight, seen            seen = 1 once a gradient came
Regret    Σ_i [D_i²/(2η) + ½ η Σ g²]: Zinkevich 2003, the paper's equation (2)
Source    the paper, equation (1), §2.2
Departs   nowhere
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from lessregret.learners.rules.limits import limited
from lessregret.learners.rules.rule import BoxedRule, Step


class Slot(NamedTuple):
    """weight w, and whether a gradient came."""

    weight: float = 0.0
    seen: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Constant(BoxedRule):
    """Gradient descent with one fixed rate: w ← clip(w − rate · g).

    Parameters
    ----------
    rate : number above 0, default 0.1
        The learning rate. For T rounds and gradients of length at most G the best one is D/(G√T)
        (§2.2). 0.1 is a reasonable start for unit-length rows. With squared loss and longer rows
        the weights may oscillate between the ends of their interval; then use a smaller rate, or a
        rule that adapts its rate.
    radius, box
        The limits on every weight, see :class:`BoxedRule`.

    >>> rule = Constant(rate=0.25)
    >>> rule.absorb(rule.empty, value=1.0, gradient=2.0, step=Step())
    (Slot(weight=-0.5, seen=1.0), 0.25)
    """

    name = "constant"
    empty = Slot()
    descends = True

    rate: float = limited(0.1, above=0)

    def weight(self, slot: Slot, value: float) -> float:
        return self.clip(slot.weight)

    def absorb(self, slot: Slot, value: float, gradient: float, step: Step) -> tuple[Slot, float]:
        rate = float(self.rate)
        return Slot(self.clip(self.weight(slot, value) - rate * gradient), 1.0), rate

    def spread(self, slot: Slot, step: Step) -> float:
        return self.spread_at(float(self.rate))
