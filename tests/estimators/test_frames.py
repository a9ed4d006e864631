"""Estimators fitted to data frames with columns of any kind."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import lessregret
from lessregret import OnlineClassifier, OnlineRegressor
from lessregret.errors import InputError, SpecError

pandas = pytest.importorskip("pandas", reason="pandas is not installed")


def frame(rows: int = 200) -> Any:
    draw = np.random.default_rng(0)
    age = draw.integers(18, 90, rows).astype(float)
    city = draw.choice(["Oslo", "Lagos", "Lima"], rows)
    when = pandas.Timestamp("2026-01-01") + pandas.to_timedelta(draw.integers(0, 9000, rows), "h")
    bought = np.where((age > 50) ^ (city == "Oslo"), "yes", "no")
    age[::9] = np.nan
    return pandas.DataFrame({"age": age, "city": city, "when": when, "bought": bought})


FRAME = frame()
X, Y = FRAME.drop(columns="bought"), FRAME["bought"]


def test_a_frame_gives_the_model_of_the_same_table(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "frame.csv", index=False)
    trained = lessregret.train(tmp_path / "frame.csv", label="bought", bits=18)
    fitted = OnlineClassifier().fit(X, Y)
    assert fitted.ledger_.tally.loss == trained.ledger.tally.loss
    assert fitted.classes_.tolist() == ["no", "yes"]
    assert fitted.feature_names_in_.tolist() == ["age", "city", "when"]
    assert fitted.n_features_in_ == 3
    assert [column.kind for column in fitted.schema_.columns] == ["number", "category", "time"]
    assert (fitted.predict(X) == Y).mean() > 0.6


def test_batches_give_the_bits_of_the_whole() -> None:
    whole = OnlineClassifier().partial_fit(X, Y, classes=["no", "yes"])
    parts = OnlineClassifier()
    for start in range(0, len(X), 50):
        parts.partial_fit(X[start : start + 50], Y[start : start + 50], classes=["no", "yes"])
    assert parts.learner_.to_bytes() == whole.learner_.to_bytes()
    again = pickle.loads(pickle.dumps(whole))
    assert again.predict_proba(X).tolist() == whole.predict_proba(X).tolist()


def test_other_frames_give_the_same(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    FRAME.to_parquet(tmp_path / "frame.parquet")
    read = polars.read_parquet(tmp_path / "frame.parquet")
    fitted = OnlineClassifier().fit(X, Y)
    other = OnlineClassifier().fit(read.drop("bought"), read["bought"].to_list())
    assert other.learner_.to_bytes() == fitted.learner_.to_bytes()
    assert other.predict(X).tolist() == fitted.predict(X).tolist()


def test_a_saved_model_knows_its_columns(tmp_path: Path) -> None:
    fitted = OnlineClassifier(columns={"category": ["age"]}).fit(X, Y)
    fitted.save(tmp_path / "model")
    loaded = OnlineClassifier.load(tmp_path / "model")
    assert loaded.schema_.columns == fitted.schema_.columns
    shuffled = X[["when", "age", "city"]]
    assert loaded.predict(X).tolist() == fitted.predict(X).tolist()
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(shuffled)


def test_numbers_without_missing_cells_are_a_matrix() -> None:
    numbers = X[["age"]].fillna(0)
    fitted = OnlineClassifier().fit(numbers, Y)
    assert fitted.schema_ is None
    assert fitted.coef_.shape == (1, 1)


def test_regression_crosses_pipelines_and_explanations() -> None:
    target = X["age"].fillna(40) + 10 * (X["city"] == "Lima")
    model = make_pipeline(FunctionTransformer(), OnlineRegressor(crosses=["city*age"]))
    assert model.fit(X, target).score(X, target) > 0.5
    regressor = model[-1]
    explained = regressor.explain(X.head(1))
    assert sum(part.part for part in explained.parts) == pytest.approx(model.predict(X)[0])
    assert {"age=missing", "city=Lagos"} & {part.name for part in explained.parts} != set()
    with pytest.raises(AttributeError, match="hashed features"):
        _ = regressor.coef_


def test_what_does_not_fit_is_named() -> None:
    fitted = OnlineClassifier().fit(X, Y)
    with pytest.raises(InputError, match="expected a number in column 'age'"):
        fitted.predict(X.assign(age="old"))
    with pytest.raises(SpecError, match="expected a data frame"):
        fitted.predict(np.zeros((2, 3)))
    with pytest.raises(SpecError, match="no column 'zip'"):
        OnlineClassifier(columns={"category": ["zip"]}).fit(X, Y)
    with pytest.raises(SpecError, match="it can have no box"):
        OnlineClassifier(box=([0, 0, 0], [1, 1, 1])).fit(X, Y)
