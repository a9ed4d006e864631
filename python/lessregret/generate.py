"""Simulated logs of ad clicks, of any length, from a world whose truth is known.

Real click logs are secret or large. This module makes one that anybody can make again: a
`ClickWorld` is a handful of parameters and a seed; all else follows from them.

    ClickWorld ─▶ Market    what there is: queries, ads, advertisers, which ads answer which query
               ─▶ Truth     the hidden weights, most of them zero
               ─▶ impressions(world, n) ─▶ Block ─▶ vw_lines(world, block)

A page is one query and the `POSITIONS` ads that won its auction; an impression is one ad on one
page. It is clicked with probability 1 / (1 + exp(-margin)), the margin being an intercept and the
hidden weights of just those features that its line of text names. So the truth is a linear model
over the log's own features, and `Block.entropy` is the least log loss any predictor can expect.

Costs: a world is built once, in memory that grows with its queries and ads; a log takes the memory
of one block however long it is. Blocks are drawn from generators keyed by their number, so a short
log is the beginning of a longer one and any part can be made without what precedes it.

`docs/explanation/click-simulator.md` says what is realistic here and what is not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from numbers import Integral, Real
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lessregret.errors import SpecError

Floats: TypeAlias = NDArray[np.float64]
Ids: TypeAlias = NDArray[np.intp]
Labels: TypeAlias = NDArray[np.int8]

POSITIONS = 4
PAGES_PER_DRAW = 4096
IMPRESSIONS_PER_DRAW = POSITIONS * PAGES_PER_DRAW

ADS_PER_KEYWORD = 16
KEYWORDS_PER_QUERY = 2
ADS_PER_QUERY_KEYWORD = 4
EXTRA_QUERY_WORDS = (0, 2)
EXTRA_AD_WORDS = (4, 6)
NO_WORD = -1

STREAMS = ("market", "truth", "calibration", "log")


class Limits(NamedTuple):
    """The closed range of a parameter, and whether it counts something."""

    low: float
    high: float
    whole: bool = True


LIMITS = {
    "seed": Limits(0, 2**63 - 1),
    "queries": Limits(1, 1_000_000),
    "ads": Limits(KEYWORDS_PER_QUERY * ADS_PER_KEYWORD, 1_000_000),
    "advertisers": Limits(1, 1_000_000),
    "words": Limits(KEYWORDS_PER_QUERY, 1_000_000),
    "query_exponent": Limits(0, 3, whole=False),
    "word_exponent": Limits(0, 3, whole=False),
    "truth_scale": Limits(0, 5, whole=False),
    "click_rate": Limits(0.001, 0.999, whole=False),
}


class Spread(NamedTuple):
    """How the weights of one kind of feature are drawn: a share is not zero, and that is normal."""

    share: float
    deviation: float


# Weights do not shrink with frequency: most queries, ads and pairs are rare, and theirs are the
# largest. Were they small, a learner could ignore rare features and one rate for all would do.
QUERY = Spread(0.20, 1.2)
QUERY_WORD = Spread(0.10, 0.5)
ADVERTISER = Spread(0.30, 0.7)
AD = Spread(0.30, 1.2)
AD_WORD = Spread(0.10, 0.5)
WORD_CROSS = Spread(0.05, 1.2)
PAIR = Spread(0.10, 2.5)
POSITION_WEIGHTS = (0.0, -0.5, -0.9, -1.2)

# Auctions favour ads that are clicked, so position and quality are confounded, as in real logs.
BID_DEVIATION = 1.0
QUALITY_IN_AUCTION = 0.5


@dataclass(frozen=True)
class ClickWorld:
    """The parameters of a simulated ad market; equal parameters give equal logs.

    Parameters
    ----------
    seed : 0 to 2**63 - 1. Everything random follows from it.
    queries : 1 to 1,000,000. 20,000 leaves most queries rare in a log of a million lines.
    ads : 32 to 1,000,000. 8,000 makes 500 keywords, each the bid of 16 ads.
    advertisers : 1 to 1,000,000. 400: the largest owns about 1,200 ads, the median one seven.
    words : the vocabulary, from one word per keyword (ads / 16) to 1,000,000. 4,000 is a long tail.
    query_exponent : 0 to 3. The k-th query has frequency proportional to k**-query_exponent; 1.1
        is a little steeper than Zipf's law and makes the first query about one page in seven.
    word_exponent : 0 to 3. The same for words, keywords and advertisers; 1.0 is Zipf's law.
    truth_scale : 0 to 5. Multiplies every hidden weight; 0 makes clicks unpredictable. 1.0 lets
        the truth save 25 to 45 % of the log loss of the best constant, by the seed.
    click_rate : 0.001 to 0.999. The share of impressions clicked; 0.05 is "a few per cent".

    Examples
    --------
    >>> world = ClickWorld(seed=7, queries=50, ads=64, words=40)
    >>> block = next(impressions(world, 3))
    >>> vw_lines(world, block).count(b"\\n")
    3
    """

    seed: int = 0
    queries: int = 20_000
    ads: int = 8_000
    advertisers: int = 400
    words: int = 4_000
    query_exponent: float = 1.1
    word_exponent: float = 1.0
    truth_scale: float = 1.0
    click_rate: float = 0.05

    def __post_init__(self) -> None:
        for name, limits in LIMITS.items():
            _require(name, getattr(self, name), limits)
        if self.words < self.keywords:
            raise SpecError(
                f"words must be at least ads / {ADS_PER_KEYWORD} = {self.keywords}, because every "
                f"{ADS_PER_KEYWORD} ads bid on a word of their own; got {self.words}"
            )

    @property
    def keywords(self) -> int:
        """The number of keywords: the ads k, k + keywords, k + 2 keywords, … bid on word k."""
        return self.ads // ADS_PER_KEYWORD

    @cached_property
    def market(self) -> Market:
        """What there is."""
        return _market(self)

    @cached_property
    def truth(self) -> Truth:
        """What is hidden."""
        return _truth(self)

    @cached_property
    def candidate_margins(self) -> Floats:
        """The margin of each query with each of its candidates, before intercept and position."""
        return _candidate_margins(self.market, self.truth)

    @cached_property
    def auction_strengths(self) -> Floats:
        """How strongly each candidate of each query competes for a place on the page."""
        bids = BID_DEVIATION * self.market.bids[self.market.candidates]
        return np.exp(bids + QUALITY_IN_AUCTION * self.candidate_margins)

    @cached_property
    def query_shares(self) -> Floats:
        """The cumulative frequencies of the queries."""
        return _power_law(self.queries, self.query_exponent)

    @cached_property
    def intercept(self) -> float:
        """The intercept that makes the expected share of clicks `click_rate`."""
        pages = _draw_pages(self, _generator(self, "calibration"))
        return _intercept(_margins(self, pages), self.click_rate)

    @cached_property
    def fragments(self) -> Fragments:
        """The pieces of text that lines are joined from."""
        return _fragments(self.market, self.words)

    def hidden_weights(self) -> dict[str, float]:
        """The hidden weights that are not zero by `namespace^feature`, and the intercept by "".

        >>> weights = ClickWorld(queries=50, ads=64, words=40).hidden_weights()
        >>> weights["p^p2"]
        -0.9
        """
        return _named_weights(self)


@dataclass(frozen=True)
class Market:
    """What there is: row k belongs to query or ad k, and `NO_WORD` fills rows of fewer words."""

    query_keywords: Ids
    query_words: Ids
    ad_words: Ids
    advertisers: Ids
    bids: Floats
    candidates: Ids


@dataclass(frozen=True)
class Truth:
    """The hidden weights; those of words end with a zero, the weight of `NO_WORD`.

    `crosses[q, i, k]` is the weight of word i of query q crossed with its keyword k, and
    `pairs[q, c]` that of query q crossed with its candidate c.
    """

    positions: Floats
    queries: Floats
    query_words: Floats
    ads: Floats
    advertisers: Floats
    ad_words: Floats
    crosses: Floats
    pairs: Floats


@dataclass(frozen=True)
class Block:
    """Consecutive impressions of a log, one array entry each.

    `first` is the number of the first in the log; `candidates` says which of the query's candidates
    the ad is; `labels` are 1 for a click and -1 for none, drawn from the true `probabilities`.
    """

    first: int
    queries: Ids
    ads: Ids
    candidates: Ids
    positions: Ids
    labels: Labels
    probabilities: Floats

    def __len__(self) -> int:
        return len(self.labels)

    def part(self, start: int, stop: int) -> Block:
        """The impressions of the block from `start` to before `stop`."""
        piece = slice(start, stop)
        return Block(
            self.first + start,
            self.queries[piece],
            self.ads[piece],
            self.candidates[piece],
            self.positions[piece],
            self.labels[piece],
            self.probabilities[piece],
        )

    @property
    def entropy(self) -> float:
        """The mean log loss, in nats, that the truth itself expects on these impressions.

        mean of -p log p - (1 - p) log(1 - p): no predictor can expect less.
        """
        return float(binary_entropy(self.probabilities).mean())


def impressions(
    world: ClickWorld, examples: int, *, skip: int = 0, block_size: int = IMPRESSIONS_PER_DRAW
) -> Iterator[Block]:
    """The impressions numbered `skip` to `skip + examples` of the world's log, in blocks.

    Parameters
    ----------
    examples : at least 0.
    skip : at least 0. What precedes is not computed: use it for a fresh sample of the same world.
    block_size : 1 to 16,384, the longest block to yield; it does not change the log. The default
        is how many are drawn at once.

    Examples
    --------
    >>> world = ClickWorld(queries=50, ads=64, words=40)
    >>> [len(block) for block in impressions(world, 20_000)]
    [16384, 3616]
    """
    _require("examples", examples, Limits(0, 2**63 - 1))
    _require("skip", skip, Limits(0, 2**63 - 1))
    _require("block_size", block_size, Limits(1, IMPRESSIONS_PER_DRAW))
    return _blocks(world, skip, skip + examples, block_size)


def vw_lines(world: ClickWorld, block: Block) -> bytes:
    """The block as Vowpal Wabbit text, a line for each impression.

    Namespaces: q the query, w its words, a the ad and its advertiser, t the ad's words, x the
    query's words crossed with the ad's keyword and the query with the ad, p the position.

    >>> world = ClickWorld(seed=1, queries=50, ads=64, words=40)
    >>> line = vw_lines(world, next(impressions(world, 1))).decode().strip()
    >>> for namespace in line.split(" |"):
    ...     print(namespace)
    -1
    q q8
    w cheap best free
    a a12 v202
    t cheap software flowers auto quotes new
    x cheap^cheap best^cheap free^cheap q8^a12
    p p0
    """
    text = world.fragments
    queries, ads = block.queries.tolist(), block.ads.tolist()
    crosses = block.queries * KEYWORDS_PER_QUERY + block.candidates // ADS_PER_QUERY_KEYWORD
    pieces = zip(
        map(text.labels.__getitem__, block.labels.tolist()),
        map(text.queries.__getitem__, queries),
        map(text.ads.__getitem__, ads),
        map(text.crosses.__getitem__, crosses.tolist()),
        map(text.pair_ends.__getitem__, ads),
        map(text.positions.__getitem__, block.positions.tolist()),
        strict=True,
    )
    return b"".join(chain.from_iterable(pieces))


def binary_entropy(probabilities: Floats) -> Floats:
    """The expected log loss, in nats, of predicting each probability where it is the truth.

    -p log p - (1 - p) log(1 - p), for 0 < p < 1. At the click rate it is the loss of the best
    constant.

    >>> binary_entropy(np.array([0.5]))
    array([0.69314718])
    """
    p = probabilities
    return -p * np.log(p) - (1 - p) * np.log1p(-p)


def _require(name: str, value: object, limits: Limits) -> None:
    kind = Integral if limits.whole else Real
    right_kind = isinstance(value, kind) and not isinstance(value, bool)
    if right_kind and limits.low <= value <= limits.high:  # type: ignore[operator]
        return
    noun = "a whole number" if limits.whole else "a number"
    raise SpecError(f"{name} must be {noun} from {limits.low} to {limits.high}; got {value!r}")


def _generator(world: ClickWorld, stream: str, number: int = 0) -> np.random.Generator:
    key = (STREAMS.index(stream), number)
    return np.random.default_rng(np.random.SeedSequence(world.seed, spawn_key=key))


def _power_law(count: int, exponent: float) -> Floats:
    shares = np.cumsum(np.arange(1, count + 1, dtype=np.float64) ** -exponent)
    return np.asarray(shares / shares[-1], dtype=np.float64)


def _ranks(rng: np.random.Generator, cumulative: Floats, shape: int | tuple[int, ...]) -> Ids:
    return np.searchsorted(cumulative, rng.random(shape), side="right")


def _market(world: ClickWorld) -> Market:
    rng = _generator(world, "market")
    query_keywords = _query_keywords(world, rng)
    ad_keywords = (np.arange(world.ads) % world.keywords)[:, None]
    return Market(
        query_keywords=query_keywords,
        query_words=_with_extra_words(world, rng, query_keywords, EXTRA_QUERY_WORDS),
        ad_words=_with_extra_words(world, rng, ad_keywords, EXTRA_AD_WORDS),
        advertisers=_ranks(rng, _power_law(world.advertisers, world.word_exponent), world.ads),
        bids=rng.standard_normal(world.ads),
        candidates=_candidates(world, rng, query_keywords),
    )


def _query_keywords(world: ClickWorld, rng: np.random.Generator) -> Ids:
    shares = _power_law(world.keywords, world.word_exponent)
    keywords = _ranks(rng, shares, (world.queries, KEYWORDS_PER_QUERY))
    clash = keywords[:, 0] == keywords[:, 1]
    keywords[clash, 1] = (keywords[clash, 1] + 1) % world.keywords
    return keywords


def _with_extra_words(
    world: ClickWorld, rng: np.random.Generator, keywords: Ids, extra: tuple[int, int]
) -> Ids:
    fewest, most = extra
    rows = len(keywords)
    words = _ranks(rng, _power_law(world.words, world.word_exponent), (rows, most))
    lengths = rng.integers(fewest, most, rows, endpoint=True)
    words[np.arange(most) >= lengths[:, None]] = NO_WORD
    return _without_repeats(np.hstack([keywords, words]))


def _without_repeats(words: Ids) -> Ids:
    for column in range(1, words.shape[1]):
        repeated = (words[:, :column] == words[:, column, None]).any(axis=1)
        words[repeated, column] = NO_WORD
    return words


def _candidates(world: ClickWorld, rng: np.random.Generator, query_keywords: Ids) -> Ids:
    """A run of the ads of each keyword: they are distinct and share a word with the query."""
    keywords = query_keywords[:, :, None]
    ads_of_keyword = (world.ads - 1 - keywords) // world.keywords + 1
    starts = rng.integers(0, ads_of_keyword)
    run = (starts + np.arange(ADS_PER_QUERY_KEYWORD)) % ads_of_keyword
    return (keywords + world.keywords * run).reshape(world.queries, -1)


def _truth(world: ClickWorld) -> Truth:
    rng, scale = _generator(world, "truth"), world.truth_scale
    market = world.market
    return Truth(
        positions=scale * np.array(POSITION_WEIGHTS),
        queries=scale * _sparse(rng, QUERY, world.queries),
        query_words=scale * np.append(_sparse(rng, QUERY_WORD, world.words), 0.0),
        ads=scale * _sparse(rng, AD, world.ads),
        advertisers=scale * _sparse(rng, ADVERTISER, world.advertisers),
        ad_words=scale * np.append(_sparse(rng, AD_WORD, world.words), 0.0),
        crosses=scale * _cross_weights(rng, market),
        pairs=scale * _sparse(rng, PAIR, market.candidates.shape),
    )


def _sparse(rng: np.random.Generator, spread: Spread, shape: int | tuple[int, ...]) -> Floats:
    matters = rng.random(shape) < spread.share
    return np.where(matters, spread.deviation * rng.standard_normal(shape), 0.0)


def _cross_weights(rng: np.random.Generator, market: Market) -> Floats:
    """One weight for each word and keyword that meet in some query, the same wherever they meet."""
    words, keywords = market.query_words[:, :, None], market.query_keywords[:, None, :]
    crosses = words * (keywords.max() + 1) + keywords
    distinct, which = np.unique(crosses, return_inverse=True)
    weights = _sparse(rng, WORD_CROSS, len(distinct))[which.reshape(crosses.shape)]
    return np.where(words == NO_WORD, 0.0, weights)


def _candidate_margins(market: Market, truth: Truth) -> Floats:
    query_margins = truth.queries + truth.query_words[market.query_words].sum(axis=1)
    ad_margins = (
        truth.ads
        + truth.advertisers[market.advertisers]
        + truth.ad_words[market.ad_words].sum(axis=1)
    )
    cross_margins = np.repeat(truth.crosses.sum(axis=1), ADS_PER_QUERY_KEYWORD, axis=1)
    margins = query_margins[:, None] + ad_margins[market.candidates] + cross_margins + truth.pairs
    return np.asarray(margins, dtype=np.float64)


class Pages(NamedTuple):
    """The queries of some pages and the candidates that won their auctions, best first."""

    queries: Ids
    winners: Ids


def _draw_pages(world: ClickWorld, rng: np.random.Generator) -> Pages:
    """Candidates arrive after exponential times at the rates of their strengths; the first win.

    So the order is Plackett and Luce's: the next place goes to each with odds of its strength.
    """
    queries = _ranks(rng, world.query_shares, PAGES_PER_DRAW)
    strengths = world.auction_strengths[queries]
    arrivals = rng.standard_exponential(strengths.shape) / strengths
    return Pages(queries, arrivals.argsort(axis=1)[:, :POSITIONS])


def _margins(world: ClickWorld, pages: Pages) -> Floats:
    shown = world.candidate_margins[pages.queries[:, None], pages.winners]
    return shown + world.truth.positions


def _intercept(margins: Floats, click_rate: float) -> float:
    """The root, by bisection, of: mean probability = click rate."""
    centre = math.log(click_rate / (1 - click_rate))
    low, high = centre - margins.max(), centre - margins.min()
    for _ in range(40):
        middle = (low + high) / 2
        too_few = _sigmoid(middle + margins).mean() < click_rate
        low, high = (middle, high) if too_few else (low, middle)
    return float(low + high) / 2


def _sigmoid(margins: Floats) -> Floats:
    # Beyond 36 the probability rounds to 1, whose entropy is 0 times infinity.
    return np.asarray(1 / (1 + np.exp(-margins.clip(-35, 35))), dtype=np.float64)


def _blocks(world: ClickWorld, start: int, stop: int, block_size: int) -> Iterator[Block]:
    for number in range(start // IMPRESSIONS_PER_DRAW, -(-stop // IMPRESSIONS_PER_DRAW)):
        drawn = _draw(world, number)
        begin = max(start - drawn.first, 0)
        end = min(stop - drawn.first, len(drawn))
        for cut in range(begin, end, block_size):
            yield drawn.part(cut, min(cut + block_size, end))


def _draw(world: ClickWorld, number: int) -> Block:
    rng = _generator(world, "log", number)
    pages = _draw_pages(world, rng)
    probabilities = _sigmoid(world.intercept + _margins(world, pages)).ravel()
    clicked = rng.random(IMPRESSIONS_PER_DRAW) < probabilities
    return Block(
        first=number * IMPRESSIONS_PER_DRAW,
        queries=np.repeat(pages.queries, POSITIONS),
        ads=world.market.candidates[pages.queries[:, None], pages.winners].ravel(),
        candidates=pages.winners.ravel(),
        positions=np.tile(np.arange(POSITIONS), PAGES_PER_DRAW),
        labels=np.where(clicked, 1, -1).astype(np.int8),
        probabilities=probabilities,
    )


@dataclass(frozen=True)
class Fragments:
    """The text of a line is a label, a query, an ad, a cross, the end of a pair and a position.

    Not a query with an ad: there are many more pairs than queries and ads.
    """

    labels: dict[int, bytes]
    queries: list[bytes]
    ads: list[bytes]
    crosses: list[bytes]
    pair_ends: list[bytes]
    positions: list[bytes]


def _fragments(market: Market, vocabulary: int) -> Fragments:
    words = [_spelling(rank) for rank in range(vocabulary)]
    query_words = [_spelled(words, row) for row in market.query_words.tolist()]
    ad_words = [_spelled(words, row) for row in market.ad_words.tolist()]
    advertisers = market.advertisers.tolist()
    return Fragments(
        labels={1: b"1", -1: b"-1"},
        queries=[f" |q q{q} |w {' '.join(row)}".encode() for q, row in enumerate(query_words)],
        ads=[
            f" |a a{a} v{v} |t {' '.join(row)}".encode()
            for a, (v, row) in enumerate(zip(advertisers, ad_words, strict=True))
        ],
        crosses=[
            f" |x {' '.join(_crossed(row, words[keyword]))} q{q}".encode()
            for q, row in enumerate(query_words)
            for keyword in market.query_keywords[q].tolist()
        ],
        pair_ends=[f"^a{a}".encode() for a in range(len(advertisers))],
        positions=[f" |p p{position}\n".encode() for position in range(POSITIONS)],
    )


def _spelled(words: list[str], row: list[int]) -> list[str]:
    return [words[word] for word in row if word != NO_WORD]


def _crossed(query_words: list[str], keyword: str) -> list[str]:
    return [f"{word}^{keyword}" for word in query_words]


# Real words for the frequent ones make logs pleasant to read. None alternates the consonants and
# vowels of `SYLLABLES`, as the invented ones do.
_FREQUENT = (
    "cheap best online free insurance auto hotel flights credit loans mortgage lawyer shoes "
    "tickets phone travel car school degree software rental health dental jobs hosting quotes new "
    "york london florida used discount near service home garden kitchen wedding flowers gifts "
    "laptop camera printer games music books cruise vegas resort airport truck parts tires repair "
    "roofing solar energy diet vitamins pet dog cat"
)
FREQUENT_WORDS = _FREQUENT.split()
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]


def _spelling(rank: int) -> str:
    if rank < len(FREQUENT_WORDS):
        return FREQUENT_WORDS[rank]
    # Counting from one syllable up keeps every invented word at two syllables or more.
    syllables, rest = "", rank + len(SYLLABLES)
    while rest:
        rest, digit = divmod(rest, len(SYLLABLES))
        syllables += SYLLABLES[digit]
    return syllables


def _named_weights(world: ClickWorld) -> dict[str, float]:
    truth, market = world.truth, world.market
    words = [_spelling(rank) for rank in range(world.words)]
    named = {"": world.intercept}
    named |= _numbered("p^p", truth.positions) | _numbered("q^q", truth.queries)
    named |= _numbered("a^a", truth.ads) | _numbered("a^v", truth.advertisers)
    for prefix, weights in (("w^", truth.query_words), ("t^", truth.ad_words)):
        named |= {f"{prefix}{words[k]}": float(weights[k]) for k in np.flatnonzero(weights)}
    for q, i, k in np.argwhere(truth.crosses):
        word, keyword = market.query_words[q, i], market.query_keywords[q, k]
        named[f"x^{words[word]}^{words[keyword]}"] = float(truth.crosses[q, i, k])
    for q, c in np.argwhere(truth.pairs):
        named[f"x^q{q}^a{market.candidates[q, c]}"] = float(truth.pairs[q, c])
    return named


def _numbered(prefix: str, weights: Floats) -> dict[str, float]:
    return {f"{prefix}{k}": float(weights[k]) for k in np.flatnonzero(weights)}
