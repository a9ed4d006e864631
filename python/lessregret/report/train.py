"""A run of ``train`` as a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Literal

from lessregret.learners.largest_weights import NamedWeight
from lessregret.learners.losses import loss_named
from lessregret.learners.outcomes import LabelSums
from lessregret.learners.rules import Coin
from lessregret.ledger import STANDARDISED_LABELS, Ledger
from lessregret.report import pictures
from lessregret.report.certified import Certified, certified_section, certified_tile
from lessregret.report.classes import classes_sections
from lessregret.report.page import DataFile, Origin, Report, Section, about_data, data_section
from lessregret.report.parts import (
    Bar,
    Bars,
    Caution,
    Facts,
    Folded,
    Part,
    Table,
    Text,
    Tile,
    Tiles,
)
from lessregret.report.slices import metric_tiles, slices_sections
from lessregret.report.wording import counted, number, weight_text
from lessregret.training.calibration import Bin, Calibration
from lessregret.training.curve import Curve, CurvePoint
from lessregret.training.progressive import RunMetrics
from lessregret.training.run_warnings import constant_loss
from lessregret.training.window import Window

NAMELESS = 5
"""how many of the largest weights are shown if their features have no names"""


@dataclass(frozen=True)
class TrainRun:
    """What was recorded of a run of ``train``."""

    document: dict[str, Any]
    """what ``train --json`` prints"""
    ledger: Ledger
    """the ledger at the end"""
    labels: LabelSums
    """the labels of this run"""
    curve: Curve
    calibration: Calibration | None
    """None where there are no probabilities"""
    weights: Sequence[NamedWeight]
    """the largest, the intercept's not among them"""
    intercept: float | None
    files: Sequence[DataFile]
    first_skipped: str | None = None
    passes: int = 1
    resumed: str | None = None
    """the model that the run went on from"""
    window: Window | None = None
    """about the last tenth of the run, if it has a certificate"""
    metrics: RunMetrics | None = None
    """the scores of this run, of its last tenth and of its slices"""

    @property
    def loss_in_all(self) -> float:
        """The loss of all rounds, in the game that the regret is about."""
        return self.curve.marks[-1].loss

    @property
    def earlier_rounds(self) -> int:
        """The rounds of the runs before this one."""
        return self.curve.before.rounds

    @property
    def constant(self) -> float | None:
        """The mean loss of the best constant prediction; None after earlier runs."""
        known = not self.earlier_rounds and self.labels.importance > 0
        return constant_loss(self.document["loss"], self.labels) if known else None

    @property
    def upper(self) -> list[str]:
        """The numbers that the regret in the feasible set is at most, if they are below the loss.

        No loss is negative, so no regret is above the loss.
        """
        known = {name: self.document[name] for name in ("linear_regret", "bound")}
        return [n for n, total in known.items() if total is not None and total < self.loss_in_all]

    @property
    def positive(self) -> str:
        """What the label 1 is called: the positive class of a table has a name."""
        classes = (self.document["spec"].get("schema") or {}).get("classes") or {}
        return str(classes.get("positive", 1))

    @property
    def probabilities(self) -> Calibration | None:
        """The calibration, if an example counted in it."""
        known = self.calibration is not None and self.calibration.examples > 0
        return self.calibration if known else None


def train_report(run: TrainRun, origin: Origin) -> Report:
    """The page of a run of ``train``."""
    about = about_data(run.files)
    document = run.document
    lead = (
        f"{counted(document['examples'], 'example')}, rule {document['rule']}, "
        f"{document['loss']} loss, each predicted before it was learned"
    )
    sections = [
        Section("", [_headline(run), *_cautions(run)]),
        _loss_section(run),
        *_calibration_sections(run),
        *slices_sections(run.metrics),
        *classes_sections(run.metrics),
        _weights_section(run),
        certified_section(_certified(run)),
        *_regret_sections(run),
        *_lanes_sections(run),
        _settings_section(run),
        data_section(run.files, _data_facts(document), document["skipped"], run.first_skipped),
    ]
    return Report(f"Training on {about}", lead, sections, origin)


def _lanes_sections(run: TrainRun) -> list[Section]:
    """The experts side by side, where the run had several."""
    lanes, importance = run.document["lanes"], run.document["importance"]
    if not lanes or not importance:
        return []
    rows = [
        (expert["name"], f"{expert['share']:.2%}", number(expert["loss"] / importance, 6))
        for expert in [*lanes, {"name": "stack", **run.document["stack"]}]
    ]
    cost = number(run.document["mixing_cost"], 2)
    about = (
        "No rate was chosen. Several models, called lanes, were learned at the same time. The "
        "stack learned how to add up their margins. The prediction is a mixture of these experts "
        "by what they had lost before. "
        f"Against the best expert that cost at most {cost} in all, whatever the data."
    )
    return [Section("Lanes", [Text(about), Table(("expert", "share", "mean loss"), rows)])]


def _headline(run: TrainRun) -> Tiles:
    document = run.document
    tiles = [
        Tile(f"mean {document['loss']} loss", number(document["mean_loss"], 6), _idle_loss(run))
    ]
    tiles += metric_tiles(run.metrics)
    if document["mistake_rate"] is not None:
        tiles.append(Tile("mistakes", f"{document['mistake_rate']:.4%}", _idle_mistakes(run)))
    tiles += certified_tile(run.ledger)
    if "bound" in run.upper:
        tiles.append(_bound_tile(run))
    tiles.append(Tile("examples", f"{document['examples']:,}"))
    tiles.append(Tile("seconds", number(document["seconds"], 2)))
    return Tiles(tiles)


def _bound_tile(run: TrainRun) -> Tile:
    each = run.document["bound"] / run.document["importance"]
    game = f"{run.ledger.units}, " if run.document["game"] == STANDARDISED_LABELS else ""
    return Tile(
        "regret a round, proved", f"≤ {number(each, 6)}", f"{game}for weights in the feasible set"
    )


def _idle_loss(run: TrainRun) -> str:
    """What the best constant would have cost."""
    return "" if run.constant is None else f"{_one_for_all(run)}: {number(run.constant, 6)}"


def _one_for_all(run: TrainRun) -> str:
    return "one probability for all" if run.probabilities else "one prediction for all"


def _idle_mistakes(run: TrainRun) -> str:
    if run.probabilities is None or run.earlier_rounds:
        return ""
    share = run.probabilities.observed
    return f"one label for all: {min(share, 1 - share):.4%}"


def _cautions(run: TrainRun) -> list[Part]:
    parts: list[Part] = []
    if run.resumed is not None:
        parts.append(
            Caution(
                f"This run went on from {run.resumed} and its "
                f"{counted(run.earlier_rounds, 'round')}, which count in all totals and means here."
            )
        )
    if run.passes > 1:
        parts.append(
            Caution(
                f"The data were read {run.passes} times. After the first time the examples were no "
                "longer unseen, so the losses say less about new ones."
            )
        )
    parts += [Caution(f"Warning: {warning}.") for warning in run.document["warnings"]]
    return parts


def _loss_section(run: TrainRun) -> Section:
    marks, loss = run.curve.marks, run.document["loss"]
    guide = None if run.constant is None else (_one_for_all(run), run.constant)
    drawn = _has_a_curve(marks) and pictures.loss_over_rounds(run.curve, loss, guide)
    return Section("Loss over examples", _pictured(drawn, _loss_table(marks)))


def _has_a_curve(marks: Sequence[CurvePoint]) -> bool:
    """Whether there are two points to join; rounds of importance 0 have no loss."""
    return sum(mark.loss > 0 for mark in marks) > 1


def _pictured(chart: Part | Literal[False], numbers: Part) -> list[Part]:
    """A chart with its numbers folded away; the numbers alone where there is no chart."""
    return [chart, Folded("The numbers", numbers)] if chart else [numbers]


def _loss_table(marks: Sequence[CurvePoint]) -> Table:
    heading = ["rounds", "mean loss so far", "since the mark before"]
    rows = [
        [f"{mark.rounds:,}", number(mark.mean_loss, 6), number(mark.loss_since, 6)]
        for mark in marks
    ]
    return Table(heading, rows, left=0)


def _certified(run: TrainRun) -> Certified:
    spec = run.document["spec"]
    # A constant prediction has another loss in the game on standardised labels, whose mean and
    # spread are those so far, and with L2 a penalty. Neither is known.
    comparable = run.document["game"] != STANDARDISED_LABELS and not spec["l2"]
    constant = run.constant if comparable else None
    return Certified(run.ledger, run.curve.marks, spec, constant, run.window)


def _regret_sections(run: TrainRun) -> list[Section]:
    """What the regret in the feasible set is at most, if a number below the loss is known."""
    marks, document = run.curve.marks, run.document
    if not run.upper:
        return []
    about = "What the regret a round is at most, beside the loss a round, over the rounds"
    drawn = _has_a_curve(marks) and pictures.regret_over_rounds(marks, run.upper, about)
    shown = _pictured(drawn, _regret_table(marks, run.upper))
    plain = document["importance"] == document["examples"]
    words = REGRET if plain else f"{REGRET}\n{PER_IMPORTANCE}"
    words += (
        f"\n{STANDARDISED.format(units=run.ledger.units)}"
        if document["game"] == STANDARDISED_LABELS
        else ""
    )
    return [Section("Regret a round", [Text(words), *shown, Text(_what_is_known(run))])]


REGRET = """\
The regret is what the run lost beyond the best fixed weights of the feasible set, in hindsight. It
is not known, but it is *at most* the numbers below.
"""


PER_IMPORTANCE = """\
The examples have importances. A number a round is per unit of importance, as the mean loss is.
"""


STANDARDISED = """\
The labels are standardised: regret, bound and the loss beside them are {units}.
"""


HOW = {"linear_regret": "measured", "bound": "proved"}


def _what_is_known(run: TrainRun) -> str:
    sentences = [_from_where(run, name) for name in run.upper]
    least = run.loss_in_all - min(run.document[name] for name in run.upper)
    sentences.append(
        f"The run lost {number(run.loss_in_all, 1)} in all; no fixed weights in the feasible set "
        f"lose less than {number(least, 1)}."
    )
    return " ".join(sentences)


def _from_where(run: TrainRun, name: str) -> str:
    start = pictures.below_loss_from(run.curve.marks, name)
    when = "at every mark" if start == run.curve.marks[0].rounds else f"from round {start:,} on"
    return f"The {HOW[name]} number is below the loss {when}."


def _regret_table(marks: Sequence[CurvePoint], names: Sequence[str]) -> Table:
    heading = ["rounds", *(f"{HOW[name]}, at most" for name in names), "the loss itself"]
    rows = [
        [f"{mark.rounds:,}", *(_each(getattr(mark, name), mark) for name in (*names, "loss"))]
        for mark in marks
    ]
    return Table(heading, rows, left=0)


def _each(total: float | None, point: CurvePoint) -> str:
    each = None if total is None or not point.importance else total / point.importance
    return number(each, 6)


def _calibration_sections(run: TrainRun) -> list[Section]:
    """Are the probabilities what they say? Only logistic loss has any."""
    if loss_named(run.document["loss"]).link != "probability":
        return []
    if run.probabilities is None:
        return []
    label = f"label {run.positive}"
    parts: list[Part] = [Text(_about_shares(run.probabilities, label))]
    bins = run.probabilities.bins()
    if bins:
        about = f"The observed share of {label} over the predicted probability, in bins"
        share = run.probabilities.observed
        parts.append(pictures.calibration(bins, share, about, CALIBRATION.format(label=label)))
        parts.append(Folded("The numbers", _bin_table(bins)))
    else:
        parts.append(Text("That is too few examples for a picture."))
    return [Section("Calibration", parts)]


CALIBRATION = (
    "Bins of about equal weight; each probability was made just before its example was learned. "
    "Above the dotted line {label} came more often than predicted, below it less often. A bar "
    "without a dot: {label} did not come."
)


def _about_shares(found: Calibration, label: str) -> str:
    return (
        f"In {counted(found.examples, 'example')} of this run {label} was predicted with "
        f"probability {found.predicted:.4%} on average, and was observed in {found.observed:.4%}."
    )


def _bin_table(bins: Sequence[Bin]) -> Table:
    heading = ["predicted", "observed", "95 % from", "to", "examples"]
    rows = [
        [*(f"{share:.5f}" for share in (b.predicted, b.observed, b.low, b.high)), f"{b.examples:,}"]
        for b in bins
    ]
    return Table(heading, rows, left=0)


def _weights_section(run: TrainRun) -> Section:
    parts: list[Part] = []
    if run.intercept is not None:
        parts.append(Facts([("intercept", weight_text(run.intercept))]))
    if run.weights:
        # Numbers of slots tell a reader little, so a few of them are enough.
        shown = run.weights if _has_names(run) else run.weights[:NAMELESS]
        bars = [Bar(_feature(weight), weight.weight) for weight in shown]
        parts.append(Bars("feature", "weight", bars))
    else:
        parts.append(Text("All weights are 0."))
    return Section("Largest weights", [*parts, *map(Text, _about_weights(run))])


def _has_names(run: TrainRun) -> bool:
    return any(weight.name is not None for weight in run.weights)


def _about_weights(run: TrainRun) -> list[str]:
    words = []
    radius = _radius_of_shown_weights(run.document)
    # Weights are float32, so the radius may have been rounded down.
    at_edge = sum(abs(weight.weight) >= radius * (1 - 1e-6) for weight in run.weights)
    if at_edge:
        words.append(
            f"{at_edge} of these {len(run.weights)} stand at the edge of the feasible set; a "
            "larger `--radius` would let them go further."
        )
    if run.weights and not _has_names(run):
        words.append("With `--names` the features have names here, and more are shown.")
    return words


def _radius_of_shown_weights(document: dict[str, Any]) -> float:
    """The limit of the weights as they are shown, for unscaled values; infinite if there is none.

    The scales "standard" and "full" may make the values of a feature larger. A weight for unscaled
    values can then exceed the radius when the weight that was learned is far below it. A coin does
    not limit its weights.
    """
    best = max(document["lanes"], key=lambda lane: lane["share"], default=document["spec"]["rule"])
    if document["spec"]["scale"] in ("standard", "full") or best["name"] == Coin.name:
        return inf
    return document["spec"]["rule"].get("radius") or inf


def _feature(weight: NamedWeight) -> str:
    shared = " (shared with another feature)" if weight.collided else ""
    return f"slot {weight.slot}" if weight.name is None else weight.name + shared


def _settings_section(run: TrainRun) -> Section:
    spec, document = run.document["spec"], run.document
    return Section("Settings", [Facts([
        ("loss", spec["loss"]),
        ("rule", spec["rule"]["name"]),
        *rule_facts(spec["rule"]),
        ("l2", f"{spec['l2']:g}" if spec["l2"] else None),
        ("scale", spec["scale"]),
        ("updates", "importance-aware" if spec["importance_aware"] else None),
        ("fixed share", f"{spec['fixed_share']:g}" if spec["fixed_share"] else None),
        ("slots", _slots(spec["table"]["bits"], document["touched"])),
        ("intercept", "yes" if spec["intercept"] else "no"),
        ("certified", "yes" if spec["certify"] else "no"),
        ("passes", str(run.passes)),
        ("resumed from", run.resumed),
        ("model written to", document["model"]),
    ])])  # fmt: skip


def rule_facts(rule: dict[str, Any]) -> list[tuple[str, str | None]]:
    """A rule's parameters, without those that are not set."""
    return [
        (name, None if value is None else str(value))
        for name, value in rule.items()
        if name != "name"
    ]


def _slots(bits: int, touched: int) -> str:
    return f"2^{bits} = {2**bits:,} for features; {touched:,} touched"


def _data_facts(document: dict[str, Any]) -> Facts:
    weighted = document["importance"] != document["examples"]
    return Facts([
        ("examples", f"{document['examples']:,}"),
        ("features", f"{document['features']:,}, repeats and the intercept included"),
        ("importance", number(document["importance"], 2) if weighted else None),
        ("skipped lines", f"{document['skipped']:,}"),
    ])  # fmt: skip
