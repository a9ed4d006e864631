"""Is the simulated log reproducible, well formed, and drawn from the truth it states?"""

from __future__ import annotations

import pickle
import re
from collections import Counter
from functools import lru_cache
from hashlib import sha256
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lessregret.data import generate
from lessregret.data.generate import Block, ClickWorld, binary_entropy, impressions, vw_lines
from lessregret.errors import SpecError
from tests.support.click_logs import DRAW, SMALL, features, losses

DEFAULT = ClickWorld()

WORD = r"[a-z]+"
LINE = re.compile(
    rf"-?1 \|q q\d+ \|w {WORD}( {WORD})+ \|a a\d+ v\d+ \|t {WORD}( {WORD})*"
    rf" \|x ({WORD}\^{WORD} )+q\d+\^a\d+ \|p p[0-3]"
)


def log(world: ClickWorld, examples: int, *, skip: int = 0, block_size: int = DRAW) -> bytes:
    blocks = impressions(world, examples, skip=skip, block_size=block_size)
    return b"".join(vw_lines(world, block) for block in blocks)


@lru_cache
def default_blocks() -> tuple[Block, ...]:
    return tuple(impressions(DEFAULT, 200_000))


def column(name: str) -> NDArray[Any]:
    return np.concatenate([getattr(block, name) for block in default_blocks()])


def test_all_that_is_public_is_there() -> None:
    assert [name for name in generate.__all__ if not hasattr(generate, name)] == []


def test_equal_worlds_give_equal_logs() -> None:
    again = ClickWorld(seed=3, queries=200, ads=160, advertisers=20, words=100)
    assert log(SMALL, 1_000) == log(again, 1_000)


def test_another_seed_gives_another_log() -> None:
    other = ClickWorld(seed=4, queries=200, ads=160, advertisers=20, words=100)
    assert log(SMALL, 1_000) != log(other, 1_000)


@pytest.mark.parametrize("examples", [0, 1, 3, DRAW - 1, DRAW, DRAW + 1])
def test_a_short_log_is_the_beginning_of_a_longer_one(examples: int) -> None:
    short, long = log(SMALL, examples), log(SMALL, DRAW + 100)
    assert short.count(b"\n") == examples
    assert long.startswith(short)


@pytest.mark.parametrize("block_size", [1_000, 4_097, DRAW - 1])
def test_the_block_size_does_not_change_the_log(block_size: int) -> None:
    examples = DRAW + 5_000
    assert log(SMALL, examples, block_size=block_size) == log(SMALL, examples)
    blocks = list(impressions(SMALL, examples, block_size=block_size))
    assert max(map(len, blocks)) == block_size
    assert all(after.first == before.first + len(before) for before, after in pairwise(blocks))


@pytest.mark.parametrize("skip", [1, 5_000, DRAW - 1, DRAW, DRAW + 7])
def test_a_log_can_start_anywhere(skip: int) -> None:
    rest = log(SMALL, 2 * DRAW - skip, skip=skip)
    assert log(SMALL, skip) + rest == log(SMALL, 2 * DRAW)


def test_far_impressions_need_nothing_that_precedes_them() -> None:
    (block,) = impressions(SMALL, 10, skip=10**15)
    assert (block.first, len(block)) == (10**15, 10)


def test_a_log_stays_as_it_was_published() -> None:
    """Whoever wrote down a seed must get the same log from every later version."""
    text = log(SMALL, 1_000)
    assert text.startswith(b"-1 |q q0 |w best cheap |a a71 v4")
    assert sha256(text).hexdigest()[:16] == "aca1157b7599a57d"


@pytest.mark.parametrize("world", [SMALL, DEFAULT], ids=["small", "default"])
def test_every_line_is_well_formed(world: ClickWorld) -> None:
    lines = log(world, DRAW).decode().splitlines()
    assert all(LINE.fullmatch(line) for line in lines)


def test_no_line_names_a_feature_twice_and_most_name_12_to_20() -> None:
    named = [features(line) for line in log(DEFAULT, DRAW).decode().splitlines()]
    counts = np.array([len(row) for row in named])
    assert all(len(set(row)) == len(row) for row in named)
    assert counts.max() <= 20
    assert np.mean(counts >= 12) > 0.999
    assert 16 < counts.mean() < 18


def test_every_word_has_its_own_spelling() -> None:
    spellings = ClickWorld(words=100_000).spellings
    assert len(set(spellings)) == len(spellings) == 100_000


def test_no_invented_word_is_spelled_as_a_real_one() -> None:
    """Nor as one of the phrase: life, rate and visa would be syllables."""
    world = ClickWorld(phrase="life visa", vocabulary=("rate", "cheap"))
    assert world.spellings[:2] + world.spellings[-2:] == ["rate", "cheap", "life", "visa"]
    assert len(set(world.spellings)) == len(world.spellings) == world.words + 2


def test_a_pickle_holds_the_parameters_and_gives_the_same_log() -> None:
    world = ClickWorld(seed=3, queries=200, ads=160, advertisers=20, words=100)
    before = log(world, 100)
    pickled = pickle.dumps(world)
    assert len(pickled) < 2_000
    assert log(pickle.loads(pickled), 100) == before


def test_lines_say_what_the_block_says() -> None:
    (block,) = impressions(SMALL, 500)
    for k, line in enumerate(vw_lines(SMALL, block).decode().splitlines()):
        assert line.startswith(f"{block.labels[k]} |q q{block.queries[k]} ")
        assert f" |a a{block.ads[k]} " in line
        assert line.endswith(f" q{block.queries[k]}^a{block.ads[k]} |p p{block.positions[k]}")


def test_candidates_are_distinct_and_share_a_word_with_the_query() -> None:
    market = DEFAULT.market
    ordered = np.sort(market.candidates, axis=1)
    assert (np.diff(ordered, axis=1) > 0).all()
    ad_keywords = market.ad_words[market.candidates, 0]
    shared = ad_keywords[:, :, None] == market.query_words[:, None, :]
    assert shared.any(axis=2).all()


def test_a_page_shows_four_different_ads_for_one_query() -> None:
    block = default_blocks()[0]
    queries, ads = block.queries.reshape(-1, 4), block.ads.reshape(-1, 4)
    assert (queries == queries[:, :1]).all()
    assert (np.diff(np.sort(ads, axis=1), axis=1) > 0).all()
    assert (block.positions.reshape(-1, 4) == np.arange(4)).all()


@pytest.mark.parametrize("world", [SMALL, DEFAULT], ids=["small", "default"])
def test_the_probability_is_the_logistic_of_the_hidden_weights_of_the_line(
    world: ClickWorld,
) -> None:
    weights = world.hidden_weights()
    (block,) = impressions(world, 2_000)
    lines = vw_lines(world, block).decode().splitlines()
    margins = [sum(weights.get(name, 0.0) for name in ["", *features(line)]) for line in lines]
    np.testing.assert_allclose(block.probabilities, 1 / (1 + np.exp(-np.array(margins))))


@pytest.mark.parametrize("click_rate", [0.01, 0.05, 0.5])
def test_the_click_rate_is_the_one_asked_for(click_rate: float) -> None:
    world = ClickWorld(seed=5, click_rate=click_rate)
    labels = np.concatenate([block.labels for block in impressions(world, 100_000)])
    assert np.mean(labels == 1) == pytest.approx(click_rate, rel=0.08)


def test_clicks_are_drawn_from_the_stated_probabilities() -> None:
    """Chi-square over twenty classes of probability; 45.3 is exceeded once in a thousand seeds."""
    probabilities, clicked = column("probabilities"), column("labels") == 1
    classes = np.array_split(np.argsort(probabilities), 20)
    chi_square = sum(
        (clicked[k].sum() - probabilities[k].sum()) ** 2
        / (probabilities[k] * (1 - probabilities[k])).sum()
        for k in classes
    )
    assert chi_square < 45.3


def test_the_truth_suffers_its_entropy() -> None:
    suffered = losses(column("probabilities"), column("labels"))
    entropy = np.average(
        [block.entropy for block in default_blocks()], weights=[len(b) for b in default_blocks()]
    )
    standard_error = suffered.std() / np.sqrt(len(suffered))
    assert abs(suffered.mean() - entropy) < 4 * standard_error


def test_the_truth_beats_the_best_constant() -> None:
    probabilities = column("probabilities")
    constant = binary_entropy(probabilities.mean(keepdims=True))[0]
    assert 0.6 < binary_entropy(probabilities).mean() / constant < 0.85


def test_without_truth_clicks_are_unpredictable() -> None:
    (block,) = impressions(ClickWorld(queries=50, ads=64, words=40, truth_scale=0), 1_000)
    np.testing.assert_allclose(block.probabilities, 0.05, rtol=1e-9)


def test_the_largest_truth_keeps_entropy_finite() -> None:
    (block,) = impressions(ClickWorld(truth_scale=5), DRAW)
    assert 0 < block.entropy < np.log(2)


def test_most_hidden_weights_are_zero() -> None:
    truth = DEFAULT.truth
    for weights in (truth.queries, truth.query_words, truth.ads, truth.ad_words, truth.pairs):
        assert np.mean(weights != 0) < 0.35


def test_rare_features_matter() -> None:
    """Without the features on fewer than one line in a thousand the truth loses a good part."""
    weights = DEFAULT.hidden_weights()
    (block,) = impressions(DEFAULT, DRAW)
    named = [features(line) for line in vw_lines(DEFAULT, block).decode().splitlines()]
    counts = Counter(name for row in named for name in row)
    rare = np.array(
        [sum(weights.get(f, 0.0) for f in row if counts[f] < DRAW / 1_000) for row in named]
    )
    p = block.probabilities
    constant = binary_entropy(p.mean(keepdims=True))[0]
    without_rare = min(expected_loss(p, -rare + shift) for shift in np.linspace(0, 1, 21))
    assert without_rare - block.entropy > 0.25 * (constant - block.entropy)


def expected_loss(truth: NDArray[Any], margin_errors: NDArray[Any]) -> float:
    margins = np.log(truth / (1 - truth)) + margin_errors
    return float(np.mean(np.logaddexp(0, margins) - truth * margins))


def test_queries_follow_the_power_law() -> None:
    counts = np.sort(np.bincount(column("queries")))[::-1][:300]
    slope, _ = np.polyfit(np.log(np.arange(1, 301)), np.log(counts), 1)
    assert slope == pytest.approx(-DEFAULT.query_exponent, abs=0.05)


def test_words_of_the_log_are_heavy_tailed() -> None:
    words = DEFAULT.market.ad_words
    counts = np.sort(np.bincount(words[words >= 0]))[::-1]
    assert counts[:40].sum() > 0.3 * counts.sum()


def test_lower_positions_are_clicked_less() -> None:
    positions, clicked = column("positions"), column("labels") == 1
    rates = [clicked[positions == k].mean() for k in range(4)]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] > 2 * rates[3]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seed", -1),
        ("queries", 0),
        ("queries", 2.5),
        ("queries", True),
        ("ads", 31),
        ("advertisers", 0),
        ("words", 499),
        ("words", "many"),
        ("query_exponent", -0.1),
        ("word_exponent", 3.1),
        ("truth_scale", float("nan")),
        ("truth_scale", float("inf")),
        ("click_rate", 0.0),
        ("click_rate", 1.0),
        ("drift", -0.1),
        ("drift", 10.5),
        ("query_lengths", (1, 3)),
        ("query_lengths", (4, 3)),
        ("query_lengths", (2, 13)),
        ("query_lengths", 3),
        ("ad_lengths", (0, 3)),
        ("ad_lengths", (4.0, 6.0)),
        ("phrase", " "),
        ("phrase", "two  blanks"),
        ("phrase", None),
    ],
)
def test_parameters_out_of_range_are_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(SpecError, match=f"^{name} must be .*; got {re.escape(repr(value))}$"):
        ClickWorld(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("word", ["", "two words", "a|b", "a:b", "a^b", "line\n", 5])
def test_words_that_a_format_could_not_hold_are_refused(word: object) -> None:
    with pytest.raises(SpecError, match=f"must be words .*; got {re.escape(repr(word))}$"):
        ClickWorld(vocabulary=("good", word))  # type: ignore[arg-type]


def test_words_must_differ_also_from_those_of_the_phrase() -> None:
    with pytest.raises(SpecError, match=r"must be different words; got 'oil' 2 times"):
        ClickWorld(phrase="olive oil", vocabulary=("good", "oil"))


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"examples": -1}, "examples"),
        ({"examples": 1, "skip": -1}, "skip"),
        ({"examples": 1, "block_size": 0}, "block_size"),
        ({"examples": 1, "block_size": DRAW + 1}, "block_size"),
    ],
)
def test_impressions_refuses_before_the_first_block(arguments: dict[str, int], name: str) -> None:
    with pytest.raises(SpecError, match=f"^{name} must be a whole number"):
        impressions(SMALL, **arguments)


@pytest.mark.parametrize("ads", [32, 33, 47, 160, 175])
def test_every_ad_can_be_a_candidate_whatever_their_number(ads: int) -> None:
    world = ClickWorld(queries=5_000, ads=ads, words=50, word_exponent=0)
    assert np.array_equal(np.unique(world.market.candidates), np.arange(ads))
