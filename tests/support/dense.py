"""The rules with L2 on whole vectors: a mask says which coordinates it acts on; nothing is lazy.

Written from the formulas and sharing no code with the library, to be compared with it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def slope(loss: str, p: float, y: float) -> float:
    """ℓ'(p, y)."""
    if loss == "logistic":
        return -y / (1 + np.exp(y * p))
    return 2 * (p - y) if loss == "squared" else -y * (y * p < 1)


class Game(NamedTuple):
    """What is played: the rule and its parameters, on [-radius, radius] in every coordinate."""

    rule: str
    loss: str
    rate: float
    l2: float
    radius: float
    offset: float = 1.0


class Dense:
    """w the weights, S the squared gradients, z that of FTRL, E and t for rates that all share."""

    def __init__(self, game: Game, columns: int) -> None:
        self.game, self.penalty = game, 0.0
        self.w, self.S, self.z = np.zeros((3, columns))
        self.met = np.zeros(columns, dtype=bool)
        self.E = self.t = 0.0

    def learn(self, x: Vector, active: NDArray[np.bool_], y: float, h: float) -> float:
        """One round with f(w) = h [ℓ(w·x, y) + l2/2 Σ_active w²]; the margin."""
        game, w = self.game, self.w
        p = float(w @ x)
        g = h * (slope(game.loss, p, y) * x + game.l2 * w) * active
        self.penalty += h * game.l2 / 2 * float(w[active] @ w[active])
        before, self.S = self.S, self.S + g**2
        self.E, self.t, self.met = self.E + float(g @ g), self.t + 1, self.met | (x != 0)
        if game.rule == "ftrl":
            self.z += g - (np.sqrt(self.S) - np.sqrt(before)) / game.rate * w
            moved = -self.z * game.rate / (game.offset + np.sqrt(self.S))
        else:
            moved = w - self.step() * g
        self.w = np.clip(moved, -game.radius, game.radius)
        return p

    def step(self) -> Vector | float:
        """η, for one coordinate or for all."""
        rate = self.game.rate
        if self.game.rule == "constant":
            return rate
        if self.game.rule == "inverse-sqrt":
            return rate / np.sqrt(self.t)
        if self.game.rule == "global":
            return rate * np.sqrt(self.met.sum() / self.E) if self.E > 0 else 0.0
        return rate / np.sqrt(np.where(self.S > 0, self.S, np.inf))
