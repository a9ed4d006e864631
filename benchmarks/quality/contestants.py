"""Learners with their defaults: each reads a file once and predicts a line before it learns it."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessregret.data.streams import open_examples
from lessregret.learners.learner import Learner

BITS = 22
Predictions = NDArray[np.float64]
"""A margin for each row if labels are classes, else a number in the labels' units."""


class Run(NamedTuple):
    """What a learner did in one pass."""

    predictions: Predictions
    told: float = math.inf
    """the mean loss that the learner tells itself, if it tells one"""


@dataclass(frozen=True)
class Contestant:
    """A learner that runs on some of the sets."""

    run: Callable[[Path, bool], Run]
    dense_only: bool = False
    regression_only: bool = False

    def runs_on(self, is_dense: bool, is_regression: bool) -> bool:
        return (is_dense or not self.dense_only) and (is_regression or not self.regression_only)


def lessregret(file: Path, is_regression: bool) -> Run:
    """Our defaults."""
    learner = Learner("squared" if is_regression else "logistic", bits=BITS)
    return Run(learner.learn(open_examples([file], learner, format="vw")).margins)


def vowpal_wabbit(options: str, file: Path, is_regression: bool) -> Run:
    """Vowpal Wabbit's defaults, or another of its algorithms.

    With ``--coin`` the loss that it tells is lower by some per cent than that of the predictions it
    writes, which are those of ``predict`` before ``learn``. The lower one counts.
    """
    from vowpalwabbit import Workspace

    loss = "squared" if is_regression else "logistic"
    with tempfile.TemporaryDirectory() as folder:
        predictions = Path(folder) / "predictions"
        fixed = f"--loss_function {loss} -b {BITS} --quiet --no_stdin -p {predictions}"
        workspace = Workspace(f"-d {file} {fixed} {options}")
        told = workspace.get_sum_loss() / workspace.get_weighted_examples()
        workspace.finish()
        return Run(np.loadtxt(predictions, dtype=np.float64, ndmin=1), told)


def river(scale_labels: bool, file: Path, is_regression: bool) -> Run:
    """River's scaler and linear model. Categories are 1 where they are, and are not scaled."""
    from river import linear_model, preprocessing

    scaler = preprocessing.StandardScaler()
    model: Any = (
        linear_model.LinearRegression() if is_regression else linear_model.LogisticRegression()
    )
    if scale_labels:
        model = preprocessing.TargetStandardScaler(regressor=model)
    found = []
    for label, numbers, categories in parsed(file):
        scaler.learn_one(numbers)
        row = scaler.transform_one(numbers) | categories
        if is_regression:
            found.append(model.predict_one(row))
            model.learn_one(row, label)
        else:
            found.append(model.predict_proba_one(row)[True])
            model.learn_one(row, label > 0)
    predictions = np.array(found, dtype=np.float64)
    return Run(predictions if is_regression else margin(predictions))


def parsed(file: Path) -> Iterator[tuple[float, dict[str, float], dict[str, float]]]:
    """The label, the numbers and the categories of each line."""
    with file.open() as lines:
        for line in lines:
            label, _, features = line.partition(" | ")
            pairs = [feature.partition(":") for feature in features.split()]
            numbers = {name: float(value) for name, colon, value in pairs if colon}
            yield float(label), numbers, {name: 1.0 for name, colon, _ in pairs if not colon}


def margin(probability: Predictions) -> Predictions:
    """The log odds, kept finite."""
    kept = np.clip(probability, 1e-15, 1 - 1e-15)
    return np.asarray(np.log(kept) - np.log1p(-kept))


OURS = "lessregret"
CONTESTANTS = {
    OURS: Contestant(lessregret),
    "vw": Contestant(partial(vowpal_wabbit, "")),
    "vw --ftrl": Contestant(partial(vowpal_wabbit, "--ftrl")),
    "vw --coin": Contestant(partial(vowpal_wabbit, "--coin")),
    "river": Contestant(partial(river, False), dense_only=True),
    "river, labels scaled": Contestant(partial(river, True), dense_only=True, regression_only=True),
}
