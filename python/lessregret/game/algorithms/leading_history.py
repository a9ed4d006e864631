"""Follow the leading history, with pruned experts: small regret on every interval (§4.3).

    Given     α-exp-concave losses
    Plays     x_t = Σ_j p_j x_t^(j), expert j being a base learner born at round j
              p_j ∝ p_j exp(−α f_t(x^(j)));  old weights × (1 − 1/(t+1)), the newcomer gets 1/(t+1)
              expert j = r 2^k, r odd, is dropped after 2^(k+2) + 1 rounds
    Regret    on [r, s] against the expert born at r, while it lives: ≤ (2/α)(ln r + ln(s − r + 1))
    Source    Hazan & Seshadhri 2009, with the first weight 1 where 0 is printed
    Departs   α from the minorant's slope on the whole interval, H/(G + H D)², not H/G² (E13)

The experts see the quadratic minorant of the round at the point played, so values away from it are
known from g, H and x_t alone. The base learner is gradient descent with step 1/(H · age).
"""

from __future__ import annotations

from math import log, log1p

import numpy as np

from lessregret.errors import SpecError
from lessregret.game.algorithms.algorithm import Algorithm, OneDimensional, Seen
from lessregret.game.domains import Box, Domain, Point


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
        self.births = np.ones(1)
        self.deaths = np.array([1.0 + lifetime(1)])
        """the last round each expert is alive in"""
        self.logs = np.zeros(1)
        """logarithms of the weights, which add up to 1"""
        self.points = start.reshape(1, -1).copy()

    def combined(self) -> Point:
        """Σ_j p_j x^(j)."""
        return np.asarray(np.exp(self.logs) @ self.points)

    def ages(self) -> Point:
        """How many rounds each expert has seen, this one included."""
        return np.asarray(self.round - self.births + 1)

    def reweigh(self, losses: Point) -> None:
        """Multiply the weights by exp(−loss), bring in the next expert, drop the outlived."""
        logs = self.logs - losses
        logs -= np.logaddexp.reduce(logs)
        newcomer = np.exp(logs) @ self.points
        self.round += 1
        kept = self.deaths >= self.round
        logs = np.append(logs[kept] + log1p(-1 / self.round), -log(self.round))
        self.logs = logs - np.logaddexp.reduce(logs)
        self.points = np.concatenate([self.points[kept], newcomer[None]])
        self.births = np.append(self.births[kept], self.round)
        self.deaths = np.append(self.deaths[kept], self.round + lifetime(self.round))


class LeadingHistory(OneDimensional):
    """Follow the leading history on an interval, for H-strongly convex losses.

    >>> learner = LeadingHistory(0.0, 1.0, curvature=1.0)
    >>> learner.feed(-1.0, 1.0)
    >>> learner.point
    1.0
    """

    def __init__(self, low: float, high: float, curvature: float) -> None:
        super().__init__(low, high)
        _check_curvature(curvature)
        self.curvature = curvature
        self.steepest = 0.0
        """the largest gradient so far; α only ever falls as it grows"""
        self.point = self.middle
        self.experts = Experts(np.array([self.point]))

    def feed(self, gradient: float, curvature: float = 0.0) -> None:
        if self.width == 0:
            return
        self.steepest = max(self.steepest, abs(gradient))
        offset = self.experts.points[:, 0] - self.point
        losses = gradient * offset + self.curvature / 2 * offset**2
        slopes = gradient + self.curvature * offset
        moved = self.experts.points[:, 0] - slopes / (self.curvature * self.experts.ages())
        self.experts.points[:, 0] = np.clip(moved, self.low, self.high)
        self.experts.reweigh(self.exp_concavity() * losses)
        self.point = self.clip(float(self.experts.combined()[0]))

    def exp_concavity(self) -> float:
        """α = H/(G + H D)², G the steepest gradient so far (E13)."""
        return self.curvature / (self.steepest + self.curvature * self.width) ** 2


class JointLeadingHistory(Algorithm):
    """Follow the leading history in all coordinates at once: what §4.3 compares with."""

    def __init__(self, curvature: float) -> None:
        _check_curvature(curvature)
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
        alpha = self.curvature / slope**2 if slope > 0 else 0.0
        offset = self.experts.points - self.point
        tangent = offset @ gradient
        losses = alpha * (tangent + self.curvature / 2 * (offset**2).sum(axis=1))
        slopes = gradient + self.curvature * offset
        steps = 1 / (self.curvature * self.experts.ages())
        self.experts.points = self.domain.project(self.experts.points - steps[:, None] * slopes)
        self.experts.reweigh(losses)
        self.point = self.domain.project(self.experts.combined())


def guarantee(alpha: float, first: int, last: int) -> float:
    """What the experts' mixture can lose on [first, last] to the expert born at ``first``."""
    return 2 / alpha * (log(first) + log(last - first + 1))


def _check_curvature(curvature: float) -> None:
    if not curvature > 0:
        raise SpecError(f"follow the leading history needs a curvature above 0, found {curvature}")
