"""Draw the pictures of *Why there is nothing to tune*: ``python docs/draw_ablation.py``.

They show the tables of the newest record of ``benchmarks/ablation.py``: a dot for each data set, on
a logarithmic axis, with its number beside it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

os.environ["SOURCE_DATE_EPOCH"] = "0"

import matplotlib as mpl

from lessregret.report.palette import GLOBAL, GUIDE, INK, PER_COORDINATE

HERE = Path(__file__).parent
FOLDER = HERE / "pictures"
RECORDS = HERE.parent / "benchmarks" / "records"
NEAR = 0.01
"""A difference that is no evidence."""


class Picture(NamedTuple):
    """One column of one table of the record."""

    file: str
    section: str
    column: str
    title: str


PICTURES = (
    Picture("rates", "Parts with a switch", "one rate", "One rate, 0.1, in place of nine experts"),
    Picture("coin", "Parts without a switch", "no coin", "Without the coin"),
    Picture("stack", "Parts without a switch", "no stack", "Without the stack"),
    Picture("share", "Parts with a switch", "fixed share 0", "Without the fixed share"),
    Picture("cap", "Parts with a switch", "scale cap", "Divided by the largest value (scale cap)"),
    Picture("none", "Parts with a switch", "scale none", "Values as they are (scale none)"),
    Picture("intercept", "Parts without a switch", "intercept 1", "An intercept of value 1"),
    Picture("labels", "Parts without a switch", "labels as given", "Labels as they are given"),
    Picture("adahedge", "Parts without a switch", "no AdaHedge", "Without AdaHedge"),
)


def main() -> None:
    mpl.rcParams["svg.hashsalt"] = "lessregret"
    mpl.rcParams["svg.fonttype"] = "none"
    record = sorted(RECORDS.glob("*-ablation.md"))[-1].read_text(encoding="utf-8")
    ending = sys.argv[1] if len(sys.argv) > 1 else "svg"
    for picture in PICTURES:
        ratios = ratios_of(record, picture.section, picture.column)
        draw(picture.title, ratios, str(FOLDER / f"ablation-{picture.file}.{ending}"))


def ratios_of(record: str, section: str, column: str) -> dict[str, float]:
    """The numbers of a column by data set, without the means."""
    text = record.split(f"## {section}\n")[1].split("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    header, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    place = header.index(column)
    found = {row[0]: row[place] for row in rows if not row[0].startswith("*")}
    return {name: float(cell.replace(",", "")) for name, cell in found.items() if cell != "–"}


def draw(title: str, ratios: dict[str, float], path: str) -> None:
    """A row for each data set; to the right of 1 the part helps."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 1.45 + 0.25 * len(ratios)), layout="constrained")
    axes = figure.subplots()
    figure.suptitle(title, x=0.01, ha="left", fontsize=13, color=INK)
    axes.axvline(1, color=GUIDE, lw=1)
    names = list(ratios)
    for row, name in enumerate(names):
        _dot(axes, row, ratios[name])
    axes.set_yticks(range(len(names)), names, fontsize=11)
    axes.set_ylim(len(names) - 0.5, -0.5)
    _dress(axes, ratios)
    figure.savefig(path, dpi=110)


def _dot(axes: Any, row: int, ratio: float) -> None:
    near = abs(ratio - 1) < NEAR
    colour = GUIDE if near else PER_COORDINATE if ratio > 1 else GLOBAL
    axes.plot([1, ratio], [row, row], color=colour, lw=1.5)
    axes.plot([ratio], [row], "o", color=colour, ms=6)
    left = ratio < 1
    axes.annotate(f"{ratio:.2f}", (ratio, row), xytext=(-7 if left else 7, 0), fontsize=10.5,
                  textcoords="offset points", va="center", ha="right" if left else "left",
                  color=INK)  # fmt: skip


def _dress(axes: Any, ratios: dict[str, float]) -> None:
    least, most = min(ratios.values()), max(ratios.values())
    low, high = min(0.75, least * 0.78), max(1.3, most * 1.25)
    axes.set(xscale="log", xlim=(low, high))
    ticks = [tick for tick in (0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.5, 2, 3, 4, 5) if low <= tick <= high]
    thin = [tick for tick in ticks if high < 1.6 or tick in (0.7, 1, 1.5, 2, 3, 4, 5)]
    axes.set_xticks(thin, [f"{tick:g}" for tick in thin], fontsize=10.5)
    axes.minorticks_off()
    axes.set_xlabel("loss over that of the default (logarithmic)", fontsize=11, color=INK)
    for side, text, start in (("left", "default better →", 6), ("right", "← default worse", -6)):
        axes.annotate(text, (1, 1), xycoords=("data", "axes fraction"), xytext=(start, 3), ha=side,
                      textcoords="offset points", fontsize=10.5, color=INK)  # fmt: skip
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)


if __name__ == "__main__":
    main()
