"""The regret of predictions that any learner made, and what they certify.

A convex loss lies above its tangents. Let p_t be the prediction of row x_t, a margin, and
α_t = h_t ℓ'(p_t, y_t). Whoever made the predictions, for all fixed weights u:

    Σ h_t ℓ(u·x_t, y_t)  ≥  Σ [h_t ℓ(p_t, y_t) − α_t p_t] + G·u          G = Σ α_t x_t

So predictions, rows and labels are enough for the certificate that our own learners keep
(``ledger/certificate.py``), and for the regret. The predictions need not come from a linear model.
They should have been made before their labels were known. If they were not, all numbers hold, but
the loss is that of a model that had seen its labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessregret.errors import InputError, SpecError
from lessregret.ledger import Certificate, Norms, Shape, Statement, check_shape
from lessregret.regret.best_of_rows import best_of_rows, least_of_line
from lessregret.regret.comparator import BestFixed, Regret
from lessregret.regret.comparator.floats import Floats
from lessregret.regret.given_predictions import (
    GivenExamples,
    Kind,
    given_examples,
    given_intercept_weight,
    given_margins,
    given_slopes,
    given_weights,
)

SIZES = {"box": "|w_i| ≤ {:.4g}", "ball": "‖w‖₂ ≤ {:.4g}", "l1": "‖w‖₁ ≤ {:.4g}"}


@dataclass(frozen=True, eq=False, repr=False)
class RegretOf:
    """What predictions lost, and what fixed weights could have lost at least.

    :func:`regret_of` creates it. All losses and regrets are means, per unit of importance; those of
    ``certificate`` and of the point that ``best`` returns are sums. Sizes of weights are for X as
    given.
    """

    lost: float
    """the mean loss of the predictions"""
    certificate: Certificate
    """the sums behind ``certified``; its ``weights`` are NaN if the weights were not given"""
    radius: float | None
    """the size of weights where a method is given none"""
    examples: GivenExamples

    def certified(
        self,
        radius: float | NDArray[np.float64] | None = None,
        shape: Shape = "box",
        intercept: float | None = None,
    ) -> Any:
        """The mean loss below which no fixed weights of this size are, whatever they are.

        Parameters
        ----------
        radius : number from 0 up, or an array of them, optional
            The size of the weights. The default is the ``radius`` of ``regret_of`` or, without it,
            the size of the ``weights`` that it was given.
        shape : "box", "ball" or "l1", default "box"
            How size is measured: the largest weight, the root of the sum of squares, or the sum of
            the absolute weights.
        intercept : number from 0 up, optional
            The limit of the absolute weight of the intercept, which does not count in the size. The
            default is the size of the intercept that ``regret_of`` was given or, without it,
            ``radius``.
        """
        check_shape(shape)
        size = self._size(shape) if radius is None else _checked_sizes("radius", radius)
        if isinstance(size, np.ndarray):
            return np.array([self.certified(each, shape, intercept) for each in size.tolist()])
        limit = self._intercept_limit(size, intercept)
        return self.certificate.least(size, shape, limit) / self.examples.importance

    def against(self, weights: Any, intercept_weight: Any = 0.0) -> float:
        """A lower bound on the mean loss of these fixed weights.

        ``weights`` has one number for each column of X, or is a dict from columns to numbers; if
        the examples are dicts, from their names.
        """
        point = given_weights(weights, intercept_weight, self.examples)
        return self.certificate.against(point) / self.examples.importance

    def best(
        self, radius: Any = None, *, intercept: float | None = None, gap: float = 1e-4
    ) -> BestFixed:
        """The best fixed weights of a box: :func:`lessregret.best_fixed` on the same examples.

        ``radius`` and ``intercept`` are those of :meth:`certified`. ``radius`` may also be a pair
        (low, high) of numbers or arrays, the ends of the box. The weight of the intercept has the
        last slot. ``total`` and ``lower`` of the result are for the rows in float64.
        """
        low, high = self._box(self._size("box") if radius is None else radius, intercept)
        known = least_of_line(self.certificate.offset, self._sums(), low, high)
        return best_of_rows(self.examples, low, high, gap, max(0.0, known))

    def regret(
        self, radius: Any = None, *, intercept: float | None = None, gap: float = 1e-4
    ) -> Regret:
        """The mean loss of the predictions minus that of the best weights of the box.

        The result is an interval that contains it. The parameters are those of :meth:`best`.
        """
        best = self.best(radius, intercept=intercept, gap=gap)
        return Regret(self.lost - best.mean_total, self.lost - best.lower / best.importance)

    @property
    def statement(self) -> Statement | None:
        """What is certified of fixed weights as large as those that ``regret_of`` was given.

        They are the weights of a ball. Without ``weights`` it is about the box of ``radius``;
        without both it is None.
        """
        shape: Shape = "box" if np.isnan(self.certificate.weights.l2) else "ball"
        size = self.radius if shape == "box" else self.certificate.size(shape)
        if size is None:
            return None
        limit = self._intercept_limit(size, None) if self.examples.intercept else 0.0
        # Predictions that follow a change can lose less than is certified of all fixed weights.
        # Then nothing is left.
        certified = min(self.lost, self.certified(size, shape, limit))
        return Statement(shape, size, limit, self.lost, certified)

    def as_dict(self) -> dict[str, Any]:
        """The numbers as a dict, for JSON."""
        said, sums = self.statement, self.certificate
        return {
            "loss": self.examples.loss.name,
            "rounds": len(self.examples.labels),
            "importance": self.examples.importance,
            "lost": self.lost,
            "offset": sums.offset,
            "sums": sums.sums._asdict(),
            "intercept_sum": sums.intercept_sum if self.examples.intercept else None,
            "statement": None if said is None else said.as_dict(),
        }

    def __repr__(self) -> str:
        said, rounds = self.statement, len(self.examples.labels)
        begin = f"RegretOf: {rounds:,} predictions lost {self.lost:.6g}"
        if said is None:
            return f"<{begin}; certified(radius) says what fixed weights lost at least>"
        limit = f", |intercept| ≤ {said.intercept:.4g}," if self.examples.intercept else ""
        size = SIZES[said.shape].format(said.radius)
        return f"<{begin}; fixed weights with {size}{limit} lost at least {said.certified:.6g}>"

    def _size(self, shape: Shape) -> float:
        if self.radius is not None:
            return self.radius
        if np.isnan(self.certificate.weights.l2):
            raise SpecError(
                "radius: expected a size of weights, found none; give it here, or give regret_of "
                "the radius or the weights of the model"
            )
        return self.certificate.size(shape)

    def _intercept_limit(self, size: float, intercept: float | None) -> float:
        if intercept is not None:
            return _number_from_0("intercept", intercept)
        known = abs(self.certificate.intercept_weight)
        return size if np.isnan(known) else known

    def _box(self, radius: Any, intercept: float | None) -> tuple[Floats, Floats]:
        low, high = _ends(radius, self.examples.columns)
        if not self.examples.intercept:
            return low, high
        size = max(np.abs(low).max(initial=0.0), np.abs(high).max(initial=0.0))
        limit = self._intercept_limit(float(size), intercept)
        return np.append(low, -limit), np.append(high, limit)

    def _sums(self) -> Floats:
        assert self.certificate.vector is not None
        return self.certificate.vector()[1]


def regret_of(
    predictions: ArrayLike,
    X: Any,
    y: ArrayLike,
    loss: str = "logistic",
    *,
    kind: Kind = "margins",
    importances: ArrayLike | None = None,
    intercept: bool = True,
    radius: float | None = None,
    weights: Any = None,
    intercept_weight: Any = None,
    slopes: ArrayLike | None = None,
) -> RegretOf:
    """What predictions of any learner lost, and what no fixed weights could have lost less than.

    Fixed weights are those of linear models of X, chosen with all labels known. Their size is for X
    as given: nothing is scaled. If a pipeline scales the inputs of its model, give the scaled rows.

    Parameters
    ----------
    predictions : array
        One prediction for each row, made before its label was known.
    X : sparse matrix, dense array or list of dicts
        The rows, in the order of the predictions. A dict has numbers or strings; a string makes the
        feature "field=value" with value 1. Each name has a column of its own.
    y : array
        The labels: -1 and 1, or two other classes, of which the second one, when sorted, is the
        positive one; for squared loss numbers.
    loss : "logistic", "hinge", "squared" or another loss, default "logistic"
        The loss to measure by. It need not be the loss that the learner minimised.
    kind : "margins" or "probabilities", default "margins"
        What the predictions are: margins, as ``decision_function`` or the ``predict`` of a
        regressor returns them, or, for logistic loss, probabilities of the positive class.
    importances : array of numbers from 0 up, optional
        The importance of each row, which multiplies its loss.
    intercept : bool, default True
        Whether the fixed weights have an intercept.
    radius : number from 0 up, optional
        The size of weights where a method of the result is given none.
    weights : one number for each column, or a dict from columns or names to numbers, optional
        The weights of the model, if it is linear. Their size is then known to ``statement``, and to
        the methods if there is no ``radius``.
    intercept_weight : number, optional
        The intercept of the model; 0 if only ``weights`` are given.
    slopes : array, optional
        For hinge loss, which slope of the loss each prediction has, where there is a choice: any
        number between -y and 0 at the kink, y · prediction = 1. The default is 0 there. The dual
        variables of a support vector machine certify more.

    >>> X, y = [[1.0], [1.0], [1.0], [1.0]], [1, -1, 1, -1]
    >>> said = regret_of([0.0, 0.4, -0.2, 0.1], X, y, intercept=False, radius=1.0)
    >>> said
    <RegretOf: 4 predictions lost 0.787174; fixed weights with |w_i| ≤ 1 lost at least 0.668231>
    >>> round(said.certified(0.5), 6), round(said.against([0.5]), 6)
    (0.67746, 0.695919)
    >>> [round(end, 4) for end in said.regret(1.0)]
    [0.094, 0.094]
    """
    examples = given_examples(X, y, loss, importances, intercept)
    margins = given_margins(predictions, kind, examples)
    total = examples.total(margins)
    if slopes is None:
        own = examples.slopes(margins)
        offset = total - float((examples.importances * own) @ margins)
    else:
        own = given_slopes(slopes, margins, examples)
        # max(0, 1 − y q) ≥ a (1 − y q) for every a = −y s from 0 to 1 and every margin q, also if
        # the prediction is near the kink and not at it.
        offset = float(examples.importances @ (-examples.labels * own))
    sums = _finite(examples.weighted_sum(own), offset)
    size = None if radius is None else _number_from_0("radius", radius)
    certificate = _certificate(examples, offset, sums, weights, intercept_weight)
    return RegretOf(total / examples.importance, certificate, size, examples)


def _certificate(
    examples: GivenExamples, offset: float, sums: Floats, weights: Any, intercept_weight: Any
) -> Certificate:
    columns, norms, constant = examples.columns, Norms(nan, nan, nan), nan
    if weights is not None:
        given = 0.0 if intercept_weight is None else intercept_weight
        point = given_weights(weights, given, examples)
        norms, constant = Norms.of(point[:columns].tolist()), float(point[columns:].sum())
    elif intercept_weight is not None:
        constant = given_intercept_weight(intercept_weight, examples)
    return Certificate(
        offset=offset,
        sums=Norms.of(sums[:columns].tolist()),
        weights=norms,
        intercept_sum=float(sums[columns:].sum()),
        intercept_weight=constant,
        vector=partial(_with_slots, sums),
    )


def _with_slots(sums: Floats) -> tuple[NDArray[np.uint32], Floats]:
    return np.arange(len(sums), dtype=np.uint32), sums


def _finite(sums: Floats, offset: float) -> Floats:
    if np.isfinite(offset) and np.isfinite(sums).all():
        return sums
    found = "values so large that their sums are not finite"
    raise InputError("X", 0, 0, found, "values of moderate size; scale them")


def _number_from_0(name: str, value: Any) -> float:
    checked = _checked_sizes(name, value)
    if isinstance(checked, float):
        return checked
    raise SpecError(f"{name} must be a number from 0 up, found {value!r}")


def _checked_sizes(name: str, value: Any) -> float | Floats:
    try:
        given = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.asarray(nan)
    if not (np.isfinite(given) & (given >= 0)).all() or given.ndim > 1:
        raise SpecError(f"{name} must be a number from 0 up, found {value!r}")
    return given if given.ndim else float(given)


def _ends(radius: Any, columns: int) -> tuple[Floats, Floats]:
    """The two ends of each column's interval."""
    try:
        low, high = (-float(radius), float(radius)) if np.ndim(radius) == 0 else radius
        ends = [np.broadcast_to(np.float64(end), columns) for end in (low, high)]
    except (TypeError, ValueError):
        ends = []
    if not ends or not np.isfinite(ends).all() or not (ends[0] < ends[1]).all():
        raise SpecError(
            "radius must be a number above 0, or a pair (low, high) of numbers or of arrays with "
            f"a number for each of the {columns:,} columns, low < high, found {radius!r}"
        )
    return ends[0], ends[1]
