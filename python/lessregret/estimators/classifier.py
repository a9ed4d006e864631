"""Two classes, as scikit-learn wants them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from lessregret.estimators.linear import OnlineLinear
from lessregret.learners.losses import LOSSES
from lessregret.learners.rules import Rule

if TYPE_CHECKING:
    from typing_extensions import Self


def _gives_probabilities(estimator: OnlineClassifier) -> bool:
    loss = LOSSES.get(estimator.loss)
    return loss is not None and loss.link == "probability"


class OnlineClassifier(ClassifierMixin, OnlineLinear):
    """A linear classifier of two classes, learned one example at a time.

    Each example is predicted before it is learned from, so ``ledger_`` is an honest account of
    loss, mistakes and regret, with no data held out.

    Parameters
    ----------
    loss : "logistic" or "hinge", default "logistic"
        The loss of the margin. Logistic is the default because it gives probabilities.
    rule : Rule, default None, which means PerCoordinate()
        The one-dimensional algorithm that every coordinate runs; the default has no rate to tune.
        A rule that exists only in Python
        works too, slowly.
    intercept : bool, default True
        Whether every example has one more feature, of value 1. Few data are centred, so True.
    certify : bool, default False
        Whether to sum the gradients, 8 bytes a column, for ``ledger_.linear_regret``.
    bits : 1 to 31, default 18
        For dicts only: names are hashed into 2^bits columns. 18 is Vowpal Wabbit's default.
    box : (low, high), two arrays with a number for each column, default None
        The feasible interval of each column's weight; None is the rule's own for all.
    passes : int from 1 up, default 1
        How often ``fit`` goes over the rows. One, since regret is about rounds played once.
    l2 : number from 0 up, default 0
        λ: every row adds (λ/2) Σ w² over the weights of its features to its loss, multiplied by its
        ``sample_weight``. Only for rules with a box. One pass hardly overfits, so 0.
    scale : "none", "cap" or "full", default "cap"
        What values are divided by: nothing, the largest of the column met so far if above 1, or
        that in any case. ``"cap"`` changes nothing for 0/1 and unit-length data and makes large
        values harmless. ``coef_`` is per unit of the column as it is given.
    importance_aware : bool, default False
        Whether to use importance-aware updates (Karampatziakis & Langford 2011): an example of
        importance h moves the weights as h small steps would, so that a large ``sample_weight``
        does not overshoot the label. Only for rules that step by rate times gradient, without L2.
        There is no regret bound for such updates; the linearised regret stays valid.
    fixed_share : number from 0 up and below 1, default 0
        For data that drift, at rate "auto": after each example this part of the mixture's weight is
        spread evenly over the eight rates, so that another rate can take over (Herbster & Warmuth
        1998). 1e-4 suits a change in about ten thousand examples.

    Attributes
    ----------
    classes_ : array of the two classes, sorted; the second is the one of positive margins
    coef_ : array (1, n_features_in_), the weights, read from the learner when asked for
    intercept_ : array (1,), 0 without intercept
    ledger_ : Ledger, the account so far, made anew each time
    learner_ : Learner, or ReadableLearner for a rule that exists only in Python
    n_features_in_, feature_names_in_ : as in scikit-learn; dicts have 2^bits columns

    >>> from lessregret import OnlineClassifier, PerCoordinate
    >>> clf = OnlineClassifier(loss="hinge", rule=PerCoordinate(rate=0.5), intercept=False)
    >>> clf = clf.partial_fit([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]], [1, -1], classes=[-1, 1])
    >>> clf.ledger_.mean_loss, clf.coef_.tolist()
    (1.0, [[0.5, -0.5, 0.25]])

    Dicts hold numbers, or strings that name the feature "field=value":

    >>> clf = OnlineClassifier().fit([{"age": 0.3, "word": "ham"}, {"word": "spam"}], ["ok", "bad"])
    >>> clf.predict([{"word": "spam"}]).tolist()
    ['bad']
    """

    classes_: NDArray[Any]

    def __init__(
        self,
        loss: str = "logistic",
        rule: Rule | None = None,
        *,
        intercept: bool = True,
        certify: bool = False,
        bits: int = 18,
        box: tuple[ArrayLike, ArrayLike] | None = None,
        passes: int = 1,
        l2: float = 0.0,
        scale: str = "cap",
        importance_aware: bool = False,
        fixed_share: float = 0.0,
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
        )

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Go on learning, from the rows in their order, once.

        The parameters are those of the first call; changing them later starts nothing anew, ``fit``
        does.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``, but a batch may have importances that are all 0.
        classes : the two classes
            Needed in the first call, since the first batch may not show both.
        """
        starting = not hasattr(self, "learner_")
        if starting and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit")
        return self._learn(X, y, sample_weight, starting=starting, classes=classes)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The margins: above 0 for the second class."""
        return self._margins(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The classes."""
        positive = self._margins(X) > 0
        return self.classes_[positive.astype(np.intp)]

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probabilities of the two classes; only the logistic loss gives them."""
        margins = self._margins(X)
        return np.column_stack([expit(-margins), expit(margins)])

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights, of shape (1, n_features_in_)."""
        return self._weights()[np.newaxis]

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The weight of the intercept, of shape (1,); 0 without intercept."""
        return np.array([self._margin_of_nothing()])

    def _labels(
        self, y: NDArray[Any], classes: ArrayLike | None, starting: bool
    ) -> NDArray[np.float64]:
        if starting:
            self.classes_ = _two_classes(y if classes is None else classes)
        elif classes is not None and set(np.ravel(classes)) != set(self.classes_):
            raise ValueError(
                f"classes are {_listed(self.classes_)} since the first call to partial_fit, "
                f"found {_listed(classes)}"
            )
        negative, positive = (np.asarray(y == known) for known in self.classes_)
        if not (negative | positive).all():
            expected, found = _listed(self.classes_), _listed(y[~(negative | positive)])
            raise ValueError(f"y must hold only the classes {expected}, found {found}")
        labels: NDArray[np.float64] = 2.0 * positive - 1.0
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _two_classes(labels: ArrayLike) -> NDArray[Any]:
    check_classification_targets(labels)
    classes: NDArray[Any] = np.unique(np.asarray(labels))
    if len(classes) != 2:
        count = "1 class" if len(classes) == 1 else f"{len(classes)} classes"
        raise ValueError(
            "Only binary classification is supported. "
            f"Expected two classes, found {count}: {_listed(classes)}"
        )
    return classes


def _listed(labels: ArrayLike, most: int = 5) -> str:
    """The different labels for an error, the first few if there are many."""
    different = list(dict.fromkeys(np.ravel(labels).tolist()))
    listed = ", ".join(map(repr, different[:most]))
    return f"{listed}, ..." if len(different) > most else listed
