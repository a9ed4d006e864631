"""The slices of a column: the largest, and those in which the features help least."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lessregret.report.wording import number

if TYPE_CHECKING:
    from lessregret.training.slices import Slice, Slicing

LARGEST, WORST = 8, 4
"""how many are shown: the largest, and the worst of the others"""


def shown_slices(slicing: Slicing) -> list[Slice]:
    """The largest slices and then the worst of the others, each kind the first ones first."""
    largest = slicing.largest(LARGEST)
    others = slicing._replace(slices=slicing.slices[LARGEST:])
    return [*largest, *others.worst(WORST)]


def heading_of(slicing: Slicing) -> list[str]:
    """The names of the columns of a table of slices."""
    names = slicing.slices[0].scores.names if slicing.slices else ()
    ratio = "calibration" if "calibration" in names else "MAE" if "mae" in names else "mistakes"
    return [slicing.column, "examples", "mean loss", "best constant", "ratio", ratio]


def row_of(slice_: Slice) -> list[str]:
    """A slice as the row of a table; ``ratio`` is its loss over that of its best constant."""
    scores = slice_.scores
    last = number(scores.calibration, 3) if "calibration" in scores.names else _error(slice_)
    return [
        slice_.value,
        f"{scores.sums.examples:,}",
        number(scores.mean_loss, 6),
        number(scores.constant_loss, 6),
        number(slice_.relative_loss, 3) if scores.constant_loss else "–",
        last,
    ]


def _error(slice_: Slice) -> str:
    scores = slice_.scores
    if "mae" in scores.names:
        return number(scores.mae, 6)
    return "–" if scores.error is None else f"{scores.error:.2%}"
