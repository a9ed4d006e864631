"""The regret on Theorem 1's family of problems, exactly and fast.

The game itself (``problems.BadFamily``) is the oracle; it costs microseconds a round, and
k = 96 at 60 rates has 54 million rounds. What makes it fast, with the same numbers:

1. all gradients have size 1, so adaptive rates are known before the game: Σ g² = t;
2. a climbing coordinate plays min(1, the sum of its rates so far), a cumulative sum;
3. with equal rates one climbing coordinate stands for all k;
4. with a constant rate the oscillating coordinate's next point depends on its point alone, so once
   a point comes back the rounds repeat, and the rest is a multiplication.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt
from typing import NamedTuple

import numpy as np

from lessregret.game.domains import Point


class Regret(NamedTuple):
    """The regret of the first coordinate and of the k others together."""

    oscillating: float
    climbing: float

    @property
    def total(self) -> float:
        """of the whole game"""
        return self.oscillating + self.climbing


def rounds(k: int) -> int:
    """T = k³ + k²"""
    return k**3 + k**2


def epsilon(k: int) -> float:
    """ε = 1/(4k), below 1/(2 T_1) (erratum E4)."""
    return 1 / (4 * k)


def falling_regret(k: int, rates: Point) -> Regret:
    """Gradient descent with one rate for all coordinates, ``rates`` being η_1 … η_T."""
    first = rates[: k**3].tolist()
    return Regret(oscillation(first, epsilon(k)), climbs(rates[k**3 :].reshape(k, k)))


def global_regret(k: int) -> Regret:
    """Theorem 2's rate, η_t = D/√(2t) with D = √(k + 1)."""
    return falling_regret(k, sqrt(k + 1) / np.sqrt(2 * np.arange(1.0, rounds(k) + 1)))


def per_coordinate_regret(k: int, *, as_printed: bool = False) -> Regret:
    """Algorithm 1: η = 1/√(2s) in a coordinate's own round s, or 1/√s as printed (E7)."""
    rates = (1 if as_printed else 1 / sqrt(2)) / np.sqrt(np.arange(1.0, k**3 + 1))
    return Regret(oscillation(rates.tolist(), epsilon(k)), k * climbs(rates[None, :k]))


def constant_regret(k: int, rate: float) -> Regret:
    """One constant rate for all coordinates and rounds."""
    first = constant_oscillation(rate, epsilon(k), k**3)
    return Regret(first, k * climbs(np.full((1, k), rate)))


def misprinted_regret(k: int, rate: float) -> Regret:
    """The same with j as printed, the constant C + 1: one coordinate climbs all k² rounds (E3)."""
    first = constant_oscillation(rate, epsilon(k), k**3)
    return Regret(first, climbs(np.full((1, k * k), rate)))


def climbs(rates: Point) -> float:
    """The regret of coordinates that climb on −x, a row of rates for each."""
    moved = np.cumsum(rates[:, :-1], axis=1)
    return float(rates.size - np.minimum(1.0, moved).sum())


def oscillation(rates: Iterable[float], centre: float) -> float:
    """Σ |x_t − ε| of gradient descent on [0, 1] from 0."""
    point, total = 0.0, 0.0
    for rate in rates:
        total += abs(point - centre)
        point = max(0.0, point - rate) if point > centre else min(1.0, point + rate)
    return total


def constant_oscillation(rate: float, centre: float, count: int) -> float:
    """The same with a constant rate: played until a point comes back, then multiplied."""
    seen: dict[float, int] = {}
    sums, point = [0.0], 0.0
    while point not in seen and len(seen) < count:
        seen[point] = len(seen)
        sums.append(sums[-1] + abs(point - centre))
        point = max(0.0, point - rate) if point > centre else min(1.0, point + rate)
    if point not in seen:
        return sums[count]
    start = seen[point]
    period = len(seen) - start
    times, rest = divmod(count - start, period)
    return times * (sums[-1] - sums[start]) + sums[start + rest]


def oscillation_floor(k: int, last: float) -> float:
    """⌊T_0/3⌋ min(η_{T_0}, 1 − ε): the first coordinate's least regret, falling rates (E5)."""
    return k**3 // 3 * min(last, 1 - epsilon(k))


def climbing_floor(k: int, last: float) -> float:
    """The other coordinates' least regret: no play exceeds (s − 1) η_{T_0} in their round s."""
    return float(k * np.maximum(0.0, 1 - np.arange(k) * last).sum())


def floor(k: int) -> float:
    """The least regret of *any* falling sequence of global rates, by the repaired argument.

    As a function of η_{T_0} the sum of the floors is linear between the kinks 1/(s − 1), so its
    minimum is at one of them or at an end.
    """
    kinks = [0.0, 1 - epsilon(k), *(1 / s for s in range(1, k))]
    return min(oscillation_floor(k, last) + climbing_floor(k, last) for last in kinks)
