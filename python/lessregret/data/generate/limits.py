"""The ranges of parameters, checked in one place."""

from __future__ import annotations

from numbers import Integral, Real
from typing import NamedTuple

from lessregret.errors import SpecError


class Limits(NamedTuple):
    """The closed range of a parameter, and whether it counts something."""

    low: float
    high: float
    whole: bool = True


NUMBER = Limits(0, 2**63 - 1)


def require(name: str, value: object, limits: Limits) -> None:
    """Raise a `SpecError` unless the value is a number within the limits."""
    kind = Integral if limits.whole else Real
    right_kind = isinstance(value, kind) and not isinstance(value, bool)
    if right_kind and limits.low <= value <= limits.high:  # type: ignore[operator]
        return
    noun = "a whole number" if limits.whole else "a number"
    raise SpecError(f"{name} must be {noun} from {limits.low} to {limits.high}; got {value!r}")


def require_range(name: str, value: object, low: int, high: int) -> None:
    """Raise a `SpecError` unless the value is two whole numbers, low ≤ first ≤ last ≤ high."""
    if isinstance(value, tuple) and len(value) == 2 and all(map(_is_whole, value)):
        first, last = value
        if low <= first <= last <= high:
            return
    raise SpecError(
        f"{name} must be two whole numbers, the least and the most, from {low} to {high}; "
        f"got {value!r}"
    )


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
