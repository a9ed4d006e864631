"""The scale of a feature: how the value that rule and margin see is made from the value read.

"none" leaves values as they are. "cap" and "full", here, divide them by the largest one met.
"standard", in ``standard.py``, centres them and divides them by their spread.

    m_i = max |x_i| so far, this example's included      "full"
          max(1, the same), at most twice the last       "cap"

A cap grows at most twofold a round, so that one wild value does not end the use of its feature:
what is larger than m_i counts as m_i meanwhile. A full scale has no such limit: before the first
value it has no size that could double.

Rule and margin see x_i/m_i, so a slot holds ŵ_i = w_i m_i in the rule's own box, which is the box
of radius R/m_i for w_i. When m_i grows the slot stays as it is: that *is* the rescaling of w_i by
m_old/m_new (Ross, Mineiro & Langford 2013). Regret and bounds are those of the game on the
normalised examples.

The twin of ``crates/core/src/example/scale/largest.rs``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from lessregret.errors import SpecError

SCALES = ("none", "cap", "full", "standard")
CAP_GROWTH = 2.0
"""How much larger than before a cap can become in a round."""
EXPECTED = " or ".join(map(repr, SCALES))


def check_scale(scale: Any) -> None:
    """Raise a :class:`SpecError` unless this is a scale."""
    if scale not in SCALES:
        raise SpecError(f"scale must be {EXPECTED}, found {scale!r}")


Seen = tuple[Sequence[int], Sequence[float]]
"""The slots of an example and their scaled values."""


def clip_to_unit(value: float) -> float:
    """The number from −1 to 1 that is nearest."""
    return min(1.0, max(-1.0, value))


class AnyScales(Protocol):
    """The scales of all features, of any kind."""

    def seen(self, slots: Sequence[int], values: Sequence[float]) -> Seen:
        """The example that a prediction sees. Nothing is remembered."""
        ...

    def played(self, slots: Sequence[int], values: Sequence[float]) -> Seen:
        """The example that a round plays. Its values are remembered."""
        ...

    def of(self, slot: int) -> float:
        """The number by which the values of a slot are divided."""
        ...

    def unscaled(self, slot: int, weight: Callable[[int], float]) -> float:
        """The weight per unit of the raw value, from the weights of the scaled values."""
        ...


class Scales:
    """The scales of all features, by the largest value met.

    >>> scales = Scales("cap")
    >>> scales.normalised([0, 1], [-4.0, 0.5])
    [-1.0, 0.5]
    >>> scales.remember([0, 1], [-4.0, 0.5])
    >>> scales.of(0), scales.normalised([0, 1], [1.0, 0.5])
    (2.0, [0.5, 0.5])
    """

    def __init__(self, kind: str, *, unit: bool = False) -> None:
        check_scale(kind)
        self.kind = kind
        self.unit = unit
        """Whether values are clipped to ±1, as the rule ``coin`` wants them."""
        self.largest: dict[int, float] = {}

    def of(self, slot: int) -> float:
        """m of a slot; of a feature never met 1, which has no unit yet."""
        return self.largest.get(slot, 1.0)

    def unscaled(self, slot: int, weight: Callable[[int], float]) -> float:
        """The weight per unit of the raw value."""
        return weight(slot) / self.of(slot)

    def seen(self, slots: Sequence[int], values: Sequence[float]) -> Seen:
        """The example that a prediction sees. Nothing is remembered."""
        seen = self.normalised(slots, values)
        return slots, list(map(clip_to_unit, seen)) if self.unit else seen

    def played(self, slots: Sequence[int], values: Sequence[float]) -> Seen:
        """The example that a round plays. Its values are remembered."""
        seen = self.seen(slots, values)
        self.remember(slots, values)
        return seen

    def normalised(self, slots: Sequence[int], values: Sequence[float]) -> list[float]:
        """The values as rule and margin see them. Nothing is remembered."""
        return [x and x / self._with(i, x) for i, x in zip(slots, values, strict=True)]

    def remember(self, slots: Sequence[int], values: Sequence[float]) -> None:
        """Take the values into account from now on."""
        if self.kind != "none":
            grown = {i: self._grown(i, x) for i, x in zip(slots, values, strict=True)}
            self.largest.update(grown)

    def _grown(self, slot: int, value: float) -> float:
        """m of a slot after this value."""
        whole = self._with(slot, value)
        return whole if self.kind == "full" else min(whole, CAP_GROWTH * self.of(slot))

    def _with(self, slot: int, value: float) -> float:
        """m of a slot, this value included."""
        if self.kind == "none":
            return 1.0
        return max(self.largest.get(slot, 1.0 if self.kind == "cap" else 0.0), abs(value))
