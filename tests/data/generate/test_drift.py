"""Do hidden weights change as drift says, and only they?"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest
from numpy.typing import NDArray

from lessregret.data.generate import Block, ClickWorld, binary_entropy, csr_rows, impressions
from lessregret.errors import SpecError
from tests.support.click_logs import DRAW, DRIFTING, SMALL, losses, text

LARGE = ClickWorld(seed=1, drift=2.0)
ERA = 500_000
"""impressions of an era of LARGE"""


def test_without_drift_the_log_is_that_of_a_world_that_knows_none() -> None:
    assert replace(DRIFTING, drift=0.0) == SMALL
    assert text(replace(DRIFTING, drift=0.0), 1_000, skip=3 * DRAW) == text(
        SMALL, 1_000, skip=3 * DRAW
    )


def test_the_log_begins_as_without_drift_and_goes_on_differently() -> None:
    assert text(DRIFTING, DRAW) == text(SMALL, DRAW)
    assert text(DRIFTING, DRAW, skip=DRAW) != text(SMALL, DRAW, skip=DRAW)


def test_a_drifting_log_stays_as_it_was_published() -> None:
    assert sha256(text(DRIFTING, 1_000, skip=20 * DRAW)).hexdigest()[:16] == "d86ad2379189afd9"


@pytest.mark.parametrize("draw", [1, 6, 7, 13, 10**12])
def test_any_block_needs_nothing_that_precedes_it(draw: int) -> None:
    """Eras of DRIFTING are 6.1 draws long, so blocks lie in the first, the second and far ones."""
    *_, last = impressions(DRIFTING, 3 * DRAW, skip=(draw - 1) * DRAW)
    fresh = replace(DRIFTING)
    (alone,) = impressions(fresh, DRAW, skip=(draw + 1) * DRAW)
    assert alone.first == last.first
    assert np.array_equal(alone.probabilities, last.probabilities)
    assert np.array_equal(alone.labels, last.labels)


def test_queries_do_not_drift() -> None:
    for still, drifting in zip(
        impressions(SMALL, 3 * DRAW), impressions(DRIFTING, 3 * DRAW), strict=True
    ):
        assert np.array_equal(still.queries, drifting.queries)


@pytest.mark.parametrize("impression", [0, 100_000, 250_000, 400_000, 650_000])
def test_weights_turn_by_a_right_angle_in_an_era(impression: int) -> None:
    """The correlation with the beginning of the era is the cosine; the variance stays."""
    began = impression // ERA
    draw = impression // DRAW * DRAW
    beginning, now = (era_weights(LARGE, began), LARGE.column_weights(impression)[4:])
    angle = np.pi / 2 * (draw / ERA - began)
    assert np.corrcoef(beginning, now)[0, 1] == pytest.approx(np.cos(angle), abs=0.01)
    assert now.std() == pytest.approx(beginning.std(), rel=0.02)


def era_weights(world: ClickWorld, number: int) -> NDArray[np.float64]:
    return world.numbering.flat(world.era(number).truth)[4:]


def test_weights_of_two_eras_have_nothing_in_common() -> None:
    first, second, third = (era_weights(LARGE, number) for number in range(3))
    for one, other in ((first, second), (second, third), (first, third)):
        assert abs(np.corrcoef(one, other)[0, 1]) < 0.01


def test_positions_do_not_drift() -> None:
    assert np.array_equal(LARGE.column_weights(0)[:4], LARGE.column_weights(700_000)[:4])


def test_the_truth_suffers_its_entropy_while_it_drifts() -> None:
    blocks = list(impressions(LARGE, 30 * DRAW))
    suffered = np.concatenate([losses(b.probabilities, b.labels) for b in blocks])
    entropy = np.mean([block.entropy for block in blocks])
    assert abs(suffered.mean() - entropy) < 4 * suffered.std() / np.sqrt(len(suffered))


def test_yesterdays_truth_loses_to_todays() -> None:
    """An era later the old weights predict worse than a constant does."""
    blocks = list(impressions(LARGE, 5 * DRAW, skip=ERA))
    old = np.concatenate([predicted_by(LARGE, 0, block) for block in blocks])
    labels = np.concatenate([block.labels for block in blocks])
    rate = np.mean(labels == 1, keepdims=True)
    assert losses(old, labels).mean() > binary_entropy(rate)[0]
    assert np.mean([block.entropy for block in blocks]) < 0.85 * binary_entropy(rate)[0]


def predicted_by(world: ClickWorld, impression: int, block: Block) -> NDArray[np.float64]:
    margins = csr_rows(world, block) @ world.column_weights(impression) + world.intercept
    return 1 / (1 + np.exp(-margins))


def test_the_click_rate_stays_near_the_one_asked_for() -> None:
    """Exactly so, in expectation, only where eras begin; between, the intercept is interpolated."""
    rates = [np.mean(b.probabilities) for b in impressions(LARGE, 60 * DRAW)]
    assert np.mean(rates) == pytest.approx(LARGE.click_rate, rel=0.1)
    assert min(rates) > 0.75 * LARGE.click_rate
    assert max(rates) < 1.25 * LARGE.click_rate


@pytest.mark.parametrize("impression", [-1, 2.5])
def test_impressions_are_counted_by_whole_numbers(impression: float) -> None:
    with pytest.raises(SpecError, match=r"^impression must be a whole number"):
        SMALL.column_weights(impression)  # type: ignore[arg-type]
