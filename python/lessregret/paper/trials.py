"""Problems on which the bounds are tried: random, heavy-tailed, constructed, adversarial."""

from __future__ import annotations

from math import sqrt

import numpy as np

from lessregret.game.domains import Box, L2Ball
from lessregret.game.losses import linear
from lessregret.game.play import Problem
from lessregret.game.problems import (
    BadFamily,
    Climbing,
    Contrary,
    Oscillating,
    RandomLinear,
    Recorded,
    UnequalVariance,
)
from lessregret.paper import swing_and_climb

ROUNDS = 2000
DIMENSIONS = 10
SWINGS = 10_000


def box_trials(seed: int) -> dict[str, Problem]:
    """The problems whose feasible set is a box."""
    cube = Box.cube(DIMENSIONS, -1.0, 1.0)
    return {
        "random, sparse": RandomLinear(ROUNDS, seed=seed),
        "heavy tails": heavy_tails(seed),
        "unequal variances": UnequalVariance(ROUNDS, seed=seed),
        "contrary, box": Contrary(ROUNDS, cube, seed),
        "climbing": Climbing(ROUNDS),
        "oscillating": Oscillating(ROUNDS),
        "Theorem 1's, k = 12": BadFamily(12),
        "swing and climb": swing_and_climb.problem(1 / sqrt(2), SWINGS),
    }


def ball_trials(seed: int) -> dict[str, Problem]:
    """One on another set: Theorem 2 holds for any closed convex set."""
    return {"contrary, ball": Contrary(ROUNDS, L2Ball(np.zeros(DIMENSIONS), 1.0), seed)}


def heavy_tails(seed: int) -> Recorded:
    """Student's t with 1.5 degrees of freedom: gradients without a variance."""
    rng = np.random.default_rng(seed)
    slopes = rng.standard_t(1.5, size=(ROUNDS, DIMENSIONS))
    everywhere = np.arange(DIMENSIONS)
    losses = [linear(everywhere, slope) for slope in slopes]
    return Recorded(Box.cube(DIMENSIONS, -1.0, 1.0), losses)
