"""Gradients for which the bounds of Theorems 2 and 3 are reached: swing, then climb.

On [0, 1], against gradient descent from 0 with η_t = c/√S_t, S_t = Σ_{s≤t} g_s². As long as no step
is clipped,

    Regret against u  =  Σ_t [(x_t − u)² − (x_{t+1} − u)²]/(2η_t)  +  ½ Σ_t η_t g_t²

and only two things separate the right side from B = D²/(2η_T) + ½ Σ η_t g_t²: the distance from u
must be D whenever the rate falls, and 0 at the end. So stay near 0 while the gradients are large:

    swing    −1, then the gradient that brings the point back to 0, over and over
    climb    gradients −δ, too small to change the rate much, until the point is at u = 1

The sum ½ Σ η g² is then about c√S, and Regret/√S tends to c + 1/(2c): to √2 for c = 1/√2, the
corrected rate, and to 1.5 for c = 1, the printed one (erratum E7). It is §2.2's two problems, one
after the other on one coordinate.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from lessregret.game.domains import Box, Point
from lessregret.game.losses import linear
from lessregret.game.problems import Recorded

LARGEST_RETURN = 2.0
"""early on the point may be too far out to come back in one step"""
CLIMB = 0.1
"""δ"""


def gradients(constant: float, swings: int) -> Point:
    """The sequence against η_t = constant/√S_t, with so many rounds of swinging."""
    found: list[float] = []
    point, energy = 0.0, 0.0
    while len(found) < swings or point < 1:
        swinging = len(found) < swings
        gradient = swing(point, energy, constant) if swinging else -CLIMB
        energy += gradient**2
        point = min(1.0, max(0.0, point - constant / sqrt(energy) * gradient))
        # What rounding leaves of a return to 0 is no reason for another one.
        point = 0.0 if point < 1e-12 else point
        found.append(gradient)
    return np.array(found)


def swing(point: float, energy: float, constant: float) -> float:
    """−1 from 0; elsewhere the g with constant·g/√(energy + g²) = point, if it is not too large."""
    if point == 0:
        return -1.0
    reach = constant**2 - point**2
    return min(LARGEST_RETURN, point * sqrt(energy / reach)) if reach > 0 else LARGEST_RETURN


def problem(constant: float, swings: int, dimensions: int = 1) -> Recorded:
    """The sequence as linear losses on [0, 1]^n, the same in every coordinate."""
    everywhere = np.arange(dimensions)
    sequence = gradients(constant, swings).tolist()
    return Recorded(Box.cube(dimensions, 0.0, 1.0), [linear(everywhere, g) for g in sequence])
