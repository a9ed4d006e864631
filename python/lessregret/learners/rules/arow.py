"""Adaptive regularisation of weight vectors, with a diagonal covariance.

Plays     the mean μ of weights ~ N(μ, diag σ²);  if y μ·x < 1:
          β = 1/(V + r/h),  α = (1 − y μ·x) β,  V = Σ σ_i² x_i²,  h the importance
          μ_i ← μ_i + α y σ_i² x_i
          covariance   σ_i² ← σ_i² − β σ_i⁴ x_i²
          precision    1/σ_i² ← 1/σ_i² + x_i² h/r
Slot      weight μ, precision         1/σ² = 1 + precision
Regret    none stated; a mistake bound in the source
Source    Crammer, Kulesza & Dredze 2009
Departs   the covariance form is kept as a precision too, 1/σ² ← 1/σ² + βx²/(1 − βσ²x²), which
          is the same number and cannot fall to 0 or below in float32
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from lessregret.learners.rules.confidence_weighted import Slot
from lessregret.learners.rules.limits import limited
from lessregret.learners.rules.rule import ExampleStats, Rule, Step


@dataclass(frozen=True, kw_only=True)
class Arow(Rule):
    """Adaptive regularisation of weight vectors (AROW).

    It is confidence-weighted learning with a soft constraint, and so tolerates noisy labels.

    Parameters
    ----------
    regularisation : number above 0, default 1
        r: the larger it is, the less a single label changes the weights. The authors use 1.
    form : "covariance" or "precision", default "covariance"
        The matrix whose off-diagonal entries are dropped after an update. The two forms agree for
        examples with one feature. Most public code uses the covariance.

    >>> rule = Arow()
    >>> slot, _ = rule.absorb(Slot(), 1.0, 0.0, Step(rate=0.5, tighten=0.5))
    >>> rule.variance_of(slot)
    0.5
    """

    name = "arow"
    empty = Slot()
    coupled = True
    regresses = False

    regularisation: float = limited(1.0, above=0)
    form: Literal["covariance", "precision"] = limited(
        "covariance", words=("covariance", "precision")
    )

    def weight(self, slot: Slot, value: float) -> float:
        return slot.weight

    def absorb(self, slot: Slot, value: float, gradient: float, step: Step) -> tuple[Slot, float]:
        variance = self.variance_of(slot)
        added = step.tighten * value**2
        if self.form == "covariance":
            added /= 1 - added * variance
        return Slot(slot.weight + step.rate * variance * value, slot.precision + added), 0.0

    def look(self, slot: Slot, value: float, stats: ExampleStats) -> None:
        stats.variance += self.variance_of(slot) * value**2

    def step(self, shared: Any, stats: ExampleStats) -> tuple[Any, Step]:
        missing = 1 - stats.label * stats.margin
        if missing <= 0 or stats.importance == 0:
            return shared, Step()
        regularisation = self.regularisation / stats.importance
        beta = 1 / (stats.variance + regularisation)
        tighten = beta if self.form == "covariance" else 1 / regularisation
        return shared, Step(missing * beta * stats.label, tighten)

    def variance_of(self, slot: Slot) -> float:
        """σ²."""
        return 1 / (1 + slot.precision)
