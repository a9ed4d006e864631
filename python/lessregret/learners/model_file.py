"""Model files: what is in one, without loading its weights.

A model file is safetensors with our metadata; ``docs/reference/model-file.md`` describes it.
Writing and reading the slots is done in Rust (``crates/core/src/snapshot``).
"""

from __future__ import annotations

import json
import os
from math import log1p
from typing import Any

from lessregret import _core


def read_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The metadata of a model file: spec, tally, checksum and the rest; not the slots."""
    header: dict[str, Any] = json.loads(_core.read_model_header(path))
    return header


def expected_collisions(slots: int, touched: int) -> float:
    """How many features share a slot, judged from how full the table is.

    Throwing f features at random into m slots leaves about m(1 − exp(−f/m)) of them touched; solve
    for f and subtract the touched ones.

    >>> round(expected_collisions(slots=1 << 18, touched=10_000))
    196
    """
    if touched >= slots:
        return float("inf")
    return -slots * log1p(-touched / slots) - touched
