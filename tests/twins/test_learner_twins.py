"""Is the fast code the readable code? Every rule × loss, the same random stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from _pytest.mark import ParameterSet
from numpy.typing import NDArray

from lessregret import Rows, _core
from lessregret.errors import SpecError
from lessregret.learners.learner import Learner
from lessregret.learners.losses import LOSSES
from lessregret.learners.readable import ReadableLearner
from lessregret.learners.rules import RULES, BoxedRule, PerCoordinate, Rule, parse_rule, rule_named
from lessregret.ledger import Ledger
from tests.support.pairs import BOXED, EVERY_RULE, ONE_OF_EACH, PAIRS, SOME_QUICK, learns, regresses
from tests.support.raw_tables import random_ones, random_table
from tests.support.rows import learn_rows, predict_rows
from tests.support.slow import slow
from tests.support.streams import Round, as_csr, random_rounds
from tests.support.variants import variants

COLUMNS = 40
ROUNDS = 1000
RTOL = 1e-5
DIFFERENCES = ("played", "linear_regret", "mixing_cost")
"""Numbers of a ledger that are sums of both signs: they are as exact as the losses are."""

VARIANTS = [rule for kind in RULES.values() for rule in variants(kind)]


def case(k: int, loss: str) -> ParameterSet:
    """A variant of a rule and a loss; a slow test where other variants try that loss quickly."""
    is_quick = loss not in ONE_OF_EACH or ONE_OF_EACH.index(loss) == k % len(ONE_OF_EACH)
    mark = pytest.param if is_quick else slow
    return mark(VARIANTS[k], loss, id=f"{VARIANTS[k]}-{loss}")


CASES = [case(k, loss) for k, rule in enumerate(VARIANTS) for loss in LOSSES if learns(rule, loss)]


def test_both_sides_know_the_same_rules() -> None:
    assert sorted(_core.RULES) == sorted(RULES)


@pytest.mark.parametrize(("rule", "loss"), CASES)
def test_margins_and_ledgers_agree(rule: Rule, loss: str) -> None:
    # Under a constant rate, the curvature of Poisson and Huber loss makes rounding errors grow.
    count = ROUNDS if loss in ONE_OF_EACH else ROUNDS // 10
    rounds = list(random_rounds(7, count, COLUMNS, labels=LOSSES[loss].labels))
    certify = isinstance(rule, BoxedRule)
    fast = Learner(loss, rule, columns=COLUMNS, intercept=False, certify=certify)
    slow = ReadableLearner(loss, rule, certify=certify)
    check_agreement(fast, slow, rounds)


@pytest.mark.parametrize("name", EVERY_RULE)
def test_both_refuse_what_a_rule_cannot_do(name: str) -> None:
    rule = parse_rule(name)
    for loss, certify, l2 in product(ONE_OF_EACH, (False, True), (0.0, 0.01)):
        makers = partial(Learner, columns=1), ReadableLearner
        fast, slow = (refuses(make, loss, rule, certify=certify, l2=l2) for make in makers)
        assert fast == slow, (loss, certify, l2)
        lacks_box = l2 > 0 and not isinstance(rule, BoxedRule)
        cannot_regress = regresses(loss) and not rule.regresses
        assert fast == (lacks_box or cannot_regress), (loss, certify, l2)


def refuses(make: Callable[..., Any], loss: str, rule: Rule, **wishes: Any) -> bool:
    try:
        make(loss, rule, **wishes)
    except SpecError:
        return True
    return False


@pytest.mark.parametrize("name", BOXED)
def test_boxes_of_their_own_agree(name: str) -> None:
    rng = np.random.default_rng(3)
    low = -rng.random(COLUMNS).astype(np.float32)
    high = low + np.float32(0.25) + rng.random(COLUMNS).astype(np.float32)
    boxes = {i: (float(low[i]), float(high[i])) for i in range(COLUMNS)}
    rounds = list(random_rounds(11, ROUNDS, COLUMNS))
    rule = parse_rule(name)
    fast = Learner(
        "logistic", rule, columns=COLUMNS, intercept=False, certify=True, box=(low, high)
    )
    slow = ReadableLearner("logistic", rule, certify=True, boxes=boxes)
    check_agreement(fast, slow, rounds)


@pytest.mark.parametrize("name", BOXED)
@pytest.mark.parametrize("loss", ONE_OF_EACH)
@pytest.mark.parametrize(("scope", "count"), [("active", ROUNDS), ("all", ROUNDS // 5)])
def test_l2_agrees(name: str, loss: str, scope: str, count: int) -> None:
    """On a box so tight that weights come to its ends."""
    rule = parse_rule(name, box=(-0.25, 1.5))
    rounds = list(random_rounds(13, count, COLUMNS, regression=regresses(loss)))
    wishes: dict[str, Any] = {"certify": True, "l2": 0.01, "l2_scope": scope}
    fast = Learner(loss, rule, columns=COLUMNS, intercept=False, **wishes)
    check_agreement(fast, ReadableLearner(loss, rule, **wishes), rounds)


@pytest.mark.parametrize(("loss", "name"), SOME_QUICK)
@pytest.mark.parametrize("scale", ["cap", "full", "standard"])
def test_scales_agree(name: str, loss: str, scale: str) -> None:
    rule = parse_rule(name)
    rounds = list(rescaled(random_rounds(17, ROUNDS // 2, COLUMNS, regression=regresses(loss))))
    wishes: dict[str, Any] = {"certify": isinstance(rule, BoxedRule), "scale": scale}
    fast = Learner(loss, rule, columns=COLUMNS, intercept=False, **wishes)
    check_agreement(fast, ReadableLearner(loss, rule, **wishes), rounds)


@pytest.mark.parametrize(("loss", "name"), SOME_QUICK)
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_standard_scales_of_tables_agree(name: str, loss: str, missing: float) -> None:
    """Columns in every row, columns with missing cells, zeros, ones, and at first only ones."""
    rule = parse_rule(name)
    ones = random_ones(3, 20)
    # On noisy labels the variances of cw-stdev fall below what its formula can divide by.
    rows = 30 if name == "cw-stdev" else 300
    table = random_table(5, rows, missing=missing, regression=regresses(loss))
    for rounds in (table, ones + table):
        wishes: dict[str, Any] = {"certify": isinstance(rule, BoxedRule), "scale": "standard"}
        fast = Learner(loss, rule, columns=COLUMNS, **wishes)
        slow = ReadableLearner(loss, rule, intercept=COLUMNS, **wishes)
        margins, readable = (learn_rows(learner, *as_csr(rounds)) for learner in (fast, slow))
        scale = np.abs(readable).max()
        np.testing.assert_allclose(margins, readable, rtol=RTOL, atol=10 * RTOL * scale)
        others = as_csr(random_table(6, 50, missing=0.2))[:3]
        np.testing.assert_allclose(
            predict_rows(fast, *others), predict_rows(slow, *others), rtol=RTOL, atol=1e-4 * scale
        )
        same_ledger(fast.ledger(), slow.ledger())


@pytest.mark.parametrize("name", [rule for loss, rule in PAIRS if regresses(loss)])
@pytest.mark.parametrize(("unit", "offset"), [(5e4, 290_000.0), (-1e-3, 0.5)])
def test_standardised_labels_agree(name: str, unit: float, offset: float) -> None:
    """With importances, some of them 0, and after a stop in the middle."""
    rule = parse_rule(name)
    rounds = [
        each._replace(label=float(np.float32(offset + unit * each.label)))
        for each in random_rounds(37, ROUNDS // 2, COLUMNS, regression=True)
    ]
    wishes: dict[str, Any] = {"certify": isinstance(rule, BoxedRule), "scale": "standard"}
    fast = Learner("squared", rule, columns=COLUMNS, **wishes)
    slow = ReadableLearner("squared", rule, intercept=COLUMNS, **wishes)
    span = np.ptp([each.label for each in rounds])
    for part in (rounds[:99], rounds[99:]):
        margins, readable = (learn_rows(learner, *as_csr(part)) for learner in (fast, slow))
        np.testing.assert_allclose(margins, readable, rtol=0, atol=10 * RTOL * span)
        same_ledger(fast.ledger(), slow.ledger())
        fast = Learner.from_bytes(fast.to_bytes())
    assert fast.weight(COLUMNS) == pytest.approx(slow.weight(COLUMNS), abs=1e-4 * span)
    assert fast.weight(0) == pytest.approx(slow.weight(0), abs=1e-4 * span)


@pytest.mark.parametrize("fixed_share", [0.0, 0.01])
@pytest.mark.parametrize("scope", ["active", "all"])
@pytest.mark.parametrize("name", ["per-coordinate", "per-coordinate:rate=0.3"])
def test_standardised_labels_with_l2_agree(name: str, scope: str, fixed_share: float) -> None:
    rule, share = parse_rule(name), 0.0 if ":" in name else fixed_share
    rounds = [
        each._replace(label=float(np.float32(290_000 + 5e4 * each.label)))
        for each in random_rounds(41, ROUNDS // 5, COLUMNS, regression=True)
    ]
    wishes: dict[str, Any] = {"l2": 0.02, "l2_scope": scope, "fixed_share": share}
    wishes |= {"certify": True, "scale": "standard"}
    fast = Learner("squared", rule, columns=COLUMNS, intercept=False, **wishes)
    check_agreement(fast, ReadableLearner("squared", rule, **wishes), rounds)


@pytest.mark.parametrize(("loss", "name"), SOME_QUICK)
@pytest.mark.parametrize(("scale", "l2"), [("cap", 0.0), ("standard", 0.0), ("standard", 0.01)])
def test_base_margins_agree(name: str, loss: str, scale: str, l2: float) -> None:
    rule = parse_rule(name)
    if l2 and not isinstance(rule, BoxedRule):
        pytest.skip("the rule has no L2")
    # On noisy labels the variances of cw-stdev fall below what its formula can divide by.
    count = 30 if name == "cw-stdev" else ROUNDS // 4
    rounds = list(random_rounds(37, count, COLUMNS, regression=regresses(loss)))
    bases = np.random.default_rng(2).normal(size=len(rounds)).astype(np.float32)
    wishes: dict[str, Any] = {"certify": isinstance(rule, BoxedRule), "scale": scale, "l2": l2}
    fast = Learner(loss, rule, columns=COLUMNS, intercept=False, **wishes)
    check_agreement(fast, ReadableLearner(loss, rule, **wishes), rounds, bases)


@pytest.mark.parametrize("scope", ["active", "all"])
@pytest.mark.parametrize("scale", ["full", "standard"])
def test_scales_with_l2_agree(scope: str, scale: str) -> None:
    rounds = list(rescaled(random_rounds(19, ROUNDS // 5, COLUMNS)))
    wishes: dict[str, Any] = {"certify": True, "l2": 0.01, "l2_scope": scope, "scale": scale}
    fast = Learner("logistic", columns=COLUMNS, intercept=False, **wishes)
    check_agreement(fast, ReadableLearner("logistic", PerCoordinate(), **wishes), rounds)


DESCENDING = [
    RULES[name](**parameters)
    for name, parameters in product(RULES, ({}, {"box": (-0.25, 1.5)}))
    if RULES[name].descends
]
MIXED = [rule_named(name, rate="auto") for name in ("per-coordinate", "global")]


@pytest.mark.parametrize("rule", [*DESCENDING, *MIXED], ids=str)
@pytest.mark.parametrize("loss", ONE_OF_EACH)
@pytest.mark.parametrize("scale", ["none", slow("cap"), slow("full"), "standard"])
def test_importance_aware_updates_agree(rule: Rule, loss: str, scale: str) -> None:
    rounds: Iterable[Round] = random_rounds(29, ROUNDS // 4, COLUMNS, regression=regresses(loss))
    if scale in ("full", "standard"):
        rounds = rescaled(rounds)
    wishes: dict[str, Any] = {"certify": True, "scale": scale, "importance_aware": True}
    fast = Learner(loss, rule, columns=COLUMNS, intercept=False, **wishes)
    check_agreement(fast, ReadableLearner(loss, rule, **wishes), list(rounds))


@pytest.mark.parametrize("loss", ONE_OF_EACH)
@pytest.mark.parametrize("fixed_share", [slow(1e-9), 0.001, slow(0.3)])
@pytest.mark.parametrize("rule", [*MIXED, rule_named("ftrl", rate="auto")], ids=str)
def test_fixed_shares_agree(rule: Rule, loss: str, fixed_share: float) -> None:
    rounds = list(random_rounds(31, ROUNDS // 2, COLUMNS, regression=regresses(loss)))
    wishes: dict[str, Any] = {"certify": True, "fixed_share": fixed_share}
    fast = Learner(loss, rule, columns=COLUMNS, intercept=False, **wishes)
    check_agreement(fast, ReadableLearner(loss, rule, **wishes), rounds)


def rescaled(rounds: Iterable[Round]) -> Iterator[Round]:
    """The features in units of their own, from a thousandth to a thousand."""
    units = np.float32(10.0) ** np.random.default_rng(23).uniform(-3, 3, COLUMNS)
    for each in rounds:
        values = (np.float32(each.values) * units[each.slots]).astype(np.float32)
        yield each._replace(values=[float(value) for value in values])


def check_agreement(
    fast: Learner,
    slow: ReadableLearner,
    rounds: list[Round],
    given_bases: NDArray[np.float32] | None = None,
) -> None:
    bases = np.zeros(len(rounds), np.float32) if given_bases is None else given_bases
    margins = fast.learn(Rows(*as_csr(rounds), bases=given_bases, space=fast)).margins
    played = zip(rounds, bases.tolist(), strict=True)
    readable = np.array([slow.play(*each, base).margin for each, base in played])
    scale = np.abs(readable).max()
    np.testing.assert_allclose(margins, readable, rtol=RTOL, atol=RTOL * scale)
    same_ledger(fast.ledger(), slow.ledger())
    # In units of the scaled values: a feature in thousandths has a weight in thousands.
    units = np.array([slow.scales.of(i) for i in range(COLUMNS)])
    weights = [slow.weight(i) for i in range(COLUMNS)] * units
    ours = [fast.weight(i) for i in range(COLUMNS)] * units
    np.testing.assert_allclose(ours, weights, atol=1e-5 * scale)


def same_ledger(fast: Ledger, slow: Ledger) -> None:
    ours, theirs = fast.as_dict(), slow.as_dict()
    experts = [[*each.pop("lanes"), each.pop("stack") or {}] for each in (ours, theirs)]
    for lane, other in zip(*experts, strict=True):
        assert lane.pop("name", "stack") == other.pop("name", "stack")
        # A share is the exponential of a loss times a rate: small ones are told less exactly.
        assert lane.pop("share", 0) == pytest.approx(other.pop("share", 0), abs=1e-4)
        same_numbers(lane, other)
    assert ours.pop("game") == theirs.pop("game")
    assert (ours.pop("statement") is None) == (theirs.pop("statement") is None)
    same_numbers(ours, theirs)
    same_certificate(fast, slow)


def same_certificate(fast: Ledger, slow: Ledger) -> None:
    if slow.certificate is None or fast.certificate is None:
        assert slow.certificate is fast.certificate
        return
    ours, theirs = fast.certificate, slow.certificate
    # Every sum is as exact as its terms, which are like losses.
    slack = RTOL * (abs(theirs.offset) + slow.total)
    assert ours.offset == pytest.approx(theirs.offset, abs=slack)
    assert ours.intercept_sum == pytest.approx(theirs.intercept_sum, abs=slack)
    assert ours.sums == pytest.approx(theirs.sums, abs=slack * COLUMNS)
    size = 1 + abs(theirs.intercept_weight) + theirs.weights.l1
    assert ours.weights == pytest.approx(theirs.weights, abs=1e-5 * size)
    assert ours.intercept_weight == pytest.approx(theirs.intercept_weight, abs=1e-5 * size)


def same_numbers(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """A sum of terms of both signs, as g·w is, is as exact as its terms, which are like losses."""
    for name, expected in theirs.items():
        of_game = theirs.get("standardised_loss") or theirs["loss"]
        slack = RTOL * of_game if name in DIFFERENCES else 0.0
        near = expected and pytest.approx(expected, rel=RTOL, abs=slack)
        assert ours[name] == near, name
