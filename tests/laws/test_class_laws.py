"""Is the learner of many classes the mathematics: slopes, regret, certificate, cost of mixing?"""

from __future__ import annotations

from math import inf, isfinite, log

import numpy as np
import pytest

from lessregret.data.examples import Rows
from lessregret.errors import InputError, SpecError
from lessregret.learners.class_loss import ClassLoss
from lessregret.learners.learner import Learner
from lessregret.learners.losses import LOSSES, loss_named
from lessregret.learners.rules import RULES, PerCoordinate, Rule

CLASSIFYING = [name for name in LOSSES if LOSSES[name].is_classification]
LEARNING_MANY = [name for name in RULES if isfinite(RULES[name]().width)]
ROUNDS, COLUMNS, CLASSES, RADIUS = 300, 6, 4, 2.0


def problem(rounds: int = ROUNDS, seed: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Dense rows, and classes drawn from the softmax of true weights."""
    draws = np.random.default_rng(seed)
    values = draws.normal(size=(rounds, COLUMNS))
    truth = draws.normal(size=(COLUMNS, CLASSES))
    return values, (values @ truth + draws.gumbel(size=(rounds, CLASSES))).argmax(1)


def rows(values: np.ndarray, labels: np.ndarray | None, space: Learner) -> Rows:
    count, columns = values.shape
    indices = np.tile(np.arange(columns), count)
    given = None if labels is None else labels.astype(float)
    return Rows(np.arange(count + 1) * columns, indices, values.ravel(), labels=given, space=space)


def rule_named(name: str, **parameters: object) -> Rule:
    rule = RULES[name]
    known = {key: value for key, value in parameters.items() if key in rule.__dataclass_fields__}
    return rule(**known)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", CLASSIFYING)
def test_slopes_are_finite_differences(name: str) -> None:
    loss, draws = ClassLoss(loss_named(name)), np.random.default_rng(1)
    for _ in range(20):
        margins, label = draws.normal(size=5) * 3, int(draws.integers(5))
        for c, slope in enumerate(loss.slopes(margins.tolist(), label)):
            way = np.eye(5)[c] * 1e-6
            above, below = (loss.value((margins + s * way).tolist(), label) for s in (1, -1))
            assert slope == pytest.approx((above - below) / 2e-6, abs=1e-6)


@pytest.mark.parametrize("name", CLASSIFYING)
@pytest.mark.parametrize("rule", LEARNING_MANY)
def test_regret_is_at_most_linearised_and_that_at_most_the_bound(name: str, rule: str) -> None:
    values, labels = problem()
    loss, draws = ClassLoss(loss_named(name)), np.random.default_rng(2)
    learner = Learner(
        name,
        rule_named(rule, rate=0.5, radius=RADIUS),
        columns=COLUMNS,
        intercept=False,
        scale="none",
        certify=True,
        classes=range(CLASSES),
    )
    # The coin plays on values within ±1, so all rules get such.
    values = np.clip(values, -1, 1)
    learner.learn(rows(values, labels, learner))
    ledger = learner.ledger()
    assert ledger.linear_regret is not None
    # The bound of the coin is for slopes of at most 1; those of squared hinge are larger.
    assert (ledger.bound is None) == ((name, rule) == ("squared-hinge", "coin"))
    if ledger.bound is not None:
        assert ledger.linear_regret <= ledger.bound * (1 + 1e-5)
    learned = learner.dense_weights().astype(float)
    fixed = [np.clip(learned, -RADIUS, RADIUS), np.zeros_like(learned)]
    fixed += [draws.uniform(-RADIUS, RADIUS, learned.shape) for _ in range(5)]
    for weights in fixed:
        pairs = zip((values @ weights).tolist(), labels.tolist(), strict=True)
        theirs = sum(loss.value(margins, y) for margins, y in pairs)
        assert ledger.tally.loss - theirs <= ledger.linear_regret + 1e-6 * theirs


@pytest.mark.parametrize("name", CLASSIFYING)
def test_what_is_certified_no_fixed_weights_lose_less_than(name: str) -> None:
    values, labels = problem()
    learner = Learner(name, columns=COLUMNS, intercept=False, scale="none", classes=range(CLASSES))
    learner.learn(rows(values, labels, learner))
    ledger, loss = learner.ledger(), ClassLoss(loss_named(name))
    assert ledger.statement is not None
    draws = np.random.default_rng(3)
    for _ in range(10):
        weights = draws.normal(size=(COLUMNS, CLASSES))
        size = float(np.sqrt((weights**2).sum()))
        pairs = zip((values @ weights).tolist(), labels.tolist(), strict=True)
        theirs = sum(loss.value(margins, y) for margins, y in pairs)
        certified = ledger.certified(size)
        assert certified is not None
        assert theirs / ROUNDS >= certified - 1e-9


@pytest.mark.parametrize("name", CLASSIFYING)
@pytest.mark.parametrize("fixed_share", [0.0, 0.01])
def test_mixing_costs_no_more_than_its_price(name: str, fixed_share: float) -> None:
    values, labels = problem()
    learner = Learner(name, columns=COLUMNS, fixed_share=fixed_share, classes=range(CLASSES))
    learner.learn(rows(values, labels, learner))
    ledger = learner.ledger()
    assert ledger.stack is not None
    assert ledger.mixing_cost is not None
    best = min(ledger.stack.loss, *(lane.loss for lane in ledger.lanes))
    assert ledger.tally.loss <= best + ledger.mixing_cost + 1e-9
    if name == "logistic" and not fixed_share:
        assert ledger.mixing_cost == pytest.approx(log(9))


def test_two_of_many_classes_are_two_classes_at_half_the_rate() -> None:
    """p_1 − p_0 moves twice as far, because both weights move: the game of p = p_1 − p_0."""
    values, labels = problem()
    labels = labels % 2
    many = Learner("logistic", RULES["constant"](rate=0.1), columns=COLUMNS, classes=[0, 1])
    two = Learner("logistic", RULES["constant"](rate=0.2), columns=COLUMNS)
    ours = many.learn(rows(values, labels, many)).margins
    theirs = two.learn(rows(values, 2 * labels - 1, two)).margins
    np.testing.assert_allclose(ours[:, 1] - ours[:, 0], theirs, atol=1e-4)


RATES = [None, PerCoordinate(rate=0.5), RULES["global"](), RULES["coin"](), RULES["ftrl"]()]


@pytest.mark.parametrize("rule", RATES, ids=lambda rule: rule.name if rule else "default")
def test_a_class_that_comes_late_is_one_that_was_there_with_weights_of_0(rule: Rule | None) -> None:
    """After 10,000 rounds, to the bit: its place may be given at the start or when it is met."""
    values, labels = problem(12_000)
    labels[:10_000][labels[:10_000] == 3] = 0
    early, late = (Learner("logistic", rule, columns=COLUMNS, classes="auto") for _ in range(2))
    early.add_classes([0, 1, 2, 3])
    late.add_classes([0, 1, 2])
    for start in range(0, 12_000, 2_000):
        part = slice(start, start + 2_000)
        ours = early.learn(rows(values[part], labels[part], early)).margins
        theirs = late.learn(rows(values[part], labels[part], late)).margins
        if start < 10_000:
            assert (ours[:, 3] == -inf).all()
            assert (early.dense_weights()[:, 3] == 0).all()
        assert np.array_equal(ours[:, : theirs.shape[1]], theirs)
    assert late.classes == early.classes == [0, 1, 2, 3]
    assert np.array_equal(early.dense_weights(), late.dense_weights())
    assert early.tally() == late.tally()
    assert early.to_bytes() == late.to_bytes()


def test_a_declared_learner_gets_a_class_with_weights_of_0() -> None:
    values, labels = problem()
    learner = Learner("logistic", columns=COLUMNS, classes=[0, 1, 2])
    known = labels < 3
    learner.learn(rows(values[known], labels[known], learner))
    before = learner.dense_weights()
    with pytest.raises(InputError, match="one of the 3 classes that were declared"):
        learner.learn(rows(values[~known], labels[~known], learner))
    learner.add_classes([3])
    assert np.array_equal(learner.dense_weights(), np.column_stack([before, np.zeros(COLUMNS)]))
    learner.learn(rows(values[~known], labels[~known], learner))
    assert learner.dense_weights()[:, 3].any()


@pytest.mark.parametrize("rule", RATES, ids=lambda rule: rule.name if rule else "default")
def test_a_model_file_goes_on_bit_for_bit(rule: Rule | None) -> None:
    values, labels = problem()
    whole = Learner("logistic", rule, columns=COLUMNS, certify=True, classes="auto")
    parts = Learner("logistic", rule, columns=COLUMNS, certify=True, classes="auto")
    whole.learn(rows(values, labels, whole))
    for start in (0, 3, 150):
        end = {0: 3, 3: 150, 150: ROUNDS}[start]
        parts.learn(rows(values[start:end], labels[start:end], parts))
        parts = Learner.from_bytes(parts.to_bytes())
    assert parts.to_bytes() == whole.to_bytes()


def test_what_many_classes_do_not_have_is_refused() -> None:
    for settings, told in (
        ({"rule": RULES["pa"]()}, "rule 'pa' learns two classes only"),
        ({"loss": "squared"}, "loss 'squared' is not of classes"),
        ({"l2": 0.1}, "l2 is for two classes"),
        ({"importance_aware": True}, "each class has its own"),
        ({"classes": [1, 1]}, "class 1 twice"),
        ({"classes": [7]}, "declare at least two"),
    ):
        with pytest.raises(SpecError, match=told):
            Learner(**{"columns": 2, "classes": 3, **settings})  # type: ignore[arg-type]
