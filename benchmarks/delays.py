"""What late labels cost: AdaptiveRevision beside plain AdaGrad, on simulated clicks.

    python -m benchmarks.delays [--examples 50000] [--rate 0.1]

Every label comes as many rounds late as the delay says. The progressive loss is that of the margins
that were played. Labels that have not come at the end are not learned. The first two contestants
learn from the gradient of the margin that was played; the third has kept the example and plays it
again when its label comes, as the service does with every rule but adaptive-revision.
"""

from __future__ import annotations

import argparse
import time
from collections import deque
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from lessregret import Learner, open_examples
from lessregret.data.generate import ClickWorld, log_text
from lessregret.learners.delayed import DelayedLearner, Played
from lessregret.learners.rules import rule_named

DELAYS = (0, 100, 1_000, 10_000)
CONTESTANTS = {
    "per-coordinate": ("per-coordinate", False),
    "adaptive-revision": ("adaptive-revision", False),
    "per-coordinate, played again": ("per-coordinate", True),
}
"""The rule, and whether an example is played again when its label comes."""


def clicks(examples: int) -> list[tuple[list[int], list[float], float]]:
    """Slots, values and label of simulated clicks."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "clicks.vw")
        path.write_bytes(b"".join(log_text(ClickWorld(), examples)))
        stream = open_examples([path], Learner(bits=20))
        return [(each.slots.tolist(), each.values.tolist(), each.label) for each in stream]


def progressive_loss(
    contestant: str, rate: float, delay: int, data: list[tuple[list[int], list[float], float]]
) -> float:
    """The mean loss of all margins, each played before labels of the last ``delay`` rounds came."""
    rule, again = CONTESTANTS[contestant]
    learner = DelayedLearner(rule_named(rule, rate=rate))
    waiting: deque[tuple[Played, float]] = deque()
    losses = []
    for slots, values, label in data:
        played = learner.play(slots, values)
        losses.append(np.logaddexp(0.0, -label * played.margin))
        waiting.append((played, label))
        if len(waiting) > delay:
            late, its_label = waiting.popleft()
            learner.absorb(learner.play(late.slots, late.values) if again else late, its_label)
    return float(np.mean(losses))


def main() -> None:
    """Measure, and print the table of a record."""
    parser = argparse.ArgumentParser(description="What late labels cost.")
    parser.add_argument("--examples", type=int, default=50_000)
    parser.add_argument("--rate", type=float, action="append")
    options = parser.parse_args()
    data = clicks(options.examples)
    for rate in options.rate or [0.1]:
        print(
            f"rate {rate}, {options.examples:,} examples\n\n| delay | {' | '.join(CONTESTANTS)} |"
        )
        print(f"| ---: |{' ---: |' * len(CONTESTANTS)}")
        for delay in DELAYS:
            started = time.perf_counter()
            found = [progressive_loss(each, rate, delay, data) for each in CONTESTANTS]
            seconds = time.perf_counter() - started
            row = " | ".join(f"{loss:.4f}" for loss in found)
            print(f"| {delay:,} | {row} |  ({seconds:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
