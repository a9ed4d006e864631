"""Nine worlds after the nine data sets of the paper's Table 2, each a log of one phrase's queries.

Those data are private: "random samples of queries that contained a particular phrase", a few
million examples each, with features "based on the text of the ad and the query" (§5.2). All that is
known of them beyond this is their names and two columns of regrets. The sizes here are guesses at
what kind of market each name suggests, set before any learner saw a log.
"""

from __future__ import annotations

from dataclasses import replace

from lessregret.data.generate.trades import TRADES
from lessregret.data.generate.world import ClickWorld
from lessregret.errors import SpecError


def _world(phrase: str, **parameters: float | tuple[int, int]) -> ClickWorld:
    usual = {"query_lengths": (1, 3), "ad_lengths": (4, 6)}
    given = {**usual, **parameters}
    return ClickWorld(phrase=phrase, vocabulary=TRADES[phrase], **given)  # type: ignore[arg-type]


_WORLDS = (
    # Local and crowded: a query for every state and car, hundreds of agents; dear, so few clicks.
    _world(
        "auto insurance", queries=30_000, ads=6_400, advertisers=600, words=4_000,
        query_exponent=1.05, word_exponent=1.0, truth_scale=1.0, click_rate=0.03,
    ),
    # A product to order: middling in everything, and ads that deliver what was asked for.
    _world(
        "business cards", queries=15_000, ads=3_200, advertisers=300, words=2_500,
        query_exponent=1.0, word_exponent=0.95, truth_scale=0.9, click_rate=0.045,
    ),
    # Many ads by few: banks and sites that compare them advertise every card they know.
    _world(
        "credit cards", queries=25_000, ads=6_400, advertisers=150, words=3_000,
        query_exponent=1.1, word_exponent=1.0, truth_scale=1.0, click_rate=0.035,
    ),
    # Nearly one question, "free credit report", so a steep head; three bureaus and their resellers.
    _world(
        "credit report", queries=8_000, ads=1_600, advertisers=80, words=1_500,
        query_exponent=1.3, word_exponent=1.1, truth_scale=1.0, click_rate=0.05,
    ),
    # A few dozen brokers; the curious search much and click little.
    _world(
        "forex", queries=12_000, ads=1_280, advertisers=50, words=2_000,
        query_exponent=1.1, word_exponent=1.0, truth_scale=1.1, click_rate=0.015,
    ),
    # As auto insurance, with longer questions: who is insured, and against what.
    _world(
        "health insurance", queries=35_000, ads=5_600, advertisers=500, words=4_500,
        query_exponent=1.05, word_exponent=1.0, truth_scale=1.0, click_rate=0.025,
        query_lengths=(1, 4),
    ),
    # As health insurance, but a smaller market with fewer kinds of policy.
    _world(
        "life insurance", queries=20_000, ads=4_000, advertisers=350, words=3_000,
        query_exponent=1.05, word_exponent=1.0, truth_scale=1.0, click_rate=0.02,
    ),
    # Brands, models, sizes and colours: a flat head, mostly rare queries, ads and words.
    _world(
        "shoe", queries=50_000, ads=9_600, advertisers=1_000, words=8_000,
        query_exponent=0.85, word_exponent=0.9, truth_scale=0.9, click_rate=0.02,
        query_lengths=(1, 4),
    ),
    # Navigational: the name alone is much of the log; few rivals; the right ad is often clicked.
    _world(
        "telefonica", queries=4_000, ads=640, advertisers=30, words=800,
        query_exponent=1.5, word_exponent=1.2, truth_scale=1.3, click_rate=0.06,
        query_lengths=(1, 2),
    ),
)  # fmt: skip

PHRASES = {world.phrase: world for world in _WORLDS}


def phrase_world(phrase: str, *, seed: int = 0, drift: float = 0.0) -> ClickWorld:
    """The world of one of the nine phrases, with its own caches.

    >>> phrase_world("telefonica").click_rate
    0.06
    """
    if phrase not in PHRASES:
        known = ", ".join(PHRASES)
        raise SpecError(f"there is no world of the phrase {phrase!r}; the phrases are {known}")
    return replace(PHRASES[phrase], seed=seed, drift=drift)
