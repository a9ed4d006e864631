"""lessregret on arrays: ``KIND-RATE ROWS.npz HELD-OUT.npz``."""

from __future__ import annotations

import sys

import numpy as np

from benchmarks.speed.arrays import COLUMNS, Rows, first, load, tell
from lessregret import OnlineClassifier, PerCoordinate
from lessregret.data.examples import Rows as Matrix
from lessregret.learners.learner import Learner


def estimator(rule: PerCoordinate, rows: Rows, held_out: Rows) -> None:
    model = OnlineClassifier("logistic", rule)
    OnlineClassifier("logistic", rule).partial_fit(*first(rows), classes=[-1, 1])
    tell(
        lambda: model.partial_fit(*rows, classes=[-1, 1]),
        lambda: model.predict_proba(held_out[0])[:, 1],
        held_out[1],
        1.0,
    )


def learner(rule: PerCoordinate, rows: Rows, held_out: Rows) -> None:
    model = Learner("logistic", rule, columns=COLUMNS)
    (X, y), Z = rows, held_out[0]
    few, labels = first(rows)
    first_of_all = Learner("logistic", rule, columns=COLUMNS)
    first_of_all.learn(Matrix.from_csr(few, labels, space=first_of_all))
    tell(
        lambda: model.learn(Matrix.from_csr(X, y, space=model)).margins,
        lambda: 1 / (1 + np.exp(-model.predict(Matrix.from_csr(Z, space=model)).margins)),
        held_out[1],
        1.0,
    )


def main() -> None:
    """Learn, predict, tell."""
    kind, _, rate = sys.argv[1].partition("-")
    rule = PerCoordinate(rate="auto") if rate == "auto" else PerCoordinate(rate=0.1)
    run = {"estimator": estimator, "learner": learner}[kind]
    run(rule, load(sys.argv[2]), load(sys.argv[3]))


if __name__ == "__main__":
    main()
