"""What the classifier and the regressor share: checks, rows, and the learner behind them."""

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from lessregret._core import MAX_BITS
from lessregret.data.arrow_tables import ArrowTable, is_table
from lessregret.data.examples import Rows
from lessregret.errors import SpecError
from lessregret.estimators import one_by_one
from lessregret.estimators.arguments import (
    are_dicts,
    as_csr,
    box_ends,
    crosses_of_keys,
    hashed_rows,
    importances_of,
    names_of,
)
from lessregret.estimators.frames import encoded, is_mixed_frame, schema_of
from lessregret.estimators.progress import Progress
from lessregret.estimators.rule_parameters import (
    PREFIX,
    nested_parameters,
    rule_of,
    with_nested,
)
from lessregret.learners.explanation import Explanation, NameOf
from lessregret.learners.fill import fill_of
from lessregret.learners.learner import Learner, has_twin
from lessregret.learners.losses import FAMILIES, LOSSES, Loss, loss_named
from lessregret.learners.mixture import FIXED_SHARE, is_fixed_share
from lessregret.learners.names import LOSSES_ELSEWHERE, RuleName, suggestion
from lessregret.learners.namespaces import Namespaces
from lessregret.learners.outcomes import Outcomes
from lessregret.learners.penalty import STRENGTH, is_strength
from lessregret.learners.readable import ReadableLearner
from lessregret.learners.rules import Rule, rule_from_spec
from lessregret.learners.scale import EXPECTED, SCALES
from lessregret.learners.schema import Schema
from lessregret.learners.space import FeatureSpace
from lessregret.ledger import Ledger
from lessregret.training.late_rounds import second_half
from lessregret.training.progressive import RunMetrics
from lessregret.training.run_warnings import RunWarning, run_warnings

if TYPE_CHECKING:
    from typing_extensions import Self


class OnlineLinear(BaseEstimator, ABC):
    """What the classifier and the regressor share."""

    learner_: Learner | ReadableLearner
    n_features_in_: int
    crosses_: Namespaces | None
    schema_: Schema | None
    _progress: Progress | None

    def __init__(
        self,
        loss: str,
        rule: Rule | RuleName | None,
        *,
        intercept: bool,
        certify: bool | None,
        bits: int,
        box: tuple[ArrayLike, ArrayLike] | None,
        passes: int,
        l2: float,
        scale: str,
        importance_aware: bool | None,
        fixed_share: float | None,
        crosses: Sequence[str | Sequence[str]] | None,
        columns: Mapping[str, Any] | None,
        random_state: Any,
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
        self.crosses = crosses
        self.columns = columns
        self.random_state = random_state

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by their names; with ``deep`` also those of the rule, as ``rule__rate``.

        >>> from lessregret import OnlineClassifier
        >>> OnlineClassifier(rule="ftrl").get_params()["rule__l1"]
        0.0
        """
        parameters: dict[str, Any] = super().get_params(deep=deep)
        return {**parameters, **nested_parameters(self.rule)} if deep else parameters

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``rule__rate=0.1`` sets that of the rule, whose others stay.

        >>> from lessregret import OnlineClassifier
        >>> OnlineClassifier(rule="ftrl").set_params(rule__rate=0.1).rule.rate
        0.1
        """
        nested = {name: params[name] for name in params if name.startswith(PREFIX)}
        super().set_params(**{name: params[name] for name in params if name not in nested})
        if nested:
            self.rule = with_nested(self.rule, nested)
        return self

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train a new model: make ``passes`` passes over the rows, in their order.

        Parameters
        ----------
        X : CSR or other sparse matrix, dense array, list of dicts, or data frame
            The examples, one per row. A frame of pandas, polars or pyarrow may have columns of any
            kind and missing cells; what its columns are is inferred from the first 10,000 rows.
        y : array
            The label of each example.
        sample_weight : array of numbers from 0 up, optional
            The importance of each example, which multiplies its loss. At least one must be above 0.
        """
        if sample_weight is not None and not check_array(sample_weight, ensure_2d=False).any():
            raise ValueError("sample_weight is zero for every example: there is nothing to learn")
        return self._learn(X, y, sample_weight, starting=True, passes=self.passes, warns=True)

    def save(self, path: str | os.PathLike[str], *, slim: bool = False) -> None:
        """Write a model file, which :meth:`load`, ``Learner.load`` and the command line read.

        The write is atomic: if it fails, an existing file is unchanged. A slim file holds only the
        nonzero weights. It can be used to predict but not to continue training.
        """
        check_is_fitted(self)
        if not isinstance(self.learner_, Learner):
            name = self._rule().name
            raise SpecError(f"rule {name!r} exists only in Python; pickle the estimator instead")
        self._savable(self.learner_).save(path, slim=slim)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The estimator of a model file. Training can continue from it with ``partial_fit``."""
        learner = Learner.load(path)
        spec = learner.spec
        names = "loss", "intercept", "certify", "l2", "scale", "importance_aware", "fixed_share"
        settings = {name: spec[name] for name in names}
        bits = spec["table"].get("bits")
        settings |= {} if bits is None else {"bits": bits}
        # The subclasses have defaults for what is not in a model file.
        new: Any = cls
        estimator: Self = new(rule=rule_from_spec(spec["rule"]), **settings)
        if loss_named(spec["loss"]).is_classification != is_classifier(estimator):
            expected = "a classifier" if is_classifier(estimator) else "a regressor"
            raise SpecError(f"{os.fspath(path)}: expected {expected}, found {spec['loss']} loss")
        estimator._take(learner)
        return estimator

    def _take(self, learner: Learner) -> None:
        """Become the estimator of a loaded learner."""
        space = learner.space
        self.learner_, self.crosses_ = learner, space.namespaces
        schema = space.schema
        self.schema_ = schema if schema is not None and schema.columns else None
        self.n_features_in_ = space.slots - space.intercept
        if self.schema_ is not None:
            names = [column.name for column in self.schema_.columns if column.kind != "label"]
            self.feature_names_in_ = np.array(names, dtype=object)
            self.n_features_in_ = len(names)

    def _savable(self, learner: Learner) -> Learner:
        """The learner with all that the estimator knows and its model file is to hold."""
        return learner

    def explain(self, row: Any) -> Explanation:
        """What each feature gives to the prediction of one row.

        Parameters
        ----------
        row : dict, array of numbers, or a table or matrix with one row
            The example.

        The parts of the :class:`~lessregret.learners.explanation.Explanation` that is returned are
        sorted, the largest absolute one first, and add up to the margin. The margin is what
        ``decision_function`` of a classifier and ``predict`` of a regressor return.
        """
        check_is_fitted(self)
        if self.schema_ is not None and isinstance(self.learner_, Learner):
            return self._explain_frame(self.learner_, row)
        given = [row] if isinstance(row, Mapping) or np.ndim(row) == 1 else row
        rows = self._rows(given, reset=False)
        if rows.shape[0] != 1:
            raise SpecError(f"explain takes one row, found {rows.shape[0]:,}; call it for each row")
        [explained] = self.learner_.explain(self._source(self.learner_, rows))
        return explained.named(self._name_of(row))

    def explain_one(self, x: Mapping[str, Any]) -> Explanation:
        """What each feature of a dict gives to its prediction, as :meth:`explain` tells it."""
        return one_by_one.explain(self, x)

    def _explain_frame(self, learner: Learner, row: Any) -> Explanation:
        table = ArrowTable(row, "X").examples(learner.space.unlabelled(), names=True)
        explained = learner.explain(table)
        if len(explained) != 1:
            raise SpecError(
                f"explain takes one row, found {len(explained):,}; call it for each row"
            )
        return explained[0]

    def _name_of(self, row: Any) -> NameOf:
        """The names of columns, or of the features of a dict."""
        if isinstance(row, Mapping):
            return names_of(row, self.bits).get
        names = getattr(self, "feature_names_in_", ())
        return lambda slot: (str(names[slot]), False) if slot < len(names) else None

    @property
    def ledger_(self) -> Ledger:
        """The losses and the regret so far, computed at each access."""
        check_is_fitted(self)
        return self.learner_.ledger()

    @property
    def metrics_(self) -> RunMetrics | None:
        """The scores of the predictions, each made before its example was learned.

        ``metrics_.all`` has those of all rounds since the last ``fit``, or since the model was
        loaded; ``metrics_.last_tenth`` those of about the last tenth, which say how good the model
        is now. None for more than two classes.
        """
        check_is_fitted(self)
        progress = self._known_progress()
        return None if progress is None else progress.metrics()

    def _learn(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        *,
        starting: bool,
        passes: int = 1,
        classes: ArrayLike | None = None,
        warns: bool = False,
    ) -> Self:
        with _kept_on_error(self):
            self._check_parameters()
            rows, targets = self._rows(X, reset=starting, y=y, y_numeric=not is_classifier(self))
            labels = self._labels(targets, classes, starting)
            importances = importances_of(sample_weight, len(labels))
            hashed = are_dicts(X) or self.schema_ is not None
            learner = self._new_learner(hashed=hashed) if starting else self.learner_
            self._meet_classes(learner)
            importances = self._weighted(importances, labels)
            progress = self._started_progress(learner) if starting else self._known_progress()
            for _ in range(passes):
                outcomes = learner.learn(self._source(learner, rows, labels, importances))
                if progress is not None:
                    progress.add(outcomes)
            self.learner_, self._progress = learner, progress
        if warns:
            self._warn(outcomes)
        return self

    def _weighted(
        self, importances: NDArray[np.float64] | None, labels: NDArray[np.float64]
    ) -> NDArray[np.float64] | None:
        """The importances, multiplied by the weights of the classes, if there are any."""
        return importances

    def _started_progress(self, learner: Learner | ReadableLearner) -> Progress | None:
        """The metrics of a learner from now on; None of many classes."""
        if isinstance(learner, Learner) and learner.classes is not None:
            return None
        if isinstance(learner, ReadableLearner):
            return Progress(learner.loss.name, learner.tally.rounds)
        return Progress(learner.spec["loss"], learner.tally().rounds)

    def _known_progress(self) -> Progress | None:
        """The metrics so far; a model that was loaded has had none."""
        if not hasattr(self, "_progress"):
            self._progress = self._started_progress(self.learner_)
        return self._progress

    def _warn(self, last_pass: Outcomes) -> None:
        """Warn of a run that went badly. Outside :func:`_kept_on_error`: the model is kept."""
        if last_pass.margins.ndim == 2:
            # The best constant of many classes is not known here (`training/run_warnings.py`).
            return
        ledger, rule = self.ledger_, self._rule().spec()
        late = second_half(self.loss, last_pass, ledger.rounds)
        spec = {"loss": self.loss, "rule": rule, "scale": self.scale, "intercept": self.intercept}
        fill = fill_of(self.learner_) if isinstance(self.learner_, Learner) else None
        for finding in run_warnings(spec, ledger, late, fill):
            # The place of the warning is the call of ``fit``.
            warnings.warn(finding.in_python, RunWarning, stacklevel=4)

    def _class_settings(self) -> dict[str, Any]:
        """The classes of a learner of more than two; empty for any other."""
        return {}

    def _meet_classes(self, learner: Learner | ReadableLearner) -> None:
        """Tell a learner of the classes that it may not know yet."""

    @abstractmethod
    def _labels(
        self, y: NDArray[Any], classes: ArrayLike | None, starting: bool
    ) -> NDArray[np.float64]:
        """The labels as the learner wants them."""

    def _rows(self, X: Any, *, reset: bool, **targets: Any) -> Any:
        """X, checked, as CSR; with y, if given."""
        if reset:
            self.schema_ = self._schema_of(X)
            self.crosses_ = None if self.schema_ else crosses_of_keys(self.crosses)
        if self.schema_ is not None:
            return self._frame_rows(X, reset, **targets)
        table = self._table(X)
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
        # A parameter that was changed since the learner was made waits for the next fit.
        zeros = self.scale == "standard" if reset else _keeps_zeros(self.learner_)
        if "y" in targets:
            return as_csr(checked[0], zeros=zeros), checked[1]
        return as_csr(checked, zeros=zeros)

    def _schema_of(self, X: Any) -> Schema | None:
        """What the columns of a frame are; None for other data."""
        if not is_mixed_frame(X):
            if self.columns and "base" in self.columns and is_table(X):
                return self._schema_of_frame(X)
            return None
        return self._schema_of_frame(X)

    def _schema_of_frame(self, X: Any) -> Schema:
        if self.box is not None or not has_twin(self._rule()):
            raise SpecError(
                "a frame with columns that are not all numbers is hashed, so it can have no box "
                "and no rule that exists only in Python; give numbers without missing cells"
            )
        return schema_of(X, self.columns, self.crosses)

    def _frame_rows(
        self, X: Any, reset: bool, y: Any = None, y_numeric: bool = False, **_: Any
    ) -> Any:
        """A frame as CSR with a column for each slot; with y, if given."""
        assert self.schema_ is not None
        if not is_table(X):
            found = type(X).__name__
            raise SpecError(f"X: expected a data frame, as in the first call of fit, found {found}")
        validate_data(self, X, reset=reset, skip_check_array=True)
        # A parameter that was changed since the learner was made waits for the next fit.
        bits = self.bits if reset else self._slots().bit_length() - 1
        rows = encoded(X, self.schema_, bits)
        if y is None:
            return rows
        labels = column_or_1d(y, warn=True)
        check_consistent_length(rows, labels)
        if y_numeric:
            labels = check_array(labels, ensure_2d=False, dtype=np.float64, input_name="y")
        return rows, labels

    def _table(self, X: Any) -> Any:
        """Dicts as hashed rows; what else is given as it is."""
        if are_dicts(X):
            return hashed_rows(X, self.bits, self.crosses_)
        if self.crosses_ is not None:
            raise SpecError("crosses are of the keys of dicts; give X as a list of dicts")
        return X

    def _margins(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        return self.learner_.predict(self._source(self.learner_, rows)).margins

    def _weights(self) -> NDArray[np.float64]:
        """The weight of every column; also of untouched ones, which need not be 0."""
        check_is_fitted(self)
        if self.schema_ is not None:
            raise AttributeError("a frame of mixed columns has hashed features; explain shows them")
        if isinstance(self.learner_, Learner):
            return self.learner_.dense_weights().astype(np.float64)
        columns = self.n_features_in_
        return np.fromiter(map(self.learner_.weight, range(columns)), np.float64, columns)

    def _margin_of_nothing(self) -> float:
        """The intercept: the margin of a row without features, or whose centred features are 0."""
        check_is_fitted(self)
        if _keeps_zeros(self.learner_):
            has_intercept = _has_intercept(self.learner_)
            return self.learner_.weight(self._slots()) if has_intercept else 0.0
        nothing = csr_array((1, self._slots()))
        return float(self.learner_.predict(self._source(self.learner_, nothing)).margins[0])

    def _slots(self) -> int:
        """The number of slots without the intercept's, which is the last."""
        if isinstance(self.learner_, Learner):
            return self.learner_.space.slots - self.learner_.space.intercept
        return self.n_features_in_

    def _source(
        self,
        learner: Learner | ReadableLearner,
        rows: Any,
        labels: NDArray[np.float64] | None = None,
        importances: NDArray[np.float64] | None = None,
    ) -> Rows:
        """The rows as examples for a learner; the readable one takes any space."""
        readable = FeatureSpace(columns=self.n_features_in_, labels="any")
        space = learner.space if isinstance(learner, Learner) else readable
        bases = getattr(rows, "bases", None)
        return Rows.from_csr(rows, labels, importances, bases=bases, space=space)

    def _rule(self) -> Rule:
        """The rule that the parameter means."""
        return rule_of(self.rule)

    def _new_learner(self, *, hashed: bool) -> Learner | ReadableLearner:
        rule, columns = self._rule(), self.n_features_in_
        box = None if self.box is None else box_ends(self.box, columns)
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
            namespaces=self.crosses_,
            schema=self._schema(),
            **self._class_settings(),
        )

    def _schema(self) -> Schema | None:
        """What the model file says of columns and classes."""
        return self.schema_

    def _loss_function(self) -> Loss:
        """The loss that the learner was made with."""
        check_is_fitted(self)
        learner = self.learner_
        return (
            learner.loss
            if isinstance(learner, ReadableLearner)
            else loss_named(learner.spec["loss"])
        )

    def _has_loss(self) -> bool:
        """Whether the loss is one for labels of this kind; a wrong parameter has its own error."""
        if not isinstance(self.loss, str) or self.loss.partition(":")[0] not in FAMILIES:
            return False
        return loss_named(self.loss).is_classification == bool(is_classifier(self))

    def _check_parameters(self) -> None:
        """All limits in one place, but for the box, whose size is that of X."""
        self._rule()
        losses = [name for name in LOSSES if LOSSES[name].is_classification == is_classifier(self)]
        limits = {
            "loss": (self._has_loss(), " or ".join(map(repr, losses))),
            "intercept": (_is_bool(self.intercept), "True or False"),
            "certify": (self.certify is None or _is_bool(self.certify), "True, False or None"),
            "bits": (
                _is_whole(self.bits) and 1 <= self.bits <= MAX_BITS,
                f"a whole number from 1 to {MAX_BITS}",
            ),
            "passes": (_is_whole(self.passes) and self.passes >= 1, "a whole number from 1 up"),
            **self._more_limits(),
            "l2": (is_strength(self.l2), STRENGTH),
            "scale": (self.scale in SCALES, EXPECTED),
            "importance_aware": (
                self.importance_aware is None or _is_bool(self.importance_aware),
                "True, False or None",
            ),
            "fixed_share": (
                self.fixed_share is None or is_fixed_share(self.fixed_share),
                FIXED_SHARE,
            ),
        }
        for name, (right, expected) in limits.items():
            if not right:
                found = getattr(self, name)
                meant = _meant(found, losses) if name == "loss" else ""
                raise SpecError(f"{name} must be {expected}, found {found!r}{meant}")

    def _more_limits(self) -> dict[str, tuple[bool, str]]:
        """What is right of the parameters that only one of the estimators has."""
        return {}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.dict = True
        return tags


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


def _keeps_zeros(learner: Learner | ReadableLearner) -> bool:
    """Whether every cell of a dense table is a value, also a 0, as it is to the standard scale."""
    if isinstance(learner, ReadableLearner):
        return learner.keeps_zeros
    return learner.space.scale == "standard"


def _has_intercept(learner: Learner | ReadableLearner) -> bool:
    if isinstance(learner, ReadableLearner):
        return learner.intercept is not None
    return learner.space.intercept


def _meant(loss: Any, losses: Sequence[str]) -> str:
    """The loss that was probably meant, for an error."""
    meant = suggestion(loss, losses, LOSSES_ELSEWHERE) if isinstance(loss, str) else None
    return "" if meant is None else f"; did you mean {meant!r}?"


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
