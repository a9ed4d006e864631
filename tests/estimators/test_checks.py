"""scikit-learn's own checks, for every loss and every rule of the registry."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

from lessregret.estimators import OnlineClassifier, OnlineRegressor
from lessregret.learners.losses import LOSSES, Loss
from lessregret.learners.rules import parse_rule
from tests.support.pairs import PAIRS

REGRESSION_RATES = {"constant": 0.01, "inverse-sqrt": 0.1}
"""Rates that adapt to nothing: with the defaults, made for slopes of at most 1, they overshoot."""

EQUIVALENCE = (
    "the check shuffles the weighted rows but not the repeated ones, and an online learner depends "
    "on the order; an importance of 2 is one round with twice the gradient, not two rounds"
)


def made(loss: Loss, text: str) -> BaseEstimator:
    rule = parse_rule(text, rate=None if loss.is_classification else REGRESSION_RATES.get(text))
    kind = OnlineClassifier if loss.is_classification else OnlineRegressor
    return kind(loss.name, rule)


def expected_failures(estimator: BaseEstimator) -> dict[str, str]:
    return {
        "check_sample_weight_equivalence_on_dense_data": EQUIVALENCE,
        "check_sample_weight_equivalence_on_sparse_data": EQUIVALENCE,
    }


@parametrize_with_checks(
    [
        *(made(LOSSES[loss], rule) for loss, rule in PAIRS),
        OnlineClassifier(scale="cap"),
        OnlineRegressor(scale="cap"),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_check(estimator: BaseEstimator, check: Any) -> None:
    check(estimator)
