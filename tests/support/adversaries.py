"""Adversaries: sequences of gradients that try to break a bound, searched by hill climbing.

A law is a function from a sequence of gradients, one row a round, to a ratio that must never
exceed 1, say regret/bound. ``worst_ratio`` plays patterns known to hurt and climbs from the worst.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from lessregret.game.domains import Domain
from lessregret.game.losses import linear
from lessregret.game.problems import Recorded

Gradients = NDArray[np.float64]
Ratio = Callable[[Gradients], float]

SLACK = 1 + 1e-9
"""what rounding may add to a ratio that must not exceed 1"""
SCALES = np.array([0.01, 0.1, 1.0, 10.0])
GENERATED = settings(max_examples=60, deadline=None, derandomize=True, database=None)


def fraction(part: float, whole: float) -> float:
    """part/whole; nothing of nothing is 0, something of nothing is too much."""
    if whole > 0:
        return part / whole
    return inf if part > 0 else 0.0


def worst_ratio(
    ratio: Ratio, rounds: int, dimensions: int = 1, *, steps: int = 150, seed: int = 0
) -> float:
    """The largest ratio found, printed with its seed; above 1 the law is broken, and it ends."""
    rng = np.random.default_rng(seed)
    tried = [(ratio(start), start) for start in openings(rounds, dimensions, rng)]
    tried.sort(key=lambda pair: -pair[0])
    worst = tried[0][0]
    for height, start in tried[:3]:
        if worst <= SLACK:
            worst = max(worst, climb(ratio, start, height, steps, rng))
    print(f"seed {seed}: worst ratio {worst:.4f}")
    return worst


def breaking_ratio(
    ratio: Ratio, rounds: int, dimensions: int = 1, *, steps: int = 150, seeds: int = 5
) -> float:
    """The same search for a law that must break, from one seed after the other until it does."""
    worst = -inf
    for seed in range(seeds):
        if worst <= SLACK:
            worst = worst_ratio(ratio, rounds, dimensions, steps=steps, seed=seed)
    return worst


def climb(
    ratio: Ratio, start: Gradients, height: float, steps: int, rng: np.random.Generator
) -> float:
    """Change a block of the sequence at a time and keep what does not make it milder."""
    best = start
    for _ in range(steps):
        changed = with_a_block_changed(best, rng)
        found = ratio(changed)
        if found >= height:
            best, height = changed, found
        if height > SLACK:
            break
    return height


def with_a_block_changed(gradients: Gradients, rng: np.random.Generator) -> Gradients:
    """A copy with some rounds of some coordinates scaled, turned, drawn anew or made all alike."""
    rounds, dimensions = gradients.shape
    first = int(rng.integers(rounds))
    last = first + 1 + int(rounds * rng.random() ** 3)
    where = np.s_[first:last, rng.random(dimensions) < rng.choice([0.4, 1.0])]
    changed = gradients.copy()
    block = changed[where]
    changes = [
        lambda: block * np.exp(rng.normal()),
        lambda: -block,
        lambda: block + rng.normal(size=block.shape) * 10.0 ** rng.uniform(-3, 0),
        lambda: np.full(block.shape, rng.choice([-1.0, 0.0, 1.0]) * rng.choice(SCALES)),
    ]
    changed[where] = changes[int(rng.integers(len(changes)))]()
    return changed


def openings(rounds: int, dimensions: int, rng: np.random.Generator) -> Iterator[Gradients]:
    """Each pattern in all coordinates at once, in one after the other, and mixed at random."""
    rows = patterns(rounds, rng)
    for row in rows:
        signs = rng.choice([-1.0, 1.0], size=dimensions)
        yield row[:, None] * signs
        if dimensions > 1:
            yield row[:, None] * one_by_one(rounds, dimensions) * signs
    for _ in range(6 if dimensions > 1 else 0):
        chosen = rows[rng.integers(len(rows), size=dimensions)].T
        present = rng.random((rounds, dimensions)) < rng.choice([0.3, 1.0])
        yield chosen * present * rng.choice(SCALES, size=dimensions)


def patterns(rounds: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """One-dimensional sequences that hurt: rows of rounds."""
    t = np.arange(rounds)
    signs = rng.choice([-1.0, 1.0], size=rounds)
    alternating = (-1.0) ** t
    rows = [
        np.ones(rounds),
        alternating,
        np.where(t < rounds / 4, 1.0, -1.0),
        np.where(t < rounds / 2, 1.0, -1.0),
        np.where(t < rounds / 2, alternating, 1.0),
        np.where(t == 0, 10.0, -1.0),
        np.where(t == 0, 0.01, -1.0),
        alternating * 1.5 ** np.minimum(t, 30),
        1.1 ** np.minimum(t, 60),
        alternating * 3.0 ** np.minimum(t, 12),
        signs,
        signs * rng.exponential(size=rounds),
        rng.normal(size=rounds),
    ]
    return np.array(rows)


def one_by_one(rounds: int, dimensions: int) -> NDArray[np.float64]:
    """1 where it is the coordinate's turn: each has its share of the rounds."""
    turns = np.arange(rounds) * dimensions // rounds
    return (turns[:, None] == np.arange(dimensions)).astype(float)


def linear_game(domain: Domain, gradients: Gradients) -> Recorded:
    """Linear losses with these gradients; a round looks only at the coordinates that it moves."""
    used = [np.flatnonzero(row) for row in gradients]
    return Recorded(domain, [linear(i, row[i]) for i, row in zip(used, gradients, strict=True)])


def gradient_sequences(dimensions: int = 1, most: float = 10.0) -> st.SearchStrategy[Gradients]:
    """Sequences for hypothesis: mostly short, of every scale, with zeros."""
    sizes = st.sampled_from([0.0, 1e-6, 0.01, 0.5, 1.0, most])
    entry = st.one_of(sizes, sizes.map(lambda g: -g), st.floats(-most, most, width=32))
    rounds = st.integers(1, 60)
    return rounds.flatmap(lambda t: arrays(np.float64, (t, dimensions), elements=entry))
