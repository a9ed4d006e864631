"""Gradient descent with one adaptive rate for all coordinates.

Plays     w ← clip(w − η_t g),  η_t = √(Σ rate_i²)/√E,  the sum over coordinates met so far
Slot      weight, seen            seen = 1 once the feature was met
Shared    E = Σ|g|², Σ rate_i², and what the bound needs
Regret    D √(2E) with rate_i = D_i/√2 and all coordinates known: the paper, Theorem 2
Source    the paper, Theorem 2; D estimated from the attributes seen, §5.1
Departs   the bound reported holds though D grows (see below)

As new coordinates appear D grows and η may rise, and Theorem 2 needs it not to (erratum E15). For
any rates at all, Zinkevich's argument gives Σ_i D_i²/2 · [1/η at i's first round + all the later
rises of 1/η] + ½ Σ η|g|²; where η never rises that is D²/(2η_T) again.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Literal, NamedTuple

from lessregret.learners.rules.constant import Slot
from lessregret.learners.rules.limits import limited
from lessregret.learners.rules.rule import BoxedRule, ExampleStats, Step, rate_number


class Shared(NamedTuple):
    """What all coordinates share."""

    energy: float = 0.0
    """E = Σ|g|²"""
    rates: float = 0.0
    """Σ rate_i² over the coordinates met"""
    widths: float = 0.0
    """Σ D_i² over the coordinates met"""
    inverse: float = 0.0
    """1/η of the last round with a step, 0 before"""
    climb: float = 0.0
    """the sum of all rises of 1/η"""
    entry: float = 0.0
    """Σ_i D_i² (1/η − climb) at i's first round"""


@dataclass(frozen=True, kw_only=True)
class Global(BoxedRule):
    """Gradient descent with one adaptive rate: w ← clip(w − rate √n/√(Σ|g|²) · g).

    n is the number of features that occurred so far, and Σ|g|² sums over all rounds so far.

    Parameters
    ----------
    rate : number above 0, "theory" or "auto", default "auto"
        The learning rate. ``"auto"`` trains several models at the same time, called lanes, each at
        its own rate, and mixes their predictions, weighted by their past losses: see
        :mod:`lessregret.learners.mixture`. 0.1 reproduces the paper's Table 1 (erratum E16).
        ``"theory"`` is D_i/√2, which makes η = D/√(2 Σ|g|²), the rate of Theorem 2.
    radius, box
        The limits on every weight, see :class:`BoxedRule`.
    """

    name = "global"
    empty = Slot()
    no_shared = Shared()
    coupled = True
    descends = True

    rate: float | Literal["theory", "auto"] = limited("auto", above=0, words=("theory", "auto"))

    def weight(self, slot: Slot, value: float) -> float:
        return self.clip(slot.weight)

    def absorb(self, slot: Slot, value: float, gradient: float, step: Step) -> tuple[Slot, float]:
        return Slot(self.clip(self.weight(slot, value) - step.rate * gradient), 1.0), step.rate

    def look(self, slot: Slot, value: float, stats: ExampleStats) -> None:
        if not slot.seen:
            stats.newcomer_rates += rate_number(self.rate, self.width) ** 2
            stats.newcomer_widths += self.width**2

    def step(self, shared: Shared, stats: ExampleStats) -> tuple[Shared, Step]:
        met = shared._replace(
            energy=shared.energy + stats.square_gradient,
            rates=shared.rates + stats.newcomer_rates,
            widths=shared.widths + stats.newcomer_widths,
        )
        if met.energy == 0:
            return met, Step()
        inverse = sqrt(met.energy / met.rates)
        climb = met.climb + max(0.0, inverse - met.inverse)
        entry = met.entry + stats.newcomer_widths * (inverse - climb)
        return met._replace(inverse=inverse, climb=climb, entry=entry), Step(1 / inverse)

    def spread(self, slot: Slot, step: Step) -> float:
        return 0.0

    def shared_spread(self, shared: Shared) -> float:
        return (shared.entry + shared.widths * shared.climb) / 2

    def shared_theorem(self, shared: Shared) -> float:
        return sqrt(2 * shared.widths * shared.energy)
