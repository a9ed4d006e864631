"""A gap that is not reached is told: what is certified, and what to do."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from lessregret import Learner
from lessregret.regret.comparator import BestFixed, GapWarning, OverFiles, best_fixed
from tests.support.command_line import CommandLine
from tests.support.pairs import ONE_OF_EACH

ROWS = np.random.default_rng(1).normal(size=(30, 3))
SIGNS = np.random.default_rng(2).choice([-1.0, 1.0], 30)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches that end after two steps."""
    monkeypatch.setattr("lessregret.regret.comparator.best.LONGEST", 2)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.vw"
    path.write_text("1 | a b\n-1 | b c\n1 | a c\n-1 | a\n" * 10)
    return path


def told(data: object, loss: str) -> tuple[str, BestFixed]:
    with pytest.warns(GapWarning) as caught:
        best = best_fixed(data, loss, 1.0)  # type: ignore[arg-type]
    [warning] = caught
    return str(warning.message), best


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("loss", ONE_OF_EACH)
def test_a_missed_gap_is_told_with_what_is_certified(loss: str) -> None:
    message, best = told((csr_array(ROWS), SIGNS), loss)
    assert best.gap > 1e-4
    assert message == (
        f"the search for the best fixed point ended with a gap of {best.gap:.1e} per example; "
        "1.0e-04 was asked for. It is certified that the smallest mean loss of a fixed point is "
        f"from {best.lower / 30:.6g} to {best.mean_total:.6g}, and the regret that is told is an "
        "interval as wide. For a smaller gap use a smaller radius or an L2 above 0; "
        f"or ask for a gap of {best.gap:.1e}"
    )


@pytest.mark.usefixtures("short")
def test_with_files_and_kinks_memory_is_advised(log: Path) -> None:
    files = OverFiles([str(log)], Learner("hinge", bits=8), "hinge")
    advice = "For a smaller gap keep the examples in memory, where the hinge loss has a better"
    assert advice in told(files, "hinge")[0]


@pytest.mark.parametrize("loss", ONE_OF_EACH)
def test_a_gap_that_is_reached_is_not_told(loss: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", GapWarning)
        assert best_fixed((csr_array(ROWS), SIGNS), loss, 1.0).gap <= 1e-4


@pytest.mark.usefixtures("short")
def test_the_command_warns_in_a_line_and_ends_well(lessregret: CommandLine, log: Path) -> None:
    done = lessregret("regret", str(log), "--loss", "hinge", "--radius", "1", "--quiet")
    assert done.code == 0
    assert re.fullmatch(r"lessregret: warning: the search for the best .*\n", done.stderr)
    assert "per-coordinate" in done.stdout
