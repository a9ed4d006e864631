"""The learner as scikit-learn classes: they translate and never compute.

    X, y ─validated─▶ CSR rows, labels, importances ─▶ Learner ─▶ margins ─▶ classes or numbers

CSR matrices go to the Rust core as they are, without a copy; other sparse formats and dense arrays
are turned into CSR; dicts are hashed as Vowpal Wabbit hashes names. All checks come before the
first round, so a call that raises leaves the estimator as it was. The one exception is a
:class:`~lessregret.DivergedError` while learning goes on: it keeps the rounds before it.
"""

from __future__ import annotations

from lessregret.estimators.classifier import OnlineClassifier
from lessregret.estimators.regressor import OnlineRegressor

__all__ = ["OnlineClassifier", "OnlineRegressor"]
