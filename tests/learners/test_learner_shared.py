"""May threads share a learner: is each prediction that of the model before or after a batch?"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import numpy as np
import pytest
from scipy.sparse import csr_array

from lessregret import Learner, OnlineClassifier, PerCoordinate, Rule
from lessregret.data.examples import Rows
from lessregret.learners.learner import learn_many

PREDICTING = 8
BATCH = 64
"""The batch after which whoever waits may look at the learner."""
RULES = {"one rate": PerCoordinate(rate=0.5), "auto": PerCoordinate()}


def rows(count: int, seed: int) -> tuple[csr_array, np.ndarray]:
    random = np.random.default_rng(seed)
    matrix = csr_array(random.normal(size=(count, 20)))
    return matrix, np.where(random.random(count) < 0.5, 1.0, -1.0)


def learned_in_batches(learner: Learner, matrix: csr_array, labels: np.ndarray) -> Iterator[int]:
    for start in range(0, len(labels), BATCH):
        part = slice(start, start + BATCH)
        learner.learn(Rows.from_csr(matrix[part], labels[part], space=learner))
        yield start


def margins_of_all_states(rule: Rule, asked: csr_array, batches: list[tuple]) -> set[bytes]:
    """What the learner predicts at first and after every 64 examples, one batch after another."""
    learner = Learner(rule=rule, columns=20)

    def predicted() -> bytes:
        return learner.predict(Rows.from_csr(asked, space=learner)).margins.tobytes()

    states = {predicted()}
    for matrix, labels in batches:
        for _ in learned_in_batches(learner, matrix, labels):
            states.add(predicted())
    return states


def together(works: list[Callable[[], object]]) -> list[object]:
    """The results of functions that run at the same time."""
    barrier = Barrier(len(works))

    def run(work: Callable[[], object]) -> object:
        barrier.wait()
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return [future.result() for future in [pool.submit(run, work) for work in works]]


def trained(learner: Learner, batches: list[tuple]) -> Learner:
    for matrix, labels in batches:
        learner.learn(Rows.from_csr(matrix, labels, space=learner))
    return learner


def seen_until(done: Event, look: Callable[[], bytes]) -> set[bytes]:
    found = {look()}
    while not done.is_set():
        found.add(look())
    return found


@pytest.mark.parametrize("name", RULES)
def test_predictions_are_of_whole_batches_while_another_thread_learns(name: str) -> None:
    learner = Learner(rule=RULES[name], columns=20)
    batches = [rows(512, seed) for seed in range(30)]
    asked, _ = rows(1, 99)
    done = Event()

    def learn() -> None:
        try:
            trained(learner, batches)
        finally:
            done.set()

    def predicted(by: Learner) -> bytes:
        return by.predict(Rows.from_csr(asked, space=by)).margins.tobytes()

    def predict() -> set[bytes]:
        return seen_until(done, lambda: predicted(learner))

    def copy() -> set[bytes]:
        return seen_until(done, lambda: predicted(pickle.loads(pickle.dumps(learner))))

    _, *found = together([learn, copy, *[predict] * PREDICTING])
    allowed = margins_of_all_states(RULES[name], asked, batches)
    assert all(isinstance(margins, set) and margins <= allowed for margins in found)
    assert learner.to_bytes() == trained(Learner(rule=RULES[name], columns=20), batches).to_bytes()


def test_threads_that_learn_take_turns_and_lose_nothing() -> None:
    learner = Learner(columns=20)
    parts = [rows(300, seed) for seed in range(4)]

    def learn(matrix: csr_array, labels: np.ndarray) -> int:
        return len(learner.learn(Rows.from_csr(matrix, labels, space=learner)))

    counts = together([lambda part=part: learn(*part) for part in parts])
    assert counts == [300] * 4
    assert learner.tally().rounds == 1200


def test_many_learners_may_be_looked_at_while_they_learn() -> None:
    learners = [Learner(rule=rule, columns=20) for rule in RULES.values()]
    matrix, labels = rows(5000, 1)
    source = Rows.from_csr(matrix, labels, space=learners[0])
    count, rounds = together(
        [
            lambda: learn_many(learners, source),
            lambda: [learner.ledger().rounds for learner in learners for _ in range(20)],
        ]
    )
    assert count == 5000
    assert isinstance(rounds, list)
    assert all(0 <= number <= 5000 for number in rounds)


def test_estimators_may_be_shared_and_pickled_meanwhile() -> None:
    random = np.random.default_rng(3)
    classifier = OnlineClassifier()
    examples = [
        {"user": f"u{random.integers(9)}", "age": float(random.random())} for _ in range(900)
    ]
    classifier.learn_one(examples[0], True)

    def learn() -> None:
        for k, example in enumerate(examples[1:]):
            classifier.learn_one(example, k % 3 == 0)

    def predict() -> bool:
        return all(0 <= classifier.predict_proba_one(x)[True] <= 1 for x in examples)

    def copy() -> list[int]:
        copies = [pickle.loads(pickle.dumps(classifier)) for _ in range(10)]
        return [read.ledger_.rounds for read in copies]

    _, copied, *predicted = together([learn, copy, *[predict] * 4])
    assert isinstance(copied, list)
    assert copied == sorted(copied)
    assert all(predicted)
    assert classifier.ledger_.rounds == 900
