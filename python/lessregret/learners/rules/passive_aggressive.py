"""Passive-aggressive learning: the least change that meets the margin.

Plays     w ← w + τ y x       L = max(0, 1 − y w·x)
          PA     τ = L/|x|²
          PA-I   τ = min(C h, L/|x|²)
          PA-II  τ = L/(|x|² + 1/(2 C h))        h the importance
Slot      weight
Regret    none stated; mistake bounds in the source
Source    Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006, §3; regression §5
Departs   an importance of 0 is not learned from; plain PA knows no other importance

For regression L = max(0, |y − w·x| − ε) and the sign of y − w·x stands for y. |x|² counts the
intercept; without it PA would overshoot its own constraint.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import copysign
from typing import Any, NamedTuple

from lessregret.learners.rules.limits import limited
from lessregret.learners.rules.rule import ExampleStats, Rule, Step


class Slot(NamedTuple):
    """weight w."""

    weight: float = 0.0


@dataclass(frozen=True, kw_only=True)
class PassiveAggressive(Rule):
    """The base class of PA, PA1 and PA2, which differ in the size τ of the step.

    L is the hinge loss of the example, h its importance.

    Parameters
    ----------
    epsilon : number from 0 up, default 0.1
        For regression: an error up to epsilon causes no update. Classification ignores it. 0.1 is
        also the default of scikit-learn.
    """

    empty = Slot()
    coupled = True
    meets_labels = True

    epsilon: float = limited(0.1, least=0)

    @abstractmethod
    def size(self, missing: float, stats: ExampleStats) -> float:
        """τ, for a margin that is short by ``missing``."""

    def weight(self, slot: Slot, value: float) -> float:
        return slot.weight

    def absorb(self, slot: Slot, value: float, gradient: float, step: Step) -> tuple[Slot, float]:
        return Slot(slot.weight + step.rate * value), 0.0

    def step(self, shared: Any, stats: ExampleStats) -> tuple[Any, Step]:
        missing, direction = self.shortfall(stats)
        if missing == 0 or stats.square_norm == 0 or stats.importance == 0:
            return shared, Step()
        return shared, Step(direction * self.size(missing, stats))

    def shortfall(self, stats: ExampleStats) -> tuple[float, float]:
        """How much of the margin is missing, and in which direction."""
        if stats.regression:
            residual = stats.label - stats.margin
            return max(0.0, abs(residual) - self.epsilon), copysign(1.0, residual)
        return max(0.0, 1 - stats.label * stats.margin), stats.label


@dataclass(frozen=True, kw_only=True)
class PA(PassiveAggressive):
    """Passive-aggressive: τ = L/|x|², so that after the round y w·x = 1.

    >>> PA().size(missing=0.5, stats=ExampleStats(1, False, 1.0, 0.5, 1.0, -1.0, square_norm=2.0))
    0.25
    """

    name = "pa"

    def size(self, missing: float, stats: ExampleStats) -> float:
        return missing / stats.square_norm


@dataclass(frozen=True, kw_only=True)
class PA1(PassiveAggressive):
    """Passive-aggressive with a limited step (PA-I): τ = min(C h, L/|x|²).

    Parameters
    ----------
    aggressiveness : number above 0, default 1
        C, the largest step. A smaller C suits noisy labels. 1 is also the default of scikit-learn.
    """

    name = "pa-i"

    aggressiveness: float = limited(1.0, above=0)

    def size(self, missing: float, stats: ExampleStats) -> float:
        return min(self.aggressiveness * stats.importance, missing / stats.square_norm)


@dataclass(frozen=True, kw_only=True)
class PA2(PassiveAggressive):
    """Passive-aggressive with a damped step (PA-II): τ = L/(|x|² + 1/(2 C h)).

    Parameters
    ----------
    aggressiveness : number above 0, default 1
        C. A smaller C makes shorter steps and suits noisy labels. 1 is also the default of
        scikit-learn.
    """

    name = "pa-ii"

    aggressiveness: float = limited(1.0, above=0)

    def size(self, missing: float, stats: ExampleStats) -> float:
        return missing / (stats.square_norm + 1 / (2 * self.aggressiveness * stats.importance))
