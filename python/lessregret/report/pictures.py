"""The pictures of reports, each a figure of matplotlib's.

They are as wide as the page's text, one panel each, so that they can be read on a phone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lessregret.regret.measure import Measured, RegretPoint
from lessregret.report.palette import GLOBAL, GUIDE, INK, PER_COORDINATE, SERIES, THIRD
from lessregret.report.wording import unit_of
from lessregret.training.calibration import Bin
from lessregret.training.curve import Curve, CurvePoint

SIZE = (6.4, 3.6)
DASHES = ("-", "--", ":")
WIDE = 25
"""a range of losses is drawn on a logarithmic axis from this ratio on"""
SMALL_SHARE = 0.15
"""shares below this are set against each other on logarithmic axes"""

Points = tuple[list[int], list[float]]


def loss_over_rounds(
    marks: Sequence[CurvePoint], loss: str, guide: tuple[str, float] | None = None
) -> Any:
    """The mean loss so far, the loss since the mark before, and what one constant would cost."""
    figure, axes = plain_axes()
    recent, mean = points(marks, "loss_since"), points(marks, "mean_loss")
    axes.plot(*recent, "o-", color=THIRD, lw=1, ms=2.5, alpha=0.75, label="since the mark before")
    axes.plot(*mean, "o-", color=PER_COORDINATE, lw=2, ms=3.5, label="mean so far")
    if guide is not None:
        axes.axhline(guide[1], color=GUIDE, ls=":", label=f"{guide[0]}, in hindsight")
    rounds_axis(axes, marks[0].rounds, marks[-1].rounds)
    _loss_axis(axes, [*recent[1], *mean[1]], f"{loss} loss")
    _legend_below(figure, columns=3)
    return figure


UPPER = {
    "bound": (GLOBAL, "proved (bound)"),
    "linear_regret": (PER_COORDINATE, "measured (linear regret)"),
}


def regret_over_rounds(marks: Sequence[CurvePoint], names: Sequence[str]) -> Any:
    """What the regret a round is at most, by these numbers, beside the loss a round."""
    figure, axes = plain_axes()
    loss = per_round(marks, "loss")
    lowest = _lowest([loss, *(per_round(marks, name) for name in names)])
    for name in names:
        _draw_upper(axes, marks, name)
    axes.plot(*loss, color=INK, lw=2, label="the loss itself")
    axes.fill_between(*loss, lowest, color=THIRD, alpha=0.09, lw=0, label="below the loss")
    axes.set(yscale="log", ylabel="loss or regret a round")
    axes.set_ylim(bottom=lowest)
    rounds_axis(axes, marks[0].rounds, marks[-1].rounds)
    _legend_below(figure, columns=2)
    return figure


def _draw_upper(axes: Any, marks: Sequence[CurvePoint], name: str) -> None:
    colour, label = UPPER[name]
    upper = per_round(marks, name)
    axes.plot(*upper, "o-", color=colour, ms=3, label=label)
    start = below_loss_from(marks, name)
    value = next((value for rounds, value in zip(*upper, strict=True) if rounds == start), None)
    if value is not None:
        axes.vlines(start, 0, value, color=colour, ls=":", lw=1.2)


def below_loss_from(marks: Sequence[CurvePoint], name: str) -> int | None:
    """The mark from which on a number above the regret stays below the loss itself; or None.

    No loss is negative, so no regret is above the loss: only below it the number is news.
    """
    start = None
    for mark in reversed(marks):
        upper = getattr(mark, name)
        if upper is None or upper >= mark.loss:
            break
        start = mark.rounds
    return start


def calibration(bins: Sequence[Bin], share: float) -> Any:
    """Observed shares over predicted probabilities, with their 95 % intervals."""
    figure, axes = plain_axes((6.4, 4.8))
    logarithmic = share < SMALL_SHARE
    ends = _calibration_ends(bins) if logarithmic else (0.0, 1.0)
    axes.plot(ends, ends, color=GUIDE, ls=":", label="predicted = observed")
    axes.vlines([b.predicted for b in bins], [max(b.low, ends[0]) for b in bins],
                [b.high for b in bins], color=PER_COORDINATE, lw=1, alpha=0.7)  # fmt: skip
    seen = [b for b in bins if b.observed > 0 or not logarithmic]
    axes.plot([b.predicted for b in seen], [b.observed for b in seen], "o", color=PER_COORDINATE,
              ms=5, label="observed, with 95 % intervals")  # fmt: skip
    axes.set(xlim=ends, ylim=ends, xlabel="predicted probability", ylabel="observed share")
    if logarithmic:
        axes.set(xscale="log", yscale="log")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter("{x:g}")
    _legend_below(figure, columns=2)
    return figure


def _calibration_ends(bins: Sequence[Bin]) -> tuple[float, float]:
    """Where both logarithmic axes begin and end: a little beyond all that is drawn."""
    least = min(min(b.predicted, b.low or b.high) for b in bins)
    most = max(max(b.predicted, b.high) for b in bins)
    return max(least / 1.5, 1e-9), min(most * 1.5, 1.0)


def rules_over_rounds(curves: Mapping[str, Curve], loss: str) -> Any:
    """The mean loss so far of each rule, in the order given."""
    figure, axes = plain_axes((SIZE[0], SIZE[1] + 0.08 * len(curves)))
    drawn = {name: points(curve.marks, "mean_loss") for name, curve in curves.items()}
    for place, (name, (rounds, losses)) in enumerate(drawn.items()):
        colour, dash = SERIES[place % len(SERIES)], DASHES[place // len(SERIES) % len(DASHES)]
        axes.plot(rounds, losses, dash, marker="o", ms=2.5, color=colour, label=name)
    rounds = [each for found, _ in drawn.values() for each in found]
    rounds_axis(axes, min(rounds), max(rounds))
    _loss_axis(
        axes, [each for _, losses in drawn.values() for each in losses], f"mean {loss} loss so far"
    )
    _legend_below(figure, columns=3)
    return figure


def losses_over_rounds(measured: Sequence[Measured], suffered: str) -> Any:
    """What each rule lost so far, and what the best fixed model for those rounds would have."""
    figure, axes = plain_axes()
    drawn = []
    for place, each in enumerate(measured):
        rounds, losses = points(each.marks, "mean_total")
        axes.plot(rounds, losses, "o-", ms=3, color=SERIES[place % len(SERIES)], label=each.rule)
        drawn += losses
    boxes = {each.box: each.marks for each in measured}
    for (low, high), marks in boxes.items():
        rounds, losses = points(marks, "best_total")
        ends = f", [{low:g}, {high:g}]" if len(boxes) > 1 else ""
        axes.plot(rounds, losses, "s:", ms=3, color=INK, label=f"best fixed model{ends}")
        drawn += losses
    rounds_axis(axes, measured[0].marks[0].rounds, measured[0].last.rounds)
    _loss_axis(axes, drawn, suffered)
    _legend_below(figure, columns=3)
    return figure


def regret_growth(measured: Sequence[Measured]) -> Any:
    """Regret, linearised regret and bound of each rule over the rounds: a colour a rule."""
    figure, axes = plain_axes((SIZE[0], SIZE[1] + 1.0))
    for place, each in enumerate(measured):
        _draw_growth(axes, each, SERIES[place % len(SERIES)])
    rounds = [mark.rounds for mark in measured[0].marks]
    axes.set(yscale="log", ylabel=unit_of(measured[0].last.ledger))
    rounds_axis(axes, rounds[0], rounds[-1])
    _legend_below(figure, columns=2)
    return figure


def _draw_growth(axes: Any, measured: Measured, colour: str) -> None:
    lines = (("bound", ":", 1.2), ("linear_regret", "--", 1.4), ("regret_high", "-", 2.2))
    words = {"bound": "bound", "linear_regret": "linearised regret", "regret_high": "regret"}
    for name, dash, width in lines:
        kept = [(mark.rounds, value) for mark in measured.marks
                if (value := getattr(mark, name)) is not None and value > 0]  # fmt: skip
        if kept:
            axes.plot(*zip(*kept, strict=True), dash, color=colour, lw=width, marker="o", ms=3,
                      label=f"{measured.rule}: {words[name]}")  # fmt: skip
    low = [mark.regret_low for mark in measured.marks if mark.regret_low is not None]
    if len(low) == len(measured.marks) and min(low) > 0:
        high = [mark.regret_high for mark in measured.marks]
        axes.fill_between([mark.rounds for mark in measured.marks], low, high, color=colour,
                          alpha=0.25, lw=0)  # fmt: skip


def points(marks: Sequence[CurvePoint] | Sequence[RegretPoint], name: str) -> Points:
    """Rounds and one of the marks' numbers, where there is one."""
    kept = [
        (mark.rounds, float(value)) for mark in marks if (value := getattr(mark, name)) is not None
    ]
    return [rounds for rounds, _ in kept], [value for _, value in kept]


def per_round(marks: Sequence[CurvePoint], name: str) -> Points:
    """Rounds and one of the points' sums divided by Σ importance, where it is above 0.

    Numbers of 0 and below have no place on a logarithmic axis.
    """
    kept = [
        (mark.rounds, float(total) / mark.importance)
        for mark in marks
        if (total := getattr(mark, name)) is not None and total > 0 and mark.importance > 0
    ]
    return [rounds for rounds, _ in kept], [value for _, value in kept]


def _lowest(curves: Sequence[Points]) -> float:
    return 0.6 * min((value for _, values in curves for value in values), default=1.0)


def plain_axes(size: tuple[float, float] = SIZE) -> tuple[Any, Any]:
    """A figure of one panel without a frame at the top and on the right."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#ececec", lw=0.7)
    axes.set_axisbelow(True)
    return figure, axes


def _legend_below(figure: Any, columns: int) -> None:
    """Outside the axes, where it cannot cover a line."""
    figure.legend(loc="outside lower center", ncols=columns, frameon=False, fontsize=9)


def rounds_axis(axes: Any, first: int, last: int) -> None:
    """Logarithmic, unless the rounds lie so close that its numbers would be odd."""
    from matplotlib.ticker import MaxNLocator

    if last >= 10 * first:
        axes.set_xscale("log")
    else:
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("rounds")


def _loss_axis(axes: Any, losses: Sequence[float], label: str) -> None:
    least, most = min(losses, default=0.0), max(losses, default=0.0)
    if least > 0 and most > WIDE * least:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.set_ylabel(label)
