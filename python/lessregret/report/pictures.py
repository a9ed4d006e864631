"""The charts of reports, one panel each, as wide as the page's text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lessregret.regret.measure import Measured, RegretPoint
from lessregret.report.axis import Axis, losses_axis, rounds_axis
from lessregret.report.chart import (
    Band,
    Chart,
    Level,
    Line,
    Point,
    Switched,
    Whisker,
    looks,
)
from lessregret.report.wording import unit_of
from lessregret.training.calibration import Bin
from lessregret.training.curve import Curve, CurvePoint

SMALL_SHARE = 0.15
"""shares below this are set against each other on logarithmic axes"""
CHOICE = "Axis of the examples"


def loss_over_rounds(curve: Curve, loss: str, guide: tuple[str, float] | None = None) -> Switched:
    """The mean loss so far, the loss of late, and what one constant would cost."""
    marks, steps = curve.marks, curve.stretches()
    name, levels = f"{loss} loss", [] if guide is None else [Level(*guide)]
    even = [(f"each {curve.stride:,} examples", [(float(s.rounds), s.loss) for s in steps]),
            ("mean so far", [(float(s.rounds), s.mean_so_far) for s in steps])]  # fmt: skip
    doubling = [("since the point before", points(marks, "loss_since")),
                ("mean so far", points(marks, "mean_loss"))]  # fmt: skip
    first, last = curve.before.rounds, marks[-1].rounds
    axes = (
        ("linear", Axis("examples", first, last, counts=True), even),
        ("logarithmic", rounds_axis(marks[0].rounds, last, logarithmic=True), doubling),
    )
    about = f"The mean {loss} loss over the examples, from {marks[0].rounds:,} to {last:,}"
    return Switched(
        CHOICE,
        [
            (kind, Chart(across, _losses_axis(name, lines, levels), about,
                         _loss_lines(lines), levels))
            for kind, across, lines in axes
        ],
    )  # fmt: skip


Named = Sequence[tuple[str, list[Point]]]


def _loss_lines(lines: Named) -> list[Line]:
    (recent, since), (mean, so_far) = lines
    return [
        Line(recent, since, "green", width=1.3),
        Line(mean, so_far, "blue", width=2.6),
    ]


def _losses_axis(name: str, lines: Named, levels: Sequence[Level]) -> Axis:
    losses = [loss for _, line in lines for _, loss in line]
    return losses_axis(name, [*losses, *(level.height for level in levels)])


UPPER = {
    "bound": ("red", "proved (bound)"),
    "linear_regret": ("blue", "measured (linear regret)"),
}


def regret_over_rounds(marks: Sequence[CurvePoint], names: Sequence[str], about: str) -> Chart:
    """What the regret a round is at most, by these numbers, beside the loss a round."""
    lines = [
        Line(UPPER[name][1], per_round(marks, name), UPPER[name][0], dots=True) for name in names
    ]
    lines.append(Line("the loss itself", per_round(marks, "loss"), "ink"))
    heights = [height for line in lines for _, height in line.points]
    up = Axis("loss or regret a round", 0.6 * min(heights), 1.3 * max(heights), logarithmic=True)
    across = rounds_axis(marks[0].rounds, marks[-1].rounds, logarithmic=True)
    return Chart(across, up, about, lines)


def below_loss_from(marks: Sequence[CurvePoint], name: str) -> int | None:
    """The mark from which on a number above the regret stays below the loss itself; or None.

    No loss is negative, so no regret is above the loss: only below it the number is news.
    """
    start = None
    for mark in reversed(marks):
        upper = getattr(mark, name)
        if upper is None or upper >= mark.loss:
            break
        start = mark.rounds
    return start


def calibration(bins: Sequence[Bin], share: float, about: str, caption: str) -> Chart:
    """Observed shares over predicted probabilities, with their 95 % intervals."""
    logarithmic = share < SMALL_SHARE
    low, high = _calibration_ends(bins) if logarithmic else (0.0, 1.0)
    across, up = (
        Axis(name, low, high, logarithmic) for name in ("predicted probability", "observed share")
    )
    seen = [(b.predicted, b.observed) for b in bins if b.observed > 0 or not logarithmic]
    equal = Line("equal", [(low, low), (high, high)], "soft", "2 4", 1.6, valued=False)
    observed = Line("observed", seen, "blue", dots=True, joined=False, valued=False)
    return Chart(
        across, up, about, [equal, observed],
        whiskers=[Whisker(b.predicted, max(b.low, low), b.high) for b in bins],
        caption=caption, height=340, tips=[(b.predicted, _bin_told(b)) for b in bins],
    )  # fmt: skip


def _bin_told(b: Bin) -> str:
    return (
        f"predicted {b.predicted:.4f}\nobserved {b.observed:.4f} ({b.low:.4f} to {b.high:.4f})\n"
        f"{b.examples:,} examples"
    )


def _calibration_ends(bins: Sequence[Bin]) -> tuple[float, float]:
    """Where both logarithmic axes begin and end: a little beyond all that is drawn."""
    least = min(min(b.predicted, b.low or b.high) for b in bins)
    most = max(max(b.predicted, b.high) for b in bins)
    return max(least / 1.5, 1e-9), min(most * 1.5, 1.0)


def rules_over_rounds(curves: Mapping[str, Curve], loss: str) -> Switched:
    """The mean loss so far of each rule, in the order given."""
    even = {
        name: [(float(s.rounds), s.mean_so_far) for s in curve.stretches()]
        for name, curve in curves.items()
    }
    doubling = {name: points(curve.marks, "mean_loss") for name, curve in curves.items()}
    name, about = f"mean {loss} loss so far", f"The mean {loss} loss of each rule over the examples"
    choices = []
    for kind, found in (("linear", even), ("logarithmic", doubling)):
        lines = list(_rule_lines(found))
        across = rounds_axis(*_first_and_last(lines), logarithmic=kind == "logarithmic")
        up = losses_axis(name, [y for line in lines for _, y in line.points])
        choices.append((kind, Chart(across, up, about, lines)))
    return Switched(CHOICE, choices)


def _rule_lines(found: Mapping[str, list[Point]]) -> Iterator[Line]:
    for place, (name, line) in enumerate(found.items()):
        colour, dash = looks(place)
        yield Line(name, line, colour, dash)


def _first_and_last(lines: Sequence[Line]) -> tuple[int, int]:
    rounds = [int(at) for line in lines for at, _ in line.points]
    return min(rounds), max(rounds)


def losses_over_rounds(measured: Sequence[Measured], suffered: str, about: str) -> Chart:
    """What each rule lost so far, and what the best fixed model for those rounds would have."""
    lines = [
        Line(each.rule, points(each.marks, "mean_total"), looks(place)[0], dots=True)
        for place, each in enumerate(measured)
    ]
    boxes = {each.box: each.marks for each in measured}
    for (low, high), marks in boxes.items():
        ends = f", [{low:g}, {high:g}]" if len(boxes) > 1 else ""
        best = points(marks, "best_total")
        lines.append(Line(f"best fixed model{ends}", best, "ink", "4 4", dots=True))
    across = rounds_axis(*_first_and_last(lines), logarithmic=True)
    up = losses_axis(suffered, [y for line in lines for _, y in line.points])
    return Chart(across, up, about, lines)


BEHIND = (("bound", "bound", "2 4"), ("linear_regret", "linearised", "7 4"))


def regret_growth(measured: Sequence[Measured], about: str) -> Chart:
    """The regret of each rule over the examples; behind it, thinner, what it is at most.

    Regret of 0 and below has no place on a logarithmic axis: then the axis is even, and what lies
    far above is left out.
    """
    if any(y <= 0 for each in measured for _, y in points(each.marks, "regret_high")):
        return _regret_below_zero(measured, about)
    behind = [
        Line(f"{words} of {each.rule}", above_zero(each.marks, name), looks(place)[0], dash,
             width=1.2, short=words)
        for name, words, dash in BEHIND
        for place, each in enumerate(measured)
    ]  # fmt: skip
    front = [
        Line(f"regret of {each.rule}", above_zero(each.marks, "regret_high"), looks(place)[0],
             width=3.4, dots=True)
        for place, each in enumerate(measured)
    ]  # fmt: skip
    bands = [Band(wide, looks(k)[0]) for k, each in enumerate(measured) if (wide := _wide(each))]
    lines = [line for line in (*behind, *front) if line.points]
    up = losses_axis(f"regret, {unit_of(measured[0].last.ledger)}",
                     [y for line in lines for _, y in line.points])  # fmt: skip
    across = rounds_axis(*_first_and_last(lines), logarithmic=True)
    return Chart(across, up, about, lines, bands=bands, height=380)


BELOW_ZERO = (
    "Below 0 a rule lost less than every fixed model: it followed data that changed. Linearised "
    "regret and bounds are far above and not drawn; they are in the table."
)


def _regret_below_zero(measured: Sequence[Measured], about: str) -> Chart:
    """The regret of each rule on an even axis that has room for what is below 0."""
    lines = [
        Line(f"regret of {each.rule}", points(each.marks, "regret_high"), looks(place)[0],
             width=3.4, dots=True)
        for place, each in enumerate(measured)
    ]  # fmt: skip
    heights = [y for line in lines for _, y in line.points]
    low, high = min(heights), max(*heights, 0.0)
    room = 0.08 * (high - low) or 1.0
    up = Axis(f"regret, {unit_of(measured[0].last.ledger)}", low - room, high + room)
    across = rounds_axis(*_first_and_last(lines), logarithmic=True)
    zero = Level("as the best fixed model", 0.0)
    return Chart(across, up, about, lines, levels=[zero], height=300, caption=BELOW_ZERO)


def _wide(measured: Measured) -> list[tuple[float, float, float]]:
    """The intervals of the regret, where all of them are known and above 0."""
    known = [(float(m.rounds), m.regret_low, m.regret_high) for m in measured.marks]
    kept = [(at, low, high) for at, low, high in known if low is not None and high is not None]
    return kept if len(kept) == len(known) and all(low > 0 for _, low, _ in kept) else []


def points(marks: Sequence[CurvePoint] | Sequence[RegretPoint], name: str) -> list[Point]:
    """Rounds and one of the marks' numbers, where there is one."""
    return [
        (float(mark.rounds), float(value))
        for mark in marks
        if (value := getattr(mark, name)) is not None
    ]


def above_zero(marks: Sequence[RegretPoint], name: str) -> list[Point]:
    """Rounds and one of the marks' numbers, where it is above 0."""
    return [point for point in points(marks, name) if point[1] > 0]


def per_round(marks: Sequence[CurvePoint], name: str) -> list[Point]:
    """Rounds and one of the points' sums divided by Σ importance, where it is above 0.

    Numbers of 0 and below have no place on a logarithmic axis.
    """
    return [
        (float(mark.rounds), float(total) / mark.importance)
        for mark in marks
        if (total := getattr(mark, name)) is not None and total > 0 and mark.importance > 0
    ]
