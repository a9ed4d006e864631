"""The estimators as models of River, for its pipelines, metrics and checks. Needs River.

from lessregret.estimators.river import RiverClassifier
from river import compose, datasets, evaluate, metrics, preprocessing

model = compose.Pipeline(preprocessing.MinMaxScaler(), RiverClassifier())
evaluate.progressive_val_score(datasets.Phishing(), model, metrics.LogLoss())
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from river import base

from lessregret.estimators.classifier import OnlineClassifier
from lessregret.estimators.regressor import OnlineRegressor
from lessregret.learners.names import ClassLoss, NumberLoss, RuleName
from lessregret.learners.rules import Rule


class RiverClassifier(base.Classifier):
    """:class:`~lessregret.OnlineClassifier` as a classifier of River, for False and True.

    Parameters
    ----------
    loss, rule, bits, scale
        The parameters of the estimator, with the same meanings.
    """

    def __init__(
        self,
        loss: ClassLoss = "logistic",
        rule: Rule | RuleName | None = None,
        bits: int = 18,
        scale: str = "standard",
    ) -> None:
        self.loss, self.rule, self.bits, self.scale = loss, rule, bits, scale
        self.estimator = OnlineClassifier(loss, rule, bits=bits, scale=scale)

    def learn_one(self, x: Mapping[str, Any], y: Any, w: float = 1.0) -> None:
        """Learn from one example."""
        self.estimator.learn_one(x, y, w)

    def predict_one(self, x: Mapping[str, Any], **kwargs: Any) -> Any:
        """The likelier class."""
        return self.estimator.predict_one(x)

    def predict_proba_one(self, x: Mapping[str, Any], **kwargs: Any) -> dict[Any, float]:
        """The probabilities of the classes; a half each before anything is learned."""
        if not hasattr(self.estimator, "predict_proba_one"):
            raise NotImplementedError(f"{self.loss} loss gives no probabilities")
        return self.estimator.predict_proba_one(x) or {False: 0.5, True: 0.5}


class RiverRegressor(base.Regressor):
    """:class:`~lessregret.OnlineRegressor` as a regressor of River.

    Parameters
    ----------
    loss, rule, bits, scale
        The parameters of the estimator, with the same meanings.
    """

    def __init__(
        self,
        loss: NumberLoss = "squared",
        rule: Rule | RuleName | None = None,
        bits: int = 18,
        scale: str = "standard",
    ) -> None:
        self.loss, self.rule, self.bits, self.scale = loss, rule, bits, scale
        self.estimator = OnlineRegressor(loss, rule, bits=bits, scale=scale)

    def learn_one(self, x: Mapping[str, Any], y: float, w: float = 1.0) -> None:
        """Learn from one example."""
        self.estimator.learn_one(x, y, w)

    def predict_one(self, x: Mapping[str, Any], **kwargs: Any) -> float:
        """The prediction; 0 before anything is learned."""
        return self.estimator.predict_one(x)
