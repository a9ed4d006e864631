"""Numbers, as scikit-learn wants them."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin

from lessregret.estimators import one_by_one
from lessregret.estimators.linear import OnlineLinear
from lessregret.learners.names import NumberLoss, RuleName
from lessregret.learners.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from typing_extensions import Self


class OnlineRegressor(RegressorMixin, OnlineLinear):
    """A linear regressor, trained online: one example at a time.

    Each example is predicted before the model learns from it. The loss and the regret in
    ``ledger_`` are therefore a progressive validation: no data need to be held out.

    Parameters
    ----------
    loss : str, default "squared"
        The loss to minimise, where p is the prediction: "squared", (p - y)²; "absolute", |p - y|,
        for the median; "quantile:0.9" for the number that a label is below with probability 0.9,
        or any other level; "huber:1", which is squared near the label and linear beyond 1 standard
        deviation of the labels (without ``scale="standard"``, 1 in their own unit); "poisson" for
        counts, whose predictions are expected counts.
    rule, intercept, certify, bits, box, passes, l2, scale, importance_aware, fixed_share, crosses,
    columns, random_state
        The parameters of :class:`OnlineClassifier`, with the same meanings. ``scale="standard"``
        standardises the labels, too: their unit does not matter, and predictions and weights are in
        it.

    Attributes
    ----------
    coef_ : array (n_features_in_,), the weights
    intercept_ : float, the weight of the intercept; 0 without an intercept
    ledger_, metrics_, learner_, n_features_in_, feature_names_in_
        The attributes of :class:`OnlineClassifier`, with the same meanings.

    >>> from lessregret import OnlineRegressor, PerCoordinate
    >>> reg = OnlineRegressor(rule=PerCoordinate(rate=0.5), intercept=False, scale="none")
    >>> reg = reg.partial_fit([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [2.0, -1.0, 0.5])
    >>> reg.ledger_.tally.loss, reg.coef_.tolist(), reg.intercept_
    (5.0, [0.5, -0.5], 0.0)
    """

    def __init__(
        self,
        loss: NumberLoss = "squared",
        rule: Rule | RuleName | None = None,
        *,
        intercept: bool = True,
        certify: bool | None = None,
        bits: int = 18,
        box: tuple[ArrayLike, ArrayLike] | None = None,
        passes: int = 1,
        l2: float = 0.0,
        scale: str = "standard",
        importance_aware: bool | None = None,
        fixed_share: float | None = None,
        crosses: Sequence[str | Sequence[str]] | None = None,
        columns: Mapping[str, Any] | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            loss,
            rule,
            intercept=intercept,
            certify=certify,
            bits=bits,
            box=box,
            passes=passes,
            l2=l2,
            scale=scale,
            importance_aware=importance_aware,
            fixed_share=fixed_share,
            crosses=crosses,
            columns=columns,
            random_state=random_state,
        )

    def partial_fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Continue training: make one pass over the rows, in their order.

        The first call fixes the parameters of the estimator. Parameters that are changed later have
        no effect until ``fit`` is called.
        """
        return self._learn(X, y, sample_weight, starting=not hasattr(self, "learner_"))

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The predictions: the margins, that is, the weighted sums of the features.

        For Poisson loss they are the expected counts, e to the margin. If labels are standardised,
        predictions stay within the range of the labels so far.
        """
        return self._loss_function().predictions(self._margins(X))

    def learn_one(self, x: Mapping[str, Any], y: float, w: float = 1.0) -> None:
        """Learn from one example, a dict of numbers and words, with label y and importance w.

        The first call makes the model, for dicts. A word makes the feature "key=word".

        >>> reg = OnlineRegressor()
        >>> for hour in range(8):
        ...     reg.learn_one({"hour": hour, "day": "mon"}, 2.0 * hour)
        >>> 0 <= reg.predict_one({"hour": 3, "day": "mon"}) <= 14
        True
        """
        if not hasattr(self, "learner_"):
            one_by_one.start(self)
        one_by_one.learn(self, x, y, w)

    def predict_one(self, x: Mapping[str, Any]) -> float:
        """The prediction of one dict; 0 before anything is learned."""
        if not hasattr(self, "learner_"):
            return 0.0
        margin = one_by_one.margin(self, x)
        return exp(margin) if self.loss == "poisson" else margin

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights, of shape (n_features_in_,)."""
        return self._weights()

    @property
    def intercept_(self) -> float:
        """The weight of the intercept; 0 without an intercept."""
        return self._margin_of_nothing()

    def _labels(
        self, y: NDArray[Any], classes: ArrayLike | None, starting: bool
    ) -> NDArray[np.float64]:
        return y.astype(np.float64, copy=False)
