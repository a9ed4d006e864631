"""The largest and the worst slices of a column, as a table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lessregret.report.slices import heading_of, row_of, shown_slices

if TYPE_CHECKING:
    from lessregret.training.slices import Slicing


def slices_table(slicing: Slicing) -> str:
    """The table of a column."""
    rows = [heading_of(slicing), *(row_of(slice_) for slice_ in shown_slices(slicing))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = [f"{cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([f"{first:<{widths[0]}}", *cells]))
    left_out = len(slicing.slices) - len(rows) + 1
    return "\n".join([*lines, *([f"and {left_out:,} more"] if left_out else [])])
