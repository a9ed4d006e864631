"""What is minimised over the box, and the certificate at every point of it.

    P(x) = Σ_t h_t ℓ(x·θ_t, y_t) + ½ Σ_i λ_i x_i²        over F = Π [a_i, b_i]

For any slopes α_t of the losses (or of anything whose slopes the losses have too) convexity gives

    min_F P  ≥  Σ_t −(h_t ℓ_t)*(α_t) + Σ_i min over [a_i, b_i] of (v_i z + ½ λ_i z²)

with v = Σ α_t θ_t: the dual value. P(x) less the dual value is the *gap*: no fixed point of F is
better than x by more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lessregret.errors import SpecError
from lessregret.regret.comparator.floats import Floats
from lessregret.regret.comparator.passes import Look, Passes


@dataclass(frozen=True)
class View:
    """A point, its value and its certificate."""

    look: Look
    penalty: float
    """½ Σ λ_i x_i²"""
    lower: float
    """the dual value: no point of the box has a smaller total"""
    gradient: Floats
    """of the smooth total, a column each"""

    @property
    def total(self) -> float:
        """P(x)"""
        return self.look.loss + self.penalty

    @property
    def smooth_total(self) -> float:
        """P(x) with the smooth loss that is searched where ℓ has a kink."""
        return self.look.smooth + self.penalty


class Objective:
    """P over a box, one entry for each column of the passes."""

    def __init__(self, passes: Passes, low: Floats, high: Floats, strength: Floats) -> None:
        self.passes, self.low, self.high, self.strength = passes, low, high, strength
        open_ended = (np.isinf(low) | np.isinf(high)) & (strength == 0)
        if open_ended.any():
            raise SpecError(
                "without a box and without l2 there need be no best fixed point; give one of them"
            )

    def view(self, point: Floats, temperature: float) -> View:
        """Value, gradient and certificate at a point of the box."""
        return self.certified(self.passes.look(point, temperature))

    def certified(self, look: Look) -> View:
        """The certificate of a look, whose dual and gradient may be those of any slopes α."""
        return View(
            look=look,
            penalty=float(self.strength @ look.point**2) / 2,
            lower=look.dual + float(self._least(look.gradient).sum()),
            gradient=look.gradient + self.strength * look.point,
        )

    def _least(self, slopes: Floats) -> Floats:
        """min over [a_i, b_i] of v_i z + ½ λ_i z²: at clip(−v_i/λ_i), or at an end if λ_i = 0."""
        curved = self.strength > 0
        ends = np.where(slopes > 0, self.low, self.high)
        bottoms = np.divide(-slopes, self.strength, out=ends, where=curved)
        lowest = np.clip(bottoms, self.low, self.high)
        least: Floats = (slopes + self.strength * lowest / 2) * lowest
        return least
