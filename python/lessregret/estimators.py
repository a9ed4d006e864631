"""The learner as scikit-learn classes: they translate and never compute.

    X, y ─validated─▶ CSR rows, labels, importances ─▶ Learner ─▶ margins ─▶ classes or numbers

CSR matrices go to the Rust core as they are, without a copy; other sparse formats and dense arrays
are turned into CSR; dicts are hashed as Vowpal Wabbit hashes names. All checks come before the
first round, so a call that raises leaves the estimator as it was. The one exception is a
:class:`~lessregret.DivergedError` while learning goes on: it keeps the rounds before it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from lessregret import _core
from lessregret.errors import InputError, SpecError
from lessregret.learner import MAX_BITS, Learner, has_twin
from lessregret.ledger import Ledger
from lessregret.losses import LOSSES
from lessregret.mixture import FIXED_SHARE, is_fixed_share
from lessregret.penalty import STRENGTH, is_strength
from lessregret.readable import ReadableLearner
from lessregret.rules import PerCoordinate, Rule
from lessregret.scale import EXPECTED, SCALES

if TYPE_CHECKING:
    from typing_extensions import Self


class _OnlineLinear(BaseEstimator, ABC):
    """What the classifier and the regressor share."""

    learner_: Learner | ReadableLearner
    n_features_in_: int

    def __init__(
        self,
        loss: str,
        rule: Rule | None,
        *,
        intercept: bool,
        certify: bool,
        bits: int,
        box: tuple[ArrayLike, ArrayLike] | None,
        passes: int,
        l2: float,
        scale: str,
        importance_aware: bool,
        fixed_share: float,
    ) -> None:
        self.loss = loss
        self.rule = rule
        self.intercept = intercept
        self.certify = certify
        self.bits = bits
        self.box = box
        self.passes = passes
        self.l2 = l2
        self.scale = scale
        self.importance_aware = importance_aware
        self.fixed_share = fixed_share

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Start anew and learn from the rows in their order, ``passes`` times.

        Parameters
        ----------
        X : CSR or other sparse matrix, dense array, or list of dicts
            The examples, one a row.
        y : array
            Their labels.
        sample_weight : array of numbers from 0 up, optional
            Their importances: how many rounds each stands for. Not all of them may be 0.
        """
        if sample_weight is not None and not check_array(sample_weight, ensure_2d=False).any():
            raise ValueError("sample_weight is zero for every example: there is nothing to learn")
        return self._learn(X, y, sample_weight, starting=True, passes=self.passes)

    @property
    def ledger_(self) -> Ledger:
        """The account so far, made anew each time."""
        check_is_fitted(self)
        return self.learner_.ledger()

    def _learn(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        *,
        starting: bool,
        passes: int = 1,
        classes: ArrayLike | None = None,
    ) -> Self:
        with _kept_on_error(self):
            self._check_parameters()
            rows, targets = self._rows(X, reset=starting, y=y, y_numeric=not is_classifier(self))
            labels = self._labels(targets, classes, starting)
            importances = _importances(sample_weight, len(labels))
            learner = self._new_learner(hashed=_are_dicts(X)) if starting else self.learner_
            for _ in range(passes):
                learner.learn_rows(rows.indptr, rows.indices, rows.data, labels, importances)
            self.learner_ = learner
        return self

    @abstractmethod
    def _labels(
        self, y: NDArray[Any], classes: ArrayLike | None, starting: bool
    ) -> NDArray[np.float64]:
        """The labels as the learner wants them."""

    def _rows(self, X: Any, *, reset: bool, **targets: Any) -> Any:
        """X, checked, as CSR; with y, if given."""
        table = _hashed_rows(X, self.bits) if _are_dicts(X) else X
        checked = validate_data(
            self,
            table,
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            # Of sparse rows the core checks all entries, too, and names the place.
            ensure_all_finite=not (issparse(table) and has_twin(self._rule())),
            **targets,
        )
        if "y" in targets:
            return _as_csr(checked[0]), checked[1]
        return _as_csr(checked)

    def _margins(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        return self.learner_.predict_rows(rows.indptr, rows.indices, rows.data)

    def _weights(self) -> NDArray[np.float64]:
        """The weight of every column; also of untouched ones, which need not be 0."""
        check_is_fitted(self)
        if isinstance(self.learner_, Learner):
            return self.learner_.core.dense_weights().astype(np.float64)
        columns = self.n_features_in_
        return np.fromiter(map(self.learner_.weight, range(columns)), np.float64, columns)

    def _margin_of_nothing(self) -> float:
        """The intercept: the margin of a row without features."""
        check_is_fitted(self)
        return float(self.learner_.predict_rows([0, 0], [], [])[0])

    def _rule(self) -> Rule:
        return PerCoordinate() if self.rule is None else self.rule

    def _new_learner(self, *, hashed: bool) -> Learner | ReadableLearner:
        rule, columns = self._rule(), self.n_features_in_
        box = None if self.box is None else _box_ends(self.box, columns)
        if not has_twin(rule):
            boxes = None if box is None else dict(enumerate(zip(*box, strict=True)))
            last = columns if self.intercept else None
            return ReadableLearner(
                self.loss,
                rule,
                certify=self.certify,
                boxes=boxes,
                intercept=last,
                l2=self.l2,
                scale=self.scale,
                importance_aware=self.importance_aware,
                fixed_share=self.fixed_share,
            )
        return Learner(
            self.loss,
            rule,
            bits=self.bits if hashed else None,
            columns=None if hashed else columns,
            intercept=self.intercept,
            certify=self.certify,
            box=box,
            l2=self.l2,
            scale=self.scale,
            importance_aware=self.importance_aware,
            fixed_share=self.fixed_share,
        )

    def _check_parameters(self) -> None:
        """All limits in one place, but for the box, whose size is that of X."""
        losses = [name for name in LOSSES if LOSSES[name].is_classification == is_classifier(self)]
        limits = {
            "loss": (self.loss in losses, " or ".join(map(repr, losses))),
            "rule": (self.rule is None or isinstance(self.rule, Rule), "a Rule or None"),
            "intercept": (_is_bool(self.intercept), "True or False"),
            "certify": (_is_bool(self.certify), "True or False"),
            "bits": (
                _is_whole(self.bits) and 1 <= self.bits <= MAX_BITS,
                f"a whole number from 1 to {MAX_BITS}",
            ),
            "passes": (_is_whole(self.passes) and self.passes >= 1, "a whole number from 1 up"),
            "l2": (is_strength(self.l2), STRENGTH),
            "scale": (self.scale in SCALES, EXPECTED),
            "importance_aware": (_is_bool(self.importance_aware), "True or False"),
            "fixed_share": (is_fixed_share(self.fixed_share), FIXED_SHARE),
        }
        for name, (right, expected) in limits.items():
            if not right:
                raise SpecError(f"{name} must be {expected}, found {getattr(self, name)!r}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.dict = True
        return tags


class OnlineClassifier(ClassifierMixin, _OnlineLinear):
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
        Whether weights follow the slope as far as ``sample_weight`` leads them and not beyond the
        label or the kink, rather than go by weight times gradient: for large weights. For rules
        that step by rate times gradient; there is then no bound.
    fixed_share : number from 0 up and below 1, default 0
        At rate "auto", the part of the lanes' shares that is dealt out evenly after every row, so
        that another rate can take over when the data drift.

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
    (1.0, [[0.5, -0.5, 0.5]])

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

    @available_if(lambda self: self.loss == "logistic")
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


class OnlineRegressor(RegressorMixin, _OnlineLinear):
    """A linear regressor, learned one example at a time.

    Each example is predicted before it is learned from, so ``ledger_`` is an honest account of
    loss and regret, with no data held out.

    Parameters
    ----------
    loss : "squared"
        The loss of the margin, (p - y)².
    rule, intercept, certify, bits, box, passes, l2, scale, importance_aware, fixed_share
        As in :class:`OnlineClassifier`.

    Attributes
    ----------
    coef_ : array (n_features_in_,), the weights, read from the learner when asked for
    intercept_ : float, 0 without intercept
    ledger_, learner_, n_features_in_, feature_names_in_
        As in :class:`OnlineClassifier`.

    >>> from lessregret import OnlineRegressor, PerCoordinate
    >>> reg = OnlineRegressor(rule=PerCoordinate(rate=0.5), intercept=False)
    >>> reg = reg.partial_fit([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [2.0, -1.0, 0.5])
    >>> reg.ledger_.tally.loss, reg.coef_.tolist(), reg.intercept_
    (5.0, [0.5, -0.5], 0.0)
    """

    def __init__(
        self,
        loss: str = "squared",
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

    def partial_fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Go on learning, from the rows in their order, once; see :class:`OnlineClassifier`."""
        return self._learn(X, y, sample_weight, starting=not hasattr(self, "learner_"))

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The margins, which are the predictions."""
        return self._margins(X)

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights, of shape (n_features_in_,)."""
        return self._weights()

    @property
    def intercept_(self) -> float:
        """The weight of the intercept; 0 without intercept."""
        return self._margin_of_nothing()

    def _labels(
        self, y: NDArray[Any], classes: ArrayLike | None, starting: bool
    ) -> NDArray[np.float64]:
        return y.astype(np.float64, copy=False)


@contextmanager
def _kept_on_error(estimator: BaseEstimator) -> Iterator[None]:
    """Take back, if the body raises, what it (or scikit-learn's validation) set."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def _as_csr(table: Any) -> Any:
    return table if issparse(table) else csr_array(table)


def _are_dicts(X: Any) -> bool:
    return isinstance(X, Sequence) and len(X) > 0 and isinstance(X[0], Mapping)


def _hashed_rows(examples: Sequence[Mapping[str, Any]], bits: int) -> Any:
    """The dicts as rows of 2^bits columns; names that share a column add up in the learner."""
    features = [list(_features(row, example)) for row, example in enumerate(examples)]
    names = [name for example in features for name, _ in example]
    values = np.array([value for example in features for _, value in example], np.float64)
    ends = np.cumsum([0, *map(len, features)])
    return csr_array((values, _core.hash_features(names, bits), ends), (len(ends) - 1, 1 << bits))


def _features(row: int, example: Any) -> Iterator[tuple[str, float]]:
    """{"name": number} as it is; {"field": "value"} is the feature "field=value" of value 1."""
    if not isinstance(example, Mapping):
        raise InputError(f"X[{row}]", 0, 0, repr(example), "a dict, as in the first row")
    for name, value in example.items():
        place = f"X[{row}][{name!r}]"
        if not isinstance(name, str):
            raise InputError(place, 0, 0, repr(name), "a string as the name of a feature")
        if isinstance(value, str):
            yield f"{name}={value}", 1.0
        elif isinstance(value, Real | np.bool_):
            yield name, float(value)
        else:
            raise InputError(place, 0, 0, repr(value), "a number or a string")


def _importances(sample_weight: ArrayLike | None, rows: int) -> NDArray[np.float64] | None:
    if sample_weight is None:
        return None
    importances: NDArray[np.float64] = check_array(
        sample_weight,
        dtype=np.float64,
        ensure_2d=False,
        ensure_min_samples=0,
        ensure_non_negative=True,
        input_name="sample_weight",
    )
    if importances.shape != (rows,):
        raise ValueError(f"sample_weight must have shape ({rows},), found {importances.shape}")
    return importances


def _box_ends(
    box: tuple[ArrayLike, ArrayLike], columns: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    try:
        low, high = (np.asarray(end, dtype=np.float64) for end in box)
    except (TypeError, ValueError):
        raise SpecError(f"box must be two arrays of numbers, (low, high), found {box!r}") from None
    for name, end in ("low", low), ("high", high):
        if end.shape != (columns,):
            raise SpecError(f"box: {name} must have shape ({columns},), found {end.shape}")
    return low, high


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


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
