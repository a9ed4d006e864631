"""What holds of every merge of learners of many classes: places, order, idle shards, regret."""

from __future__ import annotations

from itertools import permutations
from math import log

import numpy as np
import pytest

from lessregret import Coin, Ftrl, Learner, MergeError, PerCoordinate, Rule, merge
from lessregret.data.examples import Rows
from lessregret.learners.class_loss import ClassLoss
from lessregret.learners.losses import loss_named
from lessregret.learners.mixture import EXPERTS
from tests.support.shards import copy

COLUMNS, ROUNDS, CLASSES = 6, 240, 10
RULES: tuple[Rule, ...] = (
    PerCoordinate(),
    PerCoordinate(rate=0.4),
    Ftrl(rate=0.3, l1=0.01),
    Coin(),
)
LOSSES = ("logistic", "hinge")


def problem(classes: int = CLASSES, rounds: int = ROUNDS) -> tuple[np.ndarray, np.ndarray]:
    """Sparse rows, and classes that the true weights draw."""
    draws = np.random.default_rng(8)
    values = draws.normal(size=(rounds, COLUMNS)) * (draws.random((rounds, COLUMNS)) < 0.7)
    truth = draws.normal(size=(COLUMNS, classes))
    return values, (values @ truth + draws.gumbel(size=(rounds, classes))).argmax(1)


VALUES, LABELS = problem()


def after(start: Learner, rounds: np.ndarray, labels: np.ndarray = LABELS) -> Learner:
    """What the start becomes on these rounds."""
    learner, values = copy(start), VALUES[rounds]
    own = [np.flatnonzero(row) for row in values]
    ends = np.cumsum([0, *map(len, own)])
    found = np.concatenate([row[k] for row, k in zip(values, own, strict=True)])
    given = labels[rounds].astype(float)
    learner.learn(Rows(ends, np.concatenate(own), found, labels=given, space=learner))
    return learner


def turns(first: int, count: int = 3) -> list[np.ndarray]:
    return [np.arange(ROUNDS)[first + k :: count] for k in range(count)]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    "rule", RULES, ids=lambda rule: f"{rule.name}-{rule.rate if hasattr(rule, 'rate') else ''}"
)
@pytest.mark.parametrize("classes", ["auto", CLASSES], ids=str)
def test_one_shard_idle_shards_and_any_order(loss: str, rule: Rule, classes: str | int) -> None:
    known = classes if isinstance(classes, str) else range(classes)
    for scale in ("standard", "none"):
        fresh = Learner(loss, rule, columns=COLUMNS, scale=scale, certify=True, classes=known)  # type: ignore[arg-type]
        # After 4 rounds few classes are known, so the shards meet the others in different orders.
        for start in (fresh, after(fresh, np.arange(4))):
            shards = [after(start, rounds) for rounds in turns(4)]
            if classes == "auto":
                assert len({tuple(shard.classes or ()) for shard in shards}) == 3
            assert merge(start, [start]).to_bytes() == start.to_bytes()
            assert merge(start, shards[:1]).to_bytes() == shards[0].to_bytes()
            assert merge(start, [start, shards[1]]).to_bytes() == shards[1].to_bytes()
            together = merge(start, shards)
            assert sorted(together.classes or ()) == sorted(
                {c for s in shards for c in s.classes or ()}
            )
            assert copy(together).to_bytes() == together.to_bytes()
            for order in permutations(shards):
                assert merge(start, [order[0], start, *order[1:]]).to_bytes() == together.to_bytes()


@pytest.mark.parametrize("rule", RULES[:3], ids=str)
@pytest.mark.parametrize("how", ["matched", "weighted", "average"])
def test_where_a_class_stands_on_a_shard_does_not_matter(rule: Rule, how: str) -> None:
    """Shards that were given all places at the start merge to the same weights and sums.

    Sums over classes are added up in the order of their places, so they differ in the last bits.
    """
    start = Learner("logistic", rule, columns=COLUMNS, classes="auto")
    early = copy(start)
    early.add_classes(range(CLASSES))
    ours = merge(start, [after(start, rounds) for rounds in turns(0)], how=how)  # type: ignore[arg-type]
    theirs = merge(early, [after(early, rounds) for rounds in turns(0)], how=how)  # type: ignore[arg-type]
    assert ours.classes is not None
    assert theirs.classes == list(range(CLASSES))
    weights = theirs.dense_weights()[:, ours.classes]
    np.testing.assert_allclose(ours.dense_weights(), weights, rtol=1e-6, atol=1e-7)
    for name in ("rounds", "features", "importance", "loss", "mistakes", "played"):
        expected = pytest.approx(getattr(theirs.tally(), name), rel=1e-12)
        assert getattr(ours.tally(), name) == expected


@pytest.mark.parametrize("rate", [0.1, 0.6])
def test_two_of_many_classes_merge_as_two_classes_at_twice_the_rate(rate: float) -> None:
    """p_1 − p_0 moves twice as far, and so it converges twice as fast."""
    labels = (LABELS >= CLASSES // 2).astype(float)
    many = Learner(
        "logistic", PerCoordinate(rate=rate, offset=0.0), columns=COLUMNS, classes=[0, 1]
    )
    two = Learner("logistic", PerCoordinate(rate=2 * rate, offset=0.0), columns=COLUMNS)
    ours = merge(many, [after(many, rounds, labels) for rounds in turns(0)])
    theirs = merge(two, [after(two, rounds, 2 * labels - 1) for rounds in turns(0)])
    weights = ours.dense_weights()
    moved = np.abs(theirs.dense_weights()).max()
    assert moved > 0.05
    np.testing.assert_allclose(
        weights[:, 1] - weights[:, 0], theirs.dense_weights(), atol=1e-4 * moved
    )


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("rule", RULES[:3], ids=str)
def test_the_certificate_covers_all_plays_of_all_shards(loss: str, rule: Rule) -> None:
    known, draws = ClassLoss(loss_named(loss)), np.random.default_rng(2)
    for shards, syncs in ((2, 3), (8, 4)):
        learner = Learner(
            loss, rule, columns=COLUMNS, intercept=False, scale="none", certify=True, classes="auto"
        )
        for number, part in enumerate(np.array_split(np.arange(ROUNDS), syncs), start=1):
            parts = [after(learner, part[k::shards]) for k in range(shards)]
            learner = merge(learner, parts, players=1 if number == syncs else shards)
        ledger = learner.ledger()
        assert ledger.rounds == ROUNDS
        assert ledger.bound is None
        assert ledger.linear_regret is not None
        learned = np.zeros((COLUMNS, CLASSES))
        learned[:, learner.classes] = learner.dense_weights()
        radius = 10.0
        points = [np.clip(learned, -radius, radius), np.zeros_like(learned)]
        points += [draws.uniform(-radius, radius, learned.shape) / size for size in (1, 3, 10, 30)]
        for weights in points:
            pairs = zip((VALUES @ weights).tolist(), LABELS.tolist(), strict=True)
            theirs = sum(known.value(margins, y) for margins, y in pairs)
            assert ledger.tally.loss - theirs <= ledger.linear_regret + 1e-6 * theirs


@pytest.mark.parametrize("fixed_share", [0.0, 0.01])
def test_mixing_costs_at_most_ln_9_a_shard(fixed_share: float) -> None:
    for shards in (2, 8):
        learner = Learner(
            "logistic", columns=COLUMNS, fixed_share=fixed_share, classes=range(CLASSES)
        )
        for part in np.array_split(np.arange(ROUNDS), 6):
            parts = [after(learner, part[k::shards]) for k in range(shards)]
            learner = merge(learner, parts, players=shards)
        ledger = learner.ledger()
        assert ledger.stack is not None
        best = min(ledger.stack.loss, *(lane.loss for lane in ledger.lanes))
        sharing = -ROUNDS * np.log1p(fixed_share / EXPERTS - fixed_share)
        assert ledger.tally.loss <= best + shards * log(EXPERTS) + sharing + 1e-6


def test_a_class_is_its_name_where_codes_have_names() -> None:
    """Two shards gave the code 2 to two classes, and the class of each got its own place."""
    start = Learner("logistic", columns=COLUMNS, classes="auto")
    labels = LABELS % 3
    start = after(start, np.flatnonzero(labels < 2)[:30], labels).with_class_names(["a", "b"])
    rounds = np.array_split(np.arange(60, ROUNDS), 2)
    shards = [
        after(start.with_class_names(["a", "b", name]), part, labels)
        for name, part in zip("cd", rounds, strict=True)
    ]
    merged = merge(start, shards)
    assert merged.class_names is not None
    assert sorted(merged.class_names) == ["a", "b", "c", "d"]
    assert merge(start, shards[::-1]).to_bytes() == merged.to_bytes()
    assert merge(start, [shards[1], start]).to_bytes() == shards[1].to_bytes()
    for name, shard in zip("cd", shards, strict=True):
        place = merged.class_names.index(name)
        assert np.array_equal(
            merged.dense_weights()[:, place] != 0, shard.dense_weights()[:, 2] != 0
        )


def test_what_cannot_be_one_is_named() -> None:
    start = Learner("logistic", columns=COLUMNS, classes="auto")
    begun = after(start, np.arange(30))
    with pytest.raises(MergeError, match="its classes do not begin with those of the start"):
        merge(begun, [after(start, np.arange(60, ROUNDS))])
    with pytest.raises(MergeError, match="has no name for the class"):
        merge(start, [begun, after(start, np.arange(30)).with_class_names(list("abcdefghij"))])
    with pytest.raises(MergeError, match="differ in classes"):
        merge(start, [Learner("logistic", columns=COLUMNS, classes=CLASSES)])
    one, other = (
        Learner("logistic", PerCoordinate(rate=rate), columns=COLUMNS, classes=CLASSES)
        for rate in (0.5, 1.0)
    )
    with pytest.raises(MergeError, match="differ in rule"):
        merge(one, [other])
