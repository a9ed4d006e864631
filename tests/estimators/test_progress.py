"""The metrics of estimators are those of a run over the same examples."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from lessregret import OnlineClassifier, OnlineRegressor
from lessregret.learners.losses import LOSSES
from lessregret.training.metrics import scores_of


def rows(count: int = 3000) -> tuple[Any, Any]:
    draw = np.random.default_rng(4)
    X = draw.normal(size=(count, 4))
    return X, (X[:, 0] + draw.normal(size=count) > 1).astype(int)


def test_they_are_the_scores_of_the_predictions_before_learning() -> None:
    X, y = rows(1500)
    clf, margins = OnlineClassifier(), []
    for start in range(0, len(y), 100):
        part = slice(start, start + 100)
        if start:
            # The margins of a batch change as it is learned: only its first row is predicted here.
            margins.append(clf.decision_function(X[part][:1])[0])
        clf.partial_fit(X[part], y[part], classes=[0, 1])
    one = OnlineClassifier().fit(X, y)
    assert clf.metrics_ is not None
    assert one.metrics_ is not None
    assert clf.metrics_.all.auc == one.metrics_.all.auc
    assert clf.metrics_.all.sums.examples == len(y)
    assert one.metrics_.all.mean_loss == pytest.approx(one.ledger_.mean_loss, rel=1e-12)
    assert one.metrics_.all.error == pytest.approx(one.ledger_.mistake_rate, rel=1e-12)


def test_the_area_is_that_of_scikit_learn() -> None:
    X, y = rows(500)
    clf, played = OnlineClassifier(), []
    for k in range(len(y)):
        if k:
            played.append(clf.decision_function(X[k : k + 1])[0])
        clf.partial_fit(X[k : k + 1], y[k : k + 1], classes=[0, 1])
    area = clf.metrics_.all.auc if clf.metrics_ else None
    assert area == pytest.approx(roc_auc_score(y, [0.0, *played]), abs=1e-3)


def test_the_last_tenth_is_the_end_of_the_run() -> None:
    X, y = rows()
    clf = OnlineClassifier().fit(X, y)
    assert clf.metrics_ is not None
    assert clf.metrics_.last_tenth is not None
    last = clf.metrics_.last_tenth.sums.examples
    assert 0.08 * len(y) <= last <= 0.18 * len(y)
    parts = OnlineClassifier()
    for start in range(0, len(y), 7):
        parts.partial_fit(X[start : start + 7], y[start : start + 7], classes=[0, 1])
    assert parts.metrics_ is not None
    assert parts.metrics_.last_tenth is not None
    assert parts.metrics_.last_tenth.sums.examples == last
    assert parts.metrics_.last_tenth.auc == clf.metrics_.last_tenth.auc


def test_examples_told_one_by_one_count() -> None:
    examples = [({"a": float(k % 5), "w": "xy"[k % 2]}, int(k % 3 == 0)) for k in range(2500)]
    one, batch = OnlineClassifier(bits=8), OnlineClassifier(bits=8)
    for x, y in examples:
        one.learn_one(x, y)
    batch.partial_fit([x for x, _ in examples], [y for _, y in examples], classes=[0, 1])
    assert one.metrics_ is not None
    assert batch.metrics_ is not None
    assert one.metrics_.all.sums == pytest.approx(batch.metrics_.all.sums, rel=1e-9)
    assert one.metrics_.all.auc == batch.metrics_.all.auc
    assert one.metrics_.last_tenth is not None
    assert batch.metrics_.last_tenth is not None
    assert one.metrics_.last_tenth.sums.examples == batch.metrics_.last_tenth.sums.examples


# The distance of Huber loss is in deviations of the labels in a ledger, in their unit in metrics.
NUMBERS = [name for name in LOSSES if LOSSES[name].labels != "binary" and name != "huber:1"]


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_have_r2_and_errors(name: str) -> None:
    X, y = rows(600)
    reg = OnlineRegressor(name).fit(X, y + 1.0)
    assert reg.metrics_ is not None
    assert reg.metrics_.all.mean_loss == pytest.approx(reg.ledger_.mean_loss, rel=1e-9)
    assert reg.metrics_.all.rmse is not None
    assert reg.metrics_.all.auc is None


def test_metrics_go_on_after_pickling_and_begin_anew_with_fit() -> None:
    X, y = rows(800)
    clf = OnlineClassifier().fit(X, y)
    again = pickle.loads(pickle.dumps(clf))
    for each in (clf, again):
        each.partial_fit(X, y)
    assert again.metrics_.all.auc == clf.metrics_.all.auc  # type: ignore[union-attr]
    assert again.metrics_.all.sums.examples == 2 * len(y)
    assert clf.fit(X, y).metrics_.all.sums.examples == len(y)  # type: ignore[union-attr]


def test_a_call_that_fails_counts_nothing() -> None:
    X, y = rows(100)
    clf = OnlineClassifier().fit(X, y)
    with pytest.raises(ValueError, match="y must hold only the classes"):
        clf.partial_fit(X, y + 7)
    assert clf.metrics_ is not None
    assert clf.metrics_.all.sums.examples == len(y)


def test_a_model_that_was_loaded_has_had_no_examples(tmp_path: Any) -> None:
    X, y = rows(100)
    clf = OnlineClassifier().fit(X, y)
    clf.save(tmp_path / "m")
    loaded = OnlineClassifier.load(tmp_path / "m")
    assert loaded.metrics_ is not None
    assert loaded.metrics_.all.sums.examples == 0
    loaded.partial_fit(X, y)
    assert loaded.metrics_.all.sums.examples == len(y)


def test_the_sums_are_those_of_the_readable_twin() -> None:
    X, y = rows(400)
    clf = OnlineClassifier(loss="hinge").fit(X, y)
    margins = np.array([0.5, -1.0])
    assert scores_of("hinge", margins, np.array([1.0, -1.0]), np.ones(2)) is not None
    assert clf.metrics_ is not None
    assert clf.metrics_.all.names == ("auc", "auc_error", "error")
