"""The axes of a chart: where a value stands, and which values have a tick."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

MOST_TICKS = 6
WIDE = 25
"""a range of losses is drawn on a logarithmic axis from this ratio on"""


@dataclass(frozen=True)
class Axis:
    """From ``low`` to ``high``, evenly or by powers of ten.

    >>> rounds = Axis("examples", 1, 1000, logarithmic=True)
    >>> round(rounds.place(10), 3), rounds.ticks()
    (0.333, [1.0, 10.0, 100.0, 1000.0])
    >>> Axis("loss", 0.0, 0.42).ticks()
    [0.0, 0.1, 0.2, 0.3, 0.4]
    """

    name: str
    low: float
    high: float
    logarithmic: bool = False
    counts: bool = False
    """whether its values are whole numbers"""

    def place(self, value: float) -> float:
        """Where a value stands, 0 at the low end and 1 at the high one."""
        low, high = (log10(self.low), log10(self.high)) if self.logarithmic else self._ends
        at = log10(value) if self.logarithmic else value
        return (at - low) / (high - low) if high > low else 0.5

    @property
    def _ends(self) -> tuple[float, float]:
        return self.low, self.high

    def ticks(self) -> list[float]:
        """Round values on the axis, six at most."""
        if not self.logarithmic:
            return _even_ticks(self.low, self.high, self.counts)
        powers = _log_ticks(self.low, self.high)
        return powers if len(powers) > 1 else _even_ticks(self.low, self.high, self.counts)

    def label(self, value: float) -> str:
        """A tick in few letters."""
        return short_count(value) if self.counts else f"{value:.6g}"

    def told(self, value: float) -> str:
        """A value in full, for a reader who asks for it."""
        return f"{value:,.0f} {self.name}" if self.counts else f"{self.name} {value:.4g}"


def losses_axis(name: str, losses: Sequence[float], *, room: float = 1.05) -> Axis:
    """From 0 on; logarithmic where the least would be hardly above 0 beside the largest."""
    kept = [loss for loss in losses if loss > 0] or [1.0]
    least, most = min(kept), max(kept)
    if most > WIDE * least and len(kept) == len(losses):
        return Axis(name, least / 1.2, most * 1.2, logarithmic=True)
    return Axis(name, 0.0, room * most)


def rounds_axis(first: int, last: int, *, logarithmic: bool) -> Axis:
    """Numbers of examples; even from 0 on, unless logarithmic."""
    wide = logarithmic and last >= 10 * first
    return Axis("examples", first if wide else 0, last, wide, counts=True)


def short_count(count: float) -> str:
    """A count in few letters.

    >>> [short_count(n) for n in (5, 2500, 100_000, 1_500_000, 2_000_000_000)]
    ['5', '2.5k', '100k', '1.5M', '2G']
    """
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= unit:
            return f"{count / unit:g}{letter}"
    return f"{count:g}"


def _even_ticks(low: float, high: float, whole: bool) -> list[float]:
    rough = (high - low) / (MOST_TICKS - 1)
    if rough <= 0:
        return [low]
    unit = 10.0 ** floor(log10(rough))
    step = next(m * unit for m in (1, 2, 5, 10) if m * unit >= rough * (1 - 1e-9))
    step = max(step, 1.0) if whole else step
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [float(f"{k * step:.10g}") for k in range(first, last + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten, every second or third of many; of few also 3, or 2 and 5 times as much."""
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    every = ceil(log10(high / low) / (MOST_TICKS - 1)) or 1
    multiples = (1, 2, 5) if high < 50 * low else (1, 3) if high < 1000 * low else (1,)
    found = [float(f"{m}e{k}") for k in powers if k % every == 0 for m in multiples]
    return [tick for tick in found if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
