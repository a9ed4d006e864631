"""The picture of ``regret --picture``: regret in front, behind it what it is at most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lessregret.regret.measure import Measured
from lessregret.report.palette import GRID, SERIES
from lessregret.report.picture_file import save_picture
from lessregret.report.pictures import above_zero
from lessregret.report.wording import unit_of

LOOKS = (("bound", ":", 1.1), ("linear_regret", "--", 1.1), ("regret_high", "o-", 2.6))
WORDS = {"bound": "bound", "linear_regret": "linearised regret", "regret_high": "regret"}


def draw(path: str, measured: Sequence[Measured]) -> None:
    """Draw the regret of each rule over the rounds: a colour a rule."""
    save_picture(figure(measured), path)


def figure(measured: Sequence[Measured]) -> Any:
    """The picture."""
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(6.4, 4.6), layout="constrained")
    axes = drawn.subplots()
    for place, each in enumerate(measured):
        _draw_rule(axes, each, SERIES[place % len(SERIES)])
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color=GRID, lw=0.7)
    axes.set(yscale="log", ylabel=unit_of(measured[0].last.ledger), xlabel="examples")
    if measured[0].last.rounds >= 10 * measured[0].marks[0].rounds:
        axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    drawn.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    return drawn


def _draw_rule(axes: Any, measured: Measured, colour: str) -> None:
    for name, look, width in LOOKS:
        kept = above_zero(measured.marks, name)
        if kept:
            label = f"{measured.rule}: {WORDS[name]}"
            axes.plot(*zip(*kept, strict=True), look, color=colour, lw=width, ms=4, label=label)
