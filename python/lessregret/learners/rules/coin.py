"""Coin betting on every coordinate: no rate at all.

Plays     w = (ε/G) tanh(θ/(A + 2G)) F,   F = exp(θ²/(2G(G + A)))/√(1 + A/G),   ε = wealth/N
Slot      reward θ = −Σ g,  stake A = Σ |g|
Shared    G = max(1, |g| so far),  N = max(1, the largest mean so far of Σ z² over the examples)
Values    z, from −1 to 1, the unit values, so that |g| ≤ G
Regret    Σ_i [ε_i + |u_i| √(α ln(1 + α u_i²/β²)) − β],  α = G(G + A),  β = ε/√(1 + A/G), for every
          u; ε_i is ε when the feature was met. Proved while no |g| is above 1, so that G = 1
Source    Orabona & Pál 2016 (potentials, Lemma 18); Orabona & Tommasi 2017, Algorithm 1 (the bet)
Departs   the wealth is replaced by ε F, which it is never below, so that two floats are enough; ε
          falls as N rises; G may grow (squared loss, importances above 1), and then no bound is
          reported

A gambler with the wealth ε bets a part tanh(…) of it on the sign of every next gradient. F is a
potential: F(θ − g, A + |g|) ≤ F(θ, A) (1 − g/G tanh(θ/(A + 2G))) for |g| ≤ G, so the wealth stays
above ε F, also when ε falls. The wealth that the gambler won is the loss that the weight saved.

N divides the wealth by the number of coordinates that move together. The radius is only that of the
points that the bound compares with; weights are not clipped to it.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from math import exp, log1p, sqrt, tanh
from typing import ClassVar, NamedTuple

from lessregret.learners.rules.limits import limited
from lessregret.learners.rules.rule import BoxedRule, ExampleStats, Step

MOST_EXPONENT = 80.0
"""The largest exponent in F: e^80 leaves room for products in float32."""


class Slot(NamedTuple):
    """The state of a coordinate."""

    reward: float = 0.0
    """θ = −Σ g"""
    stake: float = 0.0
    """A = Σ |g|"""


class Shared(NamedTuple):
    """What all coordinates share."""

    largest: float = 0.0
    """the largest |g| so far; G is this, and at least 1"""
    examples: int = 0
    squares: float = 0.0
    """Σ z² over all examples"""
    size: float = 0.0
    """the largest mean of Σ z² so far; N is this, and at least 1"""
    granted: float = 0.0
    """Σ_i ε_i over the coordinates that were met"""


@dataclass(frozen=True, kw_only=True)
class Coin(BoxedRule):
    """Coin betting: w = (ε/G) tanh(θ/(A + 2G)) exp(θ²/(2G(G + A)))/√(1 + A/G).

    θ is minus the sum of the gradients of the coordinate, A the sum of their absolute values and G
    the largest absolute gradient so far, at least 1. There is no rate to choose.

    Parameters
    ----------
    wealth : number above 0, default 16
        What all coordinates of a typical example may lose together before they learn anything, in
        units of the loss. ε is this divided by the number of features of a typical example.
    radius, box
        The points that the bound compares with. Weights are not kept within them.
    """

    name = "coin"
    empty = Slot()
    no_shared = Shared()
    coupled = True
    unit_values = True

    wealth: float = limited(16.0, above=0)

    known: ClassVar[Shared] = Shared()
    """The shared state; ``knowing`` gives a copy of the rule its own."""

    def knowing(self, shared: Shared) -> Coin:
        rule = copy(self)
        object.__setattr__(rule, "known", shared)
        return rule

    def weight(self, slot: Slot, value: float) -> float:
        reward, stake, largest = slot.reward, slot.stake, self._largest
        exponent = min(MOST_EXPONENT, reward / (largest + stake) * (reward / (2 * largest)))
        potential = exp(exponent) / sqrt(1 + stake / largest)
        return self._wealth / largest * tanh(reward / (stake + 2 * largest)) * potential

    def absorb(self, slot: Slot, value: float, gradient: float, step: Step) -> tuple[Slot, float]:
        return Slot(slot.reward - gradient, slot.stake + abs(gradient)), 0.0

    def look(self, slot: Slot, value: float, stats: ExampleStats) -> None:
        if slot.stake == 0 and value != 0:
            stats.newcomers += 1

    def step(self, shared: Shared, stats: ExampleStats) -> tuple[Shared, Step]:
        examples, squares = shared.examples + 1, shared.squares + stats.square_norm
        size = max(shared.size, squares / examples)
        # With L2 a gradient is slope z + shrink w, and |w| is at most the length of all weights.
        largest = abs(stats.slope) + stats.shrink * sqrt(stats.square_weights)
        newcomers = stats.newcomers if stats.slope else 0.0
        granted = shared.granted + newcomers * self.wealth / max(1.0, size)
        return Shared(max(shared.largest, largest), examples, squares, size, granted), Step()

    def is_proved(self, shared: Shared) -> bool:
        return shared.largest <= 1

    def spread(self, slot: Slot, step: Step) -> float:
        largest, reach = self._largest, max(abs(self.low), abs(self.high))
        alpha = largest * (largest + slot.stake)
        beta = self._wealth / sqrt(1 + slot.stake / largest)
        return reach * sqrt(alpha * log1p(alpha * (reach / beta) ** 2)) - beta

    def shared_spread(self, shared: Shared) -> float:
        return shared.granted

    @property
    def _largest(self) -> float:
        """G"""
        return max(1.0, self.known.largest)

    @property
    def _wealth(self) -> float:
        """ε"""
        return self.wealth / max(1.0, self.known.size)
