"""Does regret grow like √T without curvature and like log T with it, in one run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lessregret.errors import SpecError
from lessregret.game.algorithms import AdaptiveDescent, Composite, JointAdaptiveDescent, Seen
from lessregret.game.domains import Box, L2Ball
from lessregret.game.play import play
from lessregret.game.problems import ContraryCurvature
from lessregret.paper import strong_convexity
from lessregret.paper.finding import FAILS, HOLDS, Finding
from tests.support.claims import REQUEST, check_pictures

HORIZONS = (2**8, 2**10, 2**12, 2**14)


@pytest.fixture(scope="module")
def finding() -> Finding:
    return strong_convexity.run(REQUEST, horizons=HORIZONS)


def verdict_of(rows: list[dict[str, Any]]) -> str:
    return strong_convexity.verdict(strong_convexity.judge(rows))


def doctored(finding: Finding, table: str, **values: Any) -> list[dict[str, Any]]:
    """The rows, with some numbers of one table replaced."""
    return [{**row, **values} if row["table"] == table else row for row in finding.rows]


def test_the_claim_holds(finding: Finding) -> None:
    assert finding.verdict == HOLDS
    assert "**fails" not in finding.markdown()


def test_a_unit_of_ln_t_adds_one_over_2h(finding: Finding) -> None:
    last = [row for row in finding.rows if row["table"] == "growth" and row["rounds"] == 2**14]
    per_log = {row["curvature"]: row["per_log"] for row in last}
    assert per_log[1.0] == pytest.approx(0.5, rel=0.01)
    assert per_log[0.25] == pytest.approx(2.0, rel=0.02)
    assert 8 <= per_log[0.05] <= 10, "still bending at T = 2^14"


def test_linear_coordinates_have_the_regret_of_the_game_without_curvature(
    finding: Finding,
) -> None:
    [row] = [
        row
        for row in finding.rows
        if row["table"] == "adversary" and (row["rounds"], row["curvature"]) == (2**12, 0.0)
    ]
    alone = play(Composite(AdaptiveDescent), ContraryCurvature(2**12, (0.0,)))
    assert row["regret"] == pytest.approx(alone.regret())


@pytest.mark.parametrize(
    ("table", "values"),
    [
        ("growth", {"slope": 0.5}),
        ("growth", {"slope": 0.1}),
        ("growth", {"per_log": 50.0}),
        ("growth", {"joint_slope": 0.1}),
        ("adversary", {"bound": 1.0}),
        ("random", {"within_bound": False}),
        ("random", {"regret": 10.0}),
        ("mixes", {"joint_bound": 1.0}),
    ],
)
def test_a_claim_that_fails_is_seen(finding: Finding, table: str, values: dict[str, Any]) -> None:
    assert verdict_of(doctored(finding, table, **values)) == FAILS


def test_the_joint_learner_is_the_single_one_in_one_dimension() -> None:
    problem = ContraryCurvature(200, (0.3,))
    own = play(Composite(AdaptiveDescent, "quadratic"), problem)
    joint = play(JointAdaptiveDescent(), problem)
    np.testing.assert_allclose(np.array(joint.played), np.array(own.played), atol=1e-14)


def test_a_round_that_misses_a_coordinate_brings_the_joint_learner_no_curvature() -> None:
    joint = JointAdaptiveDescent()
    joint.start(Box.cube(2, -1.0, 1.0))
    joint.feed(Seen(np.array([0]), np.array([1.0]), np.array([5.0])))
    assert joint.curvatures == 0.0
    with pytest.raises(SpecError, match="boxes"):
        joint.start(L2Ball(np.zeros(2), 1.0))


def test_a_coordinate_of_no_width_stays() -> None:
    learner = AdaptiveDescent(1.0, 1.0)
    learner.feed(3.0, 1.0)
    assert learner.point == 1.0
    assert learner.bound == 0.0


def test_the_pictures(finding: Finding, tmp_path: Path) -> None:
    check_pictures("strong-convexity", finding, tmp_path)


def test_the_page_tells_the_numbers_of_its_rows(finding: Finding) -> None:
    mixes = strong_convexity.of_table(finding.rows, "mixes")
    assert strong_convexity.about_together(mixes) in finding.markdown()
    doctored = [{**row, "joint_bound": 2 * row["bound"]} for row in mixes]
    assert "differ by 5e-01 of their size" in strong_convexity.about_together(doctored)
