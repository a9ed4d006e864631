"""What a run certifies, as a section of its report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from lessregret.ledger import SHAPES, STANDARDISED_LABELS, Ledger, Statement
from lessregret.report.certified_pictures import (
    SMALLEST,
    Lines,
    certified_over_rounds,
    certified_over_sizes,
    certified_shapes,
    has_room_for,
)
from lessregret.report.page import Section
from lessregret.report.parts import Folded, Part, Table, Text, Tile
from lessregret.report.wording import certified_in_words, counted, number
from lessregret.training.curve import CurvePoint
from lessregret.training.window import Window, window_finding

TITLE = "What is certified"

ABOUT = """\
A convex loss lies above its tangents. The tangents at the predictions of this run add up to a lower
bound on the loss of *all* fixed weights, also of those that nobody has tried. Larger weights can
lose less, so each size has its own bound.
"""

SIZES = (
    "No fixed weights lose less than the curve at their size. The size is measured in three ways: "
    "by the largest weight, by ‖w‖ = √Σw² and by the sum of the absolute weights. The intercept "
    "does not count; it is at most as large as the learned one. The dot of a curve is at the size "
    "of the learned weights; a dot at 0 means that nothing is certified at this size."
)

ROUNDS = (
    "What was lost up to a round, and what no fixed weights lose less than, for ‖w‖ up to the size "
    "that was learned by then. What lies between is open: the best fixed weights of this size may "
    "save it, or less."
)


@dataclass(frozen=True)
class Certified:
    """What the section is made of."""

    ledger: Ledger
    marks: Sequence[CurvePoint]
    spec: dict[str, Any]
    """the settings of the learner"""
    constant: float | None = None
    """the mean loss of the best constant prediction in the game of the certificate, if known"""
    window: Window | None = None
    """about the last tenth of the run"""

    @property
    def unit(self) -> str:
        """What the mean loss of the certificate is."""
        name = f"mean {self.spec['loss']} loss" + (" + L2" if self.spec["l2"] else "")
        standardised = self.ledger.game == STANDARDISED_LABELS
        return f"{name}, {self.ledger.units}" if standardised else name


def certified_tile(ledger: Ledger) -> list[Tile]:
    """How much of the loss the best fixed weights of the learned size could save, at most."""
    said = ledger.statement
    if said is None or said.lost == 0:
        return []
    note = f"by fixed weights with ‖w‖ ≤ {said.radius:,.2f}"
    if said.speaks:
        return [Tile("left to gain, at most", _percent(said.left), note)]
    return [Tile("left to gain", "open", note)]


def certified_section(found: Certified) -> Section:
    """The statement of the run, its pictures and that of the last rounds."""
    said = found.ledger.statement
    if said is None:
        words = "`--certify` would certify what no fixed weights of a given size lose less than."
        return Section(TITLE, [Text(words)])
    if said.lost == 0:
        standardised = found.ledger.game == STANDARDISED_LABELS
        words = f"The loss {found.ledger.units} is 0" if standardised else "The run lost nothing"
        return Section(TITLE, [Text(f"{words}, so nothing is left.")])
    sentence = certified_in_words(found.ledger)
    parts: list[Part] = [Text(f"**Certified:** {sentence}."), *_sizes(found, said)]
    return Section(TITLE, [*parts, *_rounds(found), *_window(found)])


def _sizes(found: Certified, said: Statement) -> list[Part]:
    """The picture over the sizes; nothing where nothing is certified from a tenth of them on."""
    if not certified_shapes(found.ledger):
        return []
    lines = Lines(said.lost, found.constant)
    caption = SIZES
    if found.constant is not None and not has_room_for(lines, found.ledger):
        caption += f" The best constant prediction lost {number(found.constant, 6)}."
    about = "The mean loss certified out of reach, over the size of fixed weights, in three shapes"
    chart = replace(certified_over_sizes(found.ledger, lines, found.unit, about), caption=caption)
    return [Text(ABOUT), chart, Folded("The numbers", _size_table(found.ledger))]


def _size_table(ledger: Ledger) -> Table:
    assert ledger.certificate is not None
    sizes = {shape: ledger.certificate.size(shape) for shape in SHAPES}
    heading = ["size", *(f"{shape}, {size:,.4g} learned" for shape, size in sizes.items())]
    rows = [
        [f"{times:g} × learned", *(_certified_at(ledger, sizes[s] * times, s) for s in SHAPES)]
        for times in (SMALLEST, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
    ]
    return Table(heading, rows)


def _certified_at(ledger: Ledger, radius: float, shape: Any) -> str:
    least = ledger.certified(radius, shape)
    return number(least, 6) if least > 0 else "open"


def _rounds(found: Certified) -> list[Part]:
    """How what is left shrinks, if something is certified at the end and there are two marks."""
    said = [mark.statement for mark in found.marks if mark.statement is not None]
    if len(said) < 2 or said[-1].certified == 0:
        return []
    about = "The loss so far and what is certified of it, over the rounds"
    drawn = certified_over_rounds(found.marks, found.unit, about, ROUNDS)
    return [drawn, Folded("The numbers", _round_table(found.marks))]


def _round_table(marks: Sequence[CurvePoint]) -> Table:
    heading = ["rounds", "lost so far", "certified", "left, at most", "for ‖w‖ up to"]
    rows = [
        [
            f"{mark.rounds:,}",
            number(said.lost, 6),
            "open" if said.certified == 0 < said.lost else number(said.certified, 6),
            _percent(said.left),
            f"{said.radius:,.4g}",
        ]
        for mark in marks
        if (said := mark.statement) is not None
    ]
    return Table(heading, rows, left=0)


def _window(found: Certified) -> list[Part]:
    """The last rounds alone, in one sentence, and in another what they may mean."""
    window = found.window
    if window is None:
        return []
    words = _window_in_words(window, found.ledger)
    finding = window_finding(found.spec, window)
    return [Text(words if finding is None else f"{words} {_as_sentence(finding.in_shell)}")]


def _window_in_words(window: Window, ledger: Ledger) -> str:
    said = window.statement
    unit = f" {ledger.units}" if ledger.game == STANDARDISED_LABELS else ""
    last = (
        f"The last {counted(window.rounds, 'example')} lost {number(said.lost, 6)}{unit} on average"
    )
    if not said.speaks:
        return f"{last}; alone they are too few to certify half of it for weights of this size."
    return (
        f"{last}. No fixed weights of the size that was learned lose less than "
        f"{number(said.certified, 6)} on these alone: at most {_percent(said.left)} is left to "
        "gain."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _as_sentence(message: str) -> str:
    return f"{message[0].upper()}{message[1:]}."
