"""The charts of what a run certifies: over the size of the weights, and over the rounds.

Curves over sizes have their names on them: they all come down to 0, so their ends are alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lessregret.ledger import SHAPES, Ledger, Shape
from lessregret.regret.best_of_size import BestOfSize
from lessregret.report.axis import Axis, rounds_axis
from lessregret.report.chart import Band, Chart, Dot, Level, Line, Point
from lessregret.training.curve import CurvePoint

SMALLEST = 0.1
"""the least size that must be certified for a picture, as a multiple of the learned size"""
FURTHEST = 1e4
"""the largest size that is drawn, as a multiple of the learned size"""
POINTS = 200
MOST_ABOVE = 2.0
"""how far above all else the loss of the best constant is drawn; higher it would flatten them"""
DOUBLINGS = 8
"""The picture over the rounds begins that many doublings before the end. What is certified in the
first rounds jumps, since a single one can turn it."""

COLOURS: dict[Shape, str] = {"box": "red", "ball": "blue", "l1": "green"}
NAMES: dict[Shape, str] = {"box": "every |w| ≤ r", "ball": "‖w‖ ≤ r", "l1": "Σ|w| ≤ r"}
HEIGHTS: dict[Shape, float] = {"box": 0.24, "ball": 0.46, "l1": 0.68}
"""where a curve has its name, as a part of its height; names at different heights never meet"""


class Lines(NamedTuple):
    """What the picture compares with what is certified."""

    lost: float
    """the mean loss of the run"""
    constant: float | None = None
    """that of the best constant prediction, if it is known"""
    best: Sequence[BestOfSize] = ()


def reach(ledger: Ledger, shape: Shape) -> float:
    """The size from which on nothing is certified; infinite if the gradient sums are all 0."""
    certificate = ledger.certificate
    assert certificate is not None
    limit = abs(certificate.intercept_weight * certificate.intercept_sum)
    dual, above = certificate.sums.dual(shape), max(0.0, certificate.offset - limit)
    return above / dual if dual > 0 else float("inf") if above > 0 else 0.0


def certified_shapes(ledger: Ledger) -> list[Shape]:
    """The shapes of which something is certified at a tenth of the learned size."""
    known = ledger.certificate
    if known is None or ledger.tally.importance <= 0:
        return []
    return [shape for shape in SHAPES if 0.0 < SMALLEST * known.size(shape) < reach(ledger, shape)]


def certified_over_sizes(ledger: Ledger, lines: Lines, unit: str, about: str) -> Chart:
    """What no fixed weights of a size lose less than, for three ways to measure the size."""
    first, last = _ends(ledger, lines)
    across = Axis("size r of fixed weights", first, last, logarithmic=True)
    curves = [_curve(ledger, shape, across) for shape in SHAPES]
    dots = [dot for shape in SHAPES for dot in _learned(ledger, shape, last)]
    dots += [Dot((best.radius, best.loss), COLOURS[best.shape], True) for best in lines.best]
    up = Axis(unit, 0.0, _top(ledger, lines))
    return Chart(across, up, about, curves, _levels(lines, up), dots=dots)


def _curve(ledger: Ledger, shape: Shape, across: Axis) -> Line:
    import numpy as np

    radii = np.geomspace(across.low, min(across.high, reach(ledger, shape)), POINTS)
    heights = ledger.certified(radii, shape)
    assert ledger.certificate is not None
    own = ledger.certified(ledger.certificate.size(shape), shape)
    height = _free_height(HEIGHTS[shape] * heights[0], own, heights[0])
    at = float(np.exp(np.interp(-height, -heights, np.log(radii))))
    points = list(zip(radii.tolist(), heights.tolist(), strict=True))
    return Line(NAMES[shape], points, COLOURS[shape], named_at=(at, height))


def _learned(ledger: Ledger, shape: Shape, last: float) -> list[Dot]:
    """The dot at the learned size, if it is drawn."""
    assert ledger.certificate is not None
    size = ledger.certificate.size(shape)
    at: Point = (size, ledger.certified(size, shape))
    return [Dot(at, COLOURS[shape])] if 0 < size <= last else []


def _levels(lines: Lines, up: Axis) -> list[Level]:
    levels = [Level("this run", lines.lost, "ink", "")]
    if lines.constant is not None and lines.constant < up.high:
        levels.append(Level("best constant prediction", lines.constant))
    return levels


def has_room_for(lines: Lines, ledger: Ledger) -> bool:
    """Whether the loss of the best constant can be drawn without making the others flat."""
    return lines.constant is not None and lines.constant <= MOST_ABOVE * _highest(ledger, lines)


def _ends(ledger: Ledger, lines: Lines) -> tuple[float, float]:
    """From where all curves are high to where all have come down, and to the learned sizes."""
    assert ledger.certificate is not None
    sizes = {shape: ledger.certificate.size(shape) for shape in SHAPES}
    fallen = {shape: min(reach(ledger, shape), FURTHEST * sizes[shape]) for shape in SHAPES}
    shown = [sizes[shape] for shape in certified_shapes(ledger)]
    known = [each.radius for each in lines.best if each.radius > 0]
    first = min(
        [*(SMALLEST * size for size in shown), *(SMALLEST * r for r in fallen.values()), *known]
    )
    return first, max([*(1.2 * r for r in fallen.values()), *(1.1 * r for r in (*shown, *known))])


def _highest(ledger: Ledger, lines: Lines) -> float:
    found = [each.loss for each in lines.best]
    return max(lines.lost, ledger.certified(0.0, "ball"), *found)


def _top(ledger: Ledger, lines: Lines) -> float:
    highest = _highest(ledger, lines)
    if lines.constant is not None and has_room_for(lines, ledger):
        highest = max(highest, lines.constant)
    return 1.14 * highest


def _free_height(height: float, dot: float, highest: float) -> float:
    """The height for a name that does not cover the dot of its curve."""
    room = 0.11 * highest
    if abs(height - dot) >= room:
        return height
    return dot - room if dot > height else dot + room


def certified_over_rounds(
    marks: Sequence[CurvePoint], unit: str, about: str, caption: str = ""
) -> Chart:
    """The loss so far, what is certified of it, and between them what is open."""
    late = [mark for mark in marks if mark.rounds << DOUBLINGS >= marks[-1].rounds]
    known = [(mark.rounds, mark.statement) for mark in late if mark.statement is not None]
    lost = Line("lost", [(rounds, said.lost) for rounds, said in known], "ink")
    certified = Line("certified", [(rounds, said.certified) for rounds, said in known], "blue")
    between = [(rounds, said.certified, said.lost) for rounds, said in known]
    up = Axis(unit, 0.0, 1.08 * max(said.lost for _, said in known))
    across = rounds_axis(known[0][0], known[-1][0], logarithmic=True)
    return Chart(
        across, up, about, [lost, certified], bands=[Band(between, "soft")], caption=caption
    )
