"""Slices: the scores of all rounds with the same value of a column.

Slices add up to the whole: each round is in one slice of every column. A column has at most 10,000
slices; the rounds with further values are told together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from lessregret.training.scores import MetricSums, Scores

MISSING = "(missing)"
"""the value of rounds whose cell is missing, or whose line does not have the namespace"""
OTHERS = "(others)"
LEAST_COUNT = 50
"""examples of a slice that may be called a bad one; with fewer its loss says little"""


class Slice(NamedTuple):
    """The rounds with one value."""

    value: str
    scores: Scores

    @property
    def relative_loss(self) -> float:
        """The mean loss over that of the best constant for this slice; 1 if there is none."""
        mean, constant = self.scores.mean_loss, self.scores.constant_loss
        return mean / constant if mean is not None and constant else 1.0


class Slicing(NamedTuple):
    """The slices of a column, the largest first."""

    column: str
    slices: tuple[Slice, ...]

    def largest(self, count: int) -> tuple[Slice, ...]:
        """The slices with the largest importance."""
        return self.slices[:count]

    def worst(self, count: int) -> tuple[Slice, ...]:
        """The slices in which the features help least: those of the largest relative loss.

        Slices of fewer than 50 examples do not count: their loss says little.
        """
        known = [s for s in self.slices if s.scores.sums.examples >= LEAST_COUNT]
        return tuple(sorted(known, key=lambda it: -it.relative_loss)[:count])

    def as_dict(self) -> list[dict[str, Any]]:
        """All slices, for JSON."""
        return [{"value": s.value, **s.scores.as_dict()} for s in self.slices]


def slicing_of(
    loss: str,
    column: str,
    found: Sequence[tuple[bytes, tuple[Any, ...]]],
    others: tuple[Any, ...],
) -> Slicing:
    """The slices of a column, from their sums.

    >>> [(s.value, s.scores.sums.examples) for s in slicing_of(
    ...     "hinge", "country", [(b"nl", (1, 1.0)), (b"", (3, 3.0))], (2, 2.0)).slices]
    [('(missing)', 3), ('nl', 1), ('(others)', 2)]
    """
    named = [(value.decode("utf-8", "replace") or MISSING, MetricSums(*s)) for value, s in found]
    named.sort(key=lambda it: (-it[1].importance, it[0]))
    if MetricSums(*others).examples:
        named.append((OTHERS, MetricSums(*others)))
    return Slicing(column, tuple(Slice(value, Scores(loss, sums)) for value, sums in named))
