"""Is Lemma 1 true of every sequence one can think of, and its worst case the worst."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessregret.paper import lemma1
from lessregret.paper.finding import HOLDS, Finding
from tests.support.claims import check_pictures, rerun


@pytest.fixture(scope="module")
def finding() -> Finding:
    return rerun("lemma1")


def test_it_holds(finding: Finding) -> None:
    assert finding.verdict == HOLDS
    assert max(row["ratio"] for row in finding.rows) <= 1


# Numbers whose squares and sums neither vanish nor overflow.
@given(st.lists(st.one_of(st.just(0.0), st.floats(1e-100, 1e100)), min_size=1, max_size=60))
def test_no_sequence_breaks_it(numbers: list[float]) -> None:
    assert lemma1.ratio(np.array(numbers)) <= lemma1.worst_ratio(len(numbers)) + 1e-12


def test_ratios_by_hand() -> None:
    sequences = np.array([[4.0, 0.0], [0.0, 9.0], [0.0, 0.0], [1.0, 3.0]])
    assert lemma1.ratios(sequences).tolist() == [0.5, 0.5, 0.0, (1 + 3 / 2) / 4]


@pytest.mark.parametrize("length", [1, 2, 3, 10, 300])
def test_the_worst_sequence_attains_the_worst_ratio(length: int) -> None:
    sequence = lemma1.worst_sequence(length)
    assert len(sequence) == length
    assert lemma1.ratio(sequence) == pytest.approx(lemma1.worst_ratio(length), rel=1e-12)


def test_limits() -> None:
    n = 1_000_000
    assert (1 - lemma1.worst_ratio(n)) * n == pytest.approx(2, rel=0.01)
    assert (1 - lemma1.ratio(np.ones(n))) * n**0.5 == pytest.approx(0.73, abs=0.001)


def test_hill_climbing_finds_the_worst_case(finding: Finding) -> None:
    climbed = [row for row in finding.rows if row["sequence"] == "hill-climbed"]
    assert len(climbed) == len(lemma1.CLIMBED)
    for row in climbed:
        assert row["ratio"] == pytest.approx(lemma1.worst_ratio(row["length"]), rel=1e-3)


@pytest.mark.parametrize(
    ("kind", "ratio"), [("growing", 1.001), ("hill-climbed", 0.99), ("constant", 0.5)]
)
def test_a_failure_is_seen(finding: Finding, kind: str, ratio: float) -> None:
    doctored = [{**row, "ratio": ratio} if row["sequence"] == kind else row
                for row in finding.rows]  # fmt: skip
    assert not all(lemma1.judge(doctored).values())


def test_the_picture_is_drawn(finding: Finding, tmp_path: Path) -> None:
    check_pictures("lemma1", finding, tmp_path)


def test_the_page_tells_the_numbers_of_its_rows(finding: Finding) -> None:
    assert "1 − 2.00/n" in finding.markdown()
    assert "1 − 0.73/√n" in finding.markdown()
    doctored = [{**row, "ratio": 1 - 5 / row["length"]} for row in finding.rows]
    assert "1 − 5.00/n" in lemma1.about_limits(doctored)
