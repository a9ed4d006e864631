"""The colours of all pictures, and their plain axes."""

from __future__ import annotations

from typing import Any

GLOBAL = "#b5492c"
PER_COORDINATE = "#1f5f8b"
THIRD = "#3f7d4e"
FOURTH = "#8a6bb1"
FIFTH = "#b98a1d"
SIXTH = "#4f9da6"
GUIDE = "#999999"
INK = "#1c2330"

SERIES = (PER_COORDINATE, GLOBAL, THIRD, FOURTH, FIFTH, SIXTH)
"""for pictures with as many lines as the user likes; then come other dashes"""


def plain(axes: Any, title: str) -> None:
    """No frame at the top and on the right, the title on the left, a legend without a box."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(title, loc="left")
    axes.legend(frameon=False, fontsize=9)
