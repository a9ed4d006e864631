"""The pictures of what a run certifies: over the size of the weights, and over the rounds.

Lines have their names beside them. The figures are narrower than others and their letters larger,
because a picture with words inside must be readable on a phone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from lessregret.ledger import SHAPES, Ledger, Shape
from lessregret.regret.best_of_size import BestOfSize
from lessregret.report.palette import GLOBAL, GUIDE, INK, PER_COORDINATE, THIRD
from lessregret.report.pictures import plain_axes, rounds_axis
from lessregret.training.curve import CurvePoint

SIZE = (5.4, 3.7)
LETTERS = 11
PAPER = "#fdfdfc"
"""the colour of the page, behind the names of lines"""
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
SOFT = "#5c6675"

COLOURS: dict[Shape, str] = {"box": GLOBAL, "ball": PER_COORDINATE, "l1": THIRD}
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


def certified_over_sizes(ledger: Ledger, lines: Lines, unit: str) -> Any:
    """What no fixed weights of a size lose less than, for three ways to measure the size."""
    figure, axes = plain_axes(SIZE)
    ends = _ends(ledger, lines)
    axes.set_xscale("log")
    axes.set_xlim(*ends)
    axes.set_ylim(0, _top(ledger, lines))
    for shape in SHAPES:
        _draw_shape(axes, ledger, shape)
    for each in lines.best:
        axes.plot(each.radius, each.loss, "D", color=COLOURS[each.shape], mfc="none", ms=6)
    _draw_levels(axes, lines)
    _sizes_axis(axes)
    _label(axes, "size r of fixed weights", unit)
    return figure


def _sizes_axis(axes: Any) -> None:
    """Two decades have too few powers of ten for an axis."""
    from matplotlib.ticker import LogLocator

    first, last = axes.get_xlim()
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if last < 100 * first else (1,)))
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.xaxis.set_minor_formatter("")


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


def _draw_shape(axes: Any, ledger: Ledger, shape: Shape) -> None:
    import numpy as np

    assert ledger.certificate is not None
    colour, size = COLOURS[shape], ledger.certificate.size(shape)
    first, last = axes.get_xlim()
    radii = np.geomspace(first, min(last, reach(ledger, shape)), POINTS)
    certified = ledger.certified(radii, shape)
    axes.plot(radii, certified, color=colour, lw=2.2, solid_capstyle="butt")
    own = ledger.certified(size, shape)
    if size <= last:
        axes.plot(size, own, "o", color=colour, ms=8, mec=PAPER, mew=1.2, zorder=5, clip_on=False)
    height = _free_height(HEIGHTS[shape] * certified[0], own, certified[0])
    _name_curve(axes, shape, (radii, certified), height)


def _name_curve(axes: Any, shape: Shape, curve: Any, height: float) -> None:
    """The name of a curve on it, where it has come down to this height."""
    import numpy as np

    first, last = np.log(axes.get_xlim())
    place = np.interp(-height, -curve[1], (np.log(curve[0]) - first) / (last - first))
    side = "left" if place < 0.12 else "right" if place > 0.9 else "center"
    axes.text(
        place, height, NAMES[shape], transform=axes.get_yaxis_transform(), color=COLOURS[shape],
        size=LETTERS, ha=side, va="center", zorder=4,
        bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 1.5},
    )  # fmt: skip


def _free_height(height: float, dot: float, highest: float) -> float:
    """The height for a name that does not cover the dot of its curve."""
    room = 0.11 * highest
    if abs(height - dot) >= room:
        return height
    return dot - room if dot > height else dot + room


def _draw_levels(axes: Any, lines: Lines) -> None:
    levels = [(f"this run: {lines.lost:.4g}", lines.lost, INK, "-")]
    top = axes.get_ylim()[1]
    if lines.constant is not None and lines.constant < top:
        name = f"best constant prediction: {lines.constant:.4g}"
        levels.append((name, lines.constant, GUIDE, "--"))
    levels.sort(key=lambda level: level[1])
    # Names of lines that lie close go to both sides.
    close = len(levels) == 2 and levels[1][1] - levels[0][1] < 0.09 * top
    for place, (name, loss, colour, dash) in enumerate(levels):
        axes.axhline(loss, color=colour, ls=dash, lw=1.4, zorder=1)
        below = close and place == 0
        axes.annotate(
            name, (1, loss), xycoords=("axes fraction", "data"), size=LETTERS,
            xytext=(0, -3 if below else 3), textcoords="offset points", ha="right",
            va="top" if below else "bottom", color=INK if colour == INK else SOFT,
        )  # fmt: skip


def certified_over_rounds(marks: Sequence[CurvePoint], unit: str) -> Any:
    """The loss so far, what is certified of it, and between them what is open."""
    figure, axes = plain_axes(SIZE)
    late = [mark for mark in marks if mark.rounds << DOUBLINGS >= marks[-1].rounds]
    known = [(mark.rounds, mark.statement) for mark in late if mark.statement is not None]
    rounds = [each for each, _ in known]
    lost = [said.lost for _, said in known]
    certified = [said.certified for _, said in known]
    axes.fill_between(rounds, certified, lost, color=GUIDE, alpha=0.2, lw=0)
    axes.plot(rounds, lost, color=INK, lw=2.2)
    axes.plot(rounds, certified, color=PER_COORDINATE, lw=2.2)
    axes.set_ylim(0, 1.08 * max(lost))
    rounds_axis(axes, rounds[0], rounds[-1])
    axes.set_xlim(rounds[0], rounds[-1])
    _name_line(axes, f"lost\n{lost[-1]:.4g}", lost[-1], INK, "bottom")
    _name_line(axes, f"certified\n{certified[-1]:.4g}", certified[-1], PER_COORDINATE, "top")
    _name_open_part(axes, rounds, lost, certified)
    _label(axes, "rounds", unit)
    return figure


def _name_line(axes: Any, name: str, height: float, colour: str, side: str) -> None:
    """A name on the right of the axes, at the end of its line, where no line can cross it."""
    axes.annotate(
        name, (1, height), xycoords=("axes fraction", "data"), color=colour, size=LETTERS,
        xytext=(6, 1 if side == "bottom" else -1), textcoords="offset points", va=side,
        annotation_clip=False,
    )  # fmt: skip


def _name_open_part(
    axes: Any, rounds: Sequence[int], lost: Sequence[float], certified: Sequence[float]
) -> None:
    """The name of what lies between, where it is widest, if there it has room."""
    inner = range(2, len(rounds) - 2)
    gaps = {k: min(lost[k - 1 : k + 2]) - max(certified[k - 1 : k + 2]) for k in inner}
    widest = max(gaps, key=gaps.__getitem__, default=0)
    if gaps.get(widest, 0.0) > 0.1 * axes.get_ylim()[1]:
        height = (lost[widest] + certified[widest]) / 2
        axes.text(
            rounds[widest], height, "open", size=LETTERS, ha="center", va="center", color=SOFT
        )


def _label(axes: Any, across: str, up: str) -> None:
    axes.set_xlabel(across, size=LETTERS)
    axes.set_ylabel(up, size=LETTERS)
    axes.tick_params(labelsize=LETTERS - 1)
