"""How the slots of learners that went on from one start become one: the formula, to be read.

Shards k = 1..K start from the same slot and see different examples; Δ is the shard minus the start.

    sums       S = S₀ + Σ_k ΔS_k
    matched    w = w₀ + f(S) · Σ_k ΔS_k (Δw_k/f(S_k)) / Σ_k ΔS_k,  f(S) = 1 − exp(−2κc(√S − √S₀))
    weighted   the same with f = 1: Vowpal Wabbit's weights
    average    w = w₀ + (1/K) Σ_k Δw_k

S is the sum of squared gradients, c the rate and κ half the mean number of features of an example.
f(S) is the part of the way to its optimum that a weight has gone when its energy has come from S₀
to S. So Δw_k/f(S_k) is where shard k is heading, and f(S) of it is where one learner would be that
saw what all shards saw. The twin of ``crates/core/src/rule/merging.rs``, in float64.

The coin has no rate. Around a weight it is descent with the rate c/√S, S = G(G + A) and
c = √S ∂w/∂θ; half of c is the rate above, because half of G·A is about Σ g² where predictions are
calibrated. Its reward is the one at which it plays the merged weight.

A slot that at most one shard has moved is that shard's.

Of many classes every pair of a feature and a class has a slot. With the multinomial loss κ is
C/(C − 1) times as large, where C classes count: the Hessian diag q − q qᵀ is 1/C on slopes that add
up to 0 if all classes are as likely, and Σ g² measures its diagonal, 1/C (1 − 1/C).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, expm1, sqrt, tanh
from typing import NamedTuple, TypeVar

from lessregret.learners.rules import Arow, Coin, Ftrl, PerCoordinate
from lessregret.learners.rules.coin import MOST_EXPONENT
from lessregret.learners.rules.coin import Slot as CoinSlot
from lessregret.learners.rules.rule import rate_number

Name = TypeVar("Name", int, str)
"""what a class is known by: its code, or its name"""


class Heavy(NamedTuple):
    """A weight w, and the energy S that its rate comes from."""

    weight: float
    energy: float


def merged_weight(
    start: Heavy, shards: Sequence[Heavy], *, rate: float, curvature: float, how: str = "matched"
) -> Heavy:
    """The weight and the energy of one learner.

    >>> start, shards = Heavy(0.5, 100.0), [Heavy(2.0, 1e8), Heavy(4.0, 1e8)]
    >>> merged_weight(start, shards, rate=0.1, curvature=2.0).weight
    3.0
    """
    gained = [shard.energy - start.energy for shard in shards]
    moves = [shard.weight - start.weight for shard in shards]
    energy = start.energy + sum(gained)
    if how == "average":
        return Heavy(start.weight + sum(moves) / len(moves), energy)

    def reached(gain: float) -> float:
        if how == "weighted":
            return 1.0
        way = gain / (sqrt(start.energy + gain) + sqrt(start.energy))
        return -expm1(-2 * curvature * rate * way)

    def part(gain: float) -> float:
        """How much of its move a shard contributes; all of it if the gain is too small to count."""
        own = reached(gain)
        return gain / total * reached(total) / own if own > 0 else 1.0

    total = sum(gained)
    shift = sum(part(gain) * move for gain, move in zip(gained, moves, strict=True) if gain > 0)
    return Heavy(start.weight + shift, energy)


def merged_classes(start: Sequence[Name], shards: Sequence[Sequence[Name]]) -> list[Name]:
    """The classes of the merged learner: those of the start, then those that shards have met.

    >>> merged_classes([3], [[3, 8, 1], [3, 1, 5]])
    [3, 8, 1, 5]
    """
    found = list(start)
    for shard in shards:
        found += [name for name in shard if name not in found]
    return found


def class_curvature(curvature: float, classes: int, *, multinomial: bool) -> float:
    """κ of many classes, from half the mean number of features of an example.

    >>> class_curvature(3.0, 2, multinomial=True), class_curvature(3.0, 2, multinomial=False)
    (6.0, 3.0)
    """
    return curvature * classes / (classes - 1) if multinomial and classes > 1 else curvature


def merged_slot(
    rule: PerCoordinate | Ftrl | Coin | Arow,
    start: Sequence[float],
    shards: Sequence[Sequence[float]],
    *,
    curvature: float,
    how: str = "matched",
) -> tuple[float, ...]:
    """The slot of one learner; values are 1, so that all are in one unit.

    A coin must know the merged shared state. Two shards that lost what one of them won:

    >>> reward, stake = merged_slot(Coin(), (0.0, 0.0), [(1.0, 1.0), (-1.0, 1.0)], curvature=1.0)
    >>> abs(round(reward, 9)), stake
    (0.0, 2.0)
    """
    moved = [tuple(shard) for shard in shards if tuple(shard) != tuple(start)]
    if len(moved) < 2:
        return (*moved, tuple(start))[0]
    if isinstance(rule, PerCoordinate):
        return _per_coordinate(rule, start, shards, curvature, how)
    if isinstance(rule, Ftrl):
        return _ftrl(rule, start, shards, curvature, how)
    if isinstance(rule, Coin):
        return _coin(rule, start, shards, curvature, how)
    return _gaussian(start, shards, how)


def _per_coordinate(
    rule: PerCoordinate,
    start: Sequence[float],
    shards: Sequence[Sequence[float]],
    curvature: float,
    how: str,
) -> tuple[float, ...]:
    """The offset's part of the energy is counted once."""
    least = min(energy for _, energy in shards if energy > 0)
    first = min(rule.offset**2, least / 2)
    heavy = [Heavy(weight, energy or first) for weight, energy in (start, *shards)]
    rate = rate_number(rule.rate, rule.width)
    merged = merged_weight(heavy[0], heavy[1:], rate=rate, curvature=curvature, how=how)
    return rule.clip(merged.weight), merged.energy


def _ftrl(
    rule: Ftrl,
    start: Sequence[float],
    shards: Sequence[Sequence[float]],
    curvature: float,
    how: str,
) -> tuple[float, ...]:
    """n merges as S does, the weight as above, and z is the one that plays this weight."""
    heavy = [
        Heavy(rule.weight(type(rule).empty._replace(z=z, n=n), 1.0), n) for z, n in (start, *shards)
    ]
    merged = merged_weight(heavy[0], heavy[1:], rate=float(rule.rate), curvature=curvature, how=how)
    weight, n = rule.clip(merged.weight), merged.energy
    if weight == 0:
        return 0.0, n
    inverse_rate = (rule.offset + sqrt(n)) / float(rule.rate) + rule.l2
    return -weight * inverse_rate - (rule.l1 if weight > 0 else -rule.l1), n


def _coin(
    rule: Coin,
    start: Sequence[float],
    shards: Sequence[Sequence[float]],
    curvature: float,
    how: str,
) -> tuple[float, ...]:
    """The stake is a sum, and the reward plays the merged weight, as far as a stake allows."""
    largest = max(1.0, rule.known.largest)
    heavy = [
        Heavy(rule.weight(CoinSlot(reward, stake), 1.0), largest * (largest + stake))
        for reward, stake in (start, *shards)
    ]
    rate = max(_coin_rate(rule, reward, stake) for reward, stake in (start, *shards)) / 2
    merged = merged_weight(heavy[0], heavy[1:], rate=rate, curvature=curvature, how=how)
    stake = merged.energy / largest - largest
    return _reward(rule, merged.weight, stake), stake


def _coin_rate(rule: Coin, reward: float, stake: float) -> float:
    """√S ∂w/∂θ"""
    largest, wealth = max(1.0, rule.known.largest), rule.wealth / max(1.0, rule.known.size)
    energy, width = largest * (largest + stake), stake + 2 * largest
    potential = exp(min(MOST_EXPONENT, reward**2 / (2 * energy)))
    part = tanh(reward / width)
    return wealth * potential * (part * reward / energy + (1 - part**2) / width)


def _reward(rule: Coin, weight: float, stake: float) -> float:
    """The reward within [−stake, stake] at which the weight is nearest to this one, by halving."""
    low, high = -stake, stake
    for _ in range(200):
        middle = (low + high) / 2
        if rule.weight(CoinSlot(middle, stake), 1.0) < weight:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _gaussian(
    start: Sequence[float], shards: Sequence[Sequence[float]], how: str
) -> tuple[float, ...]:
    """Precisions add up, and means are weighted by them; the first precision is 1."""
    precisions = [1 + precision for _, precision in (start, *shards)]
    held = [
        slot[0] * precision for slot, precision in zip((start, *shards), precisions, strict=True)
    ]
    total = precisions[0] + sum(own - precisions[0] for own in precisions[1:])
    if how == "average":
        weight = start[0] + sum(shard[0] - start[0] for shard in shards) / len(shards)
    else:
        weight = (held[0] + sum(own - held[0] for own in held[1:])) / total
    return weight, total - 1
