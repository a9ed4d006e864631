"""How long a game takes: 100,000 sparse rounds of RandomLinear with each algorithm.

    python benchmarks/game_speed.py

prints a Markdown table. Each round looks at 3 of 100 coordinates. Follow the leading history and
full-matrix AdaGrad are left out: they cost O(log T) experts and O(n³) a round by design.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import median
from time import perf_counter

from lessregret.game.algorithms import (
    AdaptiveDescent,
    Algorithm,
    Composite,
    ConstantRate,
    Descent,
    DiagonalFTPRL,
    GlobalRate,
    JointAdaptiveDescent,
    LazyProjection,
    Optimistic,
    PerCoordinateRate,
    RestartedLazyProjection,
    RootRate,
    RuleLearner,
)
from lessregret.game.play import play
from lessregret.game.problems import RandomLinear
from lessregret.learners.rules import Ftrl, PerCoordinate

ROUNDS = 100_000
REPEATS = 3
LARGEST = 6.0
"""larger than any gradient of the game"""

ALGORITHMS: dict[str, Callable[[], Algorithm]] = {
    "Descent, constant rate": lambda: Descent(ConstantRate(0.1)),
    "Descent, rate/√t": lambda: Descent(RootRate()),
    "Descent, global rate": lambda: Descent(GlobalRate()),
    "Descent, per-coordinate rates": lambda: Descent(PerCoordinateRate()),
    "FTPRL-Diag": DiagonalFTPRL,
    "Composite of AdaptiveDescent": lambda: Composite(AdaptiveDescent, "quadratic"),
    "JointAdaptiveDescent": JointAdaptiveDescent,
    "Composite of LazyProjection": lambda: Composite(
        partial(LazyProjection, variation=1e4, largest=LARGEST)
    ),
    "Composite of RestartedLazyProjection": lambda: Composite(
        partial(RestartedLazyProjection, largest=LARGEST)
    ),
    "Composite of Optimistic": lambda: Composite(partial(Optimistic, surprise=2 * LARGEST)),
    "Composite of the rule per-coordinate": lambda: Composite(
        partial(RuleLearner, PerCoordinate(rate="theory"))
    ),
    "Composite of the rule ftrl": lambda: Composite(partial(RuleLearner, Ftrl(rate=0.1))),
}


def seconds(make: Callable[[], Algorithm], problem: RandomLinear) -> list[float]:
    """How long each of the repeated games took."""
    times = []
    for _ in range(REPEATS):
        algorithm, begin = make(), perf_counter()
        play(algorithm, problem)
        times.append(perf_counter() - begin)
    return times


def main() -> None:
    """Play, time, print."""
    problem = RandomLinear(ROUNDS)
    problem.loss(1, problem.domain.start)  # The gradients are drawn when first asked for.
    print("| algorithm | least, s | median, s |")
    print("| --- | ---: | ---: |")
    for name, make in ALGORITHMS.items():
        times = seconds(make, problem)
        print(f"| {name} | {min(times):.2f} | {median(times):.2f} |", flush=True)


if __name__ == "__main__":
    main()
