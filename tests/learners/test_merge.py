"""Learners become one: what is refused, and what a merged learner holds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import lessregret
from lessregret import (
    PA1,
    Arow,
    Coin,
    Constant,
    Ftrl,
    Global,
    InverseSqrt,
    Learner,
    MergeError,
    PerCoordinate,
    Rule,
    SpecError,
    merge,
    open_examples,
)
from tests.support.shards import after, copy
from tests.support.streams import random_rounds

ROUNDS = list(random_rounds(seed=5, rounds=300))


def learner(rule: Rule | None = None, **settings: object) -> Learner:
    return Learner("hinge", rule, columns=40, **settings)  # type: ignore[arg-type]


def shards_of(start: Learner, count: int = 3) -> list[Learner]:
    return [after(start, ROUNDS[k::count]) for k in range(count)]


@pytest.mark.parametrize(
    "rule", [PerCoordinate(), PerCoordinate(rate=0.3), Ftrl(), Ftrl(rate=0.2), Coin(), Arow()]
)
def test_rules_that_keep_what_they_saw_merge_in_every_way(rule: Rule) -> None:
    start = learner(rule)
    shards = shards_of(start)
    found = {how: merge(start, shards, how=how) for how in ("matched", "weighted", "average")}  # type: ignore[arg-type]
    for merged in found.values():
        assert merged.tally().rounds == len(ROUNDS)
        assert merged.ledger().bound is None
        assert copy(merged).to_bytes() == merged.to_bytes()
    assert found["matched"].to_bytes() != found["average"].to_bytes()


@pytest.mark.parametrize("rule", [Constant(rate=0.1), InverseSqrt(rate=0.1), PA1()])
def test_rules_that_keep_weights_only_are_averaged(rule: Rule) -> None:
    start = learner(rule)
    shards = shards_of(start, 2)
    with pytest.raises(MergeError, match=rf"rule '{rule.name}'.*how='average'"):
        merge(start, shards)
    merged = merge(start, shards, how="average")
    means = [(one.weight(3) + other.weight(3)) / 2 for one, other in [shards]]
    assert merged.weight(3) == pytest.approx(means[0], rel=1e-6)


def test_a_rule_that_cannot_be_merged_is_named() -> None:
    start = learner(Global())
    with pytest.raises(MergeError, match="rule 'global' cannot be merged"):
        merge(start, shards_of(start), how="average")


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        (learner(PerCoordinate(radius=5)), "differ in rule"),
        (learner(l2=0.1), "differ in l2"),
        (learner(scale="none"), "differ in scale"),
        (learner(certify=False), "differ in certify"),
        (Learner("logistic", columns=40), "differ in loss"),
        (Learner("hinge", columns=41), re.escape('differ in table: {"columns":40} and')),
        (learner(box=([-1.0] * 40, [1.0] * 40)), "differ in the boxes"),
    ],
)
def test_a_difference_is_named(other: Learner, difference: str) -> None:
    start = learner()
    with pytest.raises(MergeError, match=f"the start and shard 2 {difference}"):
        merge(start, [after(start, ROUNDS[:9]), other])


def test_a_shard_of_another_start_is_refused() -> None:
    start = after(learner(), ROUNDS[:50])
    with pytest.raises(MergeError, match="shard 1 did not go on from the start: its sum of rounds"):
        merge(start, [after(learner(), ROUNDS[50:60])])
    with pytest.raises(MergeError, match=r"did not go on from the start: its energy in slot \d+"):
        merge(start, [after(learner(), ROUNDS[60:])])


def test_bad_requests_are_refused(tmp_path: Path) -> None:
    start = learner()
    with pytest.raises(MergeError, match="no shard to merge"):
        merge(start, [])
    with pytest.raises(SpecError, match="how must be one of 'matched', 'weighted', 'average'"):
        merge(start, [start], how="sum")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="players must be 1 or more"):
        merge(start, [start], players=0)
    start.save(tmp_path / "slim", slim=True)
    with pytest.raises(MergeError, match="shard 1 is a slim model"):
        merge(start, [tmp_path / "slim"])


def test_model_files_are_merged_with_their_names_and_skipped_lines(tmp_path: Path) -> None:
    start = Learner("logistic", bits=10)
    paths = []
    for number, text in enumerate(["1 | a b\nbad\n", "-1 | b c\n1 | c d\n"]):
        (tmp_path / "part.vw").write_text(text)
        shard = copy(start)
        stream = open_examples(
            [str(tmp_path / "part.vw")], shard, format="vw", names=True, bad_lines="skip"
        )
        shard.learn(stream)
        shard._core.keep_names(stream.core)
        paths.append(tmp_path / f"shard{number}")
        shard.save(paths[-1])
    merged = lessregret.merge(start, paths)
    names = {name[0] for slot in range(1024) if (name := merged.name(slot)) is not None}
    assert names == {"a", "b", "c", "d"}
    assert (merged.tally().rounds, merged.ledger().skipped) == (3, 1)


def test_classes_that_a_shard_has_met_are_kept_and_others_refused() -> None:
    start = learner()
    shards = [part.with_classes("no", "yes") for part in shards_of(start, 2)]
    merged = merge(start, [*shards, start])
    assert merged.spec["schema"]["classes"] == {"negative": "no", "positive": "yes"}
    with pytest.raises(MergeError, match="differ in classes: 'no' and 'yes' and 'no' and 'maybe'"):
        merge(start, [shards[0], start.with_classes("no", "maybe")])


def test_a_merged_learner_goes_on_and_stays_without_a_bound() -> None:
    start = learner()
    merged = merge(start, shards_of(start))
    later = after(merged, ROUNDS[:50])
    assert later.tally().rounds == 350
    ledger = copy(later).ledger()
    assert ledger.bound is ledger.theorem is ledger.mixing_cost is None
    assert ledger.linear_regret is not None
