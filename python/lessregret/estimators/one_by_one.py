"""One example at a time, by River's protocol: ``learn_one``, ``predict_one``, ``explain_one``.

The bits are those of ``partial_fit`` with the same examples. A plain dict, of numbers and words,
goes to the core as it is. Others, and rules that exist only in Python, take the way of a batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import NotFittedError

from lessregret.estimators.arguments import crosses_of_keys, hashed_rows
from lessregret.learners.learner import Learner

if TYPE_CHECKING:
    from lessregret.estimators.linear import OnlineLinear
    from lessregret.learners.explanation import Explanation


def start(estimator: OnlineLinear) -> None:
    """Make the learner of an estimator whose first example is a dict."""
    estimator._check_parameters()
    estimator.schema_ = None
    estimator.crosses_ = crosses_of_keys(estimator.crosses)
    estimator.n_features_in_ = 1 << estimator.bits
    estimator.learner_ = estimator._new_learner(hashed=True)


def learn(estimator: OnlineLinear, x: Mapping[str, Any], label: float, importance: float) -> None:
    """Learn from one dict."""
    learner, progress = estimator.learner_, estimator._known_progress()
    if isinstance(learner, Learner):
        played = learner._core.learn_one(x, label, importance)
        if played is not None:
            if progress is not None:
                progress.add_one(played, label, importance)
            return
    rows = _rows(estimator, x)
    labels, importances = np.array([label]), np.array([importance], dtype=np.float64)
    outcomes = learner.learn(estimator._source(learner, rows, labels, importances))
    if progress is not None:
        progress.add(outcomes)


def margin(estimator: OnlineLinear, x: Mapping[str, Any]) -> float:
    """The margin of one dict; 0 before anything is learned."""
    learner = getattr(estimator, "learner_", None)
    if learner is None:
        return 0.0
    if isinstance(learner, Learner):
        found = learner._core.predict_one(x)
        if found is not None:
            return found
    source = estimator._source(learner, _rows(estimator, x))
    return float(learner.predict(source).margins[0])


def explain(estimator: OnlineLinear, x: Mapping[str, Any]) -> Explanation:
    """What each feature gives to the prediction of one dict."""
    if not hasattr(estimator, "learner_"):
        raise NotFittedError("nothing was learned yet, so there is nothing to explain")
    return estimator.explain(x)


def _rows(estimator: OnlineLinear, x: Mapping[str, Any]) -> Any:
    """A dict as a row of a matrix, for what the core does not take as it is."""
    if estimator.schema_ is not None or estimator.n_features_in_ != 1 << estimator.bits:
        return estimator._rows([x], reset=False)
    return hashed_rows([x], estimator.bits, estimator.crosses_)
