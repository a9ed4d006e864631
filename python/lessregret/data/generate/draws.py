"""What all is drawn with: generators by stream and number, power laws, sparse normals."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from zlib import crc32

import numpy as np

# Not as np.random, which is imported when the first number is drawn, with the output already open:
# an interrupt may get lost during an import.
from numpy.random import Generator, SeedSequence, default_rng
from numpy.typing import NDArray

if TYPE_CHECKING:
    from lessregret.data.generate.world import ClickWorld

Floats: TypeAlias = NDArray[np.float64]
Ids: TypeAlias = NDArray[np.intp]

# A stream's place is part of its key: new ones go to the end, or published logs would change.
STREAMS = ("market", "truth", "calibration", "log", "phrase")


class Spread(NamedTuple):
    """How the weights of one kind of feature are drawn: a share is not zero, and that is normal."""

    share: float
    deviation: float


def generator(world: ClickWorld, stream: str, number: int = 0) -> Generator:
    """The generator of one part of a stream; no part needs what precedes it.

    The phrase is part of the seed, so that worlds of equal seed and other phrases are independent.
    """
    seed = [world.seed, crc32(world.phrase.encode())] if world.phrase else world.seed
    key = (STREAMS.index(stream), number)
    return default_rng(SeedSequence(seed, spawn_key=key))


def power_law(count: int, exponent: float) -> Floats:
    """The cumulative shares of ranks 1 to `count`, the k-th proportional to k**-exponent."""
    shares = np.cumsum(np.arange(1, count + 1, dtype=np.float64) ** -exponent)
    return np.asarray(shares / shares[-1], dtype=np.float64)


def ranks(rng: Generator, cumulative: Floats, shape: int | tuple[int, ...]) -> Ids:
    """Ranks, from 0, drawn by their cumulative shares."""
    return np.searchsorted(cumulative, rng.random(shape), side="right")


def sparse(rng: Generator, spread: Spread, shape: int | tuple[int, ...]) -> Floats:
    """Weights of one kind: zero, or normal with mean zero."""
    matters = rng.random(shape) < spread.share
    return np.where(matters, spread.deviation * rng.standard_normal(shape), 0.0)
