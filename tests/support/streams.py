"""Random streams of sparse examples, the same for every test that asks with the same seed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class Round(NamedTuple):
    """One example of a random stream."""

    slots: list[int]
    values: list[float]
    label: float
    importance: float


def random_rounds(
    seed: int,
    rounds: int,
    columns: int = 40,
    *,
    regression: bool = False,
    labels: str = "binary",
) -> Iterator[Round]:
    """Sparse rounds with power-law features, noise in the labels and importance weights.

    Values and importances are float32 numbers, so that the Rust core and the float64 twins are
    given the same stream.
    """
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=columns)
    for _ in range(rounds):
        count = int(rng.integers(1, 8))
        slots = np.unique((columns * rng.random(count) ** 2).astype(int))
        values = rng.normal(size=len(slots)).astype(np.float32)
        values[values == 0] = 1
        margin = float(values @ truth[slots] + 0.3 * rng.normal())
        label = label_of(margin, "real" if regression else labels)
        importance = float(np.float32(rng.choice([1.0, 1.0, 0.0, 0.25, 3.0])))
        yield Round(slots.tolist(), [float(v) for v in values], label, importance)


def label_of(margin: float, labels: str) -> float:
    """The label of a margin, for labels of this kind."""
    if labels == "binary":
        return 1.0 if margin > 0 else -1.0
    return float(np.float32(margin)) if labels == "real" else float(np.round(np.exp(margin / 2)))


def as_csr(
    rounds: list[Round],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Row pointers, columns, values, labels and importances."""
    indptr = np.cumsum([0, *(len(r.slots) for r in rounds)])
    indices = np.array([i for r in rounds for i in r.slots])
    values = np.array([x for r in rounds for x in r.values])
    labels = np.array([r.label for r in rounds])
    importances = np.array([r.importance for r in rounds])
    return indptr, indices, values, labels, importances
