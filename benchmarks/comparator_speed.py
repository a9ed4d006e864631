"""How long the best fixed point of 300,000 simulated impressions takes, and how long scipy takes.

    python benchmarks/comparator_speed.py

prints two Markdown tables. The log is that of the default world, with an intercept, in the box
[-1, 1]. Reading is not counted: both begin with rows in memory. Merging equal rows is counted for
ours. Theirs is L-BFGS-B with bounds on the same rows as a float64 matrix of scipy, not merged; it
is stopped as soon as its own gap, by the same formula, is as small as asked, or the time is up.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, minimize
from scipy.sparse import csr_array, hstack, vstack
from scipy.special import expit

from lessregret.data.examples import Examples
from lessregret.data.generate import ClickWorld, rows
from lessregret.learners.learner import Learner
from lessregret.regret.comparator import BestFixed, best_fixed

IMPRESSIONS = 300_000
GAP = 1e-4
HINGE_GAP = 1e-3
REPEATS = 3
TIME_LIMIT = 150.0
L2 = (0.0, 1e-4)

Floats = NDArray[np.float64]


@dataclass
class Theirs:
    """The sum for scipy, its gap, and the clock."""

    X: csr_array
    y: Floats
    l2: float
    evaluations: int = 0
    gap: float = np.inf

    def __post_init__(self) -> None:
        self.transposed = csr_array(self.X.T)
        self.strength = self.l2 * np.bincount(self.X.indices, minlength=self.X.shape[1])
        self.begin = perf_counter()

    def __call__(self, point: Floats) -> tuple[float, Floats]:
        """The total and its gradient; the gap follows from them at the price of a few vectors."""
        margins = self.X @ point
        slopes = -self.y * expit(-self.y * margins)
        losses = np.logaddexp(0, -self.y * margins).sum()
        gradient = self.transposed @ slopes
        total = losses + float(self.strength @ point**2) / 2
        self.evaluations += 1
        lower = losses - float(slopes @ margins) + self.least(gradient)
        self.gap = min(self.gap, (total - lower) / len(self.y))
        return total, gradient + self.strength * point

    def least(self, slopes: Floats) -> float:
        """Σ min over [-1, 1] of v z + ½ λ z²."""
        ends = -np.sign(slopes)
        lowest = np.divide(-slopes, self.strength, out=ends, where=self.strength > 0).clip(-1, 1)
        return float(slopes @ lowest + self.strength @ lowest**2 / 2)

    def look(self, _: Floats) -> None:
        """Called after every step; stops when the gap is small enough or the time is up."""
        if self.gap <= GAP or perf_counter() - self.begin > TIME_LIMIT:
            raise StopIteration

    def seconds(self) -> float:
        """Search until it is enough; how long that took."""
        columns, largest = self.X.shape[1], 10**9
        minimize(
            self,
            np.zeros(columns),
            jac=True,
            method="L-BFGS-B",
            bounds=Bounds(-np.ones(columns), np.ones(columns)),
            callback=self.look,
            options={"maxiter": largest, "maxfun": largest, "ftol": 0.0, "gtol": 0.0},
        )
        return perf_counter() - self.begin


def read() -> tuple[csr_array, Floats]:
    """The impressions with an intercept, only the columns that occur, in float64."""
    blocks = list(rows(ClickWorld(), IMPRESSIONS))
    X = vstack([block for block, _ in blocks], format="csr")
    X = hstack([X, np.ones((IMPRESSIONS, 1))], format="csr")
    X = csr_array(X[:, np.unique(X.indices)], dtype=np.float64)
    return X, np.concatenate([labels for _, labels in blocks])


def kept(X: csr_array, y: Floats, loss: str) -> Examples:
    learner = Learner(loss, columns=X.shape[1], intercept=False, scale="none")
    return Examples.from_csr(X, y, space=learner)


def ours(examples: Examples, loss: str, l2: float, repeats: int) -> tuple[list[float], BestFixed]:
    """How long each of the repeated searches took, merging included, and what was found."""
    times = []
    for _ in range(repeats):
        begin = perf_counter()
        best = best_fixed(examples, loss, 1.0, l2, gap=HINGE_GAP if loss == "hinge" else GAP)
        times.append(perf_counter() - begin)
    return times, best


def print_ours(X: csr_array, y: Floats) -> None:
    print("| loss | l2 | least, s | median, s | passes | mean loss | gap |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for loss, l2 in [(loss, l2) for loss in ("logistic", "squared", "hinge") for l2 in L2]:
        repeats = 1 if loss == "hinge" else REPEATS
        times, best = ours(kept(X, y, loss), loss, l2, repeats)
        figures = f"{min(times):.1f} | {median(times):.1f} | {best.passes:,} | {best.mean_loss:.5f}"
        print(f"| {loss} | {l2:g} | {figures} | {best.gap:.1e} |", flush=True)


def print_both(X: csr_array, y: Floats) -> None:
    print("| l2 | ours, s | L-BFGS-B, s | its gap | its evaluations | ratio |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    for l2 in L2:
        own = median(ours(kept(X, y, "logistic"), "logistic", l2, REPEATS)[0])
        theirs = Theirs(X, y, l2)
        taken = theirs.seconds()
        more = "" if theirs.gap <= GAP else "> "
        figures = f"{own:.1f} | {more}{taken:.1f} | {theirs.gap:.1e} | {theirs.evaluations:,}"
        print(f"| {l2:g} | {figures} | {more}{taken / own:.1f} |", flush=True)


def main() -> None:
    """Read, search, time, print."""
    X, y = read()
    print(f"{X.shape[0]:,} rows, {X.shape[1]:,} columns, {X.nnz:,} features\n")
    print_both(X, y)
    print()
    print_ours(X, y)


if __name__ == "__main__":
    main()
