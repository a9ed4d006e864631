"""The limits of a rule's parameters, as data beside the parameter, checked in one place."""

from __future__ import annotations

from dataclasses import Field, field, fields
from math import isfinite
from numbers import Real
from typing import Any

from lessregret.errors import SpecError


def limited(default: Any, *, above: float | None = None, words: tuple[str, ...] = ()) -> Any:
    """A dataclass field: a finite number above a limit, or one of some words."""
    return field(default=default, metadata={"above": above, "words": words})


def check_limits(rule: Any) -> None:
    """Raise a :class:`SpecError` for the first parameter out of its limits."""
    for parameter in fields(rule):
        if "above" in parameter.metadata:
            check_parameter(type(rule).__name__, parameter, getattr(rule, parameter.name))


def check_parameter(rule: str, parameter: Field[Any], value: Any) -> None:
    above, words = parameter.metadata["above"], parameter.metadata["words"]
    if isinstance(value, str) and value in words:
        return
    is_number = isinstance(value, Real) and not isinstance(value, bool) and isfinite(value)
    if is_number and (above is None or value > above):
        return
    expected = " or ".join([f"a number above {above:g}", *(repr(word) for word in words)])
    raise SpecError(f"{rule}: {parameter.name} must be {expected}, found {value!r}")


def check_box(box: Any) -> None:
    """Raise a :class:`SpecError` unless the box is None or a pair of numbers, low < high."""
    if box is None:
        return
    try:
        low, high = (float(end) for end in box)
    except (TypeError, ValueError):
        raise SpecError(f"box must be a pair of numbers (low, high), found {box!r}") from None
    if not (isfinite(low) and isfinite(high) and low < high):
        raise SpecError(f"a box needs finite ends with low < high, found [{low:g}, {high:g}]")
