"""Scores of many classes on a page: each class, and the table of confusions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lessregret.report.wording import number
from lessregret.training.class_scores import TOLD, ClassScores

if TYPE_CHECKING:
    from lessregret.report.page import Section
    from lessregret.report.parts import Table, Tile
    from lessregret.training.progressive import RunMetrics

SHOWN = 25
"""classes with a row of their own: those that are most frequent"""
SQUARE = 12
"""classes of the table of confusions"""
PAIRS = 10
"""pairs of classes that are confused most"""

ABOUT = """\
*Recall* is the share of a class's examples that were predicted right, *precision* the share of its
predictions that were right. Every example was predicted before it was learned.
"""


def accuracy_tiles(metrics: RunMetrics) -> list[Tile]:
    """The accuracy with that of the last tenth, and the accuracy of the k likeliest classes."""
    from lessregret.report.parts import Tile

    scores, late = metrics.all, metrics.last_tenth
    if not isinstance(scores, ClassScores) or scores.accuracy is None:
        return []
    note = f"last tenth: {late.accuracy:.2%}" if isinstance(late, ClassScores) else ""
    tops = [k for k in TOLD if k < len(scores.classes)]
    return [
        Tile("accuracy", f"{scores.accuracy:.2%}", note),
        *(Tile(f"among the {k} likeliest", f"{scores.top(k):.2%}") for k in tops),
    ]


def classes_sections(metrics: RunMetrics | None) -> list[Section]:
    """A section about the classes; none of a run of two classes or of numbers."""
    from lessregret.report.page import Section
    from lessregret.report.parts import Folded, Text

    scores = None if metrics is None else metrics.all
    if not isinstance(scores, ClassScores) or not scores.sums.examples:
        return []
    pairs = Folded("Pairs that were confused most", _pairs(scores))
    return [Section("Classes", [Text(ABOUT), _of_classes(scores), _square(scores), pairs])]


def _of_classes(scores: ClassScores) -> Table:
    from lessregret.report.parts import Table

    found = sorted(scores.of_classes, key=lambda it: -it.observed)[:SHOWN]
    rows = [
        (
            it.name,
            f"{it.observed:.2%}",
            f"{it.predicted:.2%}",
            _share(it.recall),
            _share(it.precision),
        )
        for it in found
    ]
    return Table(("class", "labels", "predictions", "recall", "precision"), rows)


def _square(scores: ClassScores) -> Table:
    """The labels in rows and the predictions in columns, of the most frequent classes."""
    from lessregret.report.parts import Table

    chosen = [it.name for it in sorted(scores.of_classes, key=lambda it: -it.observed)[:SQUARE]]
    cells = {(pair.label, pair.predicted): pair.importance for pair in scores.confusions}
    rows = [(y, *(_count(cells.get((y, q), 0.0)) for q in chosen)) for y in chosen]
    return Table(("label ╲ predicted", *chosen), rows)


def _pairs(scores: ClassScores) -> Table:
    from lessregret.report.parts import Table

    rows = [(it.label, it.predicted, _count(it.importance)) for it in scores.mistakes(PAIRS)]
    return Table(("label", "predicted", "examples"), rows, left=2)


def _count(importance: float) -> str:
    return f"{importance:,.0f}" if importance == int(importance) else number(importance, 2)


def _share(share: float | None) -> str:
    return "–" if share is None else f"{share:.2%}"
