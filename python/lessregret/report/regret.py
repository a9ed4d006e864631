"""A run of ``regret`` as a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isinf

from lessregret.learners.labels import standardises_labels
from lessregret.learners.losses import loss_named
from lessregret.learners.rules import Rule
from lessregret.regret.best_of_size import BestOfSize
from lessregret.regret.measure import Measured, RegretPoint
from lessregret.report import pictures
from lessregret.report.certified_pictures import (
    NAMES,
    Lines,
    certified_over_sizes,
    certified_shapes,
)
from lessregret.report.compare import parameters
from lessregret.report.page import DataFile, Origin, Report, Section, about_data, data_section
from lessregret.report.parts import Caution, Facts, Folded, Part, Table, Text, Tile, Tiles
from lessregret.report.wording import counted, number, unit_of

COLUMNS = """
**Regret** is the loss of the rule minus the loss of the best fixed model of the feasible set. The
loss of the best fixed model is known only to within a gap, so the regret is given as an interval.
The **linearised regret** is measured while the rule runs, without the best fixed model. It is at
least the regret, so the interval never ends above it. The **bound** is proved for the rates that
were used, whatever the data. It is at least the linearised regret.
"""


@dataclass(frozen=True)
class RegretRun:
    """What was recorded of a run of ``regret``."""

    measured: Sequence[Measured]
    rules: Mapping[str, Rule]
    loss: str
    l2: float
    scale: str
    asked_gap: float
    bits: int
    intercept: bool
    skipped: int
    seconds: float
    files: Sequence[DataFile]
    first_skipped: str | None = None
    certified: Measured | None = None
    """the rule whose certificate is shown"""
    best_of_size: Sequence[BestOfSize] = ()


def regret_report(run: RegretRun, origin: Origin) -> Report:
    """The page of a run of ``regret``."""
    last = run.measured[0].last
    lead = (
        f"{counted(len(run.measured), 'rule')} on {counted(last.rounds, 'example')}, {run.loss} "
        "loss, against the best fixed model in hindsight"
    )
    facts = Facts([("examples", f"{last.rounds:,}"), ("skipped lines", f"{run.skipped:,}")])
    growth = _growth_sections(run)
    sections = [
        Section("", [_tiles(run)]),
        *growth[:1],
        _regret_section(run),
        *growth[1:],
        *_certified_sections(run),
        _settings_section(run),
        data_section(run.files, facts, run.skipped, run.first_skipped),
    ]
    return Report(f"Regret on {about_data(run.files)}", lead, sections, origin)


def _tiles(run: RegretRun) -> Tiles:
    return Tiles([_tile(measured, _unit(run)) for measured in run.measured])


def _tile(measured: Measured, unit: str) -> Tile:
    last = measured.last
    low, high = number(last.regret_low, 5), number(last.regret_high, 5)
    return Tile(f"regret of {measured.rule}", low, f"to {high} {unit}")


def _regret_section(run: RegretRun) -> Section:
    rows = [
        [
            measured.rule,
            number(measured.last.mean_total, 5),
            number(measured.last.best_total, 5),
            f"{number(measured.last.regret_low, 5)} to {number(measured.last.regret_high, 5)}",
            number(measured.last.linear_regret, 5),
            number(measured.last.bound, 5),
        ]
        for measured in run.measured
    ]
    heading = ["rule", _suffered(run), "best fixed", "regret", "linearised", "bound"]
    about = Text(f"{COLUMNS}\nAll numbers are {_unit(run)}.")
    parts: list[Part] = [Table(heading, rows), about, *_cautions(run)]
    return Section("Regret at the end", parts)


def _unit(run: RegretRun) -> str:
    loss = loss_named(run.loss)
    game = f", {loss.units}" if standardises_labels(loss, run.scale) else ""
    return unit_of(run.measured[0].last.ledger) + game


def _cautions(run: RegretRun) -> list[Part]:
    """What a reader of the table must not overlook."""
    cautions: list[Part] = []
    unboxed = [each for each in run.measured if isinf(run.rules[each.rule].width)]
    if unboxed:
        cautions.append(Caution(
            f"Without a feasible set of their own: {', '.join(each.rule for each in unboxed)}. "
            f"Their regret is against the best fixed model of {_interval(unboxed[0])}. They have "
            "neither a linearised regret nor a bound."
        ))  # fmt: skip
    gaps = [each.last.best.gap for each in run.measured if each.last.best is not None]
    if gaps and max(gaps) > run.asked_gap:
        cautions.append(Caution(
            f"The search for the best fixed model was stopped at a gap of {max(gaps):.1e} per "
            f"example; {run.asked_gap:g} was asked for. The intervals are true, and wider."
        ))  # fmt: skip
    return cautions


def _best(mark: RegretPoint) -> str:
    return "–" if mark.best is None else f"{number(mark.best_total, 5)} ± {_gap(mark)}"


def _gap(mark: RegretPoint) -> str:
    return "–" if mark.best is None else f"{mark.best.gap:.1e}"


def _growth_sections(run: RegretRun) -> list[Section]:
    if len(run.measured[0].marks) < 2:
        return []
    losses = pictures.losses_over_rounds(
        run.measured,
        f"{_suffered(run)} so far",
        "The mean loss so far of each rule over the examples, and that of the best fixed model",
    )
    regrets = pictures.regret_growth(
        run.measured, "Regret over the examples, with its upper limits behind it, for each rule"
    )
    rows = [
        [f"{mark.rounds:,}", measured.rule, number(mark.mean_total, 6), _best(mark),
         number(mark.regret_high, 6), number(mark.linear_regret, 6), number(mark.bound, 6)]
        for measured in run.measured
        for mark in measured.marks
    ]  # fmt: skip
    heading = ["rounds", "rule", _suffered(run), "best fixed", "regret ≤", "linearised", "bound"]
    numbers = Folded("The numbers", Table(heading, rows, left=2))
    return [
        Section("Regret over the examples", [regrets, numbers]),
        Section("Loss over the examples", [losses, *_sought_once(run)]),
    ]


def _sought_once(run: RegretRun) -> list[Part]:
    if all(mark.best is not None for mark in run.measured[0].marks):
        return []
    return [Text("With `--low-memory` the best fixed model is sought once, for all examples.")]


CERTIFIED = """
The curves are what the run of `{rule}` certifies: no fixed weights of a size lose less. They follow
from the predictions of the run, without a search. {searched}
"""

SEARCHED = """
Each **circle** is the loss of the best fixed weights that a search of a few seconds found, of the
size and shape of its colour; the true least loss of that size lies between the circle and the
curve. As for the curves, the intercept does not count in the size and is at most {limit} in
absolute value, the one that was learned.
"""

NOT_SEARCHED = """
The best weights of these sizes are searched for only if all examples are kept in memory, and
without `--l2`.
"""


def _certified_sections(run: RegretRun) -> list[Section]:
    """What is certified of every size, and what the best weights found of some sizes lose."""
    if run.certified is None or not certified_shapes(run.certified.last.ledger):
        return []
    last = run.certified.last
    assert last.ledger.certificate is not None
    limit = number(abs(last.ledger.certificate.intercept_weight), 4)
    searched = SEARCHED.format(limit=limit) if run.best_of_size else NOT_SEARCHED
    text = CERTIFIED.format(rule=run.certified.rule, searched=searched)
    lines = Lines(last.mean_total, best=run.best_of_size)
    about = "What no fixed weights of a size lose less than, and the best that were found"
    unit = f"{_suffered(run)}, {_unit(run)}"
    parts: list[Part] = [Text(text), certified_over_sizes(last.ledger, lines, unit, about)]
    return [Section("Fixed weights of every size", [*parts, *_size_numbers(run)])]


def _size_numbers(run: RegretRun) -> list[Part]:
    if not run.best_of_size or run.certified is None:
        return []
    ledger = run.certified.last.ledger
    rows = [
        [NAMES[best.shape], number(best.radius, 4), number(best.loss, 6),
         number(ledger.certified(best.radius, best.shape), 6)]
        for best in run.best_of_size
    ]  # fmt: skip
    return [Folded("The numbers", Table(["size", "r", "best found", "certified"], rows))]


def _interval(measured: Measured) -> str:
    low, high = measured.box
    return f"[{low:g}, {high:g}]"


def _suffered(run: RegretRun) -> str:
    """What regret is of."""
    return "loss + L2" if run.l2 else "mean loss"


def _settings_section(run: RegretRun) -> Section:
    rows = [[each.rule, _interval(each), parameters(run.rules[each.rule])] for each in run.measured]
    facts = Facts([
        ("loss", run.loss),
        ("l2", f"{run.l2:g}"),
        ("scale", run.scale),
        ("gap asked for", f"{run.asked_gap:g}"),
        ("gap reached", ", ".join(dict.fromkeys(_gap(each.last) for each in run.measured))),
        ("slots", f"2^{run.bits} = {2**run.bits:,} for features"),
        ("intercept", "yes" if run.intercept else "no"),
        ("seconds", number(run.seconds, 2)),
    ])  # fmt: skip
    return Section(
        "Settings", [facts, Table(["rule", "best fixed in", "parameters"], rows, left=3)]
    )
