"""Small problems whose best fixed point can be found another way, in float64 and dense.

Problem                 the examples, the box and the regulariser
Problem.value(point)    P, summed term by term with the readable losses
optimum(problem)        the least value, by L-BFGS-B, a linear program or SLSQP
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, minimize
from scipy.sparse import csr_array

from lessregret.data.examples import Examples
from lessregret.learners.learner import Learner
from lessregret.learners.losses import loss_named
from lessregret.regret.comparator import BestFixed

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """Rows, labels and importances; a box and L2 for each column."""

    loss: str
    rows: Floats
    labels: Floats
    importances: Floats
    low: Floats
    high: Floats
    l2: float = 0.0
    l2_scope: str = "active"

    @property
    def box(self) -> tuple[Floats, Floats]:
        return self.low, self.high

    @property
    def strength(self) -> Floats:
        """λ_i; 0 for a column that no example of any importance has, unless the scope is all."""
        met = self.rows != 0 if self.l2_scope == "active" else np.ones(self.rows.shape)
        strength: Floats = self.l2 * (self.importances @ met)
        return strength

    def examples(self) -> Examples:
        learner = Learner(self.loss, columns=self.rows.shape[1], intercept=False)
        return examples_of(self.rows, self.labels, self.importances, learner)

    def value(self, point: Floats) -> float:
        """P(x) by the definition."""
        loss, margins = loss_named(self.loss), self.rows @ point
        rounds = zip(self.importances, margins, self.labels, strict=True)
        losses = sum(h * loss.value(float(p), y) for h, p, y in rounds)
        return float(losses) + float(self.strength @ point**2) / 2

    def gradient(self, point: Floats) -> Floats:
        loss, margins = loss_named(self.loss), self.rows @ point
        pairs = zip(margins, self.labels, strict=True)
        slopes = np.array([loss.slope(float(p), y) for p, y in pairs])
        gradient: Floats = (self.importances * slopes) @ self.rows + self.strength * point
        return gradient

    def point(self, best: BestFixed) -> Floats:
        """The weights of all columns; where the answer has none, the box's nearest to 0."""
        point: Floats = np.clip(np.zeros(len(self.low)), self.low, self.high)
        point[best.slots] = best.weights
        return point

    @property
    def unmet(self) -> float:
        """What scope "all" charges for columns that no example of any importance has."""
        met = (self.rows[self.importances > 0] != 0).any(axis=0)
        nearest = np.clip(0.0, self.low, self.high)
        return float(self.strength[~met] @ nearest[~met] ** 2) / 2


def examples_of(rows: Floats, labels: Floats, importances: Floats, space: Learner) -> Examples:
    """Dense rows as examples."""
    return Examples.from_csr(csr_array(rows), labels, importances, space=space)


def optimum(problem: Problem) -> float:
    """The least value of the box, by another way than the one tested."""
    if problem.loss != "hinge":
        return _by_lbfgsb(problem)
    return _by_sequential_quadratics(problem) if problem.l2 else _by_linear_program(problem)


def _by_lbfgsb(problem: Problem) -> float:
    found = minimize(
        problem.value,
        np.clip(np.zeros(len(problem.low)), problem.low, problem.high),
        jac=problem.gradient,
        method="L-BFGS-B",
        bounds=Bounds(problem.low, problem.high),
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 5000, "maxfun": 20000},
    )
    return problem.value(found.x)


def _slack_rows(problem: Problem) -> Floats:
    """y x·θ + slack ≥ 1 as rows over (x, slack)."""
    return np.hstack([problem.labels[:, None] * problem.rows, np.eye(len(problem.labels))])


def _by_linear_program(problem: Problem) -> float:
    """min Σ h slack: slack ≥ 1 − y x·θ, slack ≥ 0, x in the box."""
    examples, columns = problem.rows.shape
    found = linprog(
        np.concatenate([np.zeros(columns), problem.importances]),
        A_ub=-_slack_rows(problem),
        b_ub=-np.ones(examples),
        bounds=[*zip(problem.low, problem.high, strict=True), *[(0, None)] * examples],
    )
    return problem.value(found.x[:columns])


def _by_sequential_quadratics(problem: Problem) -> float:
    """The same with ½ Σ λ_i x_i² added."""
    examples, columns = problem.rows.shape
    strength = np.concatenate([problem.strength, np.zeros(examples)])
    slope = np.concatenate([np.zeros(columns), problem.importances])
    start = np.clip(np.zeros(columns), problem.low, problem.high)
    slack = np.maximum(0, 1 - problem.labels * (problem.rows @ start))
    found = minimize(
        lambda z: float(slope @ z + strength @ z**2 / 2),
        np.concatenate([start, slack]),
        jac=lambda z: slope + strength * z,
        method="SLSQP",
        bounds=[*zip(problem.low, problem.high, strict=True), *[(0, None)] * examples],
        constraints=LinearConstraint(_slack_rows(problem), lb=1),
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return problem.value(np.clip(found.x[:columns], problem.low, problem.high))
