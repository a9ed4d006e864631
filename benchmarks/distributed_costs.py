"""What a pass costs on many workers, computed from what one core measures.

    python -m benchmarks.distributed_costs

Measures, in CPU time of this process: how many examples of a click log are learned in a second,
what reading a model and merging a shard cost, and the bytes of a model, each for a model of some
coordinates that were met. From them follows, for R syncs on P workers over links that move b bytes
a second,

    N/(P·v) + R·(2·B/b + P·m)

seconds for N examples. The numbers for clusters are from this formula, not from clusters.
"""

from __future__ import annotations

import math
import tempfile
import time
from typing import NamedTuple

from lessregret import Learner, merge, open_examples
from lessregret.data.examples import Examples
from lessregret.data.generate import ClickWorld, log_text

EXAMPLES = 100_000
SHARDS = 4
SYNCS = 64
LINK = 1e9
COORDINATES = 1_000_000
WORKERS = (1, 10, 100, 1_000)
SIZES = (10**9, 10**10, 10**11)


class Costs(NamedTuple):
    """What was measured."""

    learned: float
    """examples learned in a second"""
    merged: float
    """seconds to read and merge one shard, for each coordinate met"""
    stored: float
    """bytes of a model, for each coordinate met"""


def main() -> None:
    """Measure and print."""
    costs = measured()
    size, merged = costs.stored * COORDINATES, costs.merged * COORDINATES
    print(f"{costs.learned:,.0f} examples a second, and for {COORDINATES:,} coordinates:")
    print(f"a model of {size / 1e6:.0f} MB, {merged:.2f} s to read and merge a shard\n")
    print("| examples |" + "".join(f" {count:,} workers |" for count in WORKERS) + " best |")
    print("| --- |" + " ---: |" * (len(WORKERS) + 1))
    for examples in SIZES:
        cells = [f"{seconds(costs, examples, count):,.0f} s" for count in WORKERS]
        best = math.sqrt(examples / (costs.learned * SYNCS * merged))
        print(f"| 10^{round(math.log10(examples))} | {' | '.join(cells)} | {best:.0f} workers |")


def seconds(costs: Costs, examples: int, workers: int) -> float:
    """How long a pass takes; one worker is never merged."""
    learning = examples / (workers * costs.learned)
    if workers == 1:
        return learning
    moved = 2 * costs.stored * COORDINATES / LINK
    return learning + SYNCS * (moved + workers * costs.merged * COORDINATES)


def measured() -> Costs:
    """The costs on this machine, in CPU time."""
    start = Learner("logistic", bits=22)
    with tempfile.NamedTemporaryFile(suffix=".vw") as file:
        file.writelines(log_text(ClickWorld(), EXAMPLES))
        file.flush()
        began = time.process_time()
        learner = Learner.from_bytes(start.to_bytes())
        learner.learn(open_examples([file.name], learner, threads=1))
        learning = time.process_time() - began
        examples = Examples.collect(open_examples([file.name], learner))
    model, shards = learner.to_bytes(), []
    for shard in range(SHARDS):
        went_on = Learner.from_bytes(model)
        went_on.learn(examples, order=range(shard, EXAMPLES, SHARDS))
        shards.append(went_on.to_bytes())
    began = time.process_time()
    merge(learner, [Learner.from_bytes(shard) for shard in shards], players=SHARDS)
    merging = (time.process_time() - began) / SHARDS
    touched = learner.ledger().summary.touched
    return Costs(EXAMPLES / learning, merging / touched, len(model) / touched)


if __name__ == "__main__":
    main()
