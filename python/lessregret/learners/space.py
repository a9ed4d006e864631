"""The feature space: what examples and learners must agree about.

It says how names become slots, what the labels are, whether there is an intercept and what values
are divided by. A learner owns one, and its model file keeps it. A source of examples carries the
space that it was read for; a learner compares the two once and refuses another space with a
:class:`~lessregret.errors.SpecError` that names the difference.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Protocol

from lessregret._core import MAX_BITS as MAX_BITS
from lessregret._core import MAX_COLUMNS
from lessregret.errors import SpecError
from lessregret.learners.scale import check_scale

LABELS = ("binary", "real", "any")


@dataclass(frozen=True, kw_only=True)
class FeatureSpace:
    """How features find their slots, and what stands beside them.

    Parameters
    ----------
    bits, columns : int, one of them
        The size of the table: 2^bits slots for hashed features, or one slot a column.
    labels : "binary", "real" or "any", default "binary"
        What labels are: two classes, any finite number, or numbers that may be missing. Examples
        with labels of the last kind can be predicted, not learned from.
    intercept : bool, default True
        Whether every example has one more feature, of value 1, in a slot of its own.
    scale : "none", "cap" or "full", default "none"
        What values are divided by. In a learner's space the learner does it; in the space of
        examples it was done when they were read.

    >>> FeatureSpace(bits=18).slots
    262145
    """

    bits: int | None = None
    columns: int | None = None
    labels: str = "binary"
    intercept: bool = True
    scale: str = "none"

    def __post_init__(self) -> None:
        if (self.bits is None) == (self.columns is None):
            raise SpecError("a feature space needs either bits or columns")
        _check_whole("bits", self.bits, 1, MAX_BITS)
        _check_whole("columns", self.columns, 0, MAX_COLUMNS)
        if self.labels not in LABELS:
            expected = " or ".join(map(repr, LABELS))
            raise SpecError(f"labels must be {expected}, found {self.labels!r}")
        check_scale(self.scale)

    @property
    def table(self) -> dict[str, int]:
        """The size of the table, as a spec says it."""
        if self.bits is not None:
            return {"bits": int(self.bits)}
        assert self.columns is not None
        return {"columns": int(self.columns)}

    @property
    def slots(self) -> int:
        """The number of slots, that of the intercept included."""
        features = self.columns if self.bits is None else 1 << self.bits
        assert features is not None
        return features + bool(self.intercept)

    def unlabelled(self) -> FeatureSpace:
        """The space of examples that are only to be predicted."""
        return replace(self, labels="any")

    def to_json(self) -> str:
        """The space as the core reads it."""
        document = {
            "table": self.table,
            "labels": self.labels,
            "intercept": bool(self.intercept),
            "scale": self.scale,
        }
        return json.dumps(document)

    @classmethod
    def from_json(cls, text: str) -> FeatureSpace:
        """The space that the core wrote."""
        document: dict[str, Any] = json.loads(text)
        return cls(**document.pop("table"), **document)


class HasSpace(Protocol):
    """Whatever has a feature space: a learner, or a source of examples."""

    @property
    def space(self) -> FeatureSpace:
        """The feature space."""
        ...


def space_of(owner: FeatureSpace | HasSpace) -> FeatureSpace:
    """The space itself, or that of a learner or a source of examples."""
    return owner if isinstance(owner, FeatureSpace) else owner.space


def _check_whole(name: str, value: Any, least: int, most: int) -> None:
    if value is None or (isinstance(value, Integral) and least <= int(value) <= most):
        return
    raise SpecError(f"{name} must be a whole number from {least} to {most}, found {value!r}")
