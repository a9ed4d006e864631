"""The feature space: what examples and learners must agree about.

It says how feature names become slots, what the labels are, whether there is an intercept and how
values are scaled. Every learner has a feature space and stores it in its model file. A source of
examples has the space that it was read for. If the two spaces differ, the learner raises a
:class:`~lessregret.errors.SpecError` that names the difference.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Protocol

from lessregret._core import MAX_BITS, MAX_COLUMNS
from lessregret.errors import SpecError
from lessregret.learners.namespaces import Namespaces
from lessregret.learners.scale import check_scale
from lessregret.learners.schema import Schema

LABELS = ("binary", "classes", "real", "count", "any")


@dataclass(frozen=True, kw_only=True)
class FeatureSpace:
    """How features are mapped to slots, and how labels and values are to be read.

    Parameters
    ----------
    bits, columns : int
        The number of slots; give exactly one of the two. ``bits`` is for named features, which are
        hashed into 2^bits slots. ``columns`` is for a matrix, with one slot per column.
    labels : "binary", "classes", "real", "count" or "any", default "binary"
        What labels are: two classes, many classes, finite numbers, counts from 0 to 2^24, or
        numbers that may be missing. Examples with labels ``"any"`` can be predicted but not learned
        from.
    intercept : bool, default True
        Whether every example has an intercept: a feature of value 1, in an extra slot.
    scale : "none", "cap", "full" or "standard", default "none"
        How values are scaled; :class:`~lessregret.Learner` explains the four words. In the space
        of a learner it says how the learner scales values. In the space of a source of examples it
        says how the values were scaled when they were read.
    schema : Schema, optional
        What the columns of a table are, for examples that are rows of tables.
    namespaces : Namespaces, optional
        Which namespaces of Vowpal Wabbit text are read and which are crossed. Without it all are
        read and none is crossed.

    >>> FeatureSpace(bits=18).slots
    262145
    """

    bits: int | None = None
    columns: int | None = None
    labels: str = "binary"
    intercept: bool = True
    scale: str = "none"
    schema: Schema | None = None
    namespaces: Namespaces | None = None

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
        """The number of slots as it is written in a spec: {"bits": …} or {"columns": …}."""
        if self.bits is not None:
            return {"bits": int(self.bits)}
        assert self.columns is not None
        return {"columns": int(self.columns)}

    @property
    def slots(self) -> int:
        """The number of slots, including the slot of the intercept."""
        features = self.columns if self.bits is None else 1 << self.bits
        assert features is not None
        return features + bool(self.intercept)

    def unlabelled(self) -> FeatureSpace:
        """This space for examples that may have no label and are only predicted."""
        return replace(self, labels="any")

    def to_json(self) -> str:
        """The space as JSON text, as the Rust core reads it."""
        document = {
            "table": self.table,
            "labels": self.labels,
            "intercept": bool(self.intercept),
            "scale": self.scale,
            "schema": self.schema and self.schema.as_dict(),
            "namespaces": self.namespaces and self.namespaces.as_dict(),
        }
        return json.dumps(document)

    @classmethod
    def from_json(cls, text: str) -> FeatureSpace:
        """The space from JSON text that the Rust core wrote."""
        document: dict[str, Any] = json.loads(text)
        schema = document.pop("schema")
        schema = schema and Schema.from_dict(schema)
        namespaces = document.pop("namespaces")
        namespaces = namespaces and Namespaces(**namespaces)
        return cls(**document.pop("table"), schema=schema, namespaces=namespaces, **document)


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
