"""FTRL-Proximal with per-coordinate rates.

Plays     argmin over [a, b] of  G·w + ½ Σ σ_s (w − w_s)² + ½ (offset/rate) w² + λ₁|w| + ½ λ₂ w²
Slot      z, n            z = G − Σ σ_s w_s,  n = Σ g²,  σ_s = (√n_s − √n_{s−1})/rate
Regret    Σ_i [ r_0 + D_i²√n/(2 rate) + ½ Σ g²/((offset + √n)/rate + λ₂) ]
          with r_0 = max(a², b²)(offset/rate + λ₂)/2 + max(|a|, |b|) λ₁: McMahan 2017, Theorem 2
Source    McMahan et al. 2013, Algorithm 1
Departs   nowhere; the box is exact, since in one dimension the argmin is clipped
"""

from __future__ import annotations

from dataclasses import dataclass
from math import copysign, sqrt
from typing import Literal, NamedTuple

from lessregret.learners.rules.limits import limited
from lessregret.learners.rules.rule import BoxedRule, Step


class Slot(NamedTuple):
    """z = Σ g − Σ σ w and n = Σ g²."""

    z: float = 0.0
    n: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Ftrl(BoxedRule):
    """FTRL-Proximal: w = −(z − sign(z) λ₁)/((offset + √n)/rate + λ₂), 0 where |z| ≤ λ₁.

    Parameters
    ----------
    rate : number above 0, or "auto", default "auto"
        The learning rate, α in McMahan et al. (2013). ``"auto"`` trains several models at
        the same time, called lanes, each at its own rate, and mixes their predictions, weighted by
        their past losses: see :mod:`lessregret.learners.mixture`. Other implementations have
        defaults from 0.005 to 0.5. 0.1 suits click logs with some tens of one-hot features per
        example.
    offset : number from 0 up, default 1
        β in McMahan et al. (2013), who use 1: makes the first steps of a coordinate shorter. Use 0
        for unit-length text, whose gradients are small.
    l1, l2 : numbers from 0 up, default 0
        The strengths λ₁ and λ₂ of L1 and L2 regularisation. L1 makes weights exactly zero; L2 makes
        them small. Each penalty is added once for the whole run, not for each example. The
        parameter ``l2`` of a learner adds a penalty for each example.
    radius, box
        The limits on every weight, see :class:`BoxedRule`.

    >>> rule = Ftrl(rate=0.5, offset=0, l1=1)
    >>> rule.weight(Slot(z=-0.75, n=4.0), 1.0), rule.weight(Slot(z=-1.5, n=4.0), 1.0)
    (0.0, 0.125)
    """

    name = "ftrl"
    empty = Slot()

    rate: float | Literal["auto"] = limited("auto", above=0, words=("auto",))
    offset: float = limited(1.0, least=0)
    l1: float = limited(0.0, least=0)
    l2: float = limited(0.0, least=0)

    def weight(self, slot: Slot, value: float) -> float:
        if abs(slot.z) <= self.l1:
            return self.clip(0.0)
        shrunk = slot.z - copysign(self.l1, slot.z)
        return self.clip(-shrunk / self.inverse_rate(slot))

    def absorb(self, slot: Slot, value: float, gradient: float, step: Step) -> tuple[Slot, float]:
        after = Slot(slot.z, slot.n + gradient**2)
        if after.n > 0:
            sigma = (sqrt(after.n) - sqrt(slot.n)) / float(self.rate)
            after = after._replace(z=slot.z + gradient - sigma * self.weight(slot, value))
        inverse = self.inverse_rate(after)
        return after, 1 / inverse if inverse > 0 else 0.0

    def inverse_rate(self, slot: Slot) -> float:
        """1/η = (offset + √n)/rate + λ₂."""
        return (self.offset + sqrt(slot.n)) / float(self.rate) + self.l2

    def spread(self, slot: Slot, step: Step) -> float:
        farthest, rate = max(abs(self.low), abs(self.high)), float(self.rate)
        start = farthest**2 * (self.offset / rate + self.l2) / 2 + farthest * self.l1
        return start + self.width**2 * sqrt(slot.n) / (2 * rate)
