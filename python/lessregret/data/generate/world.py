"""A simulated ad market: a handful of parameters and a seed, from which all else follows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache, partial
from typing import Any

from lessregret.data.generate.csv_text import CsvFragments, csv_fragments
from lessregret.data.generate.draws import Floats, power_law
from lessregret.data.generate.drift import Era, draw_era, moment
from lessregret.data.generate.libsvm_text import LibsvmFragments, libsvm_fragments
from lessregret.data.generate.limits import NUMBER, Limits, require, require_range
from lessregret.data.generate.market import ADS_PER_KEYWORD, KEYWORDS_PER_QUERY, Market, draw_market
from lessregret.data.generate.numbering import Numbering, number_features
from lessregret.data.generate.pages import IMPRESSIONS_PER_DRAW
from lessregret.data.generate.spelling import FREQUENT_WORDS, require_words, spellings
from lessregret.data.generate.truth import Truth, position_weights
from lessregret.data.generate.vw_text import Fragments, vw_fragments
from lessregret.errors import SpecError

LIMITS = {
    "seed": NUMBER,
    "queries": Limits(1, 1_000_000),
    "ads": Limits(KEYWORDS_PER_QUERY * ADS_PER_KEYWORD, 1_000_000),
    "advertisers": Limits(1, 1_000_000),
    "words": Limits(KEYWORDS_PER_QUERY, 1_000_000),
    "query_exponent": Limits(0, 3, whole=False),
    "word_exponent": Limits(0, 3, whole=False),
    "truth_scale": Limits(0, 5, whole=False),
    "click_rate": Limits(0.001, 0.999, whole=False),
    "drift": Limits(0, 10, whole=False),
}
MOST_WORDS = 12


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
    drift : 0 to 10. How many times in a million impressions all hidden weights are replaced, step
        by step; 0, the default, changes nothing. The formula is in ``drift.py``.
    query_lengths, ad_lengths : the least and the most words of a query and of an ad, besides the
        phrase, up to 12; the default is a short query and the title of an ad.
    phrase : words that every query contains, or "" for none. `PHRASES` has nine such worlds.
    vocabulary : how the most frequent words are spelled; the others are invented.

    Examples
    --------
    >>> from lessregret.data.generate import impressions, vw_lines
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
    drift: float = 0.0
    query_lengths: tuple[int, int] = (2, 4)
    ad_lengths: tuple[int, int] = (5, 7)
    phrase: str = ""
    vocabulary: tuple[str, ...] = field(default=FREQUENT_WORDS, repr=False)

    def __post_init__(self) -> None:
        for name, limits in LIMITS.items():
            require(name, getattr(self, name), limits)
        if self.words < self.keywords:
            raise SpecError(
                f"words must be at least ads / {ADS_PER_KEYWORD} = {self.keywords}, because every "
                f"{ADS_PER_KEYWORD} ads bid on a word of their own; got {self.words}"
            )
        self._require_texts()

    def _require_texts(self) -> None:
        if not isinstance(self.phrase, str) or self.phrase != " ".join(self.phrase.split()):
            raise SpecError(
                f"phrase must be words with one blank between, or ''; got {self.phrase!r}"
            )
        require_words("vocabulary and phrase", (*self.vocabulary, *self.phrase.split()))
        # Without a phrase only its keywords tie a query to its ads.
        fewest = 0 if self.phrase else KEYWORDS_PER_QUERY
        require_range("query_lengths", self.query_lengths, fewest, MOST_WORDS)
        require_range("ad_lengths", self.ad_lengths, 1, MOST_WORDS)

    def __getstate__(self) -> dict[str, Any]:
        """A copy or a pickle has the parameters; what follows from them is made again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def keywords(self) -> int:
        """The number of keywords: the ads k, k + keywords, k + 2 keywords, … bid on word k."""
        return self.ads // ADS_PER_KEYWORD

    @property
    def columns(self) -> int:
        """How many features the world has: the width of `rows` and the last index of LIBSVM text.

        >>> ClickWorld(queries=50, ads=64, words=40).columns
        1056
        """
        return self.numbering.columns

    @cached_property
    def market(self) -> Market:
        """What there is."""
        return draw_market(self)

    @cached_property
    def spellings(self) -> list[str]:
        """All words, those of the phrase last."""
        return spellings(self.words, self.vocabulary, self.phrase)

    @cached_property
    def numbering(self) -> Numbering:
        """Which column belongs to which feature."""
        return number_features(self)

    @cached_property
    def query_shares(self) -> Floats:
        """The cumulative frequencies of the queries."""
        return power_law(self.queries, self.query_exponent)

    @cached_property
    def word_shares(self) -> Floats:
        """The cumulative frequencies of the words."""
        return power_law(self.words, self.word_exponent)

    @cached_property
    def position_weights(self) -> Floats:
        """The hidden weights of the positions, which do not drift."""
        return position_weights(self)

    @cached_property
    def era(self) -> Callable[[int], Era]:
        """The era of a number; the last two are kept, since a drifting log lies between two."""
        return lru_cache(maxsize=2)(partial(draw_era, self))

    @property
    def truth(self) -> Truth:
        """What is hidden at the beginning of the log."""
        return self.era(0).truth

    @property
    def intercept(self) -> float:
        """The intercept at the beginning of the log; it makes the click rate `click_rate`."""
        return self.era(0).intercept

    @cached_property
    def vw_fragments(self) -> Fragments:
        """The pieces of text that Vowpal Wabbit lines are joined from."""
        return vw_fragments(self)

    @cached_property
    def libsvm_fragments(self) -> LibsvmFragments:
        """The pieces of text that LIBSVM lines are joined from."""
        return libsvm_fragments(self)

    @cached_property
    def csv_fragments(self) -> CsvFragments:
        """The pieces of text that CSV lines are joined from."""
        return csv_fragments(self)

    def hidden_weights(self, impression: int = 0) -> dict[str, float]:
        """The hidden weights that are not zero by `namespace^feature`, and the intercept by "".

        They are those that hold when the impression of this number is shown; with drift 0 it does
        not matter which.

        >>> weights = ClickWorld(queries=50, ads=64, words=40).hidden_weights()
        >>> weights["p^p2"]
        -0.9
        """
        weights = self.column_weights(impression)
        names = self.numbering.names(self)
        named = {"": moment(self, impression // IMPRESSIONS_PER_DRAW).intercept}
        return named | {names[k]: float(weights[k]) for k in weights.nonzero()[0]}

    def column_weights(self, impression: int = 0) -> Floats:
        """The hidden weight of every column when the impression of this number is shown.

        For X of `csr_rows(world, block)` the true margins are X @ weights and the intercept.
        """
        require("impression", impression, NUMBER)
        truth = moment(self, impression // IMPRESSIONS_PER_DRAW).truth
        return self.numbering.flat(truth)
