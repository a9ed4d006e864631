"""The worst interval of a game: the greatest regret over all [r, s] (adaptive regret, §4.3).

For losses that are separable quadratics the best fixed point of an interval follows from three sums
over it, each the difference of two running sums. So all T(T+1)/2 intervals cost O(T² n) time, one
vectorised row at a time, and O(T n) memory; searching a minimum for each would be O(T³).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lessregret.game.domains import Box, Point
from lessregret.game.losses import Quadratic


class WorstInterval(NamedTuple):
    """The interval of the greatest regret."""

    regret: float
    first: int
    """the first round of it, from 1"""
    last: int


class Sums(NamedTuple):
    """Running sums of Σ_i H/2 x² + s x + k, a row a round, the first row zeros."""

    curvature: Point
    slope: Point
    constant: Point


def worst_interval(box: Box, losses: Sequence[Quadratic], suffered: Point) -> WorstInterval:
    """The greatest Σ_{t∈[r,s]} f_t(x_t) − min over the box of Σ_{t∈[r,s]} f_t(x)."""
    sums = running_sums(losses, box.dimensions)
    lost = np.concatenate([[0.0], np.cumsum(suffered)])
    worst = WorstInterval(0.0, 1, 1)
    for first in range(len(losses)):
        regrets = lost[first + 1 :] - lost[first] - least_losses(sums, first, box)
        last = int(np.argmax(regrets))
        if regrets[last] > worst.regret:
            worst = WorstInterval(float(regrets[last]), first + 1, first + 1 + last)
    return worst


def running_sums(losses: Sequence[Quadratic], dimensions: int) -> Sums:
    """The sums over the first t rounds, for every t."""
    curvature = np.zeros((len(losses) + 1, dimensions))
    slope = np.zeros((len(losses) + 1, dimensions))
    constant = np.zeros(len(losses) + 1)
    for t, loss in enumerate(losses, start=1):
        curvature[t, loss.coordinates] += loss.curvature
        slope[t, loss.coordinates] += loss.slope - loss.curvature * loss.centre
        constant[t] = loss.constant + loss.curvature @ loss.centre**2 / 2
    return Sums(curvature.cumsum(axis=0), slope.cumsum(axis=0), constant.cumsum())


def least_losses(sums: Sums, first: int, box: Box) -> Point:
    """The loss of the best fixed point of every interval that begins after round ``first``."""
    curvature = sums.curvature[first + 1 :] - sums.curvature[first]
    slope = sums.slope[first + 1 :] - sums.slope[first]
    inner = np.divide(-slope, curvature, out=np.zeros_like(slope), where=curvature > 0)
    ends = np.where(slope > 0, box.low, box.high)
    point = np.clip(np.where(curvature > 0, inner, ends), box.low, box.high)
    least = (curvature * point**2 / 2 + slope * point).sum(axis=1)
    return np.asarray(least + sums.constant[first + 1 :] - sums.constant[first])


def regret_on(
    box: Box, losses: Sequence[Quadratic], suffered: Point, first: int, last: int
) -> float:
    """The regret of the rounds from ``first`` to ``last``, both from 1 and both included."""
    part = slice(first - 1, last)
    sums = running_sums(losses[part], box.dimensions)
    return float(suffered[part].sum() - least_losses(sums, 0, box)[-1])
