"""The scale of a feature: the learner sees values divided by the largest one met.

    m_i = max |x_i| so far, this example's included      "full"
          max(1, the same)                               "cap"

Rule and margin see x_i/m_i, so a slot holds ŵ_i = w_i m_i in the rule's own box, which is the box
of radius R/m_i for w_i. When m_i grows the slot stays as it is: that *is* the rescaling of w_i by
m_old/m_new (Ross, Mineiro & Langford 2013). Regret and bounds are those of the game on the
normalised examples.

The twin of ``crates/core/src/scale.rs``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lessregret.errors import SpecError

SCALES = ("none", "cap", "full")
EXPECTED = " or ".join(map(repr, SCALES))


def check_scale(scale: Any) -> None:
    """Raise a :class:`SpecError` unless this is a scale."""
    if scale not in SCALES:
        raise SpecError(f"scale must be {EXPECTED}, found {scale!r}")


class Scales:
    """The scales of all features.

    >>> scales = Scales("cap")
    >>> scales.remember([0, 1], [-4.0, 0.5])
    >>> scales.normalised([0, 1], [2.0, 0.5])
    [0.5, 0.5]
    """

    def __init__(self, kind: str) -> None:
        check_scale(kind)
        self.kind = kind
        self.largest: dict[int, float] = {}

    def of(self, slot: int) -> float:
        """m of a slot; of a feature never met 1, which has no unit yet."""
        return self.largest.get(slot, 1.0)

    def normalised(self, slots: Sequence[int], values: Sequence[float]) -> list[float]:
        """The values as rule and margin see them. Nothing is remembered."""
        return [x and x / self._with(i, x) for i, x in zip(slots, values, strict=True)]

    def remember(self, slots: Sequence[int], values: Sequence[float]) -> None:
        """Take the values into account from now on."""
        if self.kind != "none":
            self.largest.update({i: self._with(i, x) for i, x in zip(slots, values, strict=True)})

    def _with(self, slot: int, value: float) -> float:
        """m of a slot, this value included."""
        if self.kind == "none":
            return 1.0
        return max(self.largest.get(slot, 1.0 if self.kind == "cap" else 0.0), abs(value))
