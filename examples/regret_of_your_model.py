"""The regret of models that others trained: scikit-learn's, River's and a neural network.

    python examples/regret_of_your_model.py

Every model predicts a row before it learns from it. From these predictions, the rows and the labels
``regret_of`` tells three things:

    lost        the mean log loss of the predictions
    certified   what no fixed weights as large as the model's own could have lost less than
    regret      what the model lost more than the best fixed weights with |w_i| ≤ 3

The first needs nothing, the second one pass over the rows, and the third a search for the best
fixed weights. A large regret says that the steps of the model were too small or too large: the same
features allow much better. A small one says that other weights of these features would hardly help.
A network is not bound to what linear models can do, and its regret can be below 0.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import SGDClassifier
from sklearn.neural_network import MLPClassifier

from lessregret import Regret, RegretOf, regret_of
from lessregret.ledger import Statement

RADIUS = 3.0
"""The best fixed weights are within [-RADIUS, RADIUS], and so is their intercept."""
BLOCK = 10
"""Rows that scikit-learn's models predict, and then learn from, at a time."""


def made(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes that a linear model can tell apart in part; of 1 row in 10 the class is drawn."""
    X, y = make_classification(rows, 10, n_informative=5, flip_y=0.1, random_state=1)
    return X, y


def progressive_margins(model: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The margin of every row, predicted before its block is learned; 0 for the first block."""
    margins = np.zeros(len(y))
    for start in range(0, len(y), BLOCK):
        block = slice(start, start + BLOCK)
        if start > 0:
            margins[block] = margins_of(model, X[block])
        model.partial_fit(X[block], y[block], classes=[0, 1])
    return margins


def margins_of(model: Any, X: np.ndarray) -> np.ndarray:
    """The log odds of the second class."""
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X))
    no, yes = model.predict_log_proba(X).T
    return np.asarray(yes - no)


def of_linear_model(model: Any, X: np.ndarray, y: np.ndarray) -> RegretOf:
    """A model with weights: what is certified is about weights of their size."""
    margins = progressive_margins(model, X, y)
    return regret_of(margins, X, y, weights=model.coef_, intercept_weight=model.intercept_)


def of_network(model: Any, X: np.ndarray, y: np.ndarray) -> RegretOf:
    """A model without weights of the features: what is certified is about weights up to 1."""
    return regret_of(progressive_margins(model, X, y), X, y, radius=1.0)


def of_river(X: np.ndarray, y: np.ndarray) -> RegretOf:
    """A pipeline of River. The model sees scaled rows, so these are the rows of the regret."""
    from river import linear_model, preprocessing

    scaler, model = preprocessing.StandardScaler(), linear_model.LogisticRegression()
    pipeline = scaler | model
    probabilities, rows = [], []
    for values, label in zip(X.tolist(), y.tolist(), strict=True):
        row = {f"x{column}": value for column, value in enumerate(values)}
        rows.append(scaler.transform_one(row))
        probabilities.append(pipeline.predict_proba_one(row)[True])
        pipeline.learn_one(row, bool(label))
    return regret_of(
        # A probability of exactly 0 or 1 would have an infinite margin.
        np.clip(probabilities, 1e-15, 1 - 1e-15),
        rows,
        y,
        kind="probabilities",
        weights=model.weights,
        intercept_weight=model.intercept,
    )


def has_river() -> bool:
    """Whether River is installed; it is no dependency of ours."""
    return importlib.util.find_spec("river") is not None


def runs(rows: int) -> Iterator[tuple[str, RegretOf]]:
    """Every model, on the same rows in the same order."""
    X, y = made(rows)
    plain = SGDClassifier(loss="log_loss", random_state=0)
    yield "SGDClassifier, as it is", of_linear_model(plain, X, y)
    tuned = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.01, random_state=0)
    yield "SGDClassifier, rate 0.01", of_linear_model(tuned, X, y)
    if has_river():
        yield "River, scaled logistic", of_river(X, y)
    network = MLPClassifier((32,), learning_rate_init=0.01, random_state=0)
    yield "MLPClassifier, 32 units", of_network(network, X, y)


def show(measured: dict[str, RegretOf]) -> None:
    """Print a line for each model, then what the lines say."""
    regrets = {name: said.regret(RADIUS, intercept=RADIUS) for name, said in measured.items()}
    print(f"{'model':26}{'lost':>8}  {'certified, for weights with':29}{'regret':>9}")
    for name, (low, high) in regrets.items():
        said = measured[name]
        stated = said.statement
        assert stated is not None
        certified = f"{stated.certified:.4f}  {size_in_words(stated)}"
        print(f"{name:26}{said.lost:8.4f}  {certified:29}{low:9.4f} to {high:.4f}")
    for name, regret in regrets.items():
        print(f"\n{name}: {in_words(measured[name], regret)}.")
    if not has_river():
        print("\nRiver is not installed, so its line is missing: pip install river")


def size_in_words(stated: Statement) -> str:
    return f"{'‖w‖' if stated.shape == 'ball' else '|w_i|'} ≤ {stated.radius:.2f}"


def in_words(said: RegretOf, regret: Regret) -> str:
    """What the numbers of a model mean."""
    stated = said.statement
    assert stated is not None
    if regret.high < 0:
        return f"it lost {-regret.high:.3f} less than any fixed weights with |w_i| ≤ {RADIUS:g}"
    least = f"the best with |w_i| ≤ {RADIUS:g} lost {100 * regret.low / said.lost:.0f} % less"
    if not stated.speaks:
        return f"most of its loss may have been needless; {least}"
    return (
        f"fixed weights with {size_in_words(stated)} could have lost {100 * stated.left:.0f} % "
        f"less, at most; {least}"
    )


def main(rows: int = 5000) -> None:
    """Train, measure and show."""
    show(dict(runs(rows)))


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
