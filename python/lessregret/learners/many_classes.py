"""The classes of a learner that may have more than two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from lessregret.errors import SpecError


def many_classes(
    classes: Literal["auto"] | int | Sequence[int] | None, names: Sequence[str] = ()
) -> dict[str, Any] | None:
    """The classes as they are written in a spec; None for two classes and for numbers.

    >>> many_classes(3), many_classes("auto")
    ({'known': [1, 2, 3], 'auto': False}, {'known': [], 'auto': True})
    """
    if classes is None:
        return {"known": list(range(len(names))), "auto": False} if names else None
    if isinstance(classes, str):
        if classes != "auto":
            raise SpecError(f"classes must be 'auto', a number or a list, found {classes!r}")
        return {"known": list(range(len(names))), "auto": True}
    known = range(1, classes + 1) if isinstance(classes, int) else classes
    return {"known": [int(code) for code in known], "auto": False}
