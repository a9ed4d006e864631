"""Does the corrected rate keep Theorem 3's promises, and does the printed one break them (E7)."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lessregret.game.algorithms import Descent, PerCoordinateRate
from lessregret.game.play import play
from lessregret.paper import swing_and_climb, theorem3
from lessregret.paper.finding import FAILS_AS_PRINTED, HOLDS, Finding
from tests.support.claims import check_pictures, rerun


@pytest.fixture(scope="module")
def finding() -> Finding:
    return rerun("theorem3")


def verdict_of(rows: list[dict[str, Any]]) -> str:
    return theorem3.verdict(theorem3.judge(rows))


def test_it_holds_as_corrected(finding: Finding) -> None:
    assert finding.verdict == "holds as corrected (E7)"
    failing = [claim for claim, held in theorem3.judge(finding.rows).items() if not held]
    assert failing == [
        theorem3.PRINTED_BOUND,
        theorem3.PRINTED_REGRET,
        theorem3.PRINTED_WORSE,
    ]


def test_the_printed_rate_has_more_regret_than_the_theorem_says() -> None:
    """E7 is not a matter of the proof: F = [0, 1], linear losses, Algorithm 1 as printed."""
    problem = swing_and_climb.problem(1.0, 4000)
    transcript = play(Descent(PerCoordinateRate(as_printed=True)), problem)
    energy = sum(float(loss.slope[0]) ** 2 for loss in problem.losses)  # type: ignore[attr-defined]
    assert transcript.regret() > 1.44 * sqrt(energy) > sqrt(2 * energy)


@pytest.mark.parametrize(("constant", "limit"), [(1.0, 1.5), (1 / sqrt(2), sqrt(2))])
def test_swing_and_climb_approaches_its_limit(constant: float, limit: float) -> None:
    missing = [
        limit - theorem3.sharpness(constant, swings)["regret"] for swings in (100, 1000, 10_000)
    ]
    assert missing[0] > 2 * missing[1] > 4 * missing[2] > 0
    assert missing[2] < 0.035


def test_swing_and_climb_needs_no_large_gradients() -> None:
    for constant in (1.0, 1 / sqrt(2)):
        assert np.abs(swing_and_climb.gradients(constant, 500)).max() <= 2


def test_four_equal_coordinates_are_worse_than_theorem_2_allows(finding: Finding) -> None:
    [row] = [
        row
        for row in theorem3.of_rate(finding.rows, "as printed")
        if row["problem"] == "the same in 4 coordinates"
    ]
    assert row["theorem2"] == pytest.approx(row["theorem3"])
    assert row["bound"] >= row["regret"] > 1.03 * row["theorem2"]


def test_theorem_2_over_theorem_3() -> None:
    assert theorem3.compared("all equal", 64)["ratio"] == pytest.approx(1)
    assert theorem3.compared("one coordinate only", 64)["ratio"] == pytest.approx(8)
    k = 63
    expected = sqrt(k + 1) * sqrt(k**3 + k**2) / (k**1.5 + k * k**0.5)
    assert theorem3.compared("Theorem 1's family", k + 1)["ratio"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("column", "rate", "factor"),
    [("bound", "corrected", 1.2), ("regret", "corrected", 50.0), ("regret", "as printed", 50.0)],
)
def test_a_failure_is_seen(finding: Finding, column: str, rate: str, factor: float) -> None:
    doctored = [{**row, column: factor * row[column]} if row.get("rate") == rate else row
                for row in finding.rows]  # fmt: skip
    assert verdict_of(doctored) == FAILS_AS_PRINTED


def test_theorem_2_below_theorem_3_is_seen(finding: Finding) -> None:
    doctored = [{**row, "ratio": 0.9} if "ratio" in row else row for row in finding.rows]
    assert verdict_of(doctored) == FAILS_AS_PRINTED


def test_a_printed_rate_that_keeps_its_promise_would_be_said_to(finding: Finding) -> None:
    doctored = [
        {**row, "bound": 0.9 * row["bound"], "regret": 0.5 * row["regret"]}
        if row.get("rate") == "as printed"
        else row
        for row in finding.rows
    ]
    assert verdict_of(doctored) == HOLDS


def test_the_picture_is_drawn(finding: Finding, tmp_path: Path) -> None:
    check_pictures("theorem3", finding, tmp_path)


def test_the_page_tells_the_numbers_of_its_rows(finding: Finding) -> None:
    printed = theorem3.of_rate(finding.rows, "as printed")
    above = sum(row["bound"] > row["theorem3"] for row in printed)
    assert f"above √2 on {above} of {len(printed)} problems" in finding.markdown()
    doctored = [{**row, "bound": row["theorem3"]} for row in printed[1:]] + printed[:1]
    assert f"of {len(printed)} problems" in theorem3.about_printed(doctored)
    assert f"on {above} of" not in theorem3.about_printed(doctored)
