"""Names as types, and what is said of a name that is not known."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from lessregret import Learner, OnlineClassifier, OnlineRegressor
from lessregret.errors import SpecError
from lessregret.learners.losses import FAMILIES, LOSSES, loss_named
from lessregret.learners.losses.parameter import WithParameter
from lessregret.learners.names import (
    LOSSES_ELSEWHERE,
    RULES_ELSEWHERE,
    ClassLoss,
    NumberLoss,
    RuleName,
)
from lessregret.learners.rules import RULES, rule_named

RIGHT = """
from lessregret import Ftrl, OnlineClassifier, OnlineRegressor
OnlineClassifier("hinge", "ftrl")
OnlineClassifier(rule=Ftrl(rate=0.1), class_weight="balanced", random_state=1)
OnlineRegressor("quantile:0.9", rule="coin")
OnlineRegressor(loss=f"huber:{1.5}")
"""
WRONG = """
from lessregret import OnlineClassifier, OnlineRegressor
OnlineClassifier(loss="log_loss")
OnlineClassifier(rule="ftlr")
OnlineRegressor(rule="ftrl:l1=1")
OnlineClassifier(class_weight="balance")
"""


def test_the_types_are_the_registries() -> None:
    assert set(get_args(RuleName)) == set(RULES)
    of_classes = {name for name in LOSSES if LOSSES[name].is_classification}
    assert set(get_args(ClassLoss)) == of_classes
    plain = {name for name, kind in FAMILIES.items() if not issubclass(kind, WithParameter)}
    literals = {name for part in get_args(NumberLoss) for name in get_args(part)}
    assert literals == plain - of_classes


def checked(code: str, folder: Path) -> list[str]:
    """The errors of mypy, one a line."""
    (folder / "code.py").write_text(code)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "code.py"]
    cache = ["--cache-dir", str(folder / "cache")]
    done = subprocess.run(
        [*command, *cache], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return [line for line in done.stdout.splitlines() if ": error: " in line]


def test_a_type_checker_finds_wrong_names(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="mypy is not installed")
    found = checked(RIGHT + WRONG, tmp_path)
    first = RIGHT.count("\n") + 1
    assert [int(line.split(":")[1]) for line in found] == [first + k for k in (2, 3, 4, 5)]
    assert "\"Literal['log_loss']\"; expected \"Literal['logistic'" in found[0]


@pytest.mark.parametrize(("elsewhere", "here"), list(LOSSES_ELSEWHERE.items()))
def test_losses_of_other_libraries_are_known(elsewhere: str, here: str) -> None:
    assert loss_named(here).name == here
    with pytest.raises(SpecError, match=f"unknown loss '{elsewhere}'; did you mean '{here}'"):
        loss_named(elsewhere)


@pytest.mark.parametrize(("elsewhere", "here"), list(RULES_ELSEWHERE.items()))
def test_rules_of_other_libraries_are_known(elsewhere: str, here: str) -> None:
    with pytest.raises(SpecError, match=f"unknown rule '{elsewhere}'; did you mean '{here}'"):
        rule_named(elsewhere)


@pytest.mark.parametrize(
    ("wrong", "meant"), [("Logistic", "logistic"), ("squared_hinge", "squared-hinge")]
)
def test_another_spelling_is_understood(wrong: str, meant: str) -> None:
    with pytest.raises(SpecError, match=f"did you mean '{meant}'"):
        Learner(wrong)


def test_an_estimator_suggests_only_losses_that_it_has() -> None:
    with pytest.raises(SpecError, match=r"found 'squared_error'; did you mean 'squared'\?"):
        OnlineRegressor("squared_error").fit([[1.0]], [1.0])
    with pytest.raises(SpecError) as error:
        OnlineClassifier("mse").fit([[1.0], [2.0]], [0, 1])  # type: ignore[arg-type]
    assert "did you mean" not in str(error.value)


def test_a_name_like_no_other_has_no_suggestion() -> None:
    with pytest.raises(SpecError, match="unknown loss 'magic'; the losses are logistic, hinge"):
        loss_named("magic")
