"""Adaptive online gradient descent: √T without curvature, log T with, knowing neither (§4.1).

Given     g_t and H_t ≥ 0, the curvature of round t, on [a, b] with middle c, R = (b − a)/2
Plays     λ_t = (√((H_{1:t} + λ_{1:t−1})² + 8 g_t²/(3R²)) − (H_{1:t} + λ_{1:t−1}))/2
          x ← clip(x − (g_t + λ_t (x − c))/(H_{1:t} + λ_{1:t}))
Regret    ≤ 3/2 R² λ_{1:T} + Σ g_t²/(H_{1:t} + λ_{1:t}); linear losses: ≤ 2√3 R √(Σ g²)
Source    Bartlett, Hazan & Rakhlin 2007, Algorithm 1; constants derived again here
Departs   the regulariser sits at the middle c, not at the origin
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from lessregret.errors import SpecError
from lessregret.game.algorithms.algorithm import Algorithm, OneDimensional, Seen
from lessregret.game.domains import Box, Domain


def added_strength(before: float, energy: float, radius: float) -> float:
    """λ ≥ 0 with λ² + before·λ = 2 energy/(3R²), energy = g²: it pays as much as it saves."""
    push = 8 * energy / (3 * radius**2)
    root = sqrt(before**2 + push)
    # (root − before)/2 without the cancellation where before is large.
    return push / (2 * (root + before)) if push > 0 else 0.0


class AdaptiveDescent(OneDimensional):
    """Bartlett, Hazan and Rakhlin's learner on an interval.

    >>> learner = AdaptiveDescent(-1.0, 1.0)
    >>> learner.feed(1.0)
    >>> -1 <= learner.point < 0
    True
    """

    def __init__(self, low: float, high: float) -> None:
        super().__init__(low, high)
        self.curvatures = 0.0
        """H_{1:t}"""
        self.added = 0.0
        """λ_{1:t}"""
        self.paid = 0.0
        """Σ g²/(H_{1:t} + λ_{1:t})"""

    def feed(self, gradient: float, curvature: float = 0.0) -> None:
        if self.width == 0:
            return
        self.curvatures += curvature
        strength = added_strength(self.curvatures + self.added, gradient**2, self.radius)
        self.added += strength
        total = self.curvatures + self.added
        if total > 0:
            self.paid += gradient**2 / total
            pull = strength * (self.point - self.middle)
            self.point = self.clip(self.point - (gradient + pull) / total)

    @property
    def radius(self) -> float:
        """R = (b − a)/2"""
        return self.width / 2

    @property
    def bound(self) -> float:
        """The guarantee so far: 3/2 R² λ_{1:T} + Σ g²/(H_{1:t} + λ_{1:t})."""
        return 1.5 * self.radius**2 * self.added + self.paid


class JointAdaptiveDescent(Algorithm):
    """The same learner in all coordinates at once, with H = min_i H_i: what §4.1 compares with.

    Gradients count by their length, the box by half its diameter.
    """

    def start(self, domain: Domain, rounds: int | None = None) -> None:
        if not isinstance(domain, Box) or domain.diameter == 0:
            raise SpecError("adaptive descent is here for boxes of some width")
        self.domain = domain
        self.point = domain.start
        self.middle = (domain.low + domain.high) / 2
        self.curvatures = self.added = self.paid = 0.0

    def feed(self, seen: Seen) -> None:
        gradient = np.zeros(self.domain.dimensions)
        gradient[seen.coordinates] = seen.gradient
        everywhere = len(seen.coordinates) == self.domain.dimensions
        self.curvatures += float(seen.curvature.min()) if everywhere else 0.0
        energy = float(gradient @ gradient)
        strength = added_strength(self.curvatures + self.added, energy, self.radius)
        self.added += strength
        total = self.curvatures + self.added
        if total > 0:
            self.paid += energy / total
            pull = strength * (self.point - self.middle)
            self.point = self.domain.project(self.point - (gradient + pull) / total)

    @property
    def radius(self) -> float:
        """R = D/2"""
        return self.domain.diameter / 2

    @property
    def bound(self) -> float:
        """The guarantee so far: 3/2 R² λ_{1:T} + Σ |g|²/(H_{1:t} + λ_{1:t})."""
        return 1.5 * self.radius**2 * self.added + self.paid
