"""Are the scores of many classes those of others, and are Rust's sums the readable ones?"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as sk

from lessregret import _core
from lessregret.learners.losses import LOSSES
from lessregret.training.class_metrics import class_scores_of, class_sums_of
from lessregret.training.class_scores import MOST, ClassScores, ClassSums

CLASSIFYING = [name for name in LOSSES if LOSSES[name].is_classification]
NAMES = ("ant", "bee", "cat", "dog", "elk")
CODES = [2, 3, 5, 7, 11]


def rounds(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Margins, labels that follow them, and importances, some of them 0."""
    draws = np.random.default_rng(count)
    margins = draws.normal(size=(count, len(CODES)))
    labels = np.array(CODES)[(margins + draws.gumbel(size=margins.shape)).argmax(1)]
    importances = draws.integers(0, 3, count)
    return margins, labels.astype(np.float32), importances.astype(np.float32)


def core_sums(loss: str, codes: list[int], *played: np.ndarray, parts: int = 1) -> ClassSums:
    core = _core.ClassMetrics(loss)
    for part in np.array_split(np.arange(len(played[1])), parts):
        margins, *others = (array[part] for array in played)
        core.add_arrays(codes, margins.ravel(), *others)
    return ClassSums.of(core.sums(False))


def assert_equal(found: ClassSums, expected: ClassSums) -> None:
    assert found.examples == expected.examples
    for ours, theirs in zip(found[1:7], expected[1:7], strict=True):
        assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-9)
    assert found.confusions == expected.confusions


@pytest.mark.parametrize("loss", CLASSIFYING)
def test_the_sums_are_the_readable_ones(loss: str) -> None:
    played = rounds(500)
    played[0][::7] = np.round(played[0][::7])
    played[0][::11, 4] = -np.inf
    played[1][::11] = 3
    assert_equal(core_sums(loss, CODES, *played, parts=7), class_sums_of(loss, CODES, *played))


def test_rounds_of_other_labels_do_not_count() -> None:
    margins, labels, importances = rounds(50)
    labels[:10], labels[10:20] = np.nan, 4
    played = margins, labels, importances
    assert_equal(core_sums("logistic", CODES, *played), class_sums_of("logistic", CODES, *played))
    assert class_scores_of("logistic", CODES, NAMES, *played) is None


def test_the_scores_are_those_of_scikit_learn() -> None:
    margins, labels, h = rounds(3000)
    found = class_scores_of("logistic", CODES, NAMES, margins, labels, h)
    assert found is not None
    chances = np.exp(margins) / np.exp(margins).sum(1, keepdims=True)
    guesses = np.array(CODES)[margins.argmax(1)]
    assert found.mean_loss == pytest.approx(sk.log_loss(labels, chances, sample_weight=h))
    assert found.accuracy == pytest.approx(sk.accuracy_score(labels, guesses, sample_weight=h))
    for k in (2, 3, 4):
        expected = sk.top_k_accuracy_score(labels, chances, k=k, sample_weight=h)
        assert found.top(k) == pytest.approx(expected)
    table = sk.confusion_matrix(labels, guesses, labels=CODES, sample_weight=h)
    ours = np.zeros_like(table)
    for pair in found.confusions:
        ours[NAMES.index(pair.label), NAMES.index(pair.predicted)] = pair.importance
    assert ours == pytest.approx(table)
    shares = table.sum(1) / table.sum()
    constant = np.tile(shares, (len(labels), 1))
    assert found.constant_loss == pytest.approx(sk.log_loss(labels, constant, sample_weight=h))
    assert found.constant_error == pytest.approx(1 - shares.max())
    recalls = sk.recall_score(labels, guesses, labels=CODES, average=None, sample_weight=h)
    precisions = sk.precision_score(labels, guesses, labels=CODES, average=None, sample_weight=h)
    assert [it.recall for it in found.of_classes] == pytest.approx(list(recalls))
    assert [it.precision for it in found.of_classes] == pytest.approx(list(precisions))


@pytest.mark.parametrize("loss", CLASSIFYING)
def test_no_constant_prediction_loses_less_than_the_best(loss: str) -> None:
    margins, labels, h = rounds(400)
    found = class_scores_of(loss, CODES, NAMES, margins, labels, h)
    assert found is not None
    assert found.constant_loss is not None
    draws = np.random.default_rng(1)
    for _ in range(50):
        constant = np.tile(draws.normal(-0.5, 1, len(CODES)), (len(labels), 1))
        other = class_scores_of(loss, CODES, NAMES, constant, labels, h)
        assert other is not None
        assert other.mean_loss is not None
        assert other.mean_loss >= found.constant_loss - 1e-9


def test_accuracy_is_the_diagonal_of_the_table() -> None:
    margins, labels, h = rounds(700)
    margins = np.round(margins)
    found = class_scores_of("logistic", CODES, NAMES, margins, labels, h)
    assert found is not None
    right = sum(pair.importance for pair in found.confusions if pair.label == pair.predicted)
    assert found.accuracy == pytest.approx(right / found.sums.importance)


def test_many_classes_have_a_table_of_bounded_size() -> None:
    draws, codes = np.random.default_rng(3), list(range(3 * MOST))
    margins = draws.normal(size=(2000, len(codes)))
    labels = draws.integers(0, len(codes), 2000).astype(np.float32)
    played = margins, labels, np.ones(2000, np.float32)
    found = core_sums("logistic", codes, *played)
    assert_equal(found, class_sums_of("logistic", codes, *played))
    assert max(max(label, guess) for label, guess, _ in found.confusions) == MOST
    scores = ClassScores("logistic", found, tuple(map(str, codes)))
    assert scores.confusions[-1][:2] == ("(others)", "(others)")


def test_scores_that_are_not_defined_are_none() -> None:
    nothing = ClassScores("logistic", ClassSums(), NAMES)
    assert set(nothing.told.values()) == {None}
    assert nothing.as_dict()["classes"] == []
