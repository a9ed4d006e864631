"""Is the log read again to the same bits, however its entries are joined?"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from lessregret.errors import DivergedError
from lessregret.learners.learner import Learner
from lessregret.service import replay
from lessregret.service.bodies import CSV, JSON, NDJSON, VW, Bodies, Labelled
from lessregret.service.log import Entry, LogError
from lessregret.service.replay import learn_run, runs

RIGHT = b'{"features": {"a": 1, "b": "x"}, "label": 1}'


def entry(position: int, media: str, body: bytes, examples: int) -> Entry:
    return Entry(position, media, examples, body)


def new_learner() -> Learner:
    return Learner("squared", rule=None, bits=8, scale="none")


def relearned(entries: list[Entry], joins: bool) -> tuple[bytes, int]:
    """The model after a start, and how many calls it took."""
    learner, calls = new_learner(), 0
    bodies = Bodies(learner.space, 100)

    def learn(given: Labelled) -> object:
        nonlocal calls
        calls += 1
        try:
            learner._core.learn(given.examples)
        except DivergedError as error:
            return error
        return None

    for run in runs(entries) if joins else [[each] for each in entries]:
        learn_run(bodies, run, learn, lambda: learner.tally().rounds)
    return learner.to_bytes(), calls


def mixed(seed: int) -> Iterator[Entry]:
    """Entries of all kinds: plain and not, one example and several, some that diverge."""
    chance = random.Random(seed)
    for position in range(1, 200):
        label = chance.choice([0, 1, -1, 2.5])
        one = f'{{"features": {{"a{chance.randrange(9)}": {chance.random()}}}, "label": {label}}}'
        wild = '{"features": {"a": 3e38}, "label": 3e38}'
        text = f"{label} | a{chance.randrange(9)}:{chance.random()}"
        yield chance.choice([
            entry(position, JSON, one.encode(), 1),
            entry(position, JSON, f"[{one}, {one}]".encode(), 2),
            entry(position, JSON, f"\n {one}".encode(), 1),
            entry(position, JSON, one.replace('"a', '"\\u0061').encode(), 1),
            entry(position, NDJSON, f"{one}\n{one}\n".encode(), 2),
            entry(position, NDJSON, f"{one}\n{wild}\n{one}".encode(), 3),
            entry(position, JSON, wild.encode(), 1),
            entry(position, VW, f"{text}\n{text}".encode(), 2),
            entry(position, VW, f"{text}\n".encode(), 1),
        ])  # fmt: skip


@pytest.mark.parametrize("seed", range(8))
def test_joined_entries_give_the_bits_of_single_ones(seed: int) -> None:
    entries = list(mixed(seed))
    (joined, fewer), (single, calls) = relearned(entries, True), relearned(entries, False)
    assert joined == single
    assert fewer < calls


def test_many_small_entries_are_learned_in_one_call() -> None:
    entries = [entry(k, JSON, RIGHT, 1) for k in range(1, 1001)]
    assert relearned(entries, True)[1] == 1


def test_one_entry_that_is_not_plain_costs_few_calls() -> None:
    entries = [entry(k, JSON, RIGHT, 1) for k in range(1, 1001)]
    entries[700] = entry(701, JSON, RIGHT.replace(b'"a"', b'"\\u0061"'), 1)
    (joined, calls), (single, _) = relearned(entries, True), relearned(entries, False)
    assert joined == single
    assert calls < 30


def test_runs_are_bounded_and_of_one_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "MOST_EXAMPLES", 3)
    media = [JSON, NDJSON, JSON, JSON, VW, VW, CSV, CSV]
    entries = [entry(k, kind, RIGHT, 1) for k, kind in enumerate(media, 1)]
    found = [[each.position for each in run] for run in runs(entries)]
    assert found == [[1, 2, 3], [4], [5, 6], [7], [8]]


def test_what_stands_before_damage_is_learned() -> None:
    def damaged() -> Iterator[Entry]:
        yield entry(1, JSON, RIGHT, 1)
        raise LogError("damage")

    found = runs(damaged())
    assert len(next(found)) == 1
    with pytest.raises(LogError, match="damage"):
        next(found)


def test_two_spellings_of_the_negative_label_are_read_apart() -> None:
    entries = [entry(1, VW, b"0 | a", 1), entry(2, VW, b"-1 | a", 1), entry(3, VW, b"1 | a", 1)]
    learner = Learner("logistic", bits=8)
    [run] = runs(entries)
    learn_run(
        Bodies(learner.space, 100), run,
        lambda given: learner._core.learn(given.examples) and None, lambda: learner.tally().rounds,
    )  # fmt: skip
    assert learner.tally().rounds == 3
