"""``lessregret regret``: what was lost against the best fixed model, with a certificate."""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from math import inf, isinf
from typing import TYPE_CHECKING, Any

import click

from lessregret.cli.namespaces import namespace_options
from lessregret.cli.options import (
    bad_lines_option,
    bits_option,
    classes_option,
    data_or_query_argument,
    format_option,
    json_option,
    l2_option,
    loss_option,
    negatives_option,
    no_intercept_option,
    parse_classes,
    parse_rules,
    report_option,
    scale_option,
)
from lessregret.cli.outputs import check_files
from lessregret.cli.regret_progress import Phases, Watch, make_phases
from lessregret.cli.search_stop import SearchStop, certified_so_far
from lessregret.cli.spelling import Command
from lessregret.cli.table_options import inferred_settings, table_options, with_data
from lessregret.errors import InputError, SpecError
from lessregret.learners.labels import standardises_labels
from lessregret.learners.losses import loss_named
from lessregret.learners.penalty import check_strength
from lessregret.learners.rules import Rule
from lessregret.ledger import LABELS_AS_GIVEN, STANDARDISED_LABELS
from lessregret.report.wording import number

if TYPE_CHECKING:
    from lessregret.data.given import GivenData
    from lessregret.data.streams import ExampleStream
    from lessregret.learners.learner import Learner
    from lessregret.learners.namespaces import Namespaces
    from lessregret.learners.schema import Schema
    from lessregret.regret.best_of_size import BestOfSize
    from lessregret.regret.comparator import BestFixed, OverFiles
    from lessregret.regret.measure import Measured, Source

RULES = "per-coordinate,global"
UNBOXED_RADIUS = 100.0


@click.command("regret", cls=Command)
@data_or_query_argument
@click.option(
    "--rules",
    default=RULES,
    show_default=True,
    help="The rules to measure, separated by commas. Parameters follow the name of a rule, as in "
    "per-coordinate:rate=theory.",
)
@loss_option
@click.option(
    "--radius",
    type=float,
    help="Every weight is kept within [-radius, radius], in the rules that limit weights and in "
    "the best fixed model. The default is 100.",
)
@l2_option
@scale_option
@click.option(
    "--gap",
    type=float,
    default=1e-4,
    show_default=True,
    help="How precisely to compute the loss of the best fixed model: the search stops when the "
    "mean loss found is proved to be within this distance of the smallest possible one.",
)
@click.option(
    "--growth/--no-growth",
    default=True,
    show_default=True,
    help="Also compute the best fixed model for the first half, quarter, … of the examples, to "
    "show how the regret grew. Not available with --low-memory.",
)
@click.option(
    "--low-memory",
    is_flag=True,
    help="Do not keep the examples in memory; read the files again in each pass of the search for "
    "the best fixed model.",
)
@click.option(
    "--checkpoint",
    type=click.Path(dir_okay=False),
    help="Save the best fixed model found so far to this file; if the file exists, start the "
    "search from it.",
)
@bits_option
@no_intercept_option
@namespace_options
@classes_option
@click.option(
    "--picture",
    type=click.Path(dir_okay=False),
    help="Write a plot of how the regret grew to this PNG, SVG or PDF file.",
)
@table_options
@format_option
@negatives_option
@bad_lines_option
@report_option
@click.option("--quiet", is_flag=True, help="Print no progress.")
@json_option
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> None:
    """Measure the regret of rules on DATA: their loss minus the loss of the best fixed model.

    The best fixed model is the single weight vector with the smallest loss on all of DATA. Its loss
    is computed to within --gap, so the regret is reported as an interval. The linearised regret is
    an upper bound on the regret that is measured while the rule runs. The bound is an upper bound
    on the linearised regret that is proved by a theorem. All numbers are per example, or per unit
    of importance if examples have importances. Ctrl-C stops the search for the best fixed model;
    the gap reached so far is then reported.
    """
    request = Request(**with_data(options))
    rules = request.parsed_rules()
    request.check_data()
    request.check_classes()
    request.check_places()
    if request.given.has_columns:
        names = request.names_of_classes()
        request = replace(request, **inferred_settings(ctx, request.given, request.quiet, names))
        request.check_classes()
        rules = request.parsed_rules()
    start = _start(request)
    started = time.perf_counter()
    phases = make_phases(request.quiet, request.given.total_bytes)
    with SearchStop() as stop, _warnings_in_a_line(), phases:
        run = _measure(request, rules, start, phases, Watch(request, stop, phases))
        if request.as_json or request.report:
            phases.sizes()
            run = replace(run, best=_best_of_sizes(request, run, stop))
    if stop.asked:
        click.echo(certified_so_far(request.gap, run.measured), err=True)
    run = replace(run, seconds=time.perf_counter() - started)
    if request.picture:
        from lessregret.report.regret_picture import draw

        draw(request.picture, run.measured)
    if request.report:
        from lessregret.cli.pages import regret_page

        regret_page(ctx, request, rules, run).write(request.report)
    click.echo(_document(request, run) if request.as_json else _table(request, run))


@dataclass(frozen=True)
class Request:
    """What the user asked for."""

    data: tuple[str, ...]
    rules: str
    loss: str
    radius: float | None
    l2: float
    scale: str
    gap: float
    growth: bool
    low_memory: bool
    checkpoint: str | None
    bits: int
    no_intercept: bool
    namespaces: Namespaces | None
    classes_text: str | None
    given: GivenData
    schema: Schema | None
    picture: str | None
    format: str
    bad_lines: str
    report: str | None
    quiet: bool
    as_json: bool

    def parsed_rules(self) -> dict[str, Rule]:
        """The rules by what the user called them."""
        check_strength(self.l2)
        _check_positive("--gap", self.gap)
        if self.radius is not None:
            _check_positive("--radius", self.radius)
        rules = parse_rules(self.rules, self.loss, self.radius)
        unboxed = [name for name, rule in rules.items() if isinf(rule.width)]
        if self.l2 > 0 and unboxed:
            raise SpecError(
                f"--l2 is for rules with a feasible set, and {unboxed[0]} has none; leave out one"
            )
        return rules

    def check_data(self) -> None:
        """Say before the run, not after it, that the data can be read only once."""
        for name in self.data if self.low_memory else ():
            if name == "-" or (os.path.exists(name) and not os.path.isfile(name)):
                raise SpecError(
                    f"--low-memory reads the data again and again, and {name} can be read only "
                    "once; leave it out to keep the examples in memory, or give a file"
                )

    def check_classes(self) -> None:
        """Say before the run what is not there for many classes."""
        many = self.classes_text is not None or (self.schema is not None and self.schema.names)
        if many and self.low_memory:
            raise SpecError(
                "--low-memory searches the best fixed weights of two classes or of numbers; leave "
                "it out to keep the examples of many classes in memory"
            )

    def names_of_classes(self) -> list[str] | None:
        """The names of the classes of a table, if they are asked for."""
        from lessregret.training.run import names_of_classes

        return names_of_classes(parse_classes(self.classes_text))

    def classes(self) -> dict[str, Any]:
        """The classes of a learner."""
        from lessregret.training.run import codes_of_classes

        asked = parse_classes(self.classes_text)
        return {} if asked is None else codes_of_classes(asked, self.given.has_columns)

    def check_places(self) -> None:
        """Say before the run, not after it, what cannot be written."""
        check_files(
            self.given.files,
            [],
            picture=self.picture,
            checkpoint=self.checkpoint,
            report=self.report,
        )

    @property
    def game(self) -> str:
        """The game that is played, as a ledger names it."""
        standardised = standardises_labels(loss_named(self.loss), self.scale)
        return STANDARDISED_LABELS if standardised else LABELS_AS_GIVEN

    def learner(self, rule: Rule) -> Learner:
        """A learner that keeps the account of its regret, where the rule allows it."""
        from lessregret.learners.learner import Learner

        return Learner(
            self.loss,
            rule,
            bits=self.bits,
            intercept=not self.no_intercept,
            namespaces=self.namespaces,
            schema=self.schema,
            certify=True,
            l2=self.l2,
            # The stream scales: rules and best fixed model are to play the same game.
            scale="none",
            **self.classes(),
        )

    def stream(self, learner: Learner) -> ExampleStream:
        """The data, for learners like this one."""
        return self.given.open(learner, bad_lines=self.bad_lines, scale=self.scale)

    def again(self, like: Learner, loss: str) -> OverFiles:
        """The data, to be read again and again."""
        from lessregret.regret.comparator import OverFiles

        return OverFiles(self.given, like, loss, bad_lines=self.bad_lines, scale=self.scale)


@dataclass(frozen=True)
class Run:
    """What was measured, and what was read."""

    measured: list[Measured]
    stream: ExampleStream
    source: Source
    seconds: float = 0.0
    best: Sequence[BestOfSize] = ()
    """the best fixed weights of some sizes, searched for with the limits of the certificate"""

    @property
    def certified(self) -> Measured | None:
        """The rule that lost least of those that certify something."""
        known = [each for each in self.measured if each.last.ledger.certificate is not None]
        return min(known, key=lambda each: each.last.mean_total, default=None)


def _measure(
    request: Request,
    rules: dict[str, Rule],
    start: BestFixed | None,
    phases: Phases,
    watch: Watch,
) -> Run:
    from lessregret.regret.measure import measure

    learner = request.learner(next(iter(rules.values())))
    stream = request.stream(learner)
    radius = UNBOXED_RADIUS if request.radius is None else request.radius
    source = _source(request, stream, learner, phases)
    measured = measure(
        rules,
        request.learner,
        source,
        radius=radius,
        gap=request.gap,
        start=start,
        watch=watch,
    )
    if not measured[0].marks:
        raise InputError(", ".join(request.data), 0, 0, "none", "at least one example")
    return Run(measured, stream, source)


def _best_of_sizes(request: Request, run: Run, stop: SearchStop) -> list[BestOfSize]:
    """The best fixed weights of some sizes, where all examples are in memory and without L2."""
    from lessregret.regret.best_of_size import best_of_sizes

    certified = run.certified
    if certified is None or request.low_memory or request.l2 > 0:
        return []
    if run.source.is_of_classes:
        # This search is for the limits of a certificate of one margin.
        return []
    last, intercept = certified.last, None if request.no_intercept else 2**request.bits
    passes = run.source.passes(request.loss, last.rounds, True)
    assert passes is not None
    assert last.ledger.certificate is not None
    return best_of_sizes(passes, last.ledger.certificate, intercept, go_on=lambda: not stop.asked)


def _source(request: Request, stream: ExampleStream, like: Learner, phases: Phases) -> Source:
    from lessregret.data.examples import Examples
    from lessregret.regret.measure import FromFiles, FromMemory

    if request.low_memory:
        again = partial(request.again, like)
        return FromFiles(stream, again, watch=phases.read if phases.live else None)
    phases.reads_all()
    examples = Examples.collect(stream)
    watch = phases.learned if phases.live else None
    return FromMemory(examples, growth=request.growth, watch=watch)


def _start(request: Request) -> BestFixed | None:
    from lessregret.regret.comparator import BestFixed

    if request.checkpoint is None or not os.path.exists(request.checkpoint):
        return None
    return BestFixed.load(request.checkpoint)


@contextmanager
def _warnings_in_a_line() -> Iterator[None]:
    """Warnings are told as errors are, without a place in the code, each time and at once."""
    from lessregret.regret.comparator import GapWarning

    def tell(message: Warning | str, *where: Any, **more: Any) -> None:
        click.echo(f"lessregret: warning: {message}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", GapWarning)
        warnings.showwarning = tell
        yield


def _document(request: Request, run: Run) -> str:
    last = run.measured[0].last
    document = {
        "examples": last.rounds,
        "loss": request.loss,
        "l2": request.l2,
        "scale": request.scale,
        "game": request.game,
        "rows": [measured.as_dict() for measured in run.measured],
        "best_of_size": _best_as_dicts(run),
        "skipped": run.stream.skipped,
        "seconds": round(run.seconds, 3),
    }
    return json.dumps(document, indent=2)


def _best_as_dicts(run: Run) -> list[dict[str, Any]]:
    certified = run.certified
    if certified is None:
        return []
    ledger, rule = certified.last.ledger, certified.rule
    return [
        {"rule": rule, **best._asdict(), "certified": ledger.certified(best.radius, best.shape)}
        for best in run.best
    ]


def _table(request: Request, run: Run) -> str:
    suffered = "loss + L2" if request.l2 else "mean loss"
    heading = ("rule", suffered, "best fixed", "± gap", "regret", "linearised", "bound")
    cells = [heading, *(_cells(measured) for measured in run.measured)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(heading))]
    lines = []
    for row in cells:
        first, *rest = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        lines.append("  ".join([row[0].ljust(len(first)), *rest]))
    below = [each.rule for each in run.measured if (each.last.regret_high or 0.0) < 0]
    if below:
        lines.append(
            f"Below 0: {', '.join(below)} lost less than every fixed model with weights within "
            "the radius, as a rule can that follows data which change."
        )
    if request.game == STANDARDISED_LABELS:
        lines.append(
            f"The labels are standardised: all numbers are {loss_named(request.loss).units}."
        )
    return "\n".join(lines)


def _cells(measured: Measured) -> tuple[str, ...]:
    last = measured.last
    best = last.best
    gap = "–" if best is None else f"{best.gap:.1e}"
    return (
        measured.rule,
        number(last.mean_total, 6),
        number(None if best is None else best.mean_total, 6),
        gap,
        f"{number(last.regret_low, 6)} to {number(last.regret_high, 6)}",
        number(last.linear_regret, 6),
        number(last.bound, 6),
    )


def _check_positive(option: str, value: float) -> None:
    if not 0 < value < inf:
        raise SpecError(f"{option} must be a number above 0; got {value:g}")
