"""Does Theorem 1's family behave as it should, and is its fast simulation the game."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lessregret.errors import SpecError
from lessregret.game.algorithms import ConstantRate, Descent, GlobalRate, PerCoordinateRate
from lessregret.game.algorithms.algorithm import Seen
from lessregret.game.algorithms.descent import Rate
from lessregret.game.domains import Domain, Point
from lessregret.game.play import play
from lessregret.game.problems import BadFamily
from lessregret.paper import bad_family, theorem1
from lessregret.paper.finding import FAILS_AS_PRINTED, HOLDS, Finding
from tests.support.claims import REQUEST, check_pictures, rerun

NOTES = {
    8: (576, 87.5, 64.2, 25.7, 29.6),
    16: (4352, 348.4, 256.2, 65.1, 78.7),
    32: (33792, 1389.9, 1024.3, 168.3, 211.3),
    48: (112896, 3124.5, 2304.3, 295.9, 378.5),
}
"""T, then regrets: global, best constant, per coordinate, as printed (notes, §11)"""
COLUMNS = ("rounds", "global", "best_constant", "per_coordinate", "as_printed")


@pytest.fixture(scope="module")
def finding() -> Finding:
    return rerun("theorem1")


def verdict_of(rows: list[dict[str, Any]]) -> str:
    return theorem1.verdict(theorem1.judge(rows))


@pytest.mark.parametrize("k", NOTES)
def test_the_table_of_the_notes_comes_out(finding: Finding, k: int) -> None:
    [row] = [row for row in finding.rows if row.get("k") == k]
    for column, expected in zip(COLUMNS, NOTES[k], strict=True):
        assert abs(row[column] - expected) <= 0.1, column


def test_the_slopes(finding: Finding) -> None:
    slopes = {
        (row["rate"], row["from_k"]): row["slope"]
        for row in theorem1.of_table(finding.rows, "slopes")
    }
    assert abs(slopes["global", 8] - 0.66) <= 0.02
    assert abs(slopes["best_constant", 8] - 0.66) <= 0.02
    assert abs(slopes["as_printed", 8] - 0.5) <= 0.03
    assert abs(slopes["per_coordinate_oscillating", 8] - 0.5) <= 0.03
    # Small k pull this one down, see the page: it is within 0.03 of 1/2 from k = 32 on.
    assert 0.46 <= slopes["per_coordinate", 8] <= 0.47
    assert abs(slopes["per_coordinate", 32] - 0.5) <= 0.03


def test_it_holds_once_the_index_is_mended(finding: Finding) -> None:
    assert finding.verdict == "holds as corrected (E3, E4, E5)"
    claims = theorem1.judge(finding.rows)
    assert [claim for claim, held in claims.items() if not held] == [theorem1.AS_PRINTED]


@pytest.mark.parametrize("rate", theorem1.GRID)
def test_constant_rates_are_the_game_for_k_8(rate: float) -> None:
    check_constant(8, rate)


@pytest.mark.parametrize("rate", theorem1.GRID[::12])
def test_constant_rates_are_the_game_for_k_16(rate: float) -> None:
    check_constant(16, rate)


def check_constant(k: int, rate: float) -> None:
    transcript = play(Descent(ConstantRate(rate)), BadFamily(k))
    fast = bad_family.constant_regret(k, rate)
    assert fast.total == pytest.approx(transcript.regret(), rel=1e-11)
    assert fast.oscillating == pytest.approx(sum(transcript.losses[: k**3]), rel=1e-11)


@pytest.mark.parametrize("k", [8, 16])
def test_adaptive_rates_are_the_game(k: int) -> None:
    pairs = {
        bad_family.global_regret(k): GlobalRate(),
        bad_family.per_coordinate_regret(k): PerCoordinateRate(),
        bad_family.per_coordinate_regret(k, as_printed=True): PerCoordinateRate(as_printed=True),
    }
    for fast, rate in pairs.items():
        played = play(Descent(rate), BadFamily(k)).regret()
        assert fast.total == pytest.approx(played, rel=1e-11)


class Given(Rate):
    """Any sequence of rates."""

    def __init__(self, rates: Point) -> None:
        self.rates = rates

    def start(self, domain: Domain, rounds: int | None) -> None:
        self.left = iter(self.rates.tolist())

    def __call__(self, seen: Seen) -> float:
        return float(next(self.left))


@pytest.mark.parametrize("name", theorem1.falling_rates(8, 0))
def test_falling_rates_fall_and_are_the_game(name: str) -> None:
    rates = theorem1.falling_rates(8, 0)[name]
    assert (np.diff(rates) <= 0).all()
    fast = bad_family.falling_regret(8, rates)
    assert fast.total == pytest.approx(play(Descent(Given(rates)), BadFamily(8)).regret())


def test_a_constant_rate_without_a_cycle_is_played_to_the_end() -> None:
    rates = [1e-4] * 50
    assert bad_family.constant_oscillation(1e-4, 0.1, 50) == bad_family.oscillation(rates, 0.1)


def test_random_falling_rates_never_go_below_the_floor() -> None:
    """The repaired argument of E5, for every falling sequence."""
    rng = np.random.default_rng(3)
    k = 6
    for _ in range(200):
        scale = 10 ** rng.uniform(-3, 0.5)
        rates = np.sort(scale * rng.random(bad_family.rounds(k)) ** rng.uniform(0, 8))[::-1]
        assert theorem1.above_floor(theorem1.as_falling(k, "random", rates))


def test_the_floor_is_the_least_of_both_halves() -> None:
    for k in (5, 8, 20):
        halves = [
            bad_family.oscillation_floor(k, last) + bad_family.climbing_floor(k, last)
            for last in np.linspace(0, 2, 4001)
        ]
        assert bad_family.floor(k) <= min(halves) <= 1.01 * bad_family.floor(k)


def test_with_the_printed_index_the_theorem_would_fail(finding: Finding) -> None:
    mended = [{**row, "slope": 0.667} if row.get("rate") == "misprinted" else row
              for row in finding.rows]  # fmt: skip
    assert verdict_of(mended) == HOLDS
    assert all(
        row["misprinted"] < row["floor"] for row in theorem1.of_table(finding.rows, "regret")
    )


@pytest.mark.parametrize(
    ("column", "factor"), [("global", 0.5), ("per_coordinate", 4.0), ("floor", 0.5), ("floor", 2.0)]
)
def test_a_wrong_regret_is_seen(finding: Finding, column: str, factor: float) -> None:
    doctored = [{**row, column: factor * row[column]} if "k" in row else row
                for row in finding.rows]  # fmt: skip
    assert verdict_of(doctored) == FAILS_AS_PRINTED


@pytest.mark.parametrize(("rate", "slope"), [("global", 0.5), ("per_coordinate", 0.6)])
def test_a_wrong_slope_is_seen(finding: Finding, rate: str, slope: float) -> None:
    doctored = [{**row, "slope": slope} if row.get("rate") == rate else row
                for row in finding.rows]  # fmt: skip
    assert verdict_of(doctored) == FAILS_AS_PRINTED


def test_a_falling_sequence_below_its_floor_is_seen(finding: Finding) -> None:
    doctored = [{**row, "oscillating": 0.0} if row.get("sequence") == "2/√t" else row
                for row in finding.rows]  # fmt: skip
    assert verdict_of(doctored) == FAILS_AS_PRINTED


@pytest.mark.parametrize(
    "sizes", [(8, 16, 32), (32, 8, 16, 8), (8, 16), (33, 70), np.array([9, 18])]
)
def test_other_sizes_are_judged_as_well(sizes: Sequence[int], tmp_path: Path) -> None:
    finding = theorem1.run(REQUEST, sizes=sizes)
    assert finding.verdict == "holds as corrected (E3, E4, E5)"
    told = f"for {len(set(sizes))} values of k from {min(sizes)} to {max(sizes)}"
    assert told in finding.markdown()
    theorem1.draw(finding, str(tmp_path / "picture.svg"))


@pytest.mark.parametrize("sizes", [(), (8,), (8, 8), (8, 15), (4, 8), (-8, 16), (8, 16.5), "ab"])
def test_sizes_that_cannot_be_judged_are_refused(sizes: Any) -> None:
    with pytest.raises(SpecError, match="sizes: expected whole numbers from 8 up"):
        theorem1.run(REQUEST, sizes=sizes)


def test_the_page_tells_the_numbers_of_its_rows(finding: Finding) -> None:
    doctored = [
        {**row, "per_coordinate_oscillating": 2 * row["rounds"] ** 0.5,
         "per_coordinate": 2 * row["rounds"] ** 0.5 + 3 * row["k"]} if "k" in row else row
        for row in finding.rows
    ]  # fmt: skip
    assert "is 2.00·√T for the oscillation plus 3.00 for each" in theorem1.about_slopes(doctored)
    [last] = [row for row in finding.rows if row.get("k") == max(theorem1.SIZES)]
    told = last["per_coordinate_oscillating"] / last["rounds"] ** 0.5
    assert f"is {told:.2f}·√T for the oscillation" in finding.markdown()


def test_the_picture_is_drawn(finding: Finding, tmp_path: Path) -> None:
    check_pictures("theorem1", finding, tmp_path)
