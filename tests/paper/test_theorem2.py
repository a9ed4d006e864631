"""Is the regret of the global adaptive rate within its bounds, and R_min the least of them."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lessregret.paper import theorem2
from lessregret.paper.finding import FAILS_AS_PRINTED, HOLDS, Finding
from tests.support.claims import check_pictures, rerun


@pytest.fixture(scope="module")
def finding() -> Finding:
    return rerun("theorem2")


def judged(rows: list[dict[str, Any]]) -> str:
    return HOLDS if all(theorem2.judge(rows).values()) else FAILS_AS_PRINTED


def test_it_holds_on_every_problem(finding: Finding) -> None:
    assert finding.verdict == HOLDS
    for row in finding.rows:
        assert row["regret"] <= row["bound_by_coordinate"] <= row["bound"] * (1 + 1e-12)
        assert row["bound"] <= row["theorem"] == pytest.approx(sqrt(2) * row["least_bound"])


def test_the_constant_cannot_be_improved(finding: Finding) -> None:
    [row] = [row for row in finding.rows if row["problem"] == "swing and climb"]
    assert row["regret"] > 0.97 * row["theorem"]


def test_b_by_hand() -> None:
    rates = np.array([[1.0, 0.5]])
    assert theorem2.bounds(rates, np.array([4.0, 2.0]), 3.0)[0] == 9 / (2 * 0.5) + (4 + 1) / 2


def test_the_families_searched_fall() -> None:
    rng = np.random.default_rng(0)
    rates = 1 / np.sqrt(np.arange(1.0, 51))
    families = [*theorem2.given_families(rates, 50), theorem2.random_falling(rates, rng)]
    assert all((np.diff(family, axis=1) <= 1e-15).all() for family in families)


def test_rates_that_rise_would_go_below_the_least_bound() -> None:
    """Why the minimum is over falling sequences: B is no bound for others, nor has it a minimum."""
    squares = np.ones(100)
    rising = np.where(np.arange(100) < 99, 1e-6, 1.0)
    assert theorem2.bounds(rising[None, :], squares, 1.0)[0] < 0.2 * sqrt(squares.sum())


@pytest.mark.parametrize(
    ("column", "factor"),
    [("regret", 100.0), ("bound", 1.1), ("theorem", 1.01), ("searched", 0.99), ("searched", 1.1)],
)
def test_a_failure_is_seen(finding: Finding, column: str, factor: float) -> None:
    doctored = [{**row, column: factor * row[column]} for row in finding.rows]
    assert judged(doctored) == FAILS_AS_PRINTED


def test_the_picture_is_drawn(finding: Finding, tmp_path: Path) -> None:
    check_pictures("theorem2", finding, tmp_path)
