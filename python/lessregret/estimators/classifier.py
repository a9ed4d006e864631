"""Two classes, as scikit-learn wants them."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from lessregret.errors import SpecError
from lessregret.estimators import one_by_one
from lessregret.estimators.class_names import classes_named, names_of
from lessregret.estimators.labels_met import LabelsMet
from lessregret.estimators.linear import OnlineLinear
from lessregret.learners.learner import Learner
from lessregret.learners.losses import LOSSES
from lessregret.learners.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from typing_extensions import Self


SURE = 700.0
"""Margins beyond it are certain: e^700 is about as large as a float can be."""


def _gives_probabilities(estimator: OnlineClassifier) -> bool:
    loss = LOSSES.get(estimator.loss)
    return loss is not None and loss.link == "probability"


class OnlineClassifier(ClassifierMixin, OnlineLinear):
    """A linear classifier for two classes, trained online: one example at a time.

    Each example is predicted before the model learns from it. The loss, the mistakes and the regret
    in ``ledger_`` are therefore a progressive validation: no data need to be held out.

    Parameters
    ----------
    loss : "logistic" or "hinge", default "logistic"
        The loss to minimise. Only logistic loss gives probabilities.
    rule : Rule, default None, which means PerCoordinate()
        The update rule. The default has no learning rate to tune. A rule that you wrote in Python
        works too, but much more slowly.
    intercept : bool, default True
        Whether to learn an intercept (bias) weight.
    certify : bool, optional
        Whether to compute a lower bound on the loss of all fixed weights of a given size,
        ``ledger_.certified``. This needs 8 more bytes of memory for each column. The default is
        True at rate "auto" and False otherwise.
    bits : 1 to 31, default 18
        The size of the hash table, for examples that are dicts: feature names are hashed into
        2^bits columns. 18 is also the default of Vowpal Wabbit.
    box : (low, high), two arrays with a number for each column, default None
        The smallest and the largest weight allowed in each column, one array for each. None means
        that the interval of the rule (its ``radius`` or ``box``) holds for all columns. If values
        are scaled, the limits apply to the weights of the scaled values.
    passes : int from 1 up, default 1
        The number of passes that ``fit`` makes over the rows.
    l2 : number from 0 up, default 0
        The strength λ of L2 regularisation: (λ/2) Σ w² over the weights of a row's features is
        added to the loss of that row, multiplied by its ``sample_weight``. Only for rules with a
        feasible set. 0 is the default because one pass hardly overfits.
    scale : "none", "cap", "full" or "standard", default "standard"
        How values are scaled. ``"standard"`` subtracts the mean of a column without missing cells
        and divides by its standard deviation; it divides other columns by their root mean square,
        if that is above 1. Every cell of a dense table is then a value, also a 0; a sparse matrix
        has the cells that it stores. ``"full"`` divides each value by the largest absolute value
        that the column has had so far, ``"cap"`` only if that largest value is above 1. ``"none"``
        leaves all values as they are. ``coef_`` and ``intercept_`` are for the values before
        scaling.
    importance_aware : bool, default False
        Whether to use importance-aware updates (Karampatziakis & Langford 2011): an example with
        ``sample_weight`` h moves the weights as many small steps of total importance h would. A
        large ``sample_weight`` then does not overshoot the label. Only for rules that move weights
        by rate times gradient, and only without L2. There is no regret bound for such updates; the
        linearised regret remains an upper bound on the regret.
    fixed_share : number from 0 up and below 1, optional
        For data that drift, only at rate "auto": after each example this fraction of the mixture
        weights is shared equally among the experts, so that another expert can become the best one
        (Herbster & Warmuth 1998). The default, 1e-4 at rate "auto", costs at most 1e-4 nats an
        example.
    crosses : list of crosses, default None
        For examples that are dicts, and for data frames: ``[("user", "hour")]`` or
        ``["user*hour"]`` adds a feature for every combination of the features of these keys. A key
        crossed with itself has the square of its feature.

    columns : dict, default None
        For data frames: what is not to be inferred of their columns, as in
        ``{"category": ["zip"], "ignore": ["id"], "text": ["review:2"]}``.

    Attributes
    ----------
    classes_ : array of the two classes, sorted; a positive margin predicts the second one
    coef_ : array (1, n_features_in_), the weights
    intercept_ : array (1,), the weight of the intercept; 0 without an intercept
    ledger_ : Ledger, the losses and regret so far, computed at each access
    learner_ : the Learner that is trained; a ReadableLearner if the rule exists only in Python
    n_features_in_, feature_names_in_ : as in scikit-learn; for dicts n_features_in_ is 2^bits
    schema_ : Schema, what the columns of a data frame are; None for other data

    >>> from lessregret import OnlineClassifier, PerCoordinate
    >>> clf = OnlineClassifier("hinge", PerCoordinate(rate=0.5), intercept=False, scale="cap")
    >>> clf = clf.partial_fit([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]], [1, -1], classes=[-1, 1])
    >>> clf.ledger_.mean_loss, clf.coef_.tolist()
    (1.0, [[0.5, -0.5, 0.25]])

    The values of dicts are numbers or strings. A string makes the feature "field=value" with value
    1:

    >>> clf = OnlineClassifier().fit([{"age": 0.3, "word": "ham"}, {"word": "spam"}], ["ok", "bad"])
    >>> clf.predict([{"word": "spam"}]).tolist()
    ['bad']
    """

    classes_: NDArray[Any]
    _labels_met: LabelsMet | None

    def __init__(
        self,
        loss: str = "logistic",
        rule: Rule | None = None,
        *,
        intercept: bool = True,
        certify: bool | None = None,
        bits: int = 18,
        box: tuple[ArrayLike, ArrayLike] | None = None,
        passes: int = 1,
        l2: float = 0.0,
        scale: str = "standard",
        importance_aware: bool = False,
        fixed_share: float | None = None,
        crosses: Sequence[str | Sequence[str]] | None = None,
        columns: Mapping[str, Any] | None = None,
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
        )

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Continue training: make one pass over the rows, in their order.

        The first call fixes the parameters of the estimator. Parameters that are changed later have
        no effect until ``fit`` is called.

        Parameters
        ----------
        X, y, sample_weight
            The rows, their labels and their importances, as in ``fit``. All importances of a batch
            may be 0.
        classes : the two classes
            Required in the first call, because the first batch need not contain both.
        """
        starting = not hasattr(self, "learner_")
        if starting and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit")
        return self._learn(X, y, sample_weight, starting=starting, classes=classes)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The margins: the weighted sums of the features, positive for the second class."""
        return self._margins(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The predicted classes."""
        positive = self._margins(X) > 0
        return self.classes_[positive.astype(np.intp)]

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probabilities of the two classes; only for logistic loss."""
        margins = self._margins(X)
        return np.column_stack([expit(-margins), expit(margins)])

    def learn_one(self, x: Mapping[str, Any], y: Any, w: float = 1.0) -> None:
        """Learn from one example, a dict of numbers and words, of class y with importance w.

        The first call makes the model, for dicts. A word makes the feature "key=word". Without an
        earlier ``fit`` or ``partial_fit`` the classes are False and True if the first is a bool, 0
        and 1 or -1 and 1 if it is one of these; otherwise the first class met is the negative one
        and the second the positive one.

        >>> clf = OnlineClassifier()
        >>> for word, y in [("ham", False), ("spam", True)] * 20:
        ...     clf.learn_one({"word": word, "length": 3}, y)
        >>> clf.predict_one({"word": "spam", "length": 3})
        True
        """
        if not hasattr(self, "learner_"):
            self._labels_met = LabelsMet.first(y)
            one_by_one.start(self)
            self.classes_ = self._labels_met.classes()
        one_by_one.learn(self, x, self._label_met(y), w)

    def predict_one(self, x: Mapping[str, Any]) -> Any:
        """The likelier class of one dict; None before anything is learned."""
        if not hasattr(self, "learner_"):
            return None
        positive = one_by_one.margin(self, x) > 0
        return self._met().positive if positive else self._met().negative

    @available_if(_gives_probabilities)
    def predict_proba_one(self, x: Mapping[str, Any]) -> dict[Any, float]:
        """The probabilities of the classes of one dict; {} before anything is learned."""
        if not hasattr(self, "learner_"):
            return {}
        margin = one_by_one.margin(self, x)
        probability = 1.0 / (1.0 + exp(-margin)) if margin > -SURE else 0.0
        return self._met().probabilities(probability)

    def _met(self) -> LabelsMet:
        """The two classes as they are told one by one."""
        met: LabelsMet | None = getattr(self, "_labels_met", None)
        if met is None:
            met = self._labels_met = LabelsMet(*self.classes_.tolist())
        return met

    def _label_met(self, y: Any) -> float:
        """The label of a class, which may be met for the first time."""
        met = self._met()
        label = met.labels.get(y)
        if label is None:
            label = met.meet(y)
            self.classes_ = met.classes()
        return label

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights, of shape (1, n_features_in_)."""
        return self._weights()[np.newaxis]

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The weight of the intercept, of shape (1,); 0 without an intercept."""
        return np.array([self._margin_of_nothing()])

    def _labels(
        self, y: NDArray[Any], classes: ArrayLike | None, starting: bool
    ) -> NDArray[np.float64]:
        if starting:
            self._labels_met = None
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

    def _savable(self, learner: Learner) -> Learner:
        names = names_of(self.classes_)
        if names is None:
            raise SpecError(
                f"the classes {_listed(self.classes_)} are words that look like numbers, and would "
                "be loaded as numbers; fit with numbers, or pickle the estimator"
            )
        return learner.with_classes(*names)

    def _take(self, learner: Learner) -> None:
        super()._take(learner)
        schema = learner.space.schema
        # A model of the command line that learned from text has the labels of its text.
        self.classes_ = classes_named((schema and schema.classes) or ("-1", "1"))

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
