"""The standard scale: columns are centred and divided by their spread, others by their size.

    n, μ, M2, σ² = M2/n, rms² = μ² + σ²    of all values of the feature so far, this one included,
                                           explicit zeros too
    t                                      the number of examples so far, this one included

    in every example so far, n = t              x̂ = clip((x − μ)/σ, ±3), and 0 if σ = 0
    else if rms > 1, |μ| > 3σ > 0, n ≥ t/4      x̂ = clip((sign μ + (x − μ)/σ)/√2, ±3)
    else                                        x̂ = clip(x/max(1, rms), ±3)
    the intercept      √(1 + d), d the features of this example with n = t; 1 in the first example

σ = 0 means σ² ≤ 1e-13 μ², and a scaled value below 2^-20 is 0. The statistics take in the value
before it is scaled by them, and a label is never looked at. A value so far away that it would make
σ more than ten times as large counts in them as one that makes it ten times as large. Features
whose scaled value is 0 are left out of the round.

There is no table of statistics until a value other than 1 comes. Before that only the features that
were in every example so far are known, exactly: n = t, μ = 1, M2 = 0, so they are silent. All other
features count their values from the first example with a table on, and those of that example one
value of 1 more, so that a wild value is seen as one.

The twin of ``crates/core/src/example/scale/standard.rs``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import copysign, sqrt
from typing import NamedTuple

from lessregret.learners.scale import Seen, clip_to_unit

CLIP = 3.0
"""The largest scaled value."""
NOTHING = 2.0**-20
"""A scaled value below this is 0: x − μ where x = μ, but for rounding."""
GROWTH = 99.0
"""With distances of at most √(99 M2) the variance grows at most a hundredfold in a round."""
EQUAL = 1e-13
"""σ²/μ² up to which the values of a feature count as equal."""
OFFSET = 3.0
"""|μ|/σ from which the offset of a column with missing cells is cut."""
PRESENT = 0.25
"""n/t from which a feature counts as a column with missing cells."""


class Moments(NamedTuple):
    """The statistics of the values of a feature: n, μ and M2 (Welford 1962)."""

    number: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def plus(self, value: float) -> Moments:
        """The statistics with one more value.

        >>> Moments().plus(5.0).plus(7.0)
        Moments(number=2, mean=6.0, squares=2.0)
        """
        number, distance = self.number + 1, self._counted(value - self.mean)
        mean = self.mean + distance / number
        return Moments(number, mean, self.squares + distance * (self.mean + distance - mean))

    def _counted(self, distance: float) -> float:
        """The distance from the mean that counts: at most one that makes the spread tenfold."""
        of_size = self.number * self.mean**2
        limit = GROWTH * (self.squares if self.squares > EQUAL * of_size else of_size)
        return copysign(sqrt(limit), distance) if distance**2 > limit > 0 else distance


class Line(NamedTuple):
    """How the values of a feature are scaled: x̂ = clip(slope · (x − centre) + offset, ±3)."""

    centre: float
    slope: float
    offset: float = 0.0
    stays: bool = False
    """whether values are seen as they are, since their size is not above 1"""

    @classmethod
    def of(cls, moments: Moments, examples: int, least: float = 1.0) -> Line:
        """The line for a feature with these statistics, after so many examples.

        No values are divided by less than ``least``, except those of columns.
        """
        number, mean, squares = moments
        variance = squares / number
        varies = variance > EQUAL * mean**2
        if number == examples:
            return cls(mean, 1 / sqrt(variance) if varies else 0.0)
        size = mean**2 + variance
        far = size > 1 and varies and mean**2 > OFFSET**2 * variance
        if far and number >= PRESENT * examples:
            return cls(mean, sqrt(0.5 / variance), copysign(sqrt(0.5), mean))
        return cls.by_size(size, least)

    @classmethod
    def by_size(cls, size: float, least: float) -> Line:
        """The line for a feature whose mean square is this."""
        divisor = max(least, sqrt(size))
        return cls(0.0, 1 / divisor if divisor else 1.0, stays=divisor == least)

    def scaled(self, value: float) -> float:
        """The scaled value."""
        scaled = min(CLIP, max(-CLIP, self.slope * (value - self.centre) + self.offset))
        return 0.0 if abs(scaled) < NOTHING and not self.stays else scaled


class StandardScales:
    """The statistics of all features.

    >>> scales = StandardScales(intercept=9)
    >>> scales.played([4, 9], [5.0, 1.0])
    ([9], [1.0])
    >>> scales.played([4, 9], [7.0, 1.0])
    ([4, 9], [1.0, 1.4142135623730951])
    >>> scales.seen([4, 9], [8.0, 1.0])
    ([4, 9], [2.0, 1.4142135623730951])
    """

    def __init__(self, intercept: int | None = None, *, unit: bool = False) -> None:
        self.intercept = intercept
        self.unit = unit
        """Whether the rule ``coin`` plays: values below 1 are divided too, and clipped to ±1."""
        self.examples = 0
        self.moments: dict[int, Moments] = {}
        """Without a table: only the features that were in every example so far."""
        self.has_table = False

    def of(self, slot: int) -> float:
        """The number by which the values of a slot are divided; 1 of a feature never met."""
        slope = self._line(slot, 1.0).slope
        return 1 / slope if slope else 1.0

    def unscaled(self, slot: int, weight: Callable[[int], float]) -> float:
        """The weight per unit of the raw value.

        The intercept takes the constants of all centred features, as if an example had all of them.
        """
        if slot != self.intercept:
            return weight(slot) * self._line(slot, 1.0).slope
        always = list(filter(self._is_always, self.moments))
        lines = {i: self._line(i, 1.0) for i in always}
        constants = sum(weight(i) * line.slope * line.centre for i, line in lines.items())
        level = 1.0 if self.unit else sqrt(1 + len(always))
        return weight(slot) * level - constants

    def seen(self, slots: Sequence[int], values: Sequence[float]) -> Seen:
        """The example that a prediction sees. A feature never met is scaled by its own value."""
        columns = sum(map(self._is_always, slots))
        return self._scaled(slots, values, level=sqrt(1 + columns))

    def played(self, slots: Sequence[int], values: Sequence[float]) -> Seen:
        """The example that a round plays, by statistics that it has been added to."""
        row = {i: x for i, x in zip(slots, values, strict=True) if i != self.intercept}
        had_table = self.has_table
        self.has_table |= any(x != 1 for x in row.values())
        known = self.has_table or not self.examples
        met = row if known else row.keys() & self.moments.keys()
        # From the third example on a feature that is new to the table may have been met.
        begins = self.has_table and not had_table and self.examples > 1
        new = Moments(1, 1.0) if begins else Moments()
        updated = {i: self.moments.get(i, new).plus(row[i]) for i in met}
        self.moments = {**self.moments, **updated} if self.has_table else updated
        self.examples += 1
        columns = sum(map(self._is_always, slots)) if self.examples > 1 else 0
        return self._scaled(slots, values, level=sqrt(1 + columns))

    def _scaled(self, slots: Sequence[int], values: Sequence[float], level: float) -> Seen:
        scaled = {
            i: level if i == self.intercept else self._line(i, x).scaled(x)
            for i, x in zip(slots, values, strict=True)
        }
        kept = {i: x for i, x in scaled.items() if x != 0}
        seen = list(map(clip_to_unit, kept.values())) if self.unit else list(kept.values())
        return list(kept), seen

    def _is_always(self, slot: int) -> bool:
        """Whether the feature was in every example so far."""
        return slot in self.moments and self.moments[slot].number == self.examples

    def _line(self, slot: int, value: float) -> Line:
        least = 0.0 if self.unit else 1.0
        if slot in self.moments:
            return Line.of(self.moments[slot], self.examples, least)
        return Line.by_size(value**2, least)
