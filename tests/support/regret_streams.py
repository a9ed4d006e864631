"""Streams on which regret is measured, random and adversarial, and the least loss on them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from lessregret.learners.losses import Loss
from lessregret.learners.readable import ReadableLearner
from lessregret.learners.rules import Rule
from tests.support.streams import Round, random_rounds

COLUMNS = 12
ROUNDS = 300


class Linear(Loss):
    """-yp: the loss that the worst case is made of, and for which linearising loses nothing."""

    name = "linear"

    def value(self, margin: float, label: float) -> float:
        return -label * margin

    def slope(self, margin: float, label: float) -> float:
        return -label


def random_stream(learner: ReadableLearner) -> list[Round]:
    return list(random_rounds(5, ROUNDS, COLUMNS))


def contrary(learner: ReadableLearner) -> list[Round]:
    """An adversary that always labels against the margin just played."""
    played = []
    for each in random_rounds(6, ROUNDS, COLUMNS):
        margin = learner.margin(each.slots, each.values)
        played.append(each._replace(label=-1.0 if margin > 0 else 1.0))
        learner.play(*played[-1])
    return played


def climbing(learner: ReadableLearner) -> list[Round]:
    """§2.2's second problem: the same sign for ever, coordinate after coordinate."""
    return [Round([t * COLUMNS // ROUNDS], [1.0], 1.0, 1.0) for t in range(ROUNDS)]


def switching(learner: ReadableLearner) -> list[Round]:
    """Signs that turn at the worst time for a learner that has come to trust them."""
    return [Round([0, 1], [1.0, 0.01], 1.0 if t < ROUNDS / 3 else -1.0, 1.0) for t in range(ROUNDS)]


STREAMS = [random_stream, contrary, climbing, switching]


def best_fixed(
    loss: Loss, rounds: list[Round], rule: Rule, l2: float = 0.0, scope: str = "active"
) -> tuple[NDArray[np.float64], float]:
    """A point of the box and its total loss, found by L-BFGS-B on dense data.

    The regulariser of all rounds is l2/2 Σ_i n_i w_i², n_i the importance of i's rounds.
    """
    x = np.zeros((len(rounds), COLUMNS))
    for t, each in enumerate(rounds):
        x[t, each.slots] = each.values
    importances = np.array([each.importance for each in rounds])
    strength = l2 * (importances @ ((x != 0) | (scope == "all")))

    def total(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margins = x @ w
        pairs = list(zip(rounds, margins, strict=True))
        value = sum(r.importance * loss.value(p, r.label) for r, p in pairs)
        slopes = np.array([r.importance * loss.slope(p, r.label) for r, p in pairs])
        return value + float(strength @ w**2) / 2, slopes @ x + strength * w

    start = np.full(COLUMNS, rule.clip(0.0))
    found = minimize(total, start, jac=True, method="L-BFGS-B",
                     bounds=[(rule.low, rule.high)] * COLUMNS)  # fmt: skip
    return found.x, float(found.fun)
