"""A comparison as a picture: a dot a rule, a line as long as its standard deviation each way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lessregret.comparison import Row


def draw(path: str, rows: Sequence[Row], loss: str) -> None:
    """Draw mean losses and, for classification, mistakes, best rule first."""
    from matplotlib.figure import Figure

    ordered = sorted(rows, key=lambda row: -row.mean_loss)
    scores = [("mean_loss", "sd_loss", f"Mean {loss} loss")]
    if rows[0].mistake_rate is not None:
        scores.append(("mistake_rate", "sd_mistakes", "Fraction of mistakes"))
    figure = Figure(figsize=(5.2 * len(scores), 1.4 + 0.38 * len(rows)), layout="constrained")
    panels = figure.subplots(1, len(scores), sharey=True, squeeze=False)[0]
    for axes, (mean, spread, title) in zip(panels, scores, strict=True):
        _panel(axes, [row.as_dict() for row in ordered], mean, spread)
        axes.set_title(title, loc="left")
    figure.savefig(path, dpi=150)


def _panel(axes: Any, rows: list[dict[str, Any]], mean: str, spread: str) -> None:
    places = range(len(rows))
    axes.errorbar(
        [row[mean] for row in rows],
        places,
        xerr=[row[spread] or 0.0 for row in rows],
        fmt="o",
        color="#1f5f8b",
        ecolor="#9fbcd0",
        capsize=3,
    )
    axes.set_yticks(places, [row["rule"] for row in rows])
    axes.grid(axis="x", color="#e5e5e5")
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
