"""The stack: an expert that learns how to add up the margins of the lanes.

    Plays     s = b + Σ_k v_k m_k = b + v·m    b the base margin, m_k the margin of lane k without
                                               it, clipped to [−30, 30]
    State     v, P                             v_k = 1/8 and P = I/4 before the first round
    Learns    u = P m,  d = 1 + c m·u          g = h ℓ'(s, y),  c = h (ℓ'(s, y) − ℓ'(−s, y))/(2s)
              v ← v − (g/d) u
              P ← P − (c/d) u uᵀ + 10⁻⁶ I

The mixture can only choose among the lanes or average them; the stack can also add more or less of
them than all, which mends lanes that are all too timid or too bold (stacking: Wolpert 1992). The
margins of the lanes are much alike, so a rate for each of them is slow: v moves by Newton's method
with the covariance P of v, as in the Kalman filter. c is the curvature of a parabola that touches
the loss at s. For log loss the parabola is above the loss everywhere, so no step goes too far
(Jaakkola & Jordan 2000); for squared loss it is the loss. Losses without such a parabola have
c = h ℓ'(s, y)², the online Newton step (Hazan, Agarwal & Kale 2007). The last term lets v drift by
about 1 in a million rounds, so that it never stops learning. The stack is one more expert of the
mixture, so it can cost no more than one more lane, whatever it plays.

Many classes share v: s_c = Σ_k v_k m_k,c. With the gradient a = Σ_c ∂ℓ/∂s_c m_c of a round that
counts once, m is a and g = c = h: the online Newton step on the summed gradient.

Merging: the mean of v and of P over the shards that learned, which stays a covariance.

The twin of ``crates/core/src/learn/lanes/stack.rs``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from lessregret.learners.losses import Loss

FIRST_VARIANCE = 0.25
"""1/16 to 1 lose the same on 24 data sets, within 0.3 % (decision 27)."""
DRIFT = 1e-6
"""The variance that every round adds: 0.3 to 3 times as much loses the same (decision 27)."""
FARTHEST = 30.0
"""A margin beyond which a prediction is certain; larger ones would make the first steps huge."""
NEAREST = 1e-4
"""The margin below which the curvature is that at 0, to nine digits."""


@dataclass
class Stack:
    """The weights of the lanes' margins, and their covariance.

    >>> from lessregret.learners.losses import Logistic
    >>> stack = Stack(Logistic(), lanes=2)
    >>> stack.margin([1.0, 3.0])
    2.0
    >>> stack.absorb([1.0, 3.0], label=1.0, importance=1.0)
    >>> round(stack.margin([1.0, 3.0]), 3)
    2.202
    """

    loss: Loss
    lanes: int = 8
    weights: list[float] = field(default_factory=list)
    """v"""
    covariance: list[list[float]] = field(default_factory=list)
    """P"""

    def __post_init__(self) -> None:
        lanes = range(self.lanes)
        self.weights = self.weights or [1 / self.lanes for _ in lanes]
        self.covariance = self.covariance or [
            [FIRST_VARIANCE * (j == k) for j in lanes] for k in lanes
        ]

    def margin(self, margins: Sequence[float], base: float = 0.0) -> float:
        """s, the margin of the stack, from those of the lanes, which include the base."""
        pairs = zip(self.weights, margins, strict=True)
        return base + sum(v * _clipped(m - base) for v, m in pairs)

    def added_by_clipping(self, margins: Sequence[float], base: float = 0.0) -> float:
        """Σ v_k (clip(m_k) − m_k), 0 if no margin is beyond ±30."""
        pairs = zip(self.weights, (m - base for m in margins), strict=True)
        return sum((v * (_clipped(m) - m) for v, m in pairs), start=0.0)

    def penalty(self, penalties: Sequence[float]) -> float:
        """(Σ|v_k|) Σ|v_k| penalty_k: at least that of the point Σ v_k w_k (convexity)."""
        sizes = [abs(v) for v in self.weights]
        return sum(sizes) * sum(v * each for v, each in zip(sizes, penalties, strict=True))

    def absorb(
        self, margins: Sequence[float], label: float, importance: float, base: float = 0.0
    ) -> None:
        """Learn from a round; the margins include the base."""
        near, s = [_clipped(m - base) for m in margins], self.margin(margins, base)
        g, c = importance * self.loss.slope(s, label), importance * curvature(self.loss, s, label)
        self._descend(near, g, c)

    def absorb_classes(
        self, classes: Sequence[Sequence[float]], slopes: Sequence[float], importance: float
    ) -> None:
        """Learn from a round of many classes: for each the lanes' margins and the slope of s."""
        rows = [[a * _clipped(m) for m in row] for row, a in zip(classes, slopes, strict=True)]
        gradient = [sum(entries) for entries in zip(*rows, strict=True)]
        self._descend(gradient, importance, importance)

    def _descend(self, m: Sequence[float], g: float, c: float) -> None:
        u = [_dot(row, m) for row in self.covariance]
        d = 1 + c * _dot(u, m)
        self.weights = [v - g / d * each for v, each in zip(self.weights, u, strict=True)]
        for k, row in enumerate(self.covariance):
            self.covariance[k] = [p - c / d * u[k] * u[j] for j, p in enumerate(row)]
            self.covariance[k][k] += DRIFT


def curvature(loss: Loss, margin: float, label: float) -> float:
    """c of a loss that counts once.

    >>> from lessregret.learners.losses import Hinge, Squared
    >>> curvature(Squared(), margin=3.0, label=1.0), curvature(Hinge(), margin=0.5, label=1.0)
    (2.0, 1.0)
    """
    if loss.mixing == "adahedge":
        return loss.slope(margin, label) ** 2
    s = margin if abs(margin) >= NEAREST else NEAREST
    return (loss.slope(s, label) - loss.slope(-s, label)) / (2 * s)


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def _clipped(margin: float) -> float:
    return min(FARTHEST, max(-FARTHEST, margin))
