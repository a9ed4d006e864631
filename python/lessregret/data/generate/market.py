"""What there is: queries, ads, advertisers, their words, and which ads answer which query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lessregret.data.generate.draws import Floats, Ids, generator, power_law, ranks

if TYPE_CHECKING:
    from lessregret.data.generate.world import ClickWorld

ADS_PER_KEYWORD = 16
KEYWORDS_PER_QUERY = 2
ADS_PER_QUERY_KEYWORD = 4
CANDIDATES = KEYWORDS_PER_QUERY * ADS_PER_QUERY_KEYWORD
NO_WORD = -1

PHRASE_IN_AD = 0.7
MOST_WORDS_ADDED = 6


@dataclass(frozen=True)
class Market:
    """What there is: row k belongs to query or ad k, and `NO_WORD` fills rows of fewer words.

    Words are numbered by rank, those of the phrase last. `crosses[q, i, k]` numbers the cross of
    word i of query q with its keyword k, from 0 to before `cross_count` and the same wherever the
    two meet; it is below 0, and not below -`absent_crosses`, where there is no word.
    """

    query_keywords: Ids
    query_words: Ids
    ad_words: Ids
    advertisers: Ids
    bids: Floats
    candidates: Ids
    crosses: Ids
    cross_count: int
    absent_crosses: int


def draw_market(world: ClickWorld) -> Market:
    """The market of a world."""
    rng = generator(world, "market")
    query_keywords = _query_keywords(world, rng)
    ad_keywords = (np.arange(world.ads) % world.keywords)[:, None]
    query_words = _texts(world, rng, query_keywords, world.query_lengths)
    ad_words = _texts(world, rng, ad_keywords, world.ad_lengths)
    advertisers = ranks(rng, power_law(world.advertisers, world.word_exponent), world.ads)
    bids = rng.standard_normal(world.ads)
    candidates = _candidates(world, rng, query_keywords)
    if world.phrase:
        query_words, ad_words = _about_the_phrase(world, query_words, ad_words)
    crosses, absent = _crosses(query_words, query_keywords)
    return Market(
        query_keywords=query_keywords,
        query_words=query_words,
        ad_words=ad_words,
        advertisers=advertisers,
        bids=bids,
        candidates=candidates,
        crosses=crosses,
        cross_count=int(crosses.max()) + 1,
        absent_crosses=absent,
    )


def _query_keywords(world: ClickWorld, rng: np.random.Generator) -> Ids:
    shares = power_law(world.keywords, world.word_exponent)
    keywords = ranks(rng, shares, (world.queries, KEYWORDS_PER_QUERY))
    clash = keywords[:, 0] == keywords[:, 1]
    keywords[clash, 1] = (keywords[clash, 1] + 1) % world.keywords
    return keywords


def _texts(
    world: ClickWorld, rng: np.random.Generator, keywords: Ids, lengths: tuple[int, int]
) -> Ids:
    """The first words of: the keywords, then any words; how many is drawn between the lengths."""
    fewest, most = lengths
    rows, first = len(keywords), keywords.shape[1]
    others = ranks(rng, world.word_shares, (rows, max(most - first, 0)))
    words = np.hstack([keywords, others])
    shown = rng.integers(fewest, most, rows, endpoint=True)
    words[np.arange(words.shape[1]) >= shown[:, None]] = NO_WORD
    return _without_repeats(words)


def _without_repeats(words: Ids) -> Ids:
    for column in range(1, words.shape[1]):
        repeated = (words[:, :column] == words[:, column, None]).any(axis=1)
        words[repeated, column] = NO_WORD
    return words


def _candidates(world: ClickWorld, rng: np.random.Generator, query_keywords: Ids) -> Ids:
    """A run of the ads of each keyword, so that they are distinct."""
    keywords = query_keywords[:, :, None]
    ads_of_keyword = (world.ads - 1 - keywords) // world.keywords + 1
    starts = rng.integers(0, ads_of_keyword)
    run = (starts + np.arange(ADS_PER_QUERY_KEYWORD)) % ads_of_keyword
    return (keywords + world.keywords * run).reshape(world.queries, -1)


def _about_the_phrase(world: ClickWorld, query_words: Ids, ad_words: Ids) -> tuple[Ids, Ids]:
    """Every query begins with the phrase, the first is nothing else; most ads say it too."""
    rng = generator(world, "phrase")
    phrase = world.words + np.arange(len(world.phrase.split()))
    query_words[0] = NO_WORD
    query_words = _distinct(world, rng, query_words)
    says_it = rng.random(world.ads) < PHRASE_IN_AD
    in_ads = np.where(says_it[:, None], phrase, NO_WORD)
    in_queries = np.tile(phrase, (world.queries, 1))
    return np.hstack([in_queries, query_words]), np.hstack([in_ads, ad_words])


def _distinct(world: ClickWorld, rng: np.random.Generator, words: Ids) -> Ids:
    """Give a query that says what a more frequent one says another word: rare ones are longer.

    Sets of words are compared by the exclusive or of their words' random 63 bits.
    """
    bits = np.append(rng.integers(0, 2**63, world.words), 0)
    for _ in range(MOST_WORDS_ADDED):
        _, first = np.unique(np.bitwise_xor.reduce(bits[words], axis=1), return_index=True)
        said_before = np.ones(len(words), dtype=bool)
        said_before[first] = False
        added = np.full((len(words), 1), NO_WORD)
        added[said_before, 0] = ranks(rng, world.word_shares, int(said_before.sum()))
        words = _without_repeats(np.hstack([words, added]))
    return words


def _crosses(query_words: Ids, query_keywords: Ids) -> tuple[Ids, int]:
    """A number for each word and keyword that meet, negative where there is no word."""
    words, keywords = query_words[:, :, None], query_keywords[:, None, :]
    meetings = words * (keywords.max() + 1) + keywords
    distinct, which = np.unique(meetings, return_inverse=True)
    absent = int(np.searchsorted(distinct, 0))
    return which.reshape(meetings.shape) - absent, absent
