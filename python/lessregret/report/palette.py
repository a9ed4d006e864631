"""The colours of all pictures, and their plain axes."""

from __future__ import annotations

from typing import Any

from lessregret.report.picture_file import add_legend, add_title

GLOBAL = "#b5492c"
PER_COORDINATE = "#1f5f8b"
THIRD = "#3f7d4e"
FOURTH = "#7651a3"
FIFTH = "#94690f"
SIXTH = "#2a747d"
GUIDE = "#5c6675"
GRID = "#dfe3e8"
PAPER = "#fdfdfc"
INK = "#1c2330"

SERIES = (PER_COORDINATE, GLOBAL, THIRD, FOURTH, FIFTH, SIXTH)
"""for pictures with as many lines as the user likes; then come other dashes"""


PAGE_COLOURS = {
    PER_COORDINATE: "blue",
    GLOBAL: "red",
    THIRD: "green",
    FOURTH: "violet",
    FIFTH: "amber",
    SIXTH: "teal",
    GUIDE: "soft",
    GRID: "line",
    PAPER: "paper",
    INK: "ink",
    "#000000": "ink",
    "#ffffff": "paper",
}
"""the colours of drawings by their names in the style of pages, where they are light or dark"""


def plain(axes: Any, title: str) -> None:
    """No frame at the top and on the right, the title on the left, a legend without a box."""
    axes.spines[["top", "right"]].set_visible(False)
    add_title(axes, title)
    add_legend(axes, fontsize=9)
