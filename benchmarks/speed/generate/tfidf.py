"""Texts of 75 words as tf-idf values: rows of unit length, indices from 1 to 50,000, ascending."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.speed.generate.blocks import blocks
from benchmarks.speed.generate.draws import distinct_ranks, frequencies, labels
from benchmarks.speed.generate.lines import joined, paired, spelled

WORDS = 50_000
EACH = 75
SEED = 20_101
SHARPNESS = 6.0
"""The standard deviation of the hidden margins: about one label in ten is noise."""
UNIT = 1_000_000
"""Values are written with six decimals."""


class Block(NamedTuple):
    """Some rows, as they are written."""

    words: NDArray[np.int64]
    """from 0, ascending"""
    millionths: NDArray[np.int64]
    positive: NDArray[np.bool_]


def rows_of(part: int, rows: int) -> Iterator[Block]:
    """The rows of a part, block by block."""
    shares, hidden = frequencies(WORDS), np.random.default_rng(SEED)
    # Words are numbered without regard to their frequency, as in real vocabularies: else the
    # frequent ones would lie side by side in memory.
    word_of_rank = hidden.permutation(WORDS)
    rarity = np.empty(WORDS)
    rarity[word_of_rank] = -np.log(shares)
    weights = SHARPNESS * hidden.standard_normal(WORDS)
    for rng, count in blocks(SEED, part, rows):
        words = np.sort(word_of_rank[distinct_ranks(rng, count, EACH, shares)], axis=1)
        counts = rng.geometric(0.6, size=words.shape)
        values = (1 + np.log(counts)) * rarity[words]
        values /= np.sqrt((values**2).sum(axis=1, keepdims=True))
        positive = labels(rng, (values * weights[words]).sum(axis=1))
        yield Block(words, np.maximum(1, np.rint(UNIT * values).astype(np.int64)), positive)


def svmlight_and_vw(part: int, rows: int) -> Iterator[tuple[bytes, bytes]]:
    """The same lines in both formats."""
    indices = spelled(f" {word}:0." for word in range(1, WORDS + 1))
    thousand = spelled(f"{number:03}" for number in range(1000))
    for words, millionths, positive in rows_of(part, rows):
        values = paired(thousand[millionths // 1000], thousand[millionths % 1000])
        features = paired(indices[words], values)
        label = np.where(positive, b"1", b"-1")
        yield joined([label, features]), joined([label, spelled([" |"] * len(label)), features])


def arrays(part: int, rows: int) -> dict[str, NDArray[np.generic]]:
    """The same rows for learners in memory: columns, values and labels of ±1."""
    found = list(rows_of(part, rows))
    return {
        "columns": np.concatenate([block.words for block in found]).astype(np.int32),
        "values": (np.concatenate([b.millionths for b in found]) / UNIT).astype(np.float32),
        "labels": np.concatenate([np.where(b.positive, 1, -1) for b in found]).astype(np.int32),
    }
