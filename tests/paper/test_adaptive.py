"""Does follow the leading history keep up with change, and each coordinate with its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lessregret.errors import SpecError
from lessregret.game.algorithms import JointLeadingHistory, LeadingHistory
from lessregret.game.algorithms.leading_history import Experts, guarantee, lifetime
from lessregret.paper import adaptive
from lessregret.paper.finding import FAILS, Finding, holds_as_corrected
from tests.support.claims import check_pictures, rerun


@pytest.fixture(scope="module")
def finding() -> Finding:
    return rerun("adaptive")


def verdict_of(rows: list[dict[str, Any]]) -> str:
    return adaptive.verdict(adaptive.judge(rows))


def doctored(finding: Finding, table: str, **values: Any) -> list[dict[str, Any]]:
    """The rows, with some numbers of one table replaced."""
    return [{**row, **values} if row["table"] == table else row for row in finding.rows]


def test_the_claim_holds_with_its_errata_but_not_its_remark(finding: Finding) -> None:
    assert finding.verdict == holds_as_corrected("E12", "E13") + ", except for a remark"
    assert finding.markdown().count("**fails") == 3


def test_the_sentences_on_the_linear_example(finding: Finding) -> None:
    linear = {row["algorithm"]: row for row in adaptive.of_table(finding.rows, "linear")}
    assert (linear["constant"]["regret"], linear["constant"]["second_half"]) == (0.0, 5000.0)
    assert linear["optimistic"]["second_half"] > 4900
    # Descent stands at 0 with a rate of 1/√T and is at 1 after √T rounds.
    assert linear["theorem3"]["second_half"] == pytest.approx(50.7, abs=0.1)


def test_the_joint_regret_is_in_proportion_to_n(finding: Finding) -> None:
    per_n = [
        row["joint_shifting"] / row["size"] for row in adaptive.of_table(finding.rows, "together")
    ]
    assert max(per_n) == pytest.approx(min(per_n))


@pytest.mark.parametrize(
    ("table", "values"),
    [
        ("experts", {"worst_ratio": 1.01}),
        ("switching", {"second_half": 100.0}),
        ("apart", {"joint_shifting": 1.0}),
        ("apart", {"joint_adaptive": 1.0}),
        ("together", {"joint_adaptive": 1.0}),
        ("linear", {"regret": 1.0}),
        ("linear", {"second_half": 5000.0 / 3}),
    ],
)
def test_a_claim_that_fails_is_seen(finding: Finding, table: str, values: dict[str, Any]) -> None:
    assert verdict_of(doctored(finding, table, **values)) == FAILS


def test_fast_growth_is_seen(finding: Finding) -> None:
    grown = [
        {**row, "after_switch": row["rounds"] ** 0.5} if row["table"] == "growth" else row
        for row in finding.rows
    ]
    assert verdict_of(grown) == FAILS


def test_errata_that_were_not_needed_are_not_named(finding: Finding) -> None:
    rows = doctored(finding, "mixture", mean_of_both=0.0)
    assert verdict_of(rows).startswith(holds_as_corrected("E12"))
    rows = [
        {**row, "second_half": 5000.0} if row.get("algorithm") in adaptive.DESCENTS else row
        for row in rows
    ]
    assert verdict_of(rows) == holds_as_corrected("E12")


def test_no_expert_alive_is_beaten_by_more_than_the_guarantee() -> None:
    """Σ f(x_t) − f(expert) ≤ (2/α)(ln r + ln|I|) on every [r, s] that the expert born in r sees."""
    learner = LeadingHistory(0.0, 1.0, curvature=1.0)
    learner.steepest = 1.0
    rng = np.random.default_rng(0)
    excess: dict[int, float] = {}
    for t in range(1, 400):
        # A target on one of the two sides that changes now and then.
        target = float((t // 70) % 2 == (rng.random() < 0.1))
        gradient = learner.point - target
        offset = learner.experts.points[:, 0] - learner.point
        gains = -(gradient * offset + offset**2 / 2)
        for birth, gain in zip(learner.experts.births.astype(int).tolist(), gains, strict=True):
            excess[birth] = excess.get(birth, 0.0) + float(gain)
            assert excess[birth] <= guarantee(learner.exp_concavity(), birth, t) + 1e-9
        learner.feed(gradient, 1.0)


def test_the_only_newcomer_is_born_now_and_starts_at_the_play() -> None:
    experts = Experts(np.array([0.25, 0.75]))
    rng = np.random.default_rng(0)
    for t in range(1, 200):
        experts.points += rng.normal(size=experts.points.shape)
        before = set(experts.births.tolist())
        experts.reweigh(rng.random(len(experts.births)))
        assert set(experts.births.tolist()) - before == {t + 1}
        assert all(t + 1 <= birth + lifetime(int(birth)) for birth in experts.births)
        np.testing.assert_allclose(np.exp(experts.logs).sum(), 1.0)
    # Where nobody is dropped the newcomer does not change the play.
    quiet = Experts(np.array([0.25]))
    quiet.points[:] = 0.5
    quiet.reweigh(np.zeros(1))
    np.testing.assert_allclose(quiet.points[-1], quiet.combined())


def test_every_recent_past_has_an_expert() -> None:
    """For every s ≤ t somebody born in [s, (s + t)/2] is alive: the proof of log² T rests on it."""
    experts = Experts(np.zeros(1))
    for t in range(1, 300):
        births = np.sort(experts.births)
        for s in range(1, t + 1):
            first = births[np.searchsorted(births, s)]
            assert first <= (s + t) / 2
        experts.reweigh(np.zeros(len(experts.births)))


def test_without_curvature_it_will_not_start() -> None:
    for make in (lambda: LeadingHistory(0.0, 1.0, 0.0), lambda: JointLeadingHistory(-1.0)):
        with pytest.raises(SpecError, match="curvature above 0"):
            make()


def test_a_coordinate_of_no_width_stays() -> None:
    learner = LeadingHistory(1.0, 1.0, 1.0)
    learner.feed(0.0, 1.0)
    assert learner.point == 1.0


def test_the_pictures(finding: Finding, tmp_path: Path) -> None:
    check_pictures("adaptive", finding, tmp_path)


def test_the_claims_tell_the_numbers_of_their_rows(finding: Finding) -> None:
    doctored = [{**row, "size": 5} if row["table"] == "apart" else row for row in finding.rows]
    told = "\n".join(adaptive.judge(doctored))
    assert "where 5 coordinates switch" in told
    assert f"for every t up to {adaptive.EXPERT_ROUNDS:,}" in told
