"""Is the learner of many classes in Rust the readable one in Python?"""

from __future__ import annotations

from itertools import product
from math import isfinite

import numpy as np
import pytest

from lessregret.data.examples import Rows
from lessregret.learners.learner import Learner
from lessregret.learners.losses import LOSSES
from lessregret.learners.readable_classes import ReadableClasses
from lessregret.learners.rules import RULES, Rule

SLOTS, ROUNDS, RTOL = 12, 60, 1e-5
CLASSIFYING = [name for name in LOSSES if LOSSES[name].is_classification]
LEARNING_MANY = [name for name in RULES if isfinite(RULES[name]().width)]
COUNTS = (2, 3, 9)


def rules(name: str) -> list[Rule]:
    """The rule at a rate of its own, and at "auto" if it has one."""
    rule = RULES[name]
    given = [rule(rate=0.5)] if "rate" in rule.__dataclass_fields__ else [rule()]  # type: ignore[call-arg]
    default = rule()
    return given if getattr(default, "rate", None) != "auto" else [*given, default]


def rows(classes: int, seed: int, space: Learner, rounds: int = ROUNDS) -> Rows:
    """Rows whose classes have weights of their own."""
    draws = np.random.default_rng(seed)
    truth = draws.normal(size=(SLOTS, classes))
    values = draws.normal(size=(rounds, SLOTS)) * (draws.random((rounds, SLOTS)) < 0.6)
    labels = (values @ truth + draws.gumbel(size=(rounds, classes))).argmax(1)
    labels[:classes] = range(classes)
    importances = draws.choice([0.5, 1.0, 2.0], rounds)
    entries = [np.flatnonzero(row) for row in values]
    return Rows(
        np.cumsum([0, *map(len, entries)]),
        np.concatenate(entries),
        np.concatenate([row[own] for row, own in zip(values, entries, strict=True)]),
        labels=labels.astype(float),
        importances=importances,
        space=space,
    )


@pytest.mark.parametrize("classes", COUNTS)
@pytest.mark.parametrize(("loss", "name"), list(product(CLASSIFYING, LEARNING_MANY)))
def test_every_rule_loss_and_number_of_classes(loss: str, name: str, classes: int) -> None:
    # Under a constant rate, the curvature of squared hinge loss makes rounding errors grow.
    count = ROUNDS // 3 if (loss, name) == ("squared-hinge", "constant") else ROUNDS
    for rule, scale in zip(rules(name), ("standard", "none"), strict=False):
        fast = Learner(loss, rule, columns=SLOTS, scale=scale, certify=True, classes=range(classes))
        slow = ReadableClasses(
            loss, rule, classes=range(classes), scale=scale, certify=True, intercept=SLOTS
        )
        ours = fast.learn(rows(classes, 7, fast, count)).margins
        theirs = slow.learn(rows(classes, 7, fast, count)).margins
        close = {"rtol": RTOL, "atol": RTOL * np.abs(theirs).max()}
        np.testing.assert_allclose(ours, theirs, **close)
        ledger = fast.ledger()
        assert ledger.tally.loss == pytest.approx(slow.tally.loss, rel=RTOL)
        assert ledger.linear_regret == pytest.approx(slow.linear_regret, rel=RTOL)
        if not slow.has_lanes:
            assert ledger.bound == (slow.bound and pytest.approx(slow.bound, rel=RTOL))
        again = fast.predict(rows(classes, 8, fast)).margins
        np.testing.assert_allclose(again, slow.predict(rows(classes, 8, fast)).margins, **close)


@pytest.mark.parametrize("loss", CLASSIFYING)
def test_classes_are_found_as_they_come(loss: str) -> None:
    rule = RULES["per-coordinate"]()
    fast = Learner(loss, rule, columns=SLOTS, classes="auto")
    slow = ReadableClasses(loss, rule, classes="auto", intercept=SLOTS)
    ours, theirs = fast.learn(rows(5, 3, fast)).margins, slow.learn(rows(5, 3, fast)).margins
    known = np.isfinite(theirs)
    assert np.array_equal(np.isfinite(ours), known)
    atol = RTOL * np.abs(theirs[known]).max()
    np.testing.assert_allclose(ours[known], theirs[known], rtol=RTOL, atol=atol)
    assert fast.classes == slow.classes == [0, 1, 2, 3, 4]
