"""Confidence-weighted learning with a diagonal covariance.

Plays     the mean μ of weights ~ N(μ, diag σ²)
          μ_i ← μ_i + α y σ_i² x_i,   1/σ_i² ← 1/σ_i² + k x_i²
          with M = y μ·x, V = Σ σ_i² x_i²
          variance   α = max(0, (−(1 + 2φM) + √((1 − 2φM)² + 8φ²V)) / (4φV)),  k = 2αφ
          stdev      α = max(0, (−Mψ + √(M²φ⁴/4 + Vφ²ζ)) / (Vζ)),  k = αφ/r
                     ψ = 1 + φ²/2, ζ = 1 + φ², r = (−αVφ + √(α²V²φ² + 4V))/2
Slot      weight μ, precision         1/σ² = 1/a + precision
Regret    none stated
Source    variance: Dredze, Crammer & Pereira 2008; stdev: Crammer, Dredze & Pereira 2008
Departs   diagonal by precision (off-diagonals of Σ⁻¹ dropped); an importance of 0 is not
          learned from and no other importance is known
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple

from lessregret.learners.rules.limits import limited
from lessregret.learners.rules.rule import ExampleStats, Rule, Step


class Slot(NamedTuple):
    """mean μ, and what is known beyond the start: 1/σ² − 1/a."""

    weight: float = 0.0
    precision: float = 0.0


@dataclass(frozen=True, kw_only=True)
class ConfidenceWeighted(Rule):
    """The base class of CW and CWStdev, which differ in the closed form of the step.

    The margins are not calibrated for hinge loss: it may be large although mistakes are few.

    Parameters
    ----------
    confidence : number above 0, default 1
        φ = Φ⁻¹(η), where η is the probability of the right label that the distribution of weights
        must reach after the round. The paper uses 1.
    variance : number above 0, default 1
        a, the initial variance of every weight. The paper says 1 (but see erratum E16).
    """

    empty = Slot()
    coupled = True
    regresses = False

    confidence: float = limited(1.0, above=0)
    variance: float = limited(1.0, above=0)

    @abstractmethod
    def closed_form(self, margin: float, variance: float) -> tuple[float, float]:
        """α and k for M and V."""

    def weight(self, slot: Slot, value: float) -> float:
        return slot.weight

    def absorb(self, slot: Slot, value: float, gradient: float, step: Step) -> tuple[Slot, float]:
        shift = step.rate * self.variance_of(slot) * value
        return Slot(slot.weight + shift, slot.precision + step.tighten * value**2), 0.0

    def look(self, slot: Slot, value: float, stats: ExampleStats) -> None:
        stats.variance += self.variance_of(slot) * value**2

    def step(self, shared: Any, stats: ExampleStats) -> tuple[Any, Step]:
        if stats.variance == 0 or stats.importance == 0:
            return shared, Step()
        alpha, tighten = self.closed_form(stats.label * stats.margin, stats.variance)
        return shared, Step(alpha * stats.label, tighten)

    def variance_of(self, slot: Slot) -> float:
        """σ²."""
        return 1 / (1 / self.variance + slot.precision)


@dataclass(frozen=True, kw_only=True)
class CW(ConfidenceWeighted):
    """Confidence-weighted, the variance version: after the round y μ·x ≥ φ x'Σx."""

    name = "cw"

    def closed_form(self, margin: float, variance: float) -> tuple[float, float]:
        phi = self.confidence
        root = sqrt((1 - 2 * phi * margin) ** 2 + 8 * phi**2 * variance)
        alpha = max(0.0, (root - (1 + 2 * phi * margin)) / (4 * phi * variance))
        return alpha, 2 * alpha * phi


@dataclass(frozen=True, kw_only=True)
class CWStdev(ConfidenceWeighted):
    """Confidence-weighted, the standard-deviation version: after the round y μ·x ≥ φ √(x'Σx)."""

    name = "cw-stdev"

    def closed_form(self, margin: float, variance: float) -> tuple[float, float]:
        phi = self.confidence
        psi, zeta = 1 + phi**2 / 2, 1 + phi**2
        root = sqrt(margin**2 * phi**4 / 4 + variance * phi**2 * zeta)
        alpha = max(0.0, (root - margin * psi) / (variance * zeta))
        pull = alpha * variance * phi
        deviation = (sqrt(pull**2 + 4 * variance) - pull) / 2
        return alpha, alpha * phi / deviation
