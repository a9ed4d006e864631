"""Gradient descent with a rate for each coordinate.

Plays     w ← clip(w − η g),  η = rate/√S
Slot      weight, energy          S = (offset x)² + Σ g², x the first value, this round's g included
Regret    Σ_i D_i √(2 S_i) with rate = D_i/√2 and offset 0: the paper, Theorem 3
Source    the paper, Algorithm 1
Departs   rate D_i/√2 where the paper prints D_i (erratum E7); starts at clip(0), not 0 (E9);
          the offset, which the paper does not have
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal, NamedTuple

from lessregret.learners.rules.limits import limited
from lessregret.learners.rules.rule import BoxedRule, Step, rate_number

LANES_OFFSET = 0.3
"""The offset at rate "auto": chosen once, see decision 17."""


class Slot(NamedTuple):
    """weight w and energy S."""

    weight: float = 0.0
    energy: float = 0.0


@dataclass(frozen=True, kw_only=True)
class PerCoordinate(BoxedRule):
    """Gradient descent with a rate for each coordinate: w ← clip(w − η g), η = rate/√S.

    S is the sum of the squared gradients of the coordinate so far, plus (offset x)² for its first
    value x.

    Parameters
    ----------
    rate : number above 0, "theory" or "auto", default "auto"
        The learning rate. ``"auto"`` trains one model, called a lane, at each of eight rates from
        0.0125 to 1.6 and mixes their predictions, weighted by their past losses: see
        :mod:`lessregret.learners.mixture`. It is the default because no number suits all data: 0.3
        reproduces the paper's Table 1 on unit-length text (erratum E16), but about 0.1 is better
        for one-hot data with 20 features per example. ``"theory"`` is D_i/√2, the rate for which
        Theorem 3 is proved (with offset 0).
    offset : number from 0 up, default 0.3 at rate "auto", else 0
        Makes the first steps of a coordinate shorter. With offset 0 the first gradient, however
        small, moves the weight by exactly the rate. With another offset S starts as if there had
        been an earlier gradient of offset times the first value of the feature. This makes the
        offset independent of the unit of the feature. The paper has offset 0. Decision 17 explains
        the choice of 0.3.
    radius, box
        The limits on every weight, see :class:`BoxedRule`.

    >>> rule = PerCoordinate(rate=0.5, radius=1)
    >>> rule.absorb(rule.empty, value=1.0, gradient=-3.0, step=Step())
    (Slot(weight=0.5, energy=9.0), 0.16666666666666666)
    >>> PerCoordinate().offset, rule.offset
    (0.3, 0.0)
    """

    name = "per-coordinate"
    empty = Slot()
    descends = True
    coin_lane = True

    rate: float | Literal["theory", "auto"] = limited("auto", above=0, words=("theory", "auto"))
    offset: float = limited(None, least=0)

    def __post_init__(self) -> None:
        if self.offset is None:
            object.__setattr__(self, "offset", LANES_OFFSET if self.rate == "auto" else 0.0)
        super().__post_init__()

    def weight(self, slot: Slot, value: float) -> float:
        return self.clip(slot.weight)

    def absorb(self, slot: Slot, value: float, gradient: float, step: Step) -> tuple[Slot, float]:
        energy = (slot.energy or (self.offset * value) ** 2) + gradient**2
        if gradient == 0 or energy == 0:
            return slot, self.rate_at(slot.energy)
        rate = self.rate_at(energy)
        return Slot(self.clip(self.weight(slot, value) - rate * gradient), energy), rate

    def rate_at(self, energy: float) -> float:
        """η = rate/√S, 0 where S is 0."""
        return rate_number(self.rate, self.width) / sqrt(energy) if energy else 0.0

    def spread(self, slot: Slot, step: Step) -> float:
        return self.spread_at(self.rate_at(slot.energy))

    def theorem(self, slot: Any) -> float | None:
        return self.width * sqrt(2 * slot.energy) if self.offset == 0 else None
