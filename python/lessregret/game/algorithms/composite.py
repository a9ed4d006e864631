"""Lemma 2 as a class: a one-dimensional learner for each coordinate.

Given separable minorants ℓ_t(x) = Σ_i ℓ_{t,i}(x_i) ≤ f_t(x), equal at x_t, run any one-dimensional
learner on each ℓ_{t,i}; then Regret ≤ Σ_i Regret_i. The minorants are the tangent,

    linear       ℓ_{t,i}(y) = f_t(x_t)/n + g_{t,i}(y − x_{t,i})
    quadratic    the same + H_i/2 (y − x_{t,i})²     (f_t strongly convex w.r.t. H, §4.1)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from lessregret.errors import SpecError
from lessregret.game.algorithms.algorithm import Algorithm, OneDimensional, Seen
from lessregret.game.domains import Box, Domain, Point
from lessregret.learners.rules import BoxedRule, Step

MakeLearner = Callable[[float, float], OneDimensional]
ALONE = Step()
"""the step of a rule whose coordinates do not talk"""


class Composite(Algorithm):
    """One one-dimensional learner for each coordinate of a box, made when it is first needed."""

    def __init__(
        self, make: MakeLearner, minorant: Literal["linear", "quadratic"] = "linear"
    ) -> None:
        self.make = make
        self.minorant = minorant

    def start(self, domain: Domain, rounds: int | None = None) -> None:
        if not isinstance(domain, Box):
            raise SpecError("a learner for each coordinate needs a box")
        self.domain = domain
        self.learners: dict[int, OneDimensional] = {}
        # Learners may start elsewhere than at clip(0); one of each interval tells where.
        starts = {ends: self._made(*ends).point for ends in set(self._intervals())}
        self.point = np.array([starts[ends] for ends in self._intervals()])

    def feed(self, seen: Seen) -> Point | None:
        rates: list[float | None] = []
        curved = self.minorant == "quadratic"
        parts = zip(
            seen.coordinates.tolist(), seen.gradient.tolist(), seen.curvature.tolist(), strict=True
        )
        for i, gradient, curvature in parts:
            learner = self.learner(i)
            rates.append(learner.feed(gradient, curvature if curved else 0.0))
            self.point[i] = learner.point
        known = [rate for rate in rates if rate is not None]
        return np.array(known) if len(known) == len(rates) else None

    def learner(self, coordinate: int) -> OneDimensional:
        """The learner of a coordinate."""
        if coordinate not in self.learners:
            low, high = self.domain.low[coordinate], self.domain.high[coordinate]
            self.learners[coordinate] = self._made(float(low), float(high))
        return self.learners[coordinate]

    def _made(self, low: float, high: float) -> OneDimensional:
        return self.make(low, high) if low < high else Still(low, high)

    def _intervals(self) -> list[tuple[float, float]]:
        return list(zip(self.domain.low.tolist(), self.domain.high.tolist(), strict=True))


class Still(OneDimensional):
    """The learner of an interval of one point, where there is nothing to learn."""

    def feed(self, gradient: float, curvature: float = 0.0) -> float:
        return 0.0


class RuleLearner(OneDimensional):
    """A rule of the library as a one-dimensional learner: the same ``weight`` and ``absorb``.

    >>> from lessregret.learners.rules import PerCoordinate
    >>> learner = RuleLearner(PerCoordinate(rate="theory"), -1.0, 1.0)
    >>> learner.feed(0.5)
    2.82842712474619
    >>> learner.point
    -1.0
    """

    def __init__(self, rule: BoxedRule, low: float, high: float) -> None:
        if rule.coupled:
            raise SpecError(f"rule {rule.name!r} is coupled: its coordinates cannot learn apart")
        if getattr(rule, "rate", None) == "auto":
            raise SpecError(
                f"rule {rule.name!r} has rate 'auto', which is for learners; give it one"
            )
        super().__init__(low, high)
        self.rule = rule.within(low, high)
        self.slot: Any = self.rule.empty
        self.point = self.rule.weight(self.slot, 1.0)
        self.has_rates = self._bounds_by_rate()

    def feed(self, gradient: float, curvature: float = 0.0) -> float | None:
        if gradient == 0:
            return 0.0
        self.slot, rate = self.rule.absorb(self.slot, 1.0, gradient, ALONE)
        self.point = self.rule.weight(self.slot, 1.0)
        return rate if self.has_rates else None

    def _bounds_by_rate(self) -> bool:
        """Whether D²/(2η) is enough for the rule; FTRL's λ₁, λ₂ and offset may cost more."""
        slot, rate = self.rule.absorb(self.rule.empty, 1.0, 1.0, ALONE)
        spread = self.rule.spread(slot, ALONE)
        if rate == 0 or spread is None:
            return False
        return spread <= self.rule.spread_at(rate) * (1 + 1e-12)
