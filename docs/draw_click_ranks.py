"""The picture of the click simulator's page: how often the k-th query, ad and feature comes.

`docs/draw_pictures.py` draws it with the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessregret.data.generate import ClickWorld, csr_rows, impressions, phrase_world
from lessregret.report.palette import GLOBAL, GUIDE, PER_COORDINATE, THIRD

EXAMPLES = 1_000_000
COLOURS = {"telefonica": GLOBAL, "auto insurance": PER_COORDINATE, "shoe": THIRD}
TITLES = ("Queries", "Ads", "Features")
GUIDE_ENDS = np.array([1.0, 1e6])


def draw(path: str) -> None:
    """Three panels, a line for each world."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 4.2), layout="constrained")
    panels = figure.subplots(1, 3, sharex=True, sharey=True)
    for axes, title in zip(panels, TITLES, strict=True):
        _dress(axes, title)
    for phrase, colour in COLOURS.items():
        for axes, counts in zip(panels, _counts(phrase_world(phrase)), strict=True):
            ranks = _thinned(len(counts))
            axes.plot(ranks, counts[ranks - 1], color=colour, lw=1.6, label=phrase)
    panels[0].set_ylabel(f"impressions, of {EXAMPLES:,}")
    panels[0].annotate("proportional to 1/rank", (1.2e3, 400), xytext=(3, 3), fontsize=8,
                       textcoords="offset points", color="#777777")  # fmt: skip
    panels[2].legend(frameon=False, fontsize=9, loc="upper right")
    figure.savefig(path, dpi=150)


def _counts(world: ClickWorld) -> Iterator[NDArray[np.int64]]:
    """How often each query, ad and feature comes, the most frequent first."""
    totals = [np.zeros(n, np.int64) for n in (world.queries, world.ads, world.columns)]
    for block in impressions(world, EXAMPLES):
        named = (block.queries, block.ads, csr_rows(world, block).indices)
        for total, ids in zip(totals, named, strict=True):
            total += np.bincount(ids, minlength=len(total))
    for total in totals:
        yield np.sort(total[total > 0])[::-1]


def _thinned(count: int) -> NDArray[np.int64]:
    """Ranks at equal distances on the axis: thousands of points would be one line of ink."""
    return np.unique(np.geomspace(1, count, 100).round().astype(np.int64))


def _dress(axes: Any, title: str) -> None:
    axes.set(xscale="log", yscale="log", xlabel="rank", xlim=(0.8, 7e5), ylim=(0.7, 2e6))
    axes.minorticks_off()
    axes.set_title(title, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    axes.plot(GUIDE_ENDS, 4e5 / GUIDE_ENDS, color=GUIDE, lw=0.9, ls=":")
