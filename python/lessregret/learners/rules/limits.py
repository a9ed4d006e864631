"""The limits of a rule's parameters, as data beside the parameter, checked in one place."""

from __future__ import annotations

from dataclasses import Field, field, fields
from math import isfinite
from numbers import Real
from typing import Any

from lessregret.errors import SpecError


def limited(
    default: Any,
    *,
    above: float | None = None,
    least: float | None = None,
    words: tuple[str, ...] = (),
) -> Any:
    """A dataclass field: a finite number above or from a limit, or one of some words."""
    return field(default=default, metadata={"above": above, "least": least, "words": words})


def check_limits(rule: Any) -> None:
    """Raise a :class:`SpecError` for the first parameter out of its limits."""
    for parameter in fields(rule):
        if "words" in parameter.metadata:
            check_parameter(type(rule).__name__, parameter, getattr(rule, parameter.name))


def check_parameter(rule: str, parameter: Field[Any], value: Any) -> None:
    """Raise a :class:`SpecError` unless the value is within the parameter's limits."""
    above, least, words = (parameter.metadata[key] for key in ("above", "least", "words"))
    if value in words if isinstance(value, str) else is_within(value, above, least):
        return
    numbers = [f"a number above {above:g}"] if above is not None else []
    numbers += [f"a number from {least:g} up"] if least is not None else []
    expected = " or ".join([*numbers, *(repr(word) for word in words)])
    raise SpecError(f"{rule}: {parameter.name} must be {expected}, found {value!r}")


def is_within(value: Any, above: float | None, least: float | None) -> bool:
    """Whether the value is a finite number within the limits; never if there are none."""
    if not isinstance(value, Real) or isinstance(value, bool) or not isfinite(value):
        return False
    number = float(value)
    return (above is not None and number > above) or (least is not None and number >= least)


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
