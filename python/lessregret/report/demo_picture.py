"""The demo's picture: loss and regret over rounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from lessregret.report.palette import GLOBAL, PER_COORDINATE, THIRD
from lessregret.report.picture_file import save_picture

COLOURS = {"global": GLOBAL, "per-coordinate": PER_COORDINATE}


class Curve(Protocol):
    """A run as the picture needs it."""

    title: str
    rule: Any
    rounds: list[int]
    losses: list[float]
    certificates: list[float]
    bounds: list[float]


def draw(path: str, runs: Sequence[Curve], entropy: float) -> None:
    """Draw the losses of all runs on the left, the regret of the theorem's rates on the right."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    _losses(left, runs, entropy)
    _regrets(right, runs[:2])
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_xlabel("rounds")
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.spines[["top", "right"]].set_visible(False)
    save_picture(figure, path)


def _losses(axes: Any, runs: Sequence[Curve], entropy: float) -> None:
    for run in runs:
        style, colour = _look(run.rule)
        axes.plot(run.rounds, run.losses, style, color=colour, label=run.title)
    axes.axhline(entropy, color="#777777", lw=1, ls=":", label="least any predictor can expect")
    axes.set_title("Mean log loss so far", loc="left")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize=9)


def _look(rule: Any) -> tuple[str, str]:
    """Dashes and colour: dashed at a tenth of the theorem's rate, a colour of its own at none."""
    if rule.rate == "auto":
        return "-", THIRD
    return "-" if rule.rate == "theory" else "--", COLOURS[rule.name]


def _regrets(axes: Any, runs: Sequence[Curve]) -> None:
    from matplotlib.ticker import LogLocator

    for run in runs:
        colour = COLOURS[run.rule.name]
        name = run.title.split(",")[0]
        axes.plot(run.rounds, run.bounds, "-", color=colour, label=f"{name}: proved (bound)")
        axes.plot(
            run.rounds,
            run.certificates,
            "-.",
            color=colour,
            label=f"{name}: measured (linearised regret)",
        )
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("")
    axes.set_title("Regret per round is at most … (theorem's rate)", loc="left")
    axes.legend(frameon=False, fontsize=9)
