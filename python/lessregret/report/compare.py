"""A run of ``compare`` as a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from lessregret.learners.rules import RULES, BoxedRule, Rule
from lessregret.regret.comparison import Row, difference
from lessregret.report import pictures
from lessregret.report.page import DataFile, Origin, Report, Section, about_data, data_section
from lessregret.report.parts import (
    Bar,
    Bars,
    Facts,
    Folded,
    Heading,
    Interval,
    Intervals,
    Part,
    Table,
    Text,
)
from lessregret.report.wording import counted, number, part_in_words


@dataclass(frozen=True)
class CompareRun:
    """What was recorded of a run of ``compare``."""

    rows: Sequence[Row]
    rules: Mapping[str, Rule]
    loss: str
    scale: str
    bits: int
    intercept: bool
    shuffles: int
    seed: int
    examples: int
    skipped: int
    seconds: float
    files: Sequence[DataFile]
    first_skipped: str | None = None

    @property
    def ranked(self) -> list[Row]:
        """The rules, least loss first."""
        return sorted(self.rows, key=lambda row: row.mean_loss)


def compare_report(run: CompareRun, origin: Origin) -> Report:
    """The page of a run of ``compare``."""
    lead = (
        f"{counted(len(run.rows), 'rule')} on {counted(run.examples, 'example')}, {run.loss} loss, "
        "each example predicted before it was learned"
    )
    facts = Facts([("examples", f"{run.examples:,}"), ("skipped lines", f"{run.skipped:,}")])
    sections = [
        _scores_section(run),
        *_curve_sections(run),
        _settings_section(run),
        data_section(run.files, facts, run.skipped, run.first_skipped),
    ]
    return Report(f"Rules compared on {about_data(run.files)}", lead, sections, origin)


def _scores_section(run: CompareRun) -> Section:
    return Section("Differences", [*_differences(run), Text(_how_to_read(run)), *_mistakes(run)])


def _differences(run: CompareRun) -> list[Part]:
    """What each rule lost beyond the best, then all scores."""
    best, *others = run.ranked
    if not others:
        return [_score_table(run)]
    found = [(row.rule, difference(row, best)) for row in others]
    rows = [Interval(best.rule, 0.0, 0.0, 0.0), *(Interval(rule, *each) for rule, each in found)]
    # Rules that do not look at the loss can lose so much that the others would stand in one place.
    near = [each.high for rule, each in found if isinstance(run.rules[rule], BoxedRule)]
    about = (
        f"Mean {run.loss} loss of each rule minus that of `{best.rule}`, which lost the least: "
        f"{number(best.mean_loss, 6)}. The line is the 95 % interval of the difference; where it "
        "crosses 0, these data do not tell the two rules apart."
    )
    values = "more loss (95 % interval)"
    return [Text(about), Intervals("rule", values, rows, max(near, default=inf)), _score_table(run)]


def _mistakes(run: CompareRun) -> list[Part]:
    bars = [
        Bar(row.rule, row.mistake_rate, f"{row.mistake_rate:.4%}")
        for row in run.ranked
        if row.mistake_rate is not None
    ]
    return [Heading("Mistakes"), Bars("rule", "mistakes", bars)] if bars else []


def _score_table(run: CompareRun) -> Table:
    """Least loss first; columns that would be empty are left out."""
    columns = {
        "mean_loss": "mean loss",
        "sd_loss": "sd",
        "mistake_rate": "mistakes",
        "sd_mistakes": "sd",
        "auc": "AUC",
        "r2": "R²",
        "left": "at most left",
    }
    documents = [{"auc": None, "r2": None, **_flat(row)} for row in run.ranked]
    kept = [name for name in columns if any(each[name] is not None for each in documents)]
    rows = [[each["rule"], *(_cell(name, each[name]) for name in kept)] for each in documents]
    return Table(["rule", *(columns[name] for name in kept)], rows)


def _flat(row: Row) -> dict[str, Any]:
    """The document of a row, with its scores beside its other numbers."""
    document = row.as_dict()
    return {**(document["metrics"] or {}), **document}


def _cell(name: str, value: float | None) -> str:
    if name in ("mistake_rate", "sd_mistakes"):
        return "–" if value is None else f"{value:.4%}"
    return part_in_words(value) if name == "left" else number(value, 6)


def _how_to_read(run: CompareRun) -> str:
    seen = (
        f"Means over {counted(run.shuffles, 'shuffle')} of the examples; sd is the standard "
        "deviation over them, which says how much the order matters."
        if run.shuffles
        else "The examples were taken as they stand: one order, one sample."
    )
    return (
        f"{seen} The loss is fair only among rules that look at it: {_rules_of_the_loss()}. The "
        "others aim at the sign of the margin, and are better compared by their mistakes. *At most "
        "left* is the part of the loss that fixed weights as large as those of the row's own model "
        "could have saved; *open* means more than a half."
    )


def _rules_of_the_loss() -> str:
    *names, last = (f"`{name}`" for name, rule in RULES.items() if issubclass(rule, BoxedRule))
    return f"{', '.join(names)} and {last}"


def _curve_sections(run: CompareRun) -> list[Section]:
    curves = {row.rule: row.curve for row in run.ranked if row.curve is not None}
    if not curves or run.examples < 2:
        return []
    picture = pictures.rules_over_rounds(curves, run.loss)
    marks = [curve.marks for curve in curves.values()]
    rows = [
        [f"{marked[0].rounds:,}", *(number(mark.mean_loss, 6) for mark in marked)]
        for marked in zip(*marks, strict=True)
    ]
    numbers = Folded("The numbers", Table(["rounds", *curves], rows, left=0))
    return [Section("Loss over examples", [picture, numbers])]


def _settings_section(run: CompareRun) -> Section:
    rows = [[name, parameters(rule)] for name, rule in run.rules.items()]
    facts = Facts([
        ("loss", run.loss),
        ("slots", f"2^{run.bits} = {2**run.bits:,} for features"),
        ("scale", run.scale),
        ("intercept", "yes" if run.intercept else "no"),
        ("shuffles", str(run.shuffles) if run.shuffles else "none: the data as they stand"),
        ("seed", str(run.seed) if run.shuffles else None),
        ("seconds", number(run.seconds, 2)),
    ])  # fmt: skip
    return Section("Settings", [facts, Table(["rule", "parameters"], rows, left=2)])


def parameters(rule: Rule) -> str:
    spec = {name: value for name, value in rule.spec().items() if name != "name"}
    return ", ".join(f"{name} {value}" for name, value in spec.items() if value is not None)
