"""Is regret bounded by how much each coordinate's gradients vary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lessregret.game.algorithms import Optimistic, RestartedLazyProjection
from lessregret.paper import variance
from lessregret.paper.finding import FAILS, HOLDS, Finding, holds_as_corrected
from tests.support.claims import check_pictures, rerun


@pytest.fixture(scope="module")
def finding() -> Finding:
    return rerun("variance")


def verdict_of(rows: list[dict[str, Any]]) -> str:
    return variance.verdict(variance.judge(rows))


def doctored(rows: list[dict[str, Any]], table: str, **values: Any) -> list[dict[str, Any]]:
    """The rows, with some numbers of one table replaced."""
    return [{**row, **values} if row["table"] == table else row for row in rows]


def test_the_claim_holds_with_its_erratum(finding: Finding) -> None:
    assert finding.verdict == holds_as_corrected("E14")
    assert finding.markdown().count("**fails") == 2


@pytest.mark.parametrize("rounds", variance.CONSTANT_HORIZONS)
def test_the_numbers_of_the_notes_for_a_constant_gradient(finding: Finding, rounds: int) -> None:
    constant = variance.of_table(finding.rows, "constant")
    [row] = [row for row in constant if row["rounds"] == rounds]
    assert row["descent"] == pytest.approx(1.0)
    assert row["told"] == row["restarted"] == pytest.approx(3.5)
    assert row["optimistic"] == pytest.approx(1.419, abs=1e-3)


def test_cauchy_schwarz_is_equal_for_equal_noise_and_off_by_root_n_for_one(
    finding: Finding,
) -> None:
    spread = {row["spread"]: row for row in variance.of_table(finding.rows, "spread")}
    alike, one = spread["all alike"], spread["one loud, seven silent"]
    assert alike["together"] == pytest.approx(alike["apart"], rel=0.01)
    assert one["together"] == pytest.approx(8**0.5 * one["apart"])


@pytest.mark.parametrize(
    ("table", "values"),
    [
        ("unequal", {"within": False}),
        ("unequal", {"joint": 3.0}),
        ("spread", {"apart": 1000.0}),
    ],
)
def test_a_claim_that_fails_is_seen(finding: Finding, table: str, values: dict[str, Any]) -> None:
    assert verdict_of(doctored(finding.rows, table, **values)) == FAILS


def test_linear_growth_against_the_adversary_is_seen(finding: Finding) -> None:
    grown = [
        {**row, "restarted": row["untold"]} if row["table"] == "contrary" else row
        for row in finding.rows
    ]
    assert verdict_of(grown) == FAILS


def test_if_neither_telling_nor_a_constant_were_needed_it_would_hold(finding: Finding) -> None:
    rows = doctored(finding.rows, "constant", optimistic=0.0, told=0.0)
    rows = [{**row, "untold": row["told"]} if row["table"] == "contrary" else row for row in rows]
    assert verdict_of(rows) == HOLDS


def test_an_epoch_begins_in_the_middle_at_half_the_rate() -> None:
    learner = RestartedLazyProjection(0.0, 2.0)
    sign, rate = 1.0, learner.rate
    while learner.rate == rate:
        learner.feed(sign)
        sign = -sign
    assert (learner.rate, learner.count, learner.total) == (rate / 2, 0, 0.0)
    assert learner.point == 1.0


def test_a_coordinate_of_no_width_stays() -> None:
    learner = Optimistic(1.0, 1.0)
    learner.feed(3.0)
    assert learner.point == 1.0


def test_the_pictures(finding: Finding, tmp_path: Path) -> None:
    check_pictures("variance", finding, tmp_path)
