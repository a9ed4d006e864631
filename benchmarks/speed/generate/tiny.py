"""Two thousand texts of 150 different words with their counts: what is over before it has begun."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.speed.generate.blocks import blocks
from benchmarks.speed.generate.draws import distinct_ranks, frequencies, labels
from benchmarks.speed.generate.lines import joined, paired, spelled

WORDS = 5_000
EACH = 150
SEED = 20_103
SPREAD = 0.3
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]


def vw(part: int, rows: int) -> Iterator[bytes]:
    """The lines of a part; a count of 1 is not written."""
    words = spelled(f" {spelling(word)}" for word in range(WORDS))
    counted = spelled("" if count == 1 else f":{count}" for count in range(1, 100))
    shares = frequencies(WORDS)
    weights = SPREAD * np.random.default_rng(SEED).standard_normal(WORDS)
    for rng, count in blocks(SEED, part, rows):
        ranks = distinct_ranks(rng, count, EACH, shares)
        counts = np.minimum(rng.geometric(0.6, size=ranks.shape), 99)
        positive = labels(rng, (np.log1p(counts) * weights[ranks]).sum(axis=1))
        label = np.where(positive, b"1 |w", b"-1 |w")
        yield joined([label, paired(words[ranks], counted[counts - 1])])


def spelling(word: int) -> str:
    """A word of two or three syllables for each number.

    >>> spelling(0), spelling(4_999)
    ('baba', 'balube')
    """
    first, rest = divmod(word, len(SYLLABLES) ** 2)
    last, middle = divmod(rest, len(SYLLABLES))
    beginning = SYLLABLES[first - 1] if first else ""
    return beginning + SYLLABLES[middle] + SYLLABLES[last]
