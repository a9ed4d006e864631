"""Scores on a page: those of the run, and the slices in which the features help least."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lessregret.report.wording import number

if TYPE_CHECKING:
    from lessregret.report.page import Section
    from lessregret.report.parts import Tile
    from lessregret.training.progressive import RunMetrics
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


def metric_tiles(metrics: RunMetrics | None) -> list[Tile]:
    """AUC or R² with that of the last tenth; none where it is not defined."""
    from lessregret.report.classes import accuracy_tiles
    from lessregret.report.parts import Tile
    from lessregret.training.scores import Scores

    if metrics is None:
        return []
    if not isinstance(metrics.all, Scores):
        return accuracy_tiles(metrics)
    name, title = ("r2", "R²") if "r2" in metrics.all.names else ("auc", "AUC")
    score = getattr(metrics.all, name)
    late = None if metrics.last_tenth is None else getattr(metrics.last_tenth, name)
    note = "" if late is None else f"last tenth: {late:.4f}"
    return [] if score is None else [Tile(title, f"{score:.4f}", note)]


def slices_sections(metrics: RunMetrics | None) -> list[Section]:
    """A section for every column that was sliced by."""
    return [] if metrics is None else [_section(slicing) for slicing in metrics.slices]


def _section(slicing: Slicing) -> Section:
    from lessregret.report.page import Section
    from lessregret.report.parts import Bar, Bars, Facts, Table, Text

    shown = shown_slices(slicing)
    bars = [
        Bar(slice_.value, slice_.relative_loss, number(slice_.relative_loss, 3)) for slice_ in shown
    ]
    return Section(
        "Slices",
        [
            Facts([("sliced by", slicing.column), ("slices", f"{len(slicing.slices):,}")]),
            Text(ABOUT),
            Table(heading_of(slicing), [row_of(slice_) for slice_ in shown]),
            Bars("slice", "ratio", bars),
        ],
    )


ABOUT = """\
The largest slices, and then those of the others with at least 50 examples in which the features
help least. *Best constant* is the loss of one prediction for all examples of the slice, in
hindsight; the *ratio* of the loss to it is above 1 where the model does worse than that.
"""
