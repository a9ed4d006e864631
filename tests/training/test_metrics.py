"""Are the scores those that anybody else computes, and are Rust's sums the readable ones?"""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn import metrics as sk

from lessregret import _core
from lessregret.learners.losses import loss_named
from lessregret.training.metrics import exact_auc, scores_of, sums_of
from lessregret.training.scores import MetricSums, Scores

MOST_ERROR = 1e-4


def rounds(count: int, *, classes: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Margins, labels that follow them, and importances, some of them 0."""
    random = np.random.default_rng(count)
    margins = random.normal(-1, 1.5, count)
    noisy = margins + random.logistic(0, 1, count)
    labels = np.where(noisy > 0, 1.0, -1.0) if classes else abs(noisy)
    return margins, labels.astype(np.float32), random.integers(0, 3, count).astype(np.float32)


@pytest.mark.parametrize("loss", _core.LOSSES)
def test_the_sums_are_the_readable_ones(loss: str) -> None:
    played = rounds(1000, classes=loss_named(loss).is_classification)
    core = _core.Metrics(loss)
    for part in np.array_split(np.arange(1000), 7):
        core.add_arrays(*(array[part] for array in played))
    assert core.sums(False) == pytest.approx(sums_of(loss, *played), rel=1e-9, abs=1e-9)


def predictions(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """A million margins and labels."""
    random = np.random.default_rng(7)
    truth = random.normal(-3, 1, 1_000_000)
    labels = np.where(random.random(len(truth)) < 1 / (1 + np.exp(-truth)), 1.0, -1.0)
    margins = truth + random.normal(0, 0.5, len(truth))
    if kind == "ties":
        margins = np.round(margins, 1)
    elif kind == "half ties":
        margins[::2] = np.round(margins[::2])
    elif kind == "large":
        margins *= 100
    return margins, labels


@pytest.mark.parametrize("kind", ["smooth", "ties", "half ties", "large"])
def test_the_auc_is_that_of_scikit_learn(kind: str) -> None:
    margins, labels = predictions(kind)
    found = scores_of("logistic", margins, labels, np.ones(len(labels)))
    expected = sk.roc_auc_score(labels, margins)
    assert found is not None
    assert found.auc is not None
    assert found.auc_error is not None
    assert found.auc_error <= (0.0 if kind == "ties" else MOST_ERROR)
    assert abs(found.auc - expected) <= found.auc_error + 1e-12


def test_the_exact_auc_is_that_of_scikit_learn_with_importances() -> None:
    margins, labels, importances = rounds(2000, classes=True)
    margins = np.round(margins, 1)
    expected = sk.roc_auc_score(labels, margins, sample_weight=importances)
    assert exact_auc(margins, labels, importances) == pytest.approx(expected, abs=1e-12)
    found = scores_of("logistic", margins, labels, importances)
    assert found is not None
    assert found.auc == pytest.approx(expected, abs=1e-12)


def test_the_scores_of_two_classes() -> None:
    margins, labels, importances = rounds(3000, classes=True)
    found = scores_of("logistic", margins, labels, importances)
    probabilities = 1 / (1 + np.exp(-margins))
    weights = {"sample_weight": importances}
    share = np.average(labels > 0, weights=importances)
    constant = sk.log_loss(labels, np.full(3000, share), **weights)
    loss = sk.log_loss(labels, probabilities, **weights)
    assert found is not None
    assert found.mean_loss == pytest.approx(loss)
    assert found.constant_loss == pytest.approx(constant)
    assert found.normalised_entropy == pytest.approx(loss / constant)
    assert found.error == pytest.approx(1 - sk.accuracy_score(labels, np.sign(margins), **weights))
    mean = np.average(probabilities, weights=importances)
    assert found.calibration == pytest.approx(mean / share)


def test_the_scores_of_numbers() -> None:
    margins, labels, importances = rounds(3000, classes=False)
    found = scores_of("squared", margins, labels, importances)
    weights = {"sample_weight": importances}
    assert found is not None
    assert found.rmse == pytest.approx(sk.root_mean_squared_error(labels, margins, **weights))
    assert found.mae == pytest.approx(sk.mean_absolute_error(labels, margins, **weights))
    assert found.r2 == pytest.approx(sk.r2_score(labels, margins, **weights))
    assert found.observed == pytest.approx(np.average(labels, weights=importances))


def test_labels_that_do_not_fit_have_no_scores() -> None:
    ones = np.ones(2)
    assert scores_of("logistic", ones, np.array([1.0, np.nan]), ones) is None
    assert scores_of("logistic", ones, np.array([3.0, 1.0]), ones) is None


def test_scores_that_are_not_defined_are_none() -> None:
    nothing = Scores("logistic", MetricSums())
    assert set(nothing.as_dict().values()) == {0, None}
    found = scores_of("logistic", np.ones(3), np.ones(3), np.ones(3))
    assert found is not None
    assert (found.auc, found.normalised_entropy, found.constant_loss) == (None, None, 0.0)


def test_metrics_can_be_pickled_and_go_on() -> None:
    played = rounds(500, classes=True)
    core = _core.Metrics("logistic")
    core.add_arrays(*played)
    copy = pickle.loads(pickle.dumps(core))
    for metrics in (core, copy):
        metrics.add_arrays(*rounds(100, classes=True))
    assert copy.sums(False) == pytest.approx(core.sums(False), rel=1e-12)
    assert core.area(False) == copy.area(False)
