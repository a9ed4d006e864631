"""The best fixed point, and the regret against it."""

from __future__ import annotations

import io
import os
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, TypeAlias
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from lessregret.data.examples import Examples
from lessregret.data.output import write_file
from lessregret.errors import InputError, ModelFileError, SpecError
from lessregret.learners.learner import Learner
from lessregret.learners.losses import loss_named
from lessregret.learners.penalty import check_scope, check_strength
from lessregret.learners.rules.limits import is_within
from lessregret.ledger import Ledger
from lessregret.regret.comparator import interior_point, primal_dual
from lessregret.regret.comparator.box import Box, box_ends
from lessregret.regret.comparator.floats import Floats
from lessregret.regret.comparator.missed_gap import GapWarning, missed_gap
from lessregret.regret.comparator.objective import Objective, View
from lessregret.regret.comparator.passes import InMemory, Passes
from lessregret.regret.comparator.passes_of_classes import class_passes

Data: TypeAlias = Passes | Examples | tuple[csr_array, ArrayLike]

LONGEST = 1000
"""Steps after which a search is given up: far more than any seen, and better than a loop."""

SAVED = {"slots": (1, "uint32"), "weights": (1, "float64"), "passes": (0, "int64")}
"""Dimensions and type of the fields that are not one float64."""


class Regret(NamedTuple):
    """An interval that contains the regret."""

    low: float
    """the total of the run minus the total of the best point found"""
    high: float
    """the total of the run minus the lower bound on the total of any point"""


@dataclass(frozen=True)
class BestFixed:
    """The best fixed point found, its loss, and a lower bound on the loss of any fixed point.

    ``loss``, ``penalty`` and ``lower`` are sums; ``mean_loss`` and ``gap`` are per example (per
    unit of importance).
    """

    slots: NDArray[np.uint32]
    """the slots of the features that occur; the weights of other slots do not change the loss"""
    weights: Floats
    loss: float
    """Σ h ℓ: the loss of the point, summed over the examples with their importances h"""
    penalty: float
    """½ Σ λ_i x_i²: the L2 penalty of the point, summed over the examples"""
    lower: float
    """no point of the feasible set has a smaller loss + penalty"""
    importance: float
    passes: int
    """the number of passes over the examples that the search made"""

    @property
    def total(self) -> float:
        """loss + penalty"""
        return self.loss + self.penalty

    @property
    def mean_loss(self) -> float:
        """loss / importance"""
        return self.loss / self.importance

    @property
    def mean_total(self) -> float:
        """total / importance"""
        return self.total / self.importance

    @property
    def gap(self) -> float:
        """(total − lower) / importance"""
        return (self.total - self.lower) / self.importance

    def regret(self, ledger: Ledger) -> Regret:
        """The regret of a run on the same examples, as an interval."""
        return Regret(ledger.total - self.total, ledger.total - self.lower)

    def of_classes(self, classes: int) -> Floats:
        """The weights of so many classes: a row for each feature, a column for each class.

        The features are ``slots[::classes]``; the classes are in the order of the labels that were
        given or, without them, from the smallest to the largest.
        """
        return self.weights.reshape(-1, classes)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the point to a ``.npz`` file, to start a later search from; the write is atomic."""
        content = io.BytesIO()
        np.savez(content, **{each.name: getattr(self, each.name) for each in fields(self)})
        write_file(path, content.getvalue())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> BestFixed:
        """Read a point that :meth:`save` wrote."""
        try:
            with open(path, "rb") as file, ZipFile(file) as archive:
                return cls(**{each.name: _entry(archive, each.name) for each in fields(cls)})
        except (OSError, KeyError, ValueError, EOFError, BadZipFile, zlib.error) as error:
            reason = f"not a best fixed point that was saved, or damaged: {error}"
            raise ModelFileError(os.fspath(path), reason) from error


def best_fixed(
    data: Data,
    loss: str = "logistic",
    box: Box = 100.0,
    l2: float = 0.0,
    *,
    gap: float = 1e-4,
    l2_scope: str = "active",
    classes: Sequence[int] | None = None,
    start: BestFixed | None = None,
    tell: Callable[[BestFixed], None] | None = None,
) -> BestFixed:
    """The fixed weights with the smallest loss on all examples together.

    The mean loss of the result is proved to be within ``gap`` of the smallest possible one.

    Parameters
    ----------
    data : Examples, Passes or (X, y)
        The examples: :class:`Examples` in memory, :class:`OverFiles` for files larger than memory,
        or a sparse matrix and its labels. An intercept is *not* added to a matrix.
    loss : "logistic", "hinge", "squared" or another loss
        The loss to minimise. If ``data`` are :class:`InMemory` or :class:`OverFiles`, it must be
        the loss that they were made for.
    box : number above 0, or (low, high)
        The feasible set: every weight is within [-box, box], or within [low, high]. ``low`` and
        ``high`` may be arrays with one entry per slot. They may be infinite only if ``l2`` is above
        0.
    l2 : number from 0 up, default 0
        The strength λ of L2 regularisation: (λ/2) Σ x_i² over the features of an example is added
        to the loss of that example.
    gap : number above 0, default 1e-4
        The search stops when the gap, per example, is at most this. Where the precision of float64
        does not suffice, the gap of the result is larger; ``BestFixed.gap`` holds it, and a
        :class:`GapWarning` says what is certified.
    l2_scope : "active" or "all"
        Whether ``l2`` penalises, for each example, the weights of its features or all weights.
    classes : ints, optional
        For more than two classes: the labels of ``data``. Without it, labels of a matrix are those
        of two classes or numbers, and examples of many classes have those that occur. A weight for
        each feature and class is then found, see :meth:`BestFixed.of_classes`.
    start : BestFixed, optional
        The point to start from, for instance the result of an interrupted search.
    tell : function, optional
        Called after every step with the best point so far, to show progress.

    >>> best = best_fixed((csr_array([[1.0], [1.0], [1.0]]), [1, 1, -1]), "squared", box=2.0)
    >>> best.weights.round(2), bool(best.lower <= 8 / 3 <= best.total)
    (array([0.33]), True)
    """
    best = None
    asked = {"gap": gap, "l2_scope": l2_scope, "classes": classes, "start": start}
    for best in iterate_best_fixed(data, loss, box, l2, **asked):  # type: ignore[arg-type]
        if tell is not None:
            tell(best)
    assert best is not None
    return best


def iterate_best_fixed(
    data: Data,
    loss: str = "logistic",
    box: Box = 100.0,
    l2: float = 0.0,
    *,
    gap: float = 1e-4,
    l2_scope: str = "active",
    classes: Sequence[int] | None = None,
    start: BestFixed | None = None,
) -> Iterator[BestFixed]:
    """Search as :func:`best_fixed` does, and yield the best point so far after every step.

    The iteration can be stopped after any step: each point has a valid ``lower`` bound, and its gap
    is at most that of the point before.
    """
    _check_gap(gap)
    passes = _passes(data, loss, classes)
    objective = _objective(passes, box, l2, l2_scope)
    views = _views(objective, gap * passes.total, _start(passes, start))
    best = None
    for _, (view, count) in zip(range(LONGEST), views, strict=False):
        best = _better(passes, best, view, count)
        yield best
        if best.gap <= gap:
            return
    if best is not None:
        least = best.lower / best.importance, best.mean_total
        warnings.warn(missed_gap(passes, least, gap), GapWarning, stacklevel=2)


def _views(objective: Objective, gap: float, start: Floats | None) -> Iterator[tuple[View, int]]:
    """The points of the search that suits the loss and the size, with the passes up to each."""
    hinges = objective.passes.hinges()
    if hinges is not None:
        yield from primal_dual.search(objective, hinges, start)
        return
    kinked = loss_named(objective.passes.loss).has_kink
    for state in interior_point.search(objective, gap, kinked=kinked, start=start):
        yield state.view, state.passes


def _better(passes: Passes, best: BestFixed | None, view: View, count: int) -> BestFixed:
    """The better point and the better bound of two."""
    lower = view.lower if best is None else max(best.lower, view.lower)
    if best is not None and best.total <= view.total:
        return replace(best, lower=lower, passes=count)
    return BestFixed(
        slots=passes.slots,
        weights=view.look.point,
        loss=view.look.loss,
        penalty=view.penalty,
        lower=lower,
        importance=passes.total,
        passes=count,
    )


def _passes(data: Data, loss: str, classes: Sequence[int] | None) -> Passes:
    loss_named(loss)
    if isinstance(data, Passes):
        passes = data
        if passes.loss != loss:
            raise SpecError(f"the passes are for the loss {passes.loss!r}, found loss={loss!r}")
    elif isinstance(data, Examples):
        passes = _in_memory(data, loss, classes)
    else:
        X, y = csr_array(data[0]), data[1]
        learner = Learner(loss, columns=X.shape[1], intercept=False, scale="none", classes=classes)
        passes = _in_memory(Examples.from_csr(X, y, space=learner), loss, classes)
    if passes.total == 0:
        raise InputError("the examples", 0, 0, "none", "at least one of an importance above 0")
    return passes


def _in_memory(examples: Examples, loss: str, classes: Sequence[int] | None) -> Passes:
    if examples.space.labels == "classes":
        return class_passes(examples, loss, classes)
    return InMemory(examples, loss)


def _objective(passes: Passes, box: Box, l2: float, l2_scope: str) -> Objective:
    check_strength(l2)
    check_scope(l2_scope)
    low, high = box_ends(passes, box)
    everywhere = np.full(len(passes.slots), passes.total)
    active = passes.importances if l2_scope == "active" else everywhere
    return Objective(passes, low, high, l2 * active)


def _start(passes: Passes, start: BestFixed | None) -> Floats | None:
    """The weights of another point at the columns of these passes; 0 where it has none."""
    if start is None:
        return None
    weights = dict(zip(_columns(start.slots), start.weights.tolist(), strict=True))
    return np.array([weights.get(column, 0.0) for column in _columns(passes.slots)])


def _columns(slots: NDArray[np.uint32]) -> list[tuple[int, int]]:
    """The slot and the place of the class of every column; of one margin there is one place."""
    classes = len(slots) // max(len(np.unique(slots)), 1)
    places = np.arange(len(slots)) % max(classes, 1)
    return list(zip(slots.tolist(), places.tolist(), strict=True))


def _check_gap(gap: float) -> None:
    if not is_within(gap, 0, None):
        raise SpecError(f"gap must be a number above 0, found {gap!r}")


def _entry(archive: ZipFile, name: str) -> Any:
    """A field out of a ``.npz`` file; ValueError if it is not what a point has."""
    with archive.open(f"{name}.npy") as file:
        entry = np.lib.format.read_array(file, allow_pickle=False)
    if (entry.ndim, entry.dtype.name) != SAVED.get(name, (0, "float64")):
        raise ValueError(f"{name} is of type {entry.dtype}, dimensions {entry.ndim}")
    return entry if entry.ndim else entry.item()
