"""How words are spelled: the frequent are real, which makes logs pleasant to read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain, count, filterfalse, islice

from lessregret.errors import SpecError

_FREQUENT = (
    "cheap best online free insurance auto hotel flights credit loans mortgage lawyer shoes "
    "tickets phone travel car school degree software rental health dental jobs hosting quotes new "
    "york london florida used discount near service home garden kitchen wedding flowers gifts "
    "laptop camera printer games music books cruise vegas resort airport truck parts tires repair "
    "roofing solar energy diet vitamins pet dog cat"
)
FREQUENT_WORDS = tuple(_FREQUENT.split())
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]

# '|' and ':' have a meaning in Vowpal Wabbit's text, '^' stands between what is crossed.
WORD = re.compile(r"[^\s|:^\0]+")


def spellings(words: int, vocabulary: Sequence[str], phrase: str) -> list[str]:
    """The spelling of each word by rank, then those of the phrase; no two are equal.

    >>> spellings(3, ["cheap"], "auto insurance")
    ['cheap', 'vibe', 'vobe', 'auto', 'insurance']
    """
    own = phrase.split()
    taken = {*vocabulary, *own}
    # Counting starts beyond the default vocabulary: published logs are spelled so.
    invented = filterfalse(taken.__contains__, map(_invented, count(len(FREQUENT_WORDS))))
    return [*islice(chain(vocabulary, invented), words), *own]


def _invented(number: int) -> str:
    """The number written in syllables, the lowest first, and at least two of them."""
    syllables, rest = "", number + len(SYLLABLES)
    while rest:
        rest, digit = divmod(rest, len(SYLLABLES))
        syllables += SYLLABLES[digit]
    return syllables


def require_words(name: str, words: Sequence[object]) -> None:
    """Raise a `SpecError` unless all are different words that every text format can hold."""
    for word in words:
        if not (isinstance(word, str) and WORD.fullmatch(word)):
            raise SpecError(f"{name} must be words without blanks, '|', ':' and '^'; got {word!r}")
    word, times = Counter(words).most_common(1)[0] if words else ("", 1)
    if times > 1:
        raise SpecError(f"{name} must be different words; got {word!r} {times} times")
