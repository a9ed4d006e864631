"""Is the fast code the readable code? Every rule × loss, the same random stream."""

from __future__ import annotations

import numpy as np
import pytest

from lessregret import _core
from lessregret.learner import Learner
from lessregret.ledger import Ledger
from lessregret.losses import LOSSES
from lessregret.readable import ReadableLearner
from lessregret.rules import RULES, Rule
from tests.streams import Round, as_csr, random_rounds

COLUMNS = 40
ROUNDS = 1000
RTOL = 1e-5

VARIANTS = {
    "default": {},
    "theory": {"rate": "theory", "radius": 2.0},
    "tight box": {"radius": 0.25},
    "box without 0": {"box": (0.5, 1.5)},
}


def variants(rule: type[Rule]) -> list[str]:
    """The variants this rule takes: only some know a theory."""
    words = rule.__dataclass_fields__["rate"].metadata["words"]
    return [name for name in VARIANTS if name != "theory" or "theory" in words]


CASES = [
    pytest.param(rule, variant, loss, id=f"{name}-{variant}-{loss}")
    for name, rule in RULES.items()
    for variant in variants(rule)
    for loss in LOSSES
]


def test_both_sides_know_the_same_rules() -> None:
    assert sorted(_core.RULES) == sorted(RULES)


@pytest.mark.parametrize(("rule", "variant", "loss"), CASES)
def test_margins_and_ledgers_agree(rule: type[Rule], variant: str, loss: str) -> None:
    rounds = list(random_rounds(7, ROUNDS, COLUMNS, regression=loss == "squared"))
    made = rule(**VARIANTS[variant])
    fast = Learner(loss, made, columns=COLUMNS, intercept=False, certify=True)
    slow = ReadableLearner(loss, made, certify=True)
    check_agreement(fast, slow, rounds)


@pytest.mark.parametrize("name", RULES)
def test_boxes_of_their_own_agree(name: str) -> None:
    rng = np.random.default_rng(3)
    low = -rng.random(COLUMNS).astype(np.float32)
    high = low + np.float32(0.25) + rng.random(COLUMNS).astype(np.float32)
    boxes = {i: (float(low[i]), float(high[i])) for i in range(COLUMNS)}
    rounds = list(random_rounds(11, ROUNDS, COLUMNS))
    rule = RULES[name]()
    fast = Learner(
        "logistic", rule, columns=COLUMNS, intercept=False, certify=True, box=(low, high)
    )
    slow = ReadableLearner("logistic", rule, certify=True, boxes=boxes)
    check_agreement(fast, slow, rounds)


def check_agreement(fast: Learner, slow: ReadableLearner, rounds: list[Round]) -> None:
    margins = fast.learn_rows(*as_csr(rounds))
    readable = np.array([slow.learn(*each).margin for each in rounds])
    scale = np.abs(readable).max()
    np.testing.assert_allclose(margins, readable, rtol=RTOL, atol=RTOL * scale)
    same_ledger(fast.ledger(), slow.ledger())
    weights = [slow.weight(i) for i in range(COLUMNS)]
    np.testing.assert_allclose([fast.weight(i) for i in range(COLUMNS)], weights, atol=1e-5 * scale)


def same_ledger(fast: Ledger, slow: Ledger) -> None:
    ours, theirs = fast.as_dict(), slow.as_dict()
    for name, expected in theirs.items():
        if expected is None:
            assert ours[name] is None, name
        else:
            assert ours[name] == pytest.approx(expected, rel=RTOL), name
