"""Pictures as files, and the two forms of a picture: panels side by side, or one column.

A file is looked at on a screen, so its panels stand side by side. On a page a picture may be as
wide as a phone: there the panels stand one above the other in a column of 4 inches, where letters
of 9 points are 11 pixels high on 360 pixels, and a legend stands below its panel.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from textwrap import fill
from typing import Any

from lessregret.data.output import write_file
from lessregret.report.axis import short_count

COLUMN, TALL = 4.0, 3.3
"""inches: the width of a column, and the height of a panel in it"""
LETTERS = 9
"""points"""
BELOW = 35
"""points from an axis to the legend, for ticks, their labels and the name of the axis"""
LINE = 36
"""letters of a title in a line of a column"""

_in_a_column: ContextVar[bool] = ContextVar("in_a_column", default=False)


@contextmanager
def in_a_column() -> Iterator[None]:
    """Pictures that are drawn meanwhile are one column."""
    token = _in_a_column.set(True)
    try:
        yield
    finally:
        _in_a_column.reset(token)


def panels(count: int, size: tuple[float, float], **options: Any) -> tuple[Any, list[Any]]:
    """A figure and its panels; ``size`` is that of the file, and ``options`` are matplotlib's."""
    from matplotlib.figure import Figure

    if not _in_a_column.get():
        figure = Figure(figsize=size, layout="constrained")
        return figure, list(figure.subplots(1, count, squeeze=False, **options).flat)
    options.pop("width_ratios", None)
    figure = Figure(figsize=(COLUMN, count * max(TALL, 0.7 * size[1])), layout="constrained")
    return figure, list(figure.subplots(count, 1, squeeze=False, **options).flat)


def add_legend(axes: Any, **options: Any) -> None:
    """A legend without a box, where ``options`` want it; in a column, below."""
    if _in_a_column.get():
        options = {"fontsize": LETTERS, "loc": "upper left", **_below(axes)}
    axes.legend(frameon=False, **options)


def _below(axes: Any) -> dict[str, Any]:
    """A place below the label of the axis, however tall the panel is."""
    from matplotlib.transforms import ScaledTranslation

    down = ScaledTranslation(0, -BELOW / 72, axes.figure.dpi_scale_trans)
    return {"bbox_to_anchor": (-0.1, 0.0), "bbox_transform": axes.transAxes + down}


def add_title(axes: Any, title: str) -> None:
    """A title on the left; in a column it is broken into lines."""
    if _in_a_column.get():
        axes.set_title(fill(title, LINE), loc="left", size=LETTERS + 1)
    else:
        axes.set_title(title, loc="left")


def columns(count: int) -> int:
    """As many columns of a legend, or one in a column."""
    return 1 if _in_a_column.get() else count


def save_picture(figure: Any, path: str) -> None:
    """Write a figure to a PNG, SVG or PDF file; the file is afterwards whole, or as it was."""
    if _in_a_column.get():
        _write_powers_out(figure)
    content = io.BytesIO()
    figure.savefig(content, dpi=150, format=os.path.splitext(path)[1][1:].lower())
    write_file(path, content.getvalue())


def _write_powers_out(figure: Any) -> None:
    """Exponents would be smaller than the letters."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        if axis.get_scale() == "log":
            axis.set_major_formatter(FuncFormatter(lambda value, _: _tick(value)))
            axis.set_minor_formatter(NullFormatter())


def _tick(value: float) -> str:
    """A power of ten in few letters."""
    return short_count(value) if value >= 1000 else f"{value:g}"
