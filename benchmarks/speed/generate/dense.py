"""A table of twenty columns in raw units, each with its own mean and spread, all in every row."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.speed.generate.blocks import blocks
from benchmarks.speed.generate.draws import labels

COLUMNS = 20
SEED = 20_104
SPREAD = 0.5


def vw(part: int, rows: int) -> Iterator[bytes]:
    """The lines of a part, numbers with six digits."""
    world = np.random.default_rng(SEED)
    means = world.normal(size=COLUMNS) * 10.0 ** world.integers(-2, 5, size=COLUMNS)
    spreads = 10.0 ** world.uniform(-2, 4, size=COLUMNS)
    weights = SPREAD * world.standard_normal(COLUMNS)
    line = " ".join(f"c{column}:%.6g" for column in range(COLUMNS))
    for rng, count in blocks(SEED, part, rows):
        table = rng.standard_normal((count, COLUMNS))
        positive = labels(rng, table @ weights)
        starts = np.where(positive, "1 | ", "-1 | ")
        lines = [
            start + line % tuple(row)
            for start, row in zip(starts, (means + spreads * table).tolist(), strict=True)
        ]
        yield "".join(f"{each}\n" for each in lines).encode()
