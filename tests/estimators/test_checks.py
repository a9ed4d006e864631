from __future__ import annotations
from sklearn.utils.estimator_checks import parametrize_with_checks
from lessregret import OnlineClassifier, OnlineRegressor
from lessregret.losses import LOSSES
from lessregret.rules import RULES

ESTIMATORS = [
    (OnlineClassifier if loss.is_classification else OnlineRegressor)(loss=name, rule=rule())
    for name, loss in LOSSES.items()
    for rule in RULES.values()
]
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check) -> None:
    check(estimator)
