"""scikit-learn's own checks: of five estimators quickly, of every rule slowly."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

from lessregret.estimators import OnlineClassifier, OnlineRegressor
from lessregret.learners.losses import LOSSES, Loss
from lessregret.learners.rules import PerCoordinate, parse_rule
from tests.support.pairs import PAIRS

REGRESSION_RATES = {"constant": 0.01, "inverse-sqrt": 0.1}
"""Rates that adapt to nothing: with the defaults, made for slopes of at most 1, they overshoot."""

EQUIVALENCE = (
    "the check shuffles the weighted rows but not the repeated ones, and an online learner depends "
    "on the order; an importance of 2 is one round with twice the gradient, not two rounds"
)

IGNORES_IMPORTANCE = (
    "the steps of pa, cw and cw-stdev end where the example is right, whatever its importance, so "
    "a class weight has no effect"
)
OVERSHOOTS = (
    "a weight of 1000 multiplies the gradient, and at the rate 1/√t, which adapts to nothing, each "
    "such step goes from one end of the box towards the other; importance_aware=True passes"
)


def made(loss: Loss, text: str) -> BaseEstimator:
    rule = parse_rule(text, rate=None if loss.is_classification else REGRESSION_RATES.get(text))
    kind = OnlineClassifier if loss.is_classification else OnlineRegressor
    return kind(loss.name, rule)


def expected_failures(estimator: BaseEstimator) -> dict[str, str]:
    weights = {"check_class_weight_classifiers": of_class_weights(estimator)}
    return {
        "check_sample_weight_equivalence_on_dense_data": EQUIVALENCE,
        "check_sample_weight_equivalence_on_sparse_data": EQUIVALENCE,
        **{name: reason for name, reason in weights.items() if reason is not None},
    }


def of_class_weights(estimator: BaseEstimator) -> str | None:
    """Why the check of class weights fails; None where it must pass."""
    if not isinstance(estimator, OnlineClassifier):
        return None
    rule = estimator._rule().name
    if rule in ("pa", "cw", "cw-stdev"):
        return IGNORES_IMPORTANCE
    fails = rule == "inverse-sqrt" and estimator.loss == "logistic"
    return OVERSHOOTS if fails else None


@parametrize_with_checks(
    [
        OnlineClassifier(),
        OnlineClassifier("hinge", rule="ftrl"),
        OnlineClassifier(rule="pa"),
        OnlineRegressor(),
        OnlineRegressor(scale="cap", rule=PerCoordinate(rate=0.3)),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_check(estimator: BaseEstimator, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        *(made(LOSSES[loss], rule) for loss, rule in PAIRS),
        OnlineClassifier(scale="cap"),
        OnlineRegressor(scale="cap"),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_check_of_every_pair(estimator: BaseEstimator, check: Any) -> None:
    check(estimator)
