"""What standardised labels promise: their units do not matter, and the game on them is bounded."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from lessregret import Learner, PerCoordinate, ReadableLearner
from lessregret.learners.losses import LOSSES
from lessregret.learners.rules import Rule, parse_rule
from lessregret.ledger import Ledger
from tests.support.pairs import BOXED
from tests.support.raw_tables import random_table
from tests.support.regret_streams import COLUMNS, ROUNDS, best_fixed, climbing, switching
from tests.support.rows import learn_rows
from tests.support.slow import slow
from tests.support.streams import Round, as_csr, random_rounds

CHANGES = [(-1.0, 0.0), (1e5, 0.0), (1e-5, 0.0), (-1e5, 3e6), (1e-5, -2e-4), (64.0, 1e3)]


@pytest.mark.parametrize(("unit", "offset"), CHANGES)
@pytest.mark.parametrize("seed", range(3))
def test_units_of_labels_change_no_prediction(seed: int, unit: float, offset: float) -> None:
    indptr, indices, values, labels, _ = as_csr(random_table(seed, 400, regression=True))
    plain, changed = (Learner("squared", columns=8, scale="standard") for _ in "ab")
    found = learn_rows(plain, indptr, indices, values, labels)
    others = learn_rows(changed, indptr, indices, values, unit * labels + offset)
    # Before the first label 0 is predicted, which is a number of the user's units.
    np.testing.assert_allclose(
        (others[1:] - offset) / unit, found[1:], rtol=0, atol=1e-4 * np.ptp(labels)
    )


def random_numbers(learner: ReadableLearner) -> list[Round]:
    return list(random_rounds(5, ROUNDS, COLUMNS, regression=True))


def far_from_0(learner: ReadableLearner) -> list[Round]:
    return [each._replace(label=1000 + each.label) for each in random_numbers(learner)]


def against(learner: ReadableLearner) -> list[Round]:
    """An adversary whose labels are on the other side of the prediction, ever farther away."""
    played = []
    for t, each in enumerate(random_rounds(6, ROUNDS, COLUMNS)):
        above = learner.margin(each.slots, each.values) > 0
        played.append(each._replace(label=-(1.02**t) if above else 1.02**t, importance=1.0))
        learner.play(*played[-1])
    return played


def one_outlier(learner: ReadableLearner) -> list[Round]:
    rounds = random_numbers(learner)
    rounds[ROUNDS // 2] = rounds[ROUNDS // 2]._replace(label=1e6)
    return rounds


STREAMS = [random_numbers, far_from_0, against, one_outlier, climbing, switching]


def assert_order(rounds: list[Round], rule: Rule, ledger: Ledger, l2: float, slack: float) -> None:
    """Regret ≤ linearised regret ≤ bound, against the best fixed point on the labels learned."""
    _, least = best_fixed(LOSSES["squared"], rounds, rule, l2)
    assert ledger.linear_regret is not None
    assert ledger.bound is not None or rule.name == "coin"
    assert ledger.game == "standardised labels"
    slack *= 1 + abs(ledger.tally.played) + abs(ledger.linear_regret)
    assert ledger.total - least <= ledger.linear_regret + slack
    if ledger.bound is not None:
        assert ledger.linear_regret <= ledger.bound + slack


def learned(rounds: list[Round], rule: Rule) -> list[Round]:
    """The rounds of the game that a rule plays: scaled values and standardised labels."""
    other, seen = ReadableLearner("squared", rule, scale="standard"), []
    for each in rounds:
        label = other.labels.learned(each.label, each.importance)
        slots, values = other.scales.played(each.slots, each.values)
        other.labels.remember(each.label, each.importance)
        seen.append(Round(list(slots), list(values), label, each.importance))
    return seen


@pytest.mark.parametrize("make_stream", STREAMS)
@pytest.mark.parametrize("name", BOXED)
@pytest.mark.parametrize("l2", [0.0, slow(0.05)])
def test_the_bound_holds_in_the_game_on_standardised_labels(
    name: str, make_stream: Callable[[ReadableLearner], list[Round]], l2: float
) -> None:
    rule = parse_rule(name, radius=2.0)
    rounds = make_stream(ReadableLearner("squared", rule, scale="standard"))
    slow = ReadableLearner("squared", rule, certify=True, l2=l2, scale="standard")
    for each in rounds:
        slow.play(*each)
    assert_order(learned(rounds, rule), rule, slow.ledger(), l2, 1e-9)
    wishes = {"certify": True, "l2": l2, "scale": "standard", "intercept": False}
    fast = Learner("squared", rule, columns=COLUMNS, **wishes)
    learn_rows(fast, *as_csr(rounds))
    assert_order(learned(rounds, rule), rule, fast.ledger(), l2, 1e-4)


@pytest.mark.parametrize("make_stream", STREAMS)
def test_mixing_costs_what_is_told_in_the_units_of_the_labels(
    make_stream: Callable[[ReadableLearner], list[Round]],
) -> None:
    rounds = make_stream(ReadableLearner("squared", PerCoordinate(), scale="standard"))
    slow = ReadableLearner("squared", PerCoordinate(), scale="standard")
    fast = Learner("squared", columns=COLUMNS, scale="standard", intercept=False)
    for each in rounds:
        slow.play(*each)
        learn_rows(fast, *as_csr([each]))
        for ledger in (slow.ledger(), fast.ledger()):
            assert ledger.mixing_cost is not None
            limit = min(lane.loss for lane in ledger.lanes) + ledger.mixing_cost
            assert ledger.tally.loss <= limit * (1 + 1e-9)
