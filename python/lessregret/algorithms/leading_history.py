"""Follow the leading history, with pruned experts: small regret on every interval (§4.3).

    Given     α-exp-concave losses
    Plays     x_t = Σ_j p_j x_t^(j), expert j being a base learner born at round j
              p_j ∝ p_j exp(−α f_t(x^(j)));  old weights × (1 − 1/(t+1)), the newcomer gets 1/(t+1)
              expert j = r 2^k, r odd, is dropped after 2^(k+2) + 1 rounds
    Regret    on [r, s] against an expert alive there: ≤ (2/α)(ln r + ln(s − r + 1))
    Source    Hazan & Seshadhri 2009, with the first weight 1 where 0 is printed
    Departs   α from the minorant's slope on the whole interval, H/(G + H D)², not H/G² (E13)

The experts see the quadratic minorant of the round at the point played, so values away from it are
known from g, H and x_t alone. The base learner is gradient descent with step 1/(H · age).
"""

from __future__ import annotations

from math import inf, log

import numpy as np

from lessregret.algorithms.algorithm import Algorithm, OneDimensional, Seen
from lessregret.domains import Box, Domain, Point
from lessregret.errors import SpecError


def lifetime(birth: int) -> int:
    """How long an expert lives: 2^(k+2) + 1 for birth = r 2^k, r odd.

    >>> [lifetime(birth) for birth in (1, 2, 3, 4)]
    [5, 9, 5, 17]
    """
    return int((birth & -birth) << 2) + 1


class Experts:
    """The weights and points of the experts alive, each born at a round of its own.

    Points are rows; a newcomer starts at the combined play, which is allowed and usually better.
    """

    def __init__(self, start: Point) -> None:
        self.round = 1
        self.births = [1]
        self.logs = np.zeros(1)
        """logarithms of the weights, which add up to 1"""
        self.points = start.reshape(1, -1).copy()

    def combined(self) -> Point:
        """Σ_j p_j x^(j)."""
        return np.asarray(np.exp(self.logs) @ self.points)

    def ages(self) -> Point:
        """How many rounds each expert has seen, this one included."""
        return self.round - np.array(self.births) + 1.0

    def reweigh(self, losses: Point) -> None:
        """Multiply the weights by exp(−loss), bring in the next expert, drop the outlived."""
        logs = self.logs - losses
        logs -= np.logaddexp.reduce(logs)
        self.round += 1
        logs = np.append(logs + np.log1p(-1 / self.round), -np.log(self.round))
        self.births.append(self.round)
        alive = [self.round <= birth + lifetime(birth) for birth in self.births]
        self.births = [birth for birth, lives in zip(self.births, alive, strict=True) if lives]
        kept = np.flatnonzero(alive)
        self.logs = logs[kept] - np.logaddexp.reduce(logs[kept])
        self.points = np.vstack([self.points, self.points[-1:]])[kept]


class LeadingHistory(OneDimensional):
    """Follow the leading history on an interval, for H-strongly convex losses.

    >>> learner = LeadingHistory(0.0, 1.0, curvature=1.0)
    >>> learner.feed(-1.0, 1.0)
    >>> learner.point
    1.0
    """

    def __init__(self, low: float, high: float, curvature: float) -> None:
        super().__init__(low, high)
        self.curvature = curvature
        self.steepest = 0.0
        """the largest gradient so far; α only ever falls as it grows"""
        self.point = self.middle
        self.experts = Experts(np.array([self.point]))

    def feed(self, gradient: float, curvature: float = 0.0) -> None:
        self.steepest = max(self.steepest, abs(gradient))
        alpha = self.curvature / (self.steepest + self.curvature * self.width) ** 2
        offset = self.experts.points[:, 0] - self.point
        losses = alpha * (gradient * offset + self.curvature / 2 * offset**2)
        slopes = gradient + self.curvature * offset
        moved = self.experts.points[:, 0] - slopes / (self.curvature * self.experts.ages())
        self.experts.points[:, 0] = np.clip(moved, self.low, self.high)
        self.experts.reweigh(losses)
        self.experts.points[-1, 0] = self._combined()
        self.point = self._combined()

    def _combined(self) -> float:
        return self.clip(float(self.experts.combined()[0]))


class JointLeadingHistory(Algorithm):
    """Follow the leading history in all coordinates at once: what §4.3 compares with."""

    def __init__(self, curvature: float) -> None:
        self.curvature = curvature

    def start(self, domain: Domain, rounds: int | None = None) -> None:
        if not isinstance(domain, Box):
            raise SpecError("follow the leading history is here for boxes")
        self.domain = domain
        self.steepest = 0.0
        self.point = (domain.low + domain.high) / 2
        self.experts = Experts(self.point)

    def feed(self, seen: Seen) -> None:
        gradient = np.zeros(self.domain.dimensions)
        gradient[seen.coordinates] = seen.gradient
        self.steepest = max(self.steepest, float(np.linalg.norm(gradient)))
        slope = self.steepest + self.curvature * self.domain.diameter
        alpha = self.curvature / slope**2 if slope > 0 else inf
        offset = self.experts.points - self.point
        tangent = offset @ gradient
        losses = alpha * (tangent + self.curvature / 2 * (offset**2).sum(axis=1))
        slopes = gradient + self.curvature * offset
        steps = 1 / (self.curvature * self.experts.ages())
        self.experts.points = self.domain.project(self.experts.points - steps[:, None] * slopes)
        self.experts.reweigh(losses)
        self.experts.points[-1] = self.domain.project(self.experts.combined())
        self.point = self.domain.project(self.experts.combined())


def guarantee(alpha: float, first: int, last: int) -> float:
    """What the experts' mixture can lose on [first, last] to an expert alive on all of it."""
    return 2 / alpha * (log(first) + log(last - first + 1))
