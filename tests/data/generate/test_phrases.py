"""Are the nine phrase worlds what their table says?"""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import sha256
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from lessregret.data.generate import (
    PAGES_PER_DRAW,
    PHRASES,
    Block,
    csr_rows,
    impressions,
    phrase_world,
    vw_lines,
)
from lessregret.data.generate.trades import TRADES
from lessregret.errors import SpecError
from tests.support.click_logs import ABOUT, text
from tests.support.command_line import CommandLine

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "click-simulator.md"
EVERY_PHRASE = pytest.mark.parametrize("phrase", PHRASES)

TABLE_2 = [
    "auto insurance",
    "business cards",
    "credit cards",
    "credit report",
    "forex",
    "health insurance",
    "life insurance",
    "shoe",
    "telefonica",
]


@lru_cache
def blocks(phrase: str) -> list[Block]:
    return list(impressions(PHRASES[phrase], 65_536))


def test_the_phrases_are_those_of_the_papers_table() -> None:
    assert [*PHRASES] == [*TRADES] == TABLE_2
    assert all(phrase == world.phrase for phrase, world in PHRASES.items())


@EVERY_PHRASE
def test_every_query_contains_the_phrase(phrase: str) -> None:
    lines = vw_lines(PHRASES[phrase], blocks(phrase)[0]).decode().splitlines()
    assert all(re.search(rf"\|w {phrase}( [a-z0-9]+)* \|a ", line) for line in lines)


@EVERY_PHRASE
def test_the_most_frequent_query_is_the_phrase_alone(phrase: str) -> None:
    counts = np.bincount(np.concatenate([block.queries for block in blocks(phrase)]))
    assert counts.argmax() == 0
    assert PHRASES[phrase].vw_fragments.queries[0] == f" |q q0 |w {phrase}".encode()


@EVERY_PHRASE
def test_hardly_two_queries_have_the_same_words(phrase: str) -> None:
    words = np.sort(PHRASES[phrase].market.query_words, axis=1)
    assert len(np.unique(words, axis=0)) > 0.95 * len(words)


@EVERY_PHRASE
def test_rare_queries_are_longer(phrase: str) -> None:
    lengths = (PHRASES[phrase].market.query_words >= 0).sum(axis=1)
    tenth = len(lengths) // 10
    assert lengths[:tenth].mean() < lengths[-tenth:].mean()


@EVERY_PHRASE
def test_most_ads_say_the_phrase(phrase: str) -> None:
    world = PHRASES[phrase]
    assert np.mean(world.market.ad_words[:, 0] == world.words) == pytest.approx(0.7, abs=0.06)


@EVERY_PHRASE
def test_a_line_has_10_to_20_features_on_average(phrase: str) -> None:
    X = csr_rows(PHRASES[phrase], blocks(phrase)[0])
    assert 10 < X.nnz / X.shape[0] <= 20
    assert X.shape[1] == PHRASES[phrase].columns


@EVERY_PHRASE
def test_the_click_rate_is_the_one_of_the_table(phrase: str) -> None:
    """The intercept is set on one draw of pages, so the rate is as exact as a draw's mean is."""
    pages = np.concatenate([block.probabilities for block in blocks(phrase)]).reshape(-1, 4)
    standard_error = pages.mean(axis=1).std() / np.sqrt(PAGES_PER_DRAW)
    assert 0.01 <= PHRASES[phrase].click_rate <= 0.06
    assert abs(pages.mean() - PHRASES[phrase].click_rate) < 4 * standard_error


@EVERY_PHRASE
def test_queries_follow_the_power_law_of_the_table(phrase: str) -> None:
    counts = np.sort(np.bincount(np.concatenate([b.queries for b in blocks(phrase)])))[::-1][:100]
    slope, _ = np.polyfit(np.log(np.arange(1, 101)), np.log(counts), 1)
    assert slope == pytest.approx(-PHRASES[phrase].query_exponent, abs=0.1)


@EVERY_PHRASE
def test_the_page_has_the_parameters(phrase: str) -> None:
    world = PHRASES[phrase]
    exponents = f"{world.query_exponent:g}, {world.word_exponent:g}"
    told = [f"{world.queries:,}", f"{world.ads:,}", f"{world.advertisers:,}", f"{world.words:,}"]
    told += [exponents, f"{world.truth_scale:g}", f"{100 * world.click_rate:g} %"]
    row = f"| {phrase} | {' | '.join(told)} |"
    assert row in PAGE.read_text(encoding="utf-8")


def test_worlds_of_one_seed_are_independent() -> None:
    bids = {phrase: world.market.bids[:600] for phrase, world in PHRASES.items()}
    for one, other in combinations(bids.values(), 2):
        assert abs(np.corrcoef(one, other)[0, 1]) < 0.2


def test_a_phrase_world_comes_fresh_with_seed_and_drift() -> None:
    world = phrase_world("forex", seed=3, drift=0.5)
    assert (world.phrase, world.seed, world.drift) == ("forex", 3, 0.5)
    assert phrase_world("forex") == PHRASES["forex"]
    assert phrase_world("forex") is not PHRASES["forex"]


def test_a_phrase_log_stays_as_it_was_published() -> None:
    logs = b"".join(text(world, 200) for world in PHRASES.values())
    assert sha256(logs).hexdigest()[:16] == "36ad82de77c323c1"


def test_any_phrase_can_have_a_world() -> None:
    lines = text(ABOUT, 2_000).decode().splitlines()
    assert all("|w olive oil" in line for line in lines)
    assert any("|w olive oil |a" in line for line in lines)


def test_an_unknown_phrase_is_told_which_there_are(lessregret: CommandLine) -> None:
    with pytest.raises(SpecError, match=f"phrase 'tea'; the phrases are {', '.join(TABLE_2)}$"):
        phrase_world("tea")
    done = lessregret("generate", "clicks", "--phrase", "tea")
    assert (done.code, done.stdout) == (2, "")
    assert ", ".join(TABLE_2) in done.stderr


def test_the_command_writes_what_the_library_makes(lessregret: CommandLine) -> None:
    ask = ("--examples", "50", "--skip", "7", "--seed", "2", "--drift", "1.5", "--format", "csv")
    done = lessregret.apart("generate", "clicks", "--phrase", "shoe", *ask)
    world = phrase_world("shoe", seed=2, drift=1.5)
    assert done.stdout.encode() == text(world, 50, "csv", skip=7)


def test_the_command_can_change_a_phrases_click_rate(lessregret: CommandLine) -> None:
    ask = ("generate", "clicks", "--phrase", "forex", "--format", "csv", "--examples", "2000")
    assert lessregret(*ask, "--click-rate", "0.5", "--output", "half.csv").code == 0
    clicks = [line[:1] for line in lessregret.read("half.csv").splitlines()[1:]]
    assert np.mean([click == b"1" for click in clicks]) == pytest.approx(0.5, abs=0.05)
