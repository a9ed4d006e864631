"""What Vowpal Wabbit's own package reads in a line of text."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
import pytest

NO_LABEL = float(np.finfo(np.float32).max)


class Read(NamedTuple):
    """What is read in a line."""

    features: dict[int, float]
    """the values, by slot"""
    label: float | None
    importance: float
    tag: str
    base: float = 0.0
    """the initial prediction"""


def sums(pairs: Any) -> dict[int, float]:
    """Values added up by slot, in the order they come; zeros dropped."""
    total: dict[int, np.float32] = defaultdict(np.float32)
    for slot, value in pairs:
        total[int(slot)] += np.float32(value)
    return {slot: float(value) for slot, value in total.items() if value != 0}


def theirs(bits: int, lines: list[str]) -> list[Read]:
    """Each line as Vowpal Wabbit reads it; skips the test where it is not installed."""
    vowpalwabbit = pytest.importorskip(
        "vowpalwabbit", reason="Vowpal Wabbit is not installed; it is the extra 'vw'"
    )
    workspace = vowpalwabbit.Workspace(f"-b {bits} --quiet --noconstant")
    found = []
    for line in lines:
        example = workspace.example(line)
        label = example.get_simplelabel_label()
        found.append(
            Read(
                sums((i & ((1 << bits) - 1), x) for i, x in example.iter_features()),
                None if label == NO_LABEL else label,
                example.get_simplelabel_weight(),
                example.get_tag(),
                example.get_simplelabel_initial(),
            )
        )
        workspace.finish_example(example)
    workspace.finish()
    return found
