"""Passes over examples of many classes in memory, with a column for every pair (feature, class).

    p_t,c = Σ_i x_i,c θ_t,i                              the margin of class c
    ℓ     = log Σ_c exp(p_t,c) − p_t,y                   of a loss that predicts a probability
    ℓ     = Σ_c ℓ(p_t,c, y_c)                            of any other: each class against the rest
    dual  ≥ Σ_t [h ℓ(p_t) − Σ_c α_t,c p_t,c]             α the slopes at p_t, by convexity

The columns of a feature stand together, in the order of the classes: a point is the matrix of the
weights, a row for each feature, written as one vector. So box, barrier, search and certificate are
those of one margin.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import logsumexp

from lessregret import _core
from lessregret.data.examples import Examples
from lessregret.errors import InputError
from lessregret.learners.losses import loss_named
from lessregret.learners.space import FeatureSpace
from lessregret.regret.comparator.floats import Floats
from lessregret.regret.comparator.passes import Look, Passes


@dataclass(frozen=True)
class ClassRows:
    """Examples as the rows of a matrix, with the place of each label among the classes."""

    matrix: csr_array
    places: NDArray[np.intp]
    importances: Floats


def class_passes(
    examples: Examples, loss: str, classes: Sequence[int] | None = None, count: int | None = None
) -> ClassPasses:
    """The first ``count`` examples, or all, for the best fixed weights of these classes.

    Without ``classes`` they are the labels that occur.
    """
    columns = _core.Columns(examples.space.slots)
    columns.meet(examples.core, count)
    (ends, indices, values), labels, importances = columns.rows(examples.core, count)
    codes = np.unique(labels).astype(int).tolist() if classes is None else list(classes)
    starts = np.append(0, ends.astype(np.int64))
    shape = len(labels), len(columns.slots())
    matrix = csr_array((values.astype(np.float64), indices.astype(np.int64), starts), shape=shape)
    rows = ClassRows(matrix, _places(labels, codes), importances.astype(np.float64))
    kind = Multinomial if loss_named(loss).link == "probability" else OneVsRest
    return kind(columns, rows, loss, codes)


class ClassPasses(Passes):
    """Passes over the rows of many classes."""

    def __init__(
        self, columns: _core.Columns, rows: ClassRows, loss: str, classes: Sequence[int]
    ) -> None:
        self.loss, self.classes = loss, tuple(classes)
        self.slots = np.repeat(columns.slots(), len(classes))
        self.importances = np.repeat(columns.importances(), len(classes))
        self.total = columns.total
        self._prepare(rows)

    @abstractmethod
    def _prepare(self, rows: ClassRows) -> None:
        """Keep what the passes need of the rows."""

    def _by_class(self, point: Floats) -> Floats:
        """A vector over the columns as a matrix: rows are features, columns classes."""
        return point.reshape(-1, len(self.classes))


class Multinomial(ClassPasses):
    """The multinomial log loss, whose Hessian is h (diag q − q qᵀ) ⊗ θ θᵀ."""

    def _prepare(self, rows: ClassRows) -> None:
        self._rows, self._turned = rows, csr_array(rows.matrix.T)
        self._squares = self._turned.power(2)
        self._weights = rows.importances[:, np.newaxis]

    def look(self, point: Floats, temperature: float) -> Look:
        margins = self._rows.matrix @ self._by_class(point)
        every, own = np.arange(len(margins)), self._rows.places
        totals = logsumexp(margins, axis=1) if len(margins) else np.empty(0)
        chances = np.exp(margins - totals[:, np.newaxis])
        slopes = chances.copy()
        slopes[every, own] = 0.0
        # q_y − 1 as −Σ of the others loses no digit where q_y is near 1.
        slopes[every, own] = -slopes.sum(1)
        slopes *= self._weights
        loss = float(self._rows.importances @ (totals - margins[every, own]))
        return Look(
            point=point,
            temperature=temperature,
            loss=loss,
            smooth=loss,
            dual=loss - float((slopes * margins).sum()),
            gradient=np.asarray(self._turned @ slopes).ravel(),
            curvatures=chances.ravel(),
        )

    def diagonal(self, look: Look) -> Floats:
        chances = self._chances(look)
        return np.asarray(self._squares @ (self._weights * chances * (1 - chances))).ravel()

    def times(self, look: Look, direction: Floats) -> Floats:
        chances, moved = self._chances(look), self._rows.matrix @ self._by_class(direction)
        bent = chances * (moved - (chances * moved).sum(1, keepdims=True))
        return np.asarray(self._turned @ (self._weights * bent)).ravel()

    def _chances(self, look: Look) -> Floats:
        assert look.curvatures is not None
        return look.curvatures.reshape(-1, len(self.classes))


class OneVsRest(ClassPasses):
    """A loss of two classes, summed over the classes: a problem of two classes for each."""

    def _prepare(self, rows: ClassRows) -> None:
        space = FeatureSpace(columns=rows.matrix.shape[1], intercept=False)
        self._problems = [self._of_class(rows, space, k) for k in range(len(self.classes))]
        ends = np.cumsum([problem.rows for problem in self._problems])
        self._cuts = ends[:-1].tolist()

    def _of_class(self, rows: ClassRows, space: FeatureSpace, place: int) -> _core.Problem:
        labels = np.where(rows.places == place, 1.0, -1.0)
        examples = Examples.from_csr(rows.matrix, labels, rows.importances, space=space).core
        # The columns of the matrix are in the order in which they are met, and are met again so.
        columns = _core.Columns(space.slots)
        columns.meet(examples)
        return _core.Problem(columns, examples, self.loss)

    def look(self, point: Floats, temperature: float) -> Look:
        weights, gradient = self._by_class(point), np.zeros_like(self._by_class(point))
        sums, curvatures = np.zeros(3), []
        for k, problem in enumerate(self._problems):
            own = np.zeros(len(weights))
            *parts, curved = problem.evaluate(weights[:, k].copy(), temperature, own)
            gradient[:, k], sums = own, sums + parts
            curvatures.append(curved)
        loss, smooth, dual = map(float, sums)
        bends = np.concatenate(curvatures)
        return Look(point, temperature, loss, smooth, dual, gradient.ravel(), bends)

    def diagonal(self, look: Look) -> Floats:
        diagonal = np.zeros_like(self._by_class(look.point))
        for k, (problem, curved) in enumerate(self._curved(look)):
            own = np.zeros(len(diagonal))
            problem.diagonal(curved, own)
            diagonal[:, k] = own
        return diagonal.ravel()

    def times(self, look: Look, direction: Floats) -> Floats:
        ahead, product = self._by_class(direction), np.zeros_like(self._by_class(direction))
        for k, (problem, curved) in enumerate(self._curved(look)):
            own = np.zeros(len(product))
            problem.times(curved, ahead[:, k].copy(), own)
            product[:, k] = own
        return product.ravel()

    def _curved(self, look: Look) -> list[tuple[_core.Problem, Floats]]:
        assert look.curvatures is not None
        parts = np.split(look.curvatures, self._cuts)
        return list(zip(self._problems, parts, strict=True))


def _places(labels: NDArray[np.float32], codes: Sequence[int]) -> NDArray[np.intp]:
    known = {float(code): place for place, code in enumerate(codes)}
    places = np.array([known.get(label, -1) for label in labels.tolist()], dtype=np.intp)
    if (places < 0).any():
        found = f"the label {labels[places.argmin()]:g}"
        raise InputError("the examples", 0, 0, found, f"one of the {len(codes)} classes")
    return places
