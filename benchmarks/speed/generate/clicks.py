"""Clicks as twenty tokens in ten namespaces: ``-1 |f01 a4f2c19e 07b3d5aa |f02 ...``.

Field k has between 4 and a million tokens, few of them frequent; a token is eight hexadecimal
digits, as in logs whose content must not be told. About one line in six is a click.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.speed.generate.blocks import blocks
from benchmarks.speed.generate.draws import Floats, labels
from benchmarks.speed.generate.lines import Fields, joined, paired, spelled

FIELDS = 20
SEED = 20_102
TOKENS = np.geomspace(4, 1_000_000, FIELDS)
SPREAD = 0.4
"""The standard deviation of a token's hidden weight."""
INTERCEPT = -2.2

Tokens = NDArray[np.uint32]


def vw(part: int, rows: int) -> Iterator[bytes]:
    """The lines of a part, block by block."""
    byte = spelled(f"{number:02x}" for number in range(256))
    names = spelled(f" |f{pair + 1:02} " for pair in range(FIELDS // 2))
    spaces = np.empty(FIELDS, dtype=names.dtype)
    spaces[0::2], spaces[1::2] = names, b" "
    for rng, count in blocks(SEED, part, rows):
        tokens = draw_tokens(rng, count)
        positive = labels(rng, INTERCEPT + hidden_weights(tokens).sum(axis=1))
        before = np.broadcast_to(spaces, tokens.shape)
        features = paired(before, hexadecimal(tokens, byte))
        yield joined([np.where(positive, b"1", b"-1"), features])


def draw_tokens(rng: np.random.Generator, rows: int) -> Tokens:
    """A token for every field, its rank by Zipf's law: P(rank) ∝ 1/rank, nearly."""
    ranks = np.exp(rng.random((rows, FIELDS)) * np.log(TOKENS)).astype(np.uint32)
    # The field in the lowest five bits: the same rank is another token in another field.
    return mixed((ranks << np.uint32(5)) | np.arange(FIELDS, dtype=np.uint32))


def mixed(numbers: Tokens) -> Tokens:
    """Numbers turned into others, one to one (the last steps of murmur3)."""
    numbers = (numbers ^ (numbers >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    numbers = (numbers ^ (numbers >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return numbers ^ (numbers >> np.uint32(16))


def hidden_weights(tokens: Tokens) -> Floats:
    """Nearly normal, and a function of the token alone: the sum of four bytes of another mixing."""
    parts = np.ascontiguousarray(mixed(tokens ^ np.uint32(SEED))).view(np.uint8)
    sums = parts.reshape(*tokens.shape, 4).sum(axis=2)
    weights: Floats = SPREAD * (sums - 4 * 127.5) / (2 * 73.9)
    return weights


def hexadecimal(tokens: Tokens, byte: Fields) -> Fields:
    """Eight digits for each token."""
    parts = np.ascontiguousarray(tokens.astype(">u4")).view(np.uint8)
    return byte[parts].view("S8").reshape(tokens.shape)
