"""A comparison as a picture: a dot a rule, a line as long as its standard deviation each way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lessregret.regret.comparison import Row
from lessregret.report.palette import PER_COORDINATE
from lessregret.report.picture_file import save_picture


def draw(path: str, rows: Sequence[Row], loss: str) -> None:
    """Draw mean losses and, for classification, mistakes, best rule first."""
    save_picture(figure(rows, loss), path)


def figure(rows: Sequence[Row], loss: str, *, stacked: bool = False) -> Any:
    """The picture; its panels side by side or, for a narrow page, one above the other."""
    from matplotlib.figure import Figure

    ordered = sorted(rows, key=lambda row: row.mean_loss)[::-1]
    scores = [("mean_loss", "sd_loss", f"Mean {loss} loss")]
    if rows[0].mistake_rate is not None:
        scores.append(("mistake_rate", "sd_mistakes", "Fraction of mistakes"))
    down, across = (len(scores), 1) if stacked else (1, len(scores))
    width = 6.4 if stacked else 5.2 * across
    drawn = Figure(figsize=(width, down * (1.4 + 0.38 * len(rows))), layout="constrained")
    panels = drawn.subplots(down, across, sharey=True, squeeze=False).flat
    for axes, (mean, spread, title) in zip(panels, scores, strict=True):
        _panel(axes, [row.as_dict() for row in ordered], mean, spread)
        axes.set_title(title, loc="left")
    return drawn


def _panel(axes: Any, rows: list[dict[str, Any]], mean: str, spread: str) -> None:
    places = range(len(rows))
    axes.errorbar(
        [row[mean] for row in rows],
        places,
        xerr=[row[spread] or 0.0 for row in rows],
        fmt="o",
        color=PER_COORDINATE,
        ecolor="#9fbcd0",
        capsize=3,
    )
    axes.set_yticks(places, [row["rule"] for row in rows])
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.grid(axis="x", color="#e5e5e5")
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
