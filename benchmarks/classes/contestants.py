"""Learners of many classes with their defaults: one pass, every line predicted before learned.

A contestant returns a row of probabilities for every line, and the classes that it predicts. Where
a learner has no probabilities, the row is None.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import expit

from lessregret.data.streams import open_examples
from lessregret.learners.learner import Learner

BITS = 22
COMPARED = 3000
"""lines after which the weights of SGD are compared with scikit-learn's"""
LEAST = 1e-15
"""the least probability that counts, as in scikit-learn's log_loss"""


class Run(NamedTuple):
    """What a learner predicted in one pass, for the labels 1 to K."""

    probabilities: NDArray[np.float64] | None
    predicted: NDArray[np.int64]


class Score(NamedTuple):
    """The mean log loss, or NaN, and the share of wrong classes."""

    loss: float
    error: float


def score(run: Run, labels: NDArray[np.int64]) -> Score:
    """What the predictions lost."""
    error = float(np.mean(run.predicted != labels))
    if run.probabilities is None:
        return Score(float("nan"), error)
    own = run.probabilities[np.arange(len(labels)), labels - 1]
    return Score(float(-np.log(np.clip(own, LEAST, 1)).mean()), error)


def lessregret(file: Path, classes: int) -> Run:
    """Our defaults."""
    learner = Learner("logistic", bits=BITS, classes=classes)
    outcomes = learner.learn(open_examples([file], learner, format="vw"))
    return _of_probabilities(np.exp(outcomes.margins))


def vowpal_wabbit(options: str, file: Path, classes: int) -> Run:
    """Vowpal Wabbit's ``--oaa``; with ``--probabilities`` it has them."""
    from vowpalwabbit import Workspace

    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "predictions"
        fixed = f"--oaa {classes} -b {BITS} --quiet --no_stdin -p {told}"
        Workspace(f"-d {file} {fixed} {options}").finish()
        lines = told.read_text().splitlines()
    if "--probabilities" not in options:
        return Run(None, np.array([int(float(line)) for line in lines]))
    rows = [[float(pair.split(":")[1]) for pair in line.split()] for line in lines]
    return _of_probabilities(np.array(rows))


def sgd(unit: bool, file: Path, classes: int) -> Run:
    """scikit-learn's SGDClassifier(loss="log_loss"); with ``unit`` all rows have length 1.

    Its probabilities are those of each class against the rest, divided by their sum. To predict
    every line before it is learned, ``partial_fit`` would have to be called for each, at 10 to 30
    milliseconds a call. So its update is done here, and the weights at the end must be those of one
    call for all lines, which goes through them in order.
    """
    from sklearn.linear_model import SGDClassifier
    from sklearn.preprocessing import normalize

    X, y = matrix(file)
    X = csr_array(normalize(X)) if unit else X
    rows, _ = sgd_updates(X, y, classes)
    model = SGDClassifier(loss="log_loss", shuffle=False, random_state=0)
    model.partial_fit(X[:COMPARED], y[:COMPARED], classes=np.arange(1, classes + 1))
    _, weights = sgd_updates(X[:COMPARED], y[:COMPARED], classes)
    if not np.allclose(model.coef_, weights, rtol=1e-6, atol=1e-9 * np.abs(weights).max()):
        raise SystemExit("the weights are not those of scikit-learn")
    return _of_probabilities(rows)


def sgd_updates(
    X: csr_array, y: NDArray[np.int64], classes: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The probabilities before every row, and the weights after all; alpha is the default."""
    alpha, first, of_intercept = 1e-4, 1000, 0.01
    weights, scale = np.zeros((X.shape[1], classes)), np.ones(classes)
    intercepts, rows = np.zeros(classes), np.empty((len(y), classes))
    for k in range(len(y)):
        entries = slice(X.indptr[k], X.indptr[k + 1])
        places, values = X.indices[entries], X.data[entries]
        margins = scale * (values @ weights[places]) + intercepts
        chances = expit(margins)
        rows[k] = chances / chances.sum() if chances.sum() > 0 else 1 / classes
        chances[y[k] - 1] -= 1
        step = 1 / (alpha * (first + k))
        scale *= 1 - step * alpha
        weights[places] -= values[:, np.newaxis] * (step * chances / scale)
        intercepts -= of_intercept * step * chances
    return rows, (scale * weights).T


def matrix(file: Path) -> tuple[csr_array, NDArray[np.int64]]:
    """The lines of a file as rows of a matrix, and their labels."""
    labels, starts, places, values = [], [0], [], []
    known: dict[str, int] = {}
    with file.open() as lines:
        for line in lines:
            label, _, features = line.partition(" | ")
            labels.append(int(label))
            for feature in features.split():
                name, _, value = feature.partition(":")
                places.append(known.setdefault(name, len(known)))
                values.append(float(value or 1))
            starts.append(len(places))
    shape = len(labels), len(known)
    ends, columns = np.array(starts, np.int32), np.array(places, np.int32)
    return csr_array((values, columns, ends), shape=shape), np.array(labels)


def labels_of(file: Path) -> NDArray[np.int64]:
    """The labels of a file of text."""
    with file.open() as lines:
        return np.array([int(line.split(" ", 1)[0]) for line in lines])


def _of_probabilities(rows: NDArray[np.float64]) -> Run:
    return Run(rows, rows.argmax(1) + 1)


OURS = "lessregret"
LOGISTIC = "--loss_function logistic --probabilities"
CONTESTANTS: dict[str, Callable[[Path, int], Run]] = {
    OURS: lessregret,
    "vw --oaa": partial(vowpal_wabbit, ""),
    "vw --oaa, logistic": partial(vowpal_wabbit, LOGISTIC),
    "vw --oaa --coin, logistic": partial(vowpal_wabbit, f"{LOGISTIC} --coin"),
    "SGDClassifier": partial(sgd, False),
    "SGDClassifier, unit rows": partial(sgd, True),
}
