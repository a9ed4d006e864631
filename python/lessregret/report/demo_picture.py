"""The demo's picture: loss and regret over rounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from lessregret.report.palette import GLOBAL, GUIDE, PER_COORDINATE, THIRD
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
        axes.set_xlabel("examples")
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.spines[["top", "right"]].set_visible(False)
    save_picture(figure, path)


def _losses(axes: Any, runs: Sequence[Curve], entropy: float) -> None:
    for run in runs:
        style, colour = _look(run.rule)
        width = 2.6 if run.rule.rate == "auto" else 1.5
        axes.plot(run.rounds, run.losses, style, color=colour, lw=width)
    last = runs[0].rounds[-1]
    axes.axhline(entropy, color=GUIDE, lw=1, ls=":")
    axes.set_title("Mean log loss so far", loc="left")
    axes.set_ylim(bottom=0)
    ends = [(run.losses[-1], run.title, _look(run.rule)[1]) for run in runs]
    ends.append((entropy, "least any predictor can expect", GUIDE))
    _name_ends(axes, last, ends)


def _name_ends(axes: Any, last: int, ends: Sequence[tuple[float, str, str]]) -> None:
    """Names beside the ends of lines, from the top down, apart from each other."""
    apart = axes.get_ylim()[1] / 20
    free = float("inf")
    for height, name, colour in sorted(ends, reverse=True):
        free = min(height, free - apart)
        axes.annotate(
            f"{name}: {height:.3f}", (last, free), xytext=(6, 0), textcoords="offset points",
            va="center", color=colour, size=9.5, annotation_clip=False,
        )  # fmt: skip


def _look(rule: Any) -> tuple[str, str]:
    """Dashes and colour: dashed at a tenth of the theorem's rate, a colour of its own at none."""
    if rule.rate == "auto":
        return "-", THIRD
    return "-" if rule.rate == "theory" else "--", COLOURS[rule.name]


def _regrets(axes: Any, runs: Sequence[Curve]) -> None:
    from matplotlib.ticker import LogLocator

    ends = []
    for run in runs:
        colour, name = COLOURS[run.rule.name], run.title.split(",")[0]
        axes.plot(run.rounds, run.bounds, ":", color=colour)
        axes.plot(run.rounds, run.certificates, "-", color=colour, lw=2.2)
        ends += [(run.bounds[-1], f"{name}, proved", colour)]
        ends += [(run.certificates[-1], f"{name}, measured", colour)]
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("")
    axes.set_title("Regret per round is at most … (theorem's rate)", loc="left")
    low, high = axes.get_ylim()
    # A twentieth of the panel, on a logarithmic axis.
    apart, free = (high / low) ** (1 / 20), float("inf")
    for height, name, colour in sorted(ends, reverse=True):
        free = min(height, free / apart)
        axes.annotate(
            f"{name}: {height:.3g}", (runs[0].rounds[-1], free), xytext=(6, 0), color=colour,
            textcoords="offset points", va="center", size=9.5, annotation_clip=False,
        )  # fmt: skip
