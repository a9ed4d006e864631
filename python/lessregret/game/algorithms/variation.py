"""Learners whose regret is bounded by how much the gradients vary, not by their size (§4.2).

In the full-information game the mean of the gradients is known exactly, in O(1) memory; the
reservoir samples of the same authors belong to the bandit game and have no place here.
"""

from __future__ import annotations

from math import sqrt

from lessregret.game.algorithms.algorithm import OneDimensional


class LazyProjection(OneDimensional):
    """Lazy projection for a known bound Q on the variation V = Σ (g_t − mean)².

    Plays     x = clip(−η Σ g), η = min(2/√Q, 1/6), with [a, b] scaled to [−1, 1] and g to |g| ≤ 1
    Regret    ≤ 15 √Q in those units, for Q ≥ 1
    Source    Hazan & Kale 2008
    Departs   nowhere; lazy: the sum is kept as it is and clipped only when played
    """

    def __init__(self, low: float, high: float, variation: float, largest: float = 1.0) -> None:
        super().__init__(low, high)
        self.largest = largest
        self.rate = min(2 / sqrt(variation), 1 / 6) if variation > 0 else 1 / 6
        self.total = 0.0
        self.point = self.middle

    def feed(self, gradient: float, curvature: float = 0.0) -> None:
        self.total += gradient / self.largest
        self.point = self.played(-self.rate * self.total)

    def played(self, scaled: float) -> float:
        """The point of [a, b] for a point of [−1, 1]."""
        return self.middle + self.width / 2 * min(1.0, max(-1.0, scaled))


class RestartedLazyProjection(LazyProjection):
    """Lazy projection for unknown variation: the rate is halved, and all begins anew, when needed.

    Plays     as above from η = 1/6; when the epoch's own variation exceeds 4/η²: η ← η/2, restart
    Regret    a constant factor above the one for known Q
    Source    Hazan & Kale 2008, the halving idea
    """

    def __init__(self, low: float, high: float, largest: float = 1.0) -> None:
        super().__init__(low, high, variation=0.0, largest=largest)
        self.restart()

    def restart(self) -> None:
        """Begin an epoch, from the middle."""
        self.total, self.count, self.mean, self.variation = 0.0, 0, 0.0, 0.0
        self.point = self.middle

    def feed(self, gradient: float, curvature: float = 0.0) -> None:
        scaled = gradient / self.largest
        # Welford's update of Σ (g − mean)².
        self.count += 1
        before = scaled - self.mean
        self.mean += before / self.count
        self.variation += before * (scaled - self.mean)
        if self.variation > 4 / self.rate**2:
            # The gradient that ends an epoch belongs to it, not to the next one.
            self.rate /= 2
            self.restart()
        else:
            super().feed(gradient)


class Optimistic(OneDimensional):
    """Optimistic follow-the-regularised-leader: the mean so far is the hint for the next gradient.

    Plays     x = clip(c − (G + m)/σ), σ = (2√2/D) √(E + B²), m the mean of the gradients so far,
              E = Σ (g_s − m_s)²
    Regret    ≤ D/√2 · √(E + B²), and E ≤ g_1² + 2V
    Source    the optimistic analysis of Rakhlin & Sridharan 2013, with explicit constants
    """

    def __init__(self, low: float, high: float, surprise: float = 2.0) -> None:
        super().__init__(low, high)
        self.surprise = surprise
        """B ≥ |g_t − m_t|; twice the largest gradient is always enough"""
        self.total, self.mean, self.count, self.error = 0.0, 0.0, 0, 0.0
        self.point = self.middle

    def feed(self, gradient: float, curvature: float = 0.0) -> None:
        if self.width == 0:
            return
        self.error += (gradient - self.mean) ** 2
        self.total += gradient
        self.count += 1
        self.mean += (gradient - self.mean) / self.count
        sigma = 2 * sqrt(2) / self.width * sqrt(self.error + self.surprise**2)
        self.point = self.clip(self.middle - (self.total + self.mean) / sigma)

    @property
    def bound(self) -> float:
        """The guarantee so far."""
        return self.width / sqrt(2) * sqrt(self.error + self.surprise**2)
