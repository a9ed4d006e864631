"""A piecewise linear loss as a sum of hinges: from examples, and the lines below it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from lessregret import Learner
from lessregret.learners.losses import loss_named
from lessregret.regret.comparator import InMemory, passes
from lessregret.regret.comparator.hinges import Hinges
from tests.support.hindsight import examples_of
from tests.support.pairs import ONE_OF_EACH

ROWS = np.array([[1.0, 2.0], [0.0, 3.0], [1.0, 2.0], [1.0, 2.0], [0.0, 3.0]])
LABELS = np.array([1.0, -1.0, -1.0, 1.0, -1.0])
IMPORTANCES = np.array([0.5, 2.0, 4.0, 0.25, 0.0])


def in_memory(loss: str = "hinge") -> InMemory:
    space = Learner(loss, columns=2, intercept=False)
    return InMemory(examples_of(ROWS, LABELS, IMPORTANCES, space), loss)


def random_hinges(seed: int) -> Hinges:
    rng = np.random.default_rng(seed)
    weights = rng.choice([0.5, 1.0, 3.0], 20)
    return Hinges(csr_array(rng.normal(size=(20, 4))), rng.normal(size=20), weights)


def value(hinges: Hinges, point: np.ndarray) -> float:
    lacks = hinges.offsets - hinges.rows @ point
    return float(hinges.weights @ np.maximum(0, lacks))


@pytest.mark.parametrize("loss", ONE_OF_EACH)
def test_the_pieces_of_a_loss_add_up_to_it(loss: str) -> None:
    """Only a loss with a kink can have any."""
    known = loss_named(loss)
    assert known.has_kink or not known.pieces(1.0)
    for label in (-1.0, 1.0) if known.pieces(1.0) else ():
        for margin in (-30.0, -1.0, 0.0, 0.7, 1.0, 40.0):
            pieces = known.pieces(label)
            whole = sum(w * max(0.0, offset - side * margin) for w, offset, side in pieces)
            assert whole == known.value(margin, label)


def test_hinge_loss_has_one_piece() -> None:
    assert [loss_named("hinge").pieces(label) for label in (1.0, -1.0)] == [
        ((1.0, 1.0, 1.0),),
        ((1.0, 1.0, -1.0),),
    ]


def test_examples_with_the_same_features_and_label_share_a_hinge() -> None:
    hinges = in_memory().hinges()
    assert hinges is not None
    rows = hinges.rows.toarray().tolist()
    found = {(tuple(row), h) for row, h in zip(rows, hinges.weights, strict=True)}
    assert found == {((1.0, 2.0), 0.75), ((-1.0, -2.0), 4.0), ((0.0, -3.0), 2.0)}
    assert hinges.offsets.tolist() == [1.0, 1.0, 1.0]
    assert hinges.columns.toarray().T.tolist() == rows


def test_the_sum_is_the_loss_of_the_examples() -> None:
    known, hinges = in_memory(), in_memory().hinges()
    assert hinges is not None
    for point in np.random.default_rng(0).normal(size=(20, 2)):
        assert value(hinges, point) == pytest.approx(known.look(point, 1.0).loss, rel=1e-12)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_a_smooth_loss_is_no_sum_of_hinges(loss: str) -> None:
    assert in_memory(loss).hinges() is None


def test_what_is_too_large_for_factors_is_left_to_the_other_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(passes, "LARGEST_FACTOR", 1)
    assert in_memory().hinges() is None


@pytest.mark.parametrize("seed", range(5))
def test_every_line_is_below_the_sum(seed: int) -> None:
    """Shares outside of [0, h], as rounding may leave them, are cut off."""
    hinges, rng = random_hinges(seed), np.random.default_rng(seed)
    for shares in rng.uniform(-1.0, 4.0, size=(20, 20)):
        constant, slopes = hinges.line(shares)
        for point in rng.normal(size=(20, 4)):
            assert constant + float(slopes @ point) <= value(hinges, point) + 1e-12
