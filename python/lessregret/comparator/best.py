"""The best fixed point, and the regret against it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from lessregret.comparator.interior_point import State, search
from lessregret.comparator.objective import Objective
from lessregret.comparator.passes import Floats, InMemory, Passes
from lessregret.errors import InputError, ModelFileError, SpecError
from lessregret.examples import Examples
from lessregret.learner import Learner
from lessregret.ledger import Ledger
from lessregret.losses import loss_named

Box: TypeAlias = float | tuple[ArrayLike, ArrayLike]
Data: TypeAlias = Passes | Examples | tuple[csr_array, ArrayLike]

LONGEST = 1000
"""Steps after which a search is given up: far more than any seen, and better than a loop."""


class Regret(NamedTuple):
    """An interval that holds the regret."""

    low: float
    """against the point at hand"""
    high: float
    """against the lower bound"""


@dataclass(frozen=True)
class Best:
    """A fixed point, its loss, and how much better any other could be.

    ``loss``, ``penalty`` and ``lower`` are sums; ``mean_loss`` and ``gap`` are per example (per
    unit of importance).
    """

    slots: NDArray[np.uint32]
    """the coordinates that occur; on others every point of the box is as good"""
    weights: Floats
    loss: float
    """Σ h ℓ at the point"""
    penalty: float
    """½ Σ λ_i x_i²"""
    lower: float
    """no point of the box has a smaller loss + penalty"""
    importance: float
    passes: int
    """how often the examples were gone over"""

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
        """The regret of a run over the same examples, as an interval."""
        return Regret(ledger.total - self.total, ledger.total - self.lower)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a ``.npz`` file, to go on from later; the file is replaced as a whole."""
        beside = f"{os.fspath(path)}.part"
        with open(beside, "wb") as file:
            np.savez(file, **{each.name: getattr(self, each.name) for each in fields(self)})
        os.replace(beside, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Best:
        """What :meth:`save` wrote."""
        try:
            with np.load(path) as file:
                return cls(**{each.name: _plain(file[each.name]) for each in fields(cls)})
        except (OSError, KeyError, ValueError) as error:
            reason = f"not a best fixed point that was saved: {error}"
            raise ModelFileError(os.fspath(path), reason) from error


def best_fixed(
    data: Data,
    loss: str = "logistic",
    box: Box = 100.0,
    l2: float = 0.0,
    *,
    gap: float = 1e-4,
    l2_scope: str = "active",
    start: Best | None = None,
    tell: Callable[[Best], None] = lambda best: None,
) -> Best:
    """The best fixed point of the box for all examples together, to within ``gap`` per example.

    Parameters
    ----------
    data : Examples, Passes or (X, y)
        Examples in memory, :class:`OverFiles` for files larger than memory, or a sparse matrix
        and its labels, to which an intercept is *not* added.
    loss : "logistic", "hinge" or "squared"
    box : number above 0, or (low, high)
        The feasible set [-box, box] or [low, high] in every coordinate; ``low`` and ``high`` may
        be arrays with an entry for each slot. Infinite only with ``l2`` above 0.
    l2 : number from 0 up, default 0
        λ of the regulariser (λ/2) Σ x_i² over the coordinates active in each round.
    gap : number above 0, default 1e-4
        Per example. A tenth of the smallest regret in the paper's Table 2 would be 1e-3.
    l2_scope : "active" or "all"
        Whether a round's regulariser acts on its active coordinates or on all.
    start : Best, optional
        Go on from this point, for instance that of an interrupted search.
    tell : called after every step with the best so far, to show progress.

    >>> best = best_fixed((csr_array([[1.0], [1.0], [1.0]]), [1, 1, -1]), "squared", box=2.0)
    >>> best.weights.round(2), bool(best.lower <= 8 / 3 <= best.total)
    (array([0.33]), True)
    """
    best = None
    for best in approach(data, loss, box, l2, gap=gap, l2_scope=l2_scope, start=start):
        tell(best)
    assert best is not None
    return best


def approach(
    data: Data,
    loss: str = "logistic",
    box: Box = 100.0,
    l2: float = 0.0,
    *,
    gap: float = 1e-4,
    l2_scope: str = "active",
    start: Best | None = None,
) -> Iterator[Best]:
    """What :func:`best_fixed` finds, step by step: each at least as good as the one before.

    Stop whenever it is good enough; what was given last is a true enclosure.
    """
    _check_positive("gap", gap)
    passes = _passes(data, loss)
    objective = _objective(passes, box, l2, l2_scope)
    kinked = loss == "hinge"
    states = search(objective, gap * passes.total, kinked=kinked, start=_start(passes, start))
    best = None
    for _, state in zip(range(LONGEST), states, strict=False):
        best = _better(passes, best, state)
        yield best
        if best.gap <= gap:
            return


def _better(passes: Passes, best: Best | None, state: State) -> Best:
    """The better point and the better bound of two."""
    view = state.view
    lower = view.lower if best is None else max(best.lower, view.lower)
    if best is not None and best.total <= view.total:
        return replace(best, lower=lower, passes=state.passes)
    return Best(
        slots=passes.slots,
        weights=state.point,
        loss=view.look.loss,
        penalty=view.penalty,
        lower=lower,
        importance=passes.total,
        passes=state.passes,
    )


def _passes(data: Data, loss: str) -> Passes:
    loss_named(loss)
    if isinstance(data, Passes):
        passes = data
    elif isinstance(data, Examples):
        passes = InMemory(data, loss)
    else:
        X, y = csr_array(data[0]), data[1]
        learner = Learner(loss, columns=X.shape[1], intercept=False)
        passes = InMemory(Examples.from_csr(X, y, like=learner), loss)
    if passes.total == 0:
        raise InputError("the examples", 0, 0, "none of any importance", "at least one")
    return passes


def _objective(passes: Passes, box: Box, l2: float, l2_scope: str) -> Objective:
    if l2 < 0 or not np.isfinite(l2):
        raise SpecError(f"l2 must be a number from 0 up; got {l2!r}")
    if l2_scope not in ("active", "all"):
        raise SpecError(f"l2_scope must be 'active' or 'all'; got {l2_scope!r}")
    low, high = _ends(passes, box)
    everywhere = np.full(len(passes.slots), passes.total)
    active = passes.importances if l2_scope == "active" else everywhere
    return Objective(passes, low, high, l2 * active)


def _ends(passes: Passes, box: Box) -> tuple[Floats, Floats]:
    """The two ends of each column's interval."""
    if not isinstance(box, tuple):
        _check_positive("box", box)
        box = (-box, box)
    low, high = (_at_slots(np.asarray(end, dtype=np.float64), passes) for end in box)
    if not (low < high).all():
        raise SpecError("a box needs low < high in every coordinate")
    return low, high


def _at_slots(ends: Floats, passes: Passes) -> Floats:
    if ends.ndim == 0:
        return np.full(len(passes.slots), float(ends))
    if len(passes.slots) and len(ends) <= passes.slots.max():
        raise SpecError(f"the box has {len(ends)} entries; a slot has number {passes.slots.max()}")
    return np.asarray(ends[passes.slots], dtype=np.float64)


def _start(passes: Passes, start: Best | None) -> Floats | None:
    """The weights of another point at the columns of these passes; 0 where it has none."""
    if start is None:
        return None
    weights = dict(zip(start.slots.tolist(), start.weights.tolist(), strict=True))
    return np.array([weights.get(slot, 0.0) for slot in passes.slots.tolist()])


def _check_positive(name: str, number: float) -> None:
    if not number > 0:
        raise SpecError(f"{name} must be a number above 0; got {number!r}")


def _plain(entry: NDArray[Any]) -> Any:
    return entry if entry.ndim else entry.item()
