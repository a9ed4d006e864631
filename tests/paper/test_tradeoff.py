"""Is §2.2 right about its two problems, and does its verdict see when it is not."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from lessregret.game.problems import Climbing, Oscillating
from lessregret.paper import tradeoff
from lessregret.paper.finding import FAILS_AS_PRINTED, HOLDS, Finding
from tests.support.claims import check_pictures, rerun

T, G, D = tradeoff.ROUNDS, tradeoff.SLOPE, tradeoff.WIDTH


@pytest.fixture(scope="module")
def finding() -> Finding:
    return rerun("tradeoff")


def verdict_of(rows: list[dict[str, Any]]) -> str:
    return tradeoff.verdict(tradeoff.judge(rows))


def test_it_holds_within_the_range_only(finding: Finding) -> None:
    assert finding.verdict == "holds as corrected (E19)"
    inside = [row for row in finding.rows if row["in_range"]]
    assert verdict_of(inside) == HOLDS
    assert len(inside) > 20


def test_the_oscillating_problem_costs_what_the_paper_says() -> None:
    for rate in (tradeoff.LEAST, 0.01, tradeoff.BEST, tradeoff.LARGEST):
        problem = Oscillating(T, tradeoff.EPSILON, G, D)
        assert tradeoff.regret(rate, problem) == pytest.approx(T / 2 * G**2 * rate, rel=1e-12)


def test_an_odd_number_of_rounds_lacks_half_a_swing() -> None:
    problem = Oscillating(T - 1, tradeoff.EPSILON, G, D)
    expected = G**2 * 0.01 * (T - 2) / 2 + G * tradeoff.EPSILON
    assert tradeoff.regret(0.01, problem) == pytest.approx(expected, rel=1e-12)


def test_a_climb_costs_twice_the_lower_bound() -> None:
    """D²/(2η) + GD/2 where the climb ends on D exactly."""
    rate = D / G / 50
    assert tradeoff.regret(rate, Climbing(T, G, D)) == pytest.approx(D**2 / (2 * rate) + G * D / 2)


def test_outside_the_range_the_lower_bound_fails_on_both_sides(finding: Finding) -> None:
    assert not tradeoff.lower_bound_holds(finding.rows[0])
    assert not tradeoff.lower_bound_holds(finding.rows[-1])
    assert finding.rows[-1]["oscillating"] == pytest.approx(G * D * T / 2)


def test_the_recommended_rate_is_nearly_the_best(finding: Finding) -> None:
    best = min(finding.rows, key=lambda row: abs(row["rate"] - tradeoff.BEST))
    assert best["upper_bound"] == pytest.approx(G * D * sqrt(T))
    assert tradeoff.worst(best) <= 1.05 * min(tradeoff.worst(row) for row in finding.rows)


def test_with_slope_0_in_the_kink_the_point_gets_stuck() -> None:
    assert tradeoff.stuck_regret() == pytest.approx(G * tradeoff.EPSILON)


@pytest.mark.parametrize(
    ("column", "factor"),
    [("oscillating", 1.01), ("oscillating", 0.99), ("climbing", 0.4), ("climbing", 3.0)],
)
def test_a_failure_is_seen(finding: Finding, column: str, factor: float) -> None:
    doctored = [{**row, column: factor * row[column]} for row in finding.rows]
    assert verdict_of(doctored) == FAILS_AS_PRINTED


def test_the_picture_is_drawn(finding: Finding, tmp_path: Path) -> None:
    check_pictures("tradeoff", finding, tmp_path)


def test_the_page_tells_the_numbers_of_its_rows(finding: Finding) -> None:
    [best] = [row for row in finding.rows if row["rate"] == tradeoff.BEST]
    share = tradeoff.worst(best) / best["upper_bound"]
    assert f"That is {share:.2f} of what the upper bound allows" in finding.markdown()
    doctored = {**best, "upper_bound": 4 * tradeoff.worst(best)}
    assert "That is 0.25 of what" in tradeoff.about_best(finding.rows, doctored)
