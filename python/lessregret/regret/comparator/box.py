"""The feasible set of a comparator: what a user gives, as the two ends of each column."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from lessregret.errors import SpecError
from lessregret.regret.comparator.floats import Floats
from lessregret.regret.comparator.passes import Passes

Box: TypeAlias = float | tuple[ArrayLike, ArrayLike]

EXPECTED = "a number above 0 or a pair (low, high) of numbers or arrays"


def box_ends(passes: Passes, box: Box) -> tuple[Floats, Floats]:
    """The two ends of each column's interval."""
    low, high = (_at_slots(end, passes) for end in _pair(box))
    if not (low < high).all():
        worst = int(np.argmin(low < high))
        raise SpecError(
            f"a box needs low < high in every coordinate, "
            f"found [{low[worst]:g}, {high[worst]:g}] for slot {passes.slots[worst]}"
        )
    return low, high


def _pair(box: Any) -> tuple[Floats, Floats]:
    """The two ends as arrays, those of [-box, box] if it is a number."""
    try:
        low, high = (-float(box), float(box)) if np.ndim(box) == 0 else box
        ends = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    except (TypeError, ValueError):
        raise SpecError(f"box must be {EXPECTED}, found {box!r}") from None
    if (np.ndim(box) == 0 and not ends[1] > 0) or max(end.ndim for end in ends) > 1:
        raise SpecError(f"box must be {EXPECTED}, found {box!r}")
    return ends


def _at_slots(ends: Floats, passes: Passes) -> Floats:
    if ends.ndim == 0:
        return np.full(len(passes.slots), float(ends))
    last = int(passes.slots.max(initial=0))
    if len(ends) <= last:
        raise SpecError(
            f"a box of arrays needs an entry for each slot; "
            f"found {len(ends)} entries, but slot {last} occurs"
        )
    return ends[passes.slots]
