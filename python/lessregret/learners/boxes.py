"""A box with an interval for every coordinate."""

from __future__ import annotations

from math import isinf
from typing import TYPE_CHECKING

from lessregret.errors import SpecError
from lessregret.learners.rules import Rule

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


def box_ends(
    box: tuple[ArrayLike, ArrayLike], rule: Rule, intercept: bool
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The ends of all intervals; the intercept's, which is the last slot, is the rule's own."""
    import numpy as np

    if isinf(rule.width):
        raise SpecError(f"rule {rule.name!r} has no feasible set, so it cannot be given a box")
    low, high = (np.array(end, dtype=np.float32) for end in box)
    if low.ndim != 1 or low.shape != high.shape:
        raise SpecError(f"box must be two lists of equal length, found {low.shape}, {high.shape}")
    if intercept:
        low, high = np.append(low, rule.low), np.append(high, rule.high)
    return low.astype(np.float32), high.astype(np.float32)
