"""What a user gives of another learner: rows, labels, importances and predictions, checked.

    X, y, importances ─checked─▶ Examples as arrays of float64
    predictions       ─checked─▶ margins

Every error names the place, what was found and what was expected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse
from scipy.special import logit

from lessregret.errors import InputError, SpecError
from lessregret.learners.labels import MOST
from lessregret.learners.losses import Loss, loss_named
from lessregret.regret.comparator.floats import Floats

Kind: TypeAlias = Literal["margins", "probabilities"]
KINDS: tuple[Kind, ...] = ("margins", "probabilities")
"""What predictions are: w·x, or the probability of the positive class."""
NEAR_KINK = 0.01
"""How far from the kink of hinge loss a margin may be and still have any slope of the kink.

Searches end near the kink, not at it. What is certified holds at any distance."""
EXPECTED = "a sparse matrix or an array of numbers with rows and columns, or a list of dicts"


@dataclass(frozen=True, eq=False)
class GivenExamples:
    """The examples of a run of another learner, as arrays of float64."""

    loss: Loss
    rows: Any
    """a CSR array or a dense array, one row for each example"""
    names: dict[str, int] | None
    """the column of each feature, if the examples are dicts"""
    labels: Floats
    importances: Floats
    intercept: bool
    """whether fixed weights have an intercept: one more weight, for a column of ones"""

    @property
    def columns(self) -> int:
        """The number of columns of X."""
        return int(self.rows.shape[1])

    @property
    def importance(self) -> float:
        """The sum of all importances."""
        return float(self.importances.sum())

    def margins(self, weights: Floats) -> Floats:
        """The margins of fixed weights; the last one is that of the intercept, if there is one."""
        constant = weights[self.columns] if self.intercept else 0.0
        margins: Floats = self.rows @ weights[: self.columns] + constant
        return margins

    def total(self, margins: Floats) -> float:
        """Σ h ℓ(p, y)."""
        return float(self.importances @ self._each(self.loss.value, margins))

    def slopes(self, margins: Floats) -> Floats:
        """ℓ'(p, y) of every row."""
        return self._each(self.loss.slope, margins)

    def weighted_sum(self, slopes: Floats) -> Floats:
        """G = Σ h s x, with the intercept last."""
        alphas = self.importances * slopes
        # Sums that overflow are refused by those who ask for them.
        with np.errstate(over="ignore", invalid="ignore"):
            sums = np.asarray(self.rows.T @ alphas, dtype=np.float64)
        return np.append(sums, alphas.sum()) if self.intercept else sums

    def _each(self, function: Any, margins: Floats) -> Floats:
        try:
            pairs = zip(margins.tolist(), self.labels.tolist(), strict=True)
            return np.array([function(p, y) for p, y in pairs], dtype=np.float64)
        except OverflowError:
            largest = int(np.argmax(np.abs(margins - self.labels)))
            found = f"{margins[largest]!s} for the label {self.labels[largest]!s}"
            expected = "a number whose loss is finite in float64"
            raise InputError(f"predictions[{largest}]", 0, 0, found, expected) from None


def given_examples(
    X: Any, y: ArrayLike, loss: str, importances: ArrayLike | None, intercept: bool
) -> GivenExamples:
    """The examples, or an error that says what is wrong with them."""
    known = loss_named(loss)
    if not isinstance(intercept, bool | np.bool_):
        raise SpecError(f"intercept must be True or False, found {intercept!r}")
    rows, names = _table(X)
    count = rows.shape[0]
    labels = _classes(y, count) if known.is_classification else numbers("y", y, count)
    if known.labels == "count":
        _check_counts(labels)
    weights = np.ones(count) if importances is None else numbers("importances", importances, count)
    if (weights < 0).any():
        first = int(np.argmax(weights < 0))
        raise InputError(f"importances[{first}]", 0, 0, str(weights[first]), "a number from 0 up")
    if not weights.any():
        raise InputError("the examples", 0, 0, "none", "at least one of an importance above 0")
    return GivenExamples(known, rows, names, labels, weights, bool(intercept))


def _check_counts(labels: Floats) -> None:
    inside = (labels >= 0) & (labels <= MOST)
    if not inside.all():
        first = int(np.argmin(inside))
        expected = "a count, a number from 0 to 16777216"
        raise InputError(f"y[{first}]", 0, 0, str(labels[first]), expected)


def given_margins(predictions: ArrayLike, kind: str, examples: GivenExamples) -> Floats:
    """The predictions as margins."""
    if kind not in KINDS:
        raise SpecError(f"kind must be one of {', '.join(KINDS)}, found {kind!r}")
    given = numbers("predictions", predictions, len(examples.labels))
    return given if kind == "margins" else _log_odds(given, examples.loss)


def _log_odds(probabilities: Floats, loss: Loss) -> Floats:
    if loss.link != "probability":
        raise SpecError(
            f"kind 'probabilities' is for logistic loss, found loss {loss.name!r}; "
            "give margins, as decision_function returns them"
        )
    inside = (probabilities > 0) & (probabilities < 1)
    if not inside.all():
        first = int(np.argmin(inside))
        found, sure = str(probabilities[first]), probabilities[first] in (0, 1)
        cure = "; its margin is infinite: give margins, or np.clip(p, 1e-15, 1 - 1e-15)"
        expected = "a probability above 0 and below 1"
        raise InputError(f"predictions[{first}]", 0, 0, found + cure * sure, expected)
    margins: Floats = logit(probabilities)
    return margins


def given_slopes(slopes: ArrayLike, margins: Floats, examples: GivenExamples) -> Floats:
    """The slopes, if each is a subgradient of hinge loss at its margin or at the kink near it."""
    if examples.loss.name != "hinge":
        raise SpecError(
            f"slopes are for hinge loss, whose kink has many; those of {examples.loss.name} loss "
            "follow from the predictions: leave out slopes"
        )
    given = numbers("slopes", slopes, len(margins))
    shares, beyond = -examples.labels * given, examples.labels * margins - 1
    between = (shares >= 0) & (shares <= 1)
    right = np.where(np.abs(beyond) <= NEAR_KINK, between, given == examples.slopes(margins))
    if not right.all():
        first = int(np.argmin(right))
        label, margin = examples.labels[first], margins[first]
        slope = "a number between -label and 0"
        if abs(beyond[first]) > NEAR_KINK:
            slope = "0" if beyond[first] > 0 else f"{-label:g}"
        expected = f"{slope}, for the margin {margin:g} and the label {label:g}"
        raise InputError(f"slopes[{first}]", 0, 0, f"{given[first]:g}", expected)
    return given


def given_weights(weights: Any, intercept_weight: Any, examples: GivenExamples) -> Floats:
    """Fixed weights, one for each column, that of the intercept last if there is one."""
    point = np.zeros(examples.columns + examples.intercept)
    if isinstance(weights, Mapping):
        columns = range(examples.columns) if examples.names is None else examples.names
        # A feature that no example has changes no loss.
        known = {place: weights[key] for place, key in enumerate(columns) if key in weights}
        values = numbers("weights", list(known.values()), len(known), "column")
        point[np.array(list(known), dtype=np.intp)] = values
    else:
        given = np.asarray(weights)
        flat = given[0] if given.ndim == 2 and len(given) == 1 else given
        point[: examples.columns] = numbers("weights", flat, examples.columns, "column")
    constant = given_intercept_weight(intercept_weight, examples)
    if examples.intercept:
        point[-1] = constant
    return point


def given_intercept_weight(intercept_weight: Any, examples: GivenExamples) -> float:
    """The weight of an intercept; a list of one is what scikit-learn's models have."""
    given = np.ravel(np.asarray(intercept_weight))
    constant = float(numbers("intercept_weight", given, 1, "model")[0])
    if constant and not examples.intercept:
        raise SpecError(
            f"intercept_weight is {constant:g}, but there is no intercept: leave it out"
        )
    return constant


def numbers(name: str, values: ArrayLike, count: int, thing: str = "row") -> Floats:
    """A list of finite numbers, one for each row, or for each of other things."""
    try:
        given = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        kind = np.asarray(values).dtype
        raise InputError(name, 0, 0, f"an array of type {kind}", "numbers") from None
    _check_count(name, given.shape, count, thing)
    if not np.isfinite(given).all():
        first = int(np.argmin(np.isfinite(given)))
        raise InputError(f"{name}[{first}]", 0, 0, str(given[first]), "a finite number")
    return given


def _check_count(name: str, shape: tuple[int, ...], count: int, thing: str = "row") -> None:
    if shape == (count,):
        return
    found = f"{shape[0]:,}" if len(shape) == 1 else f"an array of shape {shape}"
    cure = "; take the column of the positive class, [:, 1]" if shape == (count, 2) else ""
    entries = "1 entry" if count == 1 else f"{count:,} entries"
    raise InputError(name, 0, 0, found + cure, f"{entries}, one for each {thing}")


def _classes(y: ArrayLike, count: int) -> Floats:
    """-1 and 1 as they are; of two other classes the second one, when sorted, is 1."""
    given = np.asarray(y)
    _check_count("y", given.shape, count)
    if given.dtype.kind == "f":
        numbers("y", given, count)
    try:
        classes = np.unique(given)
    except TypeError:
        raise InputError("y", 0, 0, "labels that cannot be sorted", "-1 and 1") from None
    if classes.dtype.kind in "biuf" and np.isin(classes, (-1, 1)).all():
        return given.astype(np.float64)
    if len(classes) != 2:
        listed = ", ".join(map(repr, classes[:5].tolist())) + ", ..." * (len(classes) > 5)
        found = f"{len(classes):,} {'class' if len(classes) == 1 else 'classes'}: {listed}"
        raise InputError("y", 0, 0, found, "labels -1 and 1, or two other classes")
    return np.where(given == classes[1], 1.0, -1.0)


def _table(X: Any) -> tuple[Any, dict[str, int] | None]:
    """X as a CSR or dense array of float64, and the columns of names if it holds dicts."""
    if isinstance(X, Sequence) and len(X) > 0 and isinstance(X[0], Mapping):
        return _named_rows(X)
    sparse = issparse(X)
    try:
        rows: Any = csr_array(X, dtype=np.float64) if sparse else np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("X", 0, 0, f"a {type(X).__name__}", EXPECTED) from None
    if rows.ndim != 2:
        raise InputError("X", 0, 0, f"an array of shape {rows.shape}", EXPECTED)
    _check_finite(rows)
    return rows, None


def _check_finite(rows: Any) -> None:
    sparse = issparse(rows)
    finite = np.isfinite(rows.data if sparse else rows)
    if finite.all():
        return
    if sparse:
        entry = int(np.argmin(finite))
        row = int(np.searchsorted(rows.indptr, entry, side="right")) - 1
        column, value = int(rows.indices[entry]), rows.data[entry]
    else:
        row, column = (int(place[0]) for place in np.nonzero(~finite))
        value = rows[row, column]
    raise InputError(f"X[{row}, {column}]", 0, 0, str(value), "a finite number")


def _named_rows(examples: Sequence[Any]) -> tuple[Any, dict[str, int]]:
    """Dicts as rows, with a column for each name in the order of meeting: nothing is hashed."""
    # The import of scikit-learn is only for those who have dicts.
    from lessregret.estimators.arguments import features_of

    names: dict[str, int] = {}
    columns, values, ends = [], [], [0]
    for row, example in enumerate(examples):
        for feature in features_of(row, example):
            columns.append(names.setdefault(feature.name, len(names)))
            values.append(feature.value)
        ends.append(len(columns))
    parts = np.array(values, np.float64), np.array(columns, np.int64), np.array(ends)
    return csr_array(parts, (len(examples), len(names))), names
