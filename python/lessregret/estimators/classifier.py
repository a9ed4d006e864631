"""Two or more classes, as scikit-learn wants them."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, isfinite
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from lessregret.errors import SpecError
from lessregret.estimators import one_by_one
from lessregret.estimators.class_names import classes_named, names_of
from lessregret.estimators.class_weights import (
    BALANCED,
    NEEDS_ALL_LABELS,
    class_factors,
    is_class_weight,
    is_kept,
)
from lessregret.estimators.labels_met import LabelsMet
from lessregret.estimators.linear import OnlineLinear
from lessregret.learners.learner import Learner, has_twin
from lessregret.learners.losses import LOSSES
from lessregret.learners.names import ClassLoss, RuleName
from lessregret.learners.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self


SURE = 700.0
"""Margins beyond it are certain: e^700 is about as large as a float can be."""


def _gives_probabilities(estimator: OnlineClassifier) -> bool:
    loss = LOSSES.get(estimator.loss)
    return loss is not None and loss.link == "probability"


class OnlineClassifier(ClassifierMixin, OnlineLinear):
    """A linear classifier for two or more classes, trained online: one example at a time.

    With more than two classes, logistic loss is multinomial and hinge loss is that of each class
    against the rest. They need a rule that follows the gradient, and have no ``l2``, ``box`` and
    ``importance_aware``.

    Each example is predicted before the model learns from it. The loss, the mistakes and the regret
    in ``ledger_`` are therefore a progressive validation: no data need to be held out.

    Parameters
    ----------
    loss : "logistic" or "hinge", default "logistic"
        The loss to minimise. Only logistic loss gives probabilities.
    rule : Rule, or the name of one as in "ftrl", default None, which means PerCoordinate()
        The update rule. The default has no learning rate to tune. The parameters of a rule can be
        set as those of the estimator, ``set_params(rule__rate=0.1)``, also in a grid search. A rule
        that you wrote in Python works too, but much more slowly.
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
    importance_aware : bool, optional
        Whether to use importance-aware updates (Karampatziakis & Langford 2011): an example with
        ``sample_weight`` h moves the weights as many small steps of total importance h would. A
        large ``sample_weight`` then does not overshoot the label. Only for rules that move weights
        by rate times gradient, and only without L2. There is no regret bound for such updates; the
        linearised regret remains an upper bound on the regret. The default is False here, and True
        for Poisson loss at rate "auto".
    fixed_share : number from 0 up and below 1, optional
        For data that drift, only at rate "auto": after each example this fraction of the mixture
        weights is shared equally among the experts, so that another expert can become the best one
        (Herbster & Warmuth 1998). The default, 1e-4 at rate "auto", costs at most 1e-4 nats an
        example.
    crosses : list of crosses, default None
        For examples that are dicts, and for data frames: ``[("user", "hour")]`` or
        ``["user*hour"]`` adds a feature for every combination of the features of these keys. A key
        crossed with itself has the square of its feature.

    grow_classes : bool, default False
        Whether ``partial_fit`` accepts classes that it has not met before. A new class is appended
        to ``classes_`` and starts with weights of 0. The first call then needs no ``classes``.
    columns : dict, default None
        For data frames: what is not to be inferred of their columns, as in
        ``{"category": ["zip"], "ignore": ["id"], "text": ["review:2"]}``.
    class_weight : dict, "balanced" or None, default None
        What multiplies the importance of the examples of each class. A dict need not have all
        classes; the others have weight 1. With ``"balanced"``, which is only for ``fit``, all
        classes have the same total importance among the rows, and the total is as before. The
        probabilities are then those of data in which the classes are as frequent as their weights
        make them. The rules ``pa``, ``cw`` and ``cw-stdev`` know no importances.
    negatives_kept : number above 0 and at most 1, default 1
        For data of which only this fraction of the negatives, the examples of the first class, was
        kept at random: each of them has 1/negatives_kept times its importance, so that the
        probabilities are those of all data. Only for two classes.
    random_state : anything, default None
        Without effect: nothing here is random. It is accepted because scikit-learn's ensembles and
        searches pass it.

    Attributes
    ----------
    classes_ : array of the classes, sorted, with those that were added after the others; of two
        classes a positive margin predicts the second one
    coef_ : array (1, n_features_in_), the weights; with more classes a row for each class
    intercept_ : array (1,), the weight of the intercept, one for each row of coef_; 0 without an
        intercept
    ledger_ : Ledger, the losses and regret so far, computed at each access
    metrics_ : RunMetrics, the scores of the predictions that were made before each example was
        learned; None for more than two classes
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
        loss: ClassLoss = "logistic",
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
        grow_classes: bool = False,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        negatives_kept: float = 1.0,
        random_state: Any = None,
    ) -> None:
        self.grow_classes = grow_classes
        self.class_weight = class_weight
        self.negatives_kept = negatives_kept
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
        classes : list of classes
            All classes. Required in the first call, because the first batch need not contain all of
            them, unless ``grow_classes`` is True.
        """
        self._check_no_balance()
        starting = not hasattr(self, "learner_")
        if starting and classes is None and not self.grow_classes:
            raise ValueError("classes must be passed on the first call to partial_fit")
        return self._learn(X, y, sample_weight, starting=starting, classes=classes)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The margins: the weighted sums of the features, positive for the second class.

        With more than two classes a row for each example, with the margin of every class; with
        logistic loss at rate "auto" these are logarithms of probabilities.
        """
        return self._margins(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The predicted classes."""
        margins = self._margins(X)
        places = margins.argmax(1) if margins.ndim == 2 else (margins > 0).astype(np.intp)
        predicted: NDArray[Any] = self.classes_[places]
        return predicted

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probabilities of the classes; only for logistic loss."""
        margins = self._margins(X)
        if margins.ndim == 2:
            return np.asarray(softmax(margins, axis=1), dtype=np.float64)
        return np.column_stack([expit(-margins), expit(margins)])

    def learn_one(self, x: Mapping[str, Any], y: Any, w: float = 1.0) -> None:
        """Learn from one example, a dict of numbers and words, of class y with importance w.

        The first call makes the model, for dicts. A word makes the feature "key=word". Without an
        earlier ``fit`` or ``partial_fit`` the classes are False and True if the first is a bool, 0
        and 1 or -1 and 1 if it is one of these; otherwise the first class met is the negative one
        and the second the positive one. With ``grow_classes`` there may be any number of classes.

        >>> clf = OnlineClassifier()
        >>> for word, y in [("ham", False), ("spam", True)] * 20:
        ...     clf.learn_one({"word": word, "length": 3}, y)
        >>> clf.predict_one({"word": "spam", "length": 3})
        True
        """
        if self.grow_classes or self._is_fitted_to_many:
            self.partial_fit([x], [y], sample_weight=[w])
            return
        if not hasattr(self, "learner_"):
            self._labels_met = LabelsMet.first(y)
            one_by_one.start(self)
            self.classes_ = self._labels_met.classes()
        label = self._label_met(y)
        if self.class_weight is not None or self.negatives_kept != 1:
            w *= self._factor_of_one(y, label)
        one_by_one.learn(self, x, label, w)

    def _factor_of_one(self, y: Any, label: float) -> float:
        """What multiplies the importance of an example of this class."""
        self._check_no_balance()
        weight = self.class_weight.get(y, 1.0) if isinstance(self.class_weight, Mapping) else 1.0
        return float(weight if label > 0 else weight / self.negatives_kept)

    def _check_no_balance(self) -> None:
        if isinstance(self.class_weight, str) and self.class_weight == BALANCED:
            raise SpecError(NEEDS_ALL_LABELS)

    def _weighted(
        self, importances: NDArray[np.float64] | None, labels: NDArray[np.float64]
    ) -> NDArray[np.float64] | None:
        if self.negatives_kept != 1 and self._is_many:
            raise SpecError(
                "negatives_kept is for two classes, of which the first one is negative; give the "
                "weight of each class with class_weight"
            )
        if self.class_weight is None and self.negatives_kept == 1:
            return importances
        factors = np.ones(len(self.classes_))
        places = labels.astype(np.intp) if self._is_many else (labels > 0).astype(np.intp)
        if self.class_weight is not None:
            grows = bool(self.grow_classes)
            given = self.class_weight, self.classes_, places, importances
            factors = class_factors(*given, may_grow=grows)
        factors[0] /= self.negatives_kept
        weights: NDArray[np.float64] = factors[places]
        return weights if importances is None else importances * weights

    def _more_limits(self) -> dict[str, tuple[bool, str]]:
        return {
            "class_weight": (
                is_class_weight(self.class_weight),
                "None, 'balanced' or a dict of a number from 0 up for each class",
            ),
            "negatives_kept": (is_kept(self.negatives_kept), "a number above 0 and at most 1"),
        }

    def predict_one(self, x: Mapping[str, Any]) -> Any:
        """The likelier class of one dict; None before anything is learned."""
        if not hasattr(self, "learner_"):
            return None
        if self._is_many:
            return self.predict([x]).tolist()[0]
        positive = one_by_one.margin(self, x) > 0
        return self._met().positive if positive else self._met().negative

    @available_if(_gives_probabilities)
    def predict_proba_one(self, x: Mapping[str, Any]) -> dict[Any, float]:
        """The probabilities of the classes of one dict; {} before anything is learned."""
        if not hasattr(self, "learner_"):
            return {}
        if self._is_many:
            [row] = self.predict_proba([x])
            return dict(zip(self.classes_.tolist(), row.tolist(), strict=True))
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
        """The weights, of shape (1, n_features_in_); with more classes a row for each class."""
        weights = self._weights()
        return weights.T if weights.ndim == 2 else weights[np.newaxis]

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The weight of the intercept, of shape (1,); 0 without an intercept.

        With more than two classes one weight for each class.
        """
        if self._is_many:
            return self._class_intercepts()
        return np.array([self._margin_of_nothing()])

    @property
    def _is_many(self) -> bool:
        """Whether the learner is one of many classes."""
        if getattr(self, "_labels_met", None) is not None:
            # Told one by one, of which one may not be met yet.
            return False
        check_is_fitted(self, "classes_")
        return len(self.classes_) != 2 or bool(self.grow_classes)

    @property
    def _is_fitted_to_many(self) -> bool:
        return hasattr(self, "learner_") and self._is_many

    def _class_intercepts(self) -> NDArray[np.float64]:
        check_is_fitted(self)
        if isinstance(self.learner_, Learner) and self.learner_.space.intercept:
            return self.learner_.class_weights(self._slots()).astype(np.float64)
        return np.zeros(len(self.classes_))

    def _class_settings(self) -> dict[str, Any]:
        if not self._is_many:
            return {}
        return {"classes": "auto" if self.grow_classes else range(len(self.classes_))}

    def _meet_classes(self, learner: Any) -> None:
        if self.grow_classes and isinstance(learner, Learner):
            learner.add_classes(range(len(self.classes_)))

    def _labels(
        self, y: NDArray[Any], classes: ArrayLike | None, starting: bool
    ) -> NDArray[np.float64]:
        if starting:
            self._labels_met = None
            self.classes_ = self._sorted_classes(y if classes is None else classes)
        elif self.grow_classes:
            given = y if classes is None else np.ravel(classes)
            self.classes_ = _with_new(self.classes_, given)
        elif classes is not None and set(np.ravel(classes)) != set(self.classes_):
            raise ValueError(
                f"classes are {_listed(self.classes_)} since the first call to partial_fit, "
                f"found {_listed(classes)}"
            )
        matches = np.stack([np.asarray(y == known) for known in self.classes_])
        if not matches.any(0).all():
            expected, found = _listed(self.classes_), _listed(y[~matches.any(0)])
            raise ValueError(f"y must hold only the classes {expected}, found {found}")
        places: NDArray[np.float64] = matches.argmax(0).astype(np.float64)
        if not self._is_many:
            places = 2.0 * places - 1.0
        return places

    def _savable(self, learner: Learner) -> Learner:
        names = names_of(self.classes_)
        if names is None:
            raise SpecError(
                f"the classes {_listed(self.classes_)} are words that look like numbers, and would "
                "be loaded as numbers; fit with numbers, or pickle the estimator"
            )
        if self._is_many:
            return learner.with_class_names(names)
        negative, positive = names
        return learner.with_classes(negative, positive)

    def _take(self, learner: Learner) -> None:
        super()._take(learner)
        schema = learner.space.schema
        if learner.class_names is not None:
            self.classes_ = classes_named(learner.class_names)
            self.grow_classes = bool(learner.spec["classes"]["auto"])
            return
        # A model of the command line that learned from text has the labels of its text.
        self.classes_ = classes_named((schema and schema.classes) or ("-1", "1"))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._learns_many
        return tags

    @property
    def _learns_many(self) -> bool:
        """Whether the rule can learn more than two classes: it follows the gradient, in Rust."""
        try:
            rule = self._rule()
        except SpecError:
            # What is wrong with it is said when the estimator is fitted.
            return False
        return isfinite(rule.width) and has_twin(rule)

    def _sorted_classes(self, labels: ArrayLike) -> NDArray[Any]:
        check_classification_targets(labels)
        classes: NDArray[Any] = np.unique(np.asarray(labels))
        count = "1 class" if len(classes) == 1 else f"{len(classes)} classes"
        if len(classes) > 2 and not self._learns_many:
            raise ValueError(
                f"Only binary classification is supported by the rule {self._rule().name!r}. "
                f"Expected two classes, found {count}: {_listed(classes)}"
            )
        if len(classes) < 2 and not self.grow_classes:
            raise ValueError(f"Expected at least two classes, found {count}: {_listed(classes)}")
        return classes


def _with_new(known: NDArray[Any], labels: ArrayLike) -> NDArray[Any]:
    """The classes with those that are new, sorted, after them."""
    check_classification_targets(labels)
    new = np.setdiff1d(np.unique(np.asarray(labels)), known)
    return np.concatenate([known, new]) if len(new) else known


def _listed(labels: ArrayLike, most: int = 5) -> str:
    """The different labels for an error, the first few if there are many."""
    different = list(dict.fromkeys(np.ravel(labels).tolist()))
    listed = ", ".join(map(repr, different[:most]))
    return f"{listed}, ..." if len(different) > most else listed
