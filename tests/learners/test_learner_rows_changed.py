"""Are arrays that another thread changes while they are read an error, and never a panic?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest

from lessregret import PA, Constant, Examples, Learner, PerCoordinate, Rows, learn_many
from lessregret.errors import InputError
from tests.support.slow import slow

ROWS, FEATURES, COLUMNS = 60_000, 8, 1000
TRIES = 12
RULES = [Constant(rate=0.1), PerCoordinate(), PA()]


def arrays() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(4)
    width = COLUMNS // FEATURES
    columns = rng.integers(0, width, size=(ROWS, FEATURES)) + width * np.arange(FEATURES)
    return {
        "indptr": np.arange(0, ROWS * FEATURES + 1, FEATURES),
        "indices": columns.ravel().astype(np.int32),
        "values": rng.random(ROWS * FEATURES).astype(np.float32) + np.float32(0.1),
        "labels": rng.choice([-1.0, 1.0], size=ROWS),
        "importances": np.ones(ROWS),
    }


@contextmanager
def changing(array: np.ndarray, value: Any) -> Iterator[None]:
    """Every hundredth entry of the second half has this value, then its own, over and over."""
    part = array[len(array) // 2 :: 100]
    good, ended = part.copy(), Event()

    def change() -> None:
        while not ended.is_set():
            part[:] = value
            part[:] = good

    thread = Thread(target=change)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


CHANGES = [
    ("indices", 2**31 - 1), ("indices", -1), ("indices", COLUMNS), ("indptr", 2**62),
    ("indptr", -5), ("indptr", 0), ("values", np.nan), ("values", np.inf), ("values", 0.0),
    ("labels", np.nan), ("labels", 3.0), ("importances", -1.0), ("importances", np.inf),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), CHANGES, ids=str)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize("tries", [3, slow(TRIES)])
def test_rows_that_change_while_they_are_learned(
    rule: Any, name: str, value: float, tries: int
) -> None:
    changed = arrays()
    learner = Learner("hinge", rule, columns=COLUMNS, scale="full")
    rows = Rows(**changed, space=learner)
    with changing(changed[name], value):
        for use in (learner.learn, learner.predict, Examples.collect) * tries:
            with suppress(InputError):
                use(rows)
    assert np.isfinite(learner.dense_weights()).all()
    assert np.isfinite(learner.ledger().tally.loss)
    assert Learner.from_bytes(learner.to_bytes()).to_bytes() == learner.to_bytes()


def test_an_order_that_changes_while_it_is_used() -> None:
    given = arrays()
    learner = Learner("hinge", PerCoordinate(rate=0.1), columns=COLUMNS)
    examples = Examples.collect(Rows(**given, space=learner))
    order = np.arange(ROWS, dtype=np.uint32)
    with changing(order, 2**32 - 1):
        for _ in range(TRIES):
            with suppress(InputError):
                learn_many([learner], examples, order=order)
    assert np.isfinite(learner.dense_weights()).all()
