"""Estimators in model files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lessregret import InverseSqrt, Learner, OnlineClassifier, OnlineRegressor, PerCoordinate
from lessregret.errors import SpecError

X = np.random.default_rng(0).normal(size=(60, 4))
SIGNS = X[:, 0] > 0


@pytest.mark.parametrize("classes", [[-1, 1], ["ham", "spam"], [False, True], [3, 1]], ids=str)
def test_a_loaded_classifier_goes_on_as_if_it_had_never_stopped(
    tmp_path: Path, classes: list[Any]
) -> None:
    y = np.array(classes)[SIGNS.astype(int)]
    whole = OnlineClassifier().partial_fit(X[:30], y[:30], classes=classes)
    whole.save(tmp_path / "model")
    loaded = OnlineClassifier.load(tmp_path / "model")
    assert loaded.classes_.tolist() == sorted(classes)
    assert loaded.classes_.dtype.kind == y.dtype.kind
    for estimator in whole, loaded:
        estimator.partial_fit(X[30:], y[30:])
        estimator.save(tmp_path / f"{estimator is whole}")
    assert (tmp_path / "True").read_bytes() == (tmp_path / "False").read_bytes()
    assert loaded.predict(X).tolist() == whole.predict(X).tolist()
    assert loaded.rule == PerCoordinate()


def test_a_loaded_regressor_predicts_as_before(tmp_path: Path) -> None:
    fitted = OnlineRegressor(l2=0.1, rule=InverseSqrt(rate=0.2)).fit(X, X @ [1, 2, 3, 4])
    fitted.save(tmp_path / "model", slim=True)
    loaded = OnlineRegressor.load(tmp_path / "model")
    assert loaded.predict(X).tolist() == fitted.predict(X).tolist()
    assert (loaded.l2, loaded.rule) == (0.1, fitted.rule)


def test_dicts_go_on_too(tmp_path: Path) -> None:
    rows = [{"word": "ham"}, {"word": "spam"}] * 10
    fitted = OnlineClassifier(bits=10, crosses=["word*word"]).fit(rows, ["ok", "bad"] * 10)
    fitted.save(tmp_path / "model")
    loaded = OnlineClassifier.load(tmp_path / "model")
    assert loaded.predict_proba(rows).tolist() == fitted.predict_proba(rows).tolist()


def test_a_model_of_text_has_the_labels_of_text(tmp_path: Path) -> None:
    Learner("logistic", bits=10).save(tmp_path / "model")
    assert OnlineClassifier.load(tmp_path / "model").classes_.tolist() == [-1, 1]


def test_what_a_file_cannot_hold_is_refused(tmp_path: Path) -> None:
    words = OnlineClassifier().fit(X, np.where(SIGNS, "1", "0"))
    with pytest.raises(SpecError, match="words that look like numbers"):
        words.save(tmp_path / "model")
    OnlineRegressor().fit(X, X[:, 0]).save(tmp_path / "model")
    with pytest.raises(SpecError, match="expected a classifier, found squared loss"):
        OnlineClassifier.load(tmp_path / "model")
