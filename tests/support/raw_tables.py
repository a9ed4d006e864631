"""Random tables in raw units: columns with offsets, missing cells, zeros and ones."""

from __future__ import annotations

import numpy as np

from tests.support.streams import Round

COLUMNS = 8


def random_table(
    seed: int, rows: int, *, missing: float = 0.0, regression: bool = False
) -> list[Round]:
    """Rows of eight columns, float32 numbers.

    The first five are there in every row: small, far from 0, in thousands, 0 or 1, and always 1.
    ``missing`` is the part of the cells that the last three lack.
    """
    rng = np.random.default_rng(seed)
    cells = rng.normal(size=(rows, COLUMNS))
    cells[:, 1] += 50
    cells[:, 2] *= 3000
    cells[:, 3] = cells[:, 3] > 0
    cells[:, 4] = 1
    cells[:, 5] = 20 + 2 * cells[:, 5]
    cells[:, 6] = np.round(np.abs(cells[:, 6]))
    cells = cells.astype(np.float32)
    there = rng.random((rows, COLUMNS)) >= missing
    there[:, :5] = True
    margins = cells[:, 0] + (cells[:, 1] - 50) - cells[:, 3] + 0.3 * rng.normal(size=rows)
    labels = margins.astype(np.float32) if regression else np.sign(margins)
    rounds = []
    for row, present, label in zip(cells, there, labels, strict=True):
        slots = np.flatnonzero(present).tolist()
        rounds.append(Round(slots, [float(row[i]) for i in slots], float(label), 1.0))
    return rounds


def random_ones(seed: int, rows: int, columns: int = 40) -> list[Round]:
    """Sparse rows whose values are all 1; column 0 is in each of them."""
    rng = np.random.default_rng(seed)
    rounds = []
    for _ in range(rows):
        slots = np.unique([0, *rng.integers(1, columns, size=5)])
        label = 1.0 if 3 in slots or rng.random() < 0.3 else -1.0
        rounds.append(Round(slots.tolist(), [1.0] * len(slots), label, 1.0))
    return rounds
