"""Is the regret of a composite at most the sum, for good learners and bad ones (E11 included)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lessregret.game.algorithms import Composite
from lessregret.game.play import play
from lessregret.paper import lemma2
from lessregret.paper.finding import FAILS_AS_PRINTED, HOLDS, Finding
from tests.support.claims import check_pictures, rerun


@pytest.fixture(scope="module")
def finding() -> Finding:
    return rerun("lemma2")


def verdict_of(rows: list[dict[str, Any]]) -> str:
    return lemma2.verdict(lemma2.judge(rows))


def test_it_holds_with_the_minorant_mended(finding: Finding) -> None:
    assert finding.verdict == "holds as corrected (E11)"
    cases = {(row["problem"], row["minorant"]) for row in finding.rows if row["table"] == "regrets"}
    assert {problem for problem, _ in cases} == set(lemma2.problems(0))
    assert ("logistic + L2", "quadratic") in cases


def test_the_gaps_are_small(finding: Finding) -> None:
    for row in finding.rows:
        if row["table"] == "regrets":
            assert row["gap"] <= 1e-3 * (1 + row["regret"])


def test_the_quadratic_minorant_gives_away_less(finding: Finding) -> None:
    sums = {
        (row["minorant"], row["learner"]): row["sum_of_regrets"]
        for row in finding.rows
        if row.get("problem") == "logistic + L2"
    }
    assert all(sums["quadratic", name] < sums["linear", name] for name in lemma2.LEARNERS)


@pytest.mark.parametrize("name", ["logistic", "logistic + L2", "squared"])
def test_the_losses_slopes_are_their_own(name: str) -> None:
    rng = np.random.default_rng(1)
    problem = lemma2.problems(0)[name]
    for round in (1, 7, 100):
        loss = problem.loss(round, problem.domain.start)
        at, along = rng.uniform(-1, 1, (2, lemma2.ACTIVE))
        rise = (loss.value(at + 1e-6 * along) - loss.value(at - 1e-6 * along)) / 2e-6
        assert loss.gradient(at) @ along == pytest.approx(rise, abs=1e-6)


@pytest.mark.parametrize("minorant", ["linear", "quadratic"])
def test_minorants_are_below_the_loss_in_many_dimensions(minorant: lemma2.Minorant) -> None:
    rng = np.random.default_rng(2)
    problem = lemma2.problems(0)["logistic + L2"]
    transcript = play(Composite(lemma2.AdaptiveDescent, minorant), problem, 100)
    curved = minorant == "quadratic"
    rounds = zip(transcript.rounds_losses, transcript.played, transcript.gradients, strict=True)
    for loss, played, gradient in rounds:
        y = rng.uniform(-1, 1, lemma2.ACTIVE)
        below = gradient @ (y - played) + curved * loss.curvature @ (y - played) ** 2 / 2
        assert loss.value(y) >= loss.value(played) + below - 1e-12


@pytest.mark.parametrize("name", lemma2.LOSSES)
def test_the_printed_minorant_is_above_its_loss(finding: Finding, name: str) -> None:
    [row] = [row for row in finding.rows if row.get("loss") == name]
    assert row["as_printed"] > row["value"] + 0.9
    assert row["corrected"] <= row["value"]
    f, _, played = lemma2.LOSSES[name]
    assert lemma2.as_printed(name, played) == lemma2.tangent(name, played) == f(played)


@pytest.mark.parametrize(
    ("problem", "factor"), [("logistic", 0.3), ("squared", 0.3), ("linear", 0.999), ("linear", 1.1)]
)
def test_a_failure_is_seen(finding: Finding, problem: str, factor: float) -> None:
    doctored = [
        {**row, "sum_of_regrets": factor * row["sum_of_regrets"]}
        if row.get("problem") == problem
        else row
        for row in finding.rows
    ]
    assert verdict_of(doctored) == FAILS_AS_PRINTED


def test_a_gap_counts_against_the_lemma(finding: Finding) -> None:
    doctored = [{**row, "gap": 1e4} if "gap" in row else row for row in finding.rows]
    assert verdict_of(doctored) == FAILS_AS_PRINTED


def test_a_minorant_right_as_printed_would_be_said_to_be(finding: Finding) -> None:
    doctored = [{**row, "as_printed": row["value"]} if "as_printed" in row else row
                for row in finding.rows]  # fmt: skip
    assert verdict_of(doctored) == HOLDS


def test_the_picture_is_drawn(finding: Finding, tmp_path: Path) -> None:
    check_pictures("lemma2", finding, tmp_path)
