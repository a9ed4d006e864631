"""``lessregret compare``: many rules on your own data, side by side."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isinf
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from lessregret.cli.namespaces import namespace_options
from lessregret.cli.options import (
    bad_lines_option,
    bits_option,
    data_or_query_argument,
    format_option,
    json_option,
    l2_option,
    loss_option,
    negatives_option,
    no_intercept_option,
    parse_rules,
    report_option,
    scale_option,
)
from lessregret.cli.outputs import check_files
from lessregret.cli.spelling import Command
from lessregret.cli.table_options import inferred_settings, table_options, with_data
from lessregret.errors import InputError
from lessregret.learners.penalty import check_strength
from lessregret.learners.rules import Rule
from lessregret.report.wording import number, part_in_words

if TYPE_CHECKING:
    from lessregret.data.given import GivenData
    from lessregret.data.streams import ExampleStream
    from lessregret.learners.learner import Learner
    from lessregret.learners.namespaces import Namespaces
    from lessregret.learners.schema import Schema
    from lessregret.regret.comparison import Row

RULES = "per-coordinate,global,cw,pa"


@click.command("compare", cls=Command)
@data_or_query_argument
@click.option(
    "--rules",
    default=RULES,
    show_default=True,
    help="The rules to compare, separated by commas. Parameters follow the name of a rule, as in "
    "ftrl:l1=0.5:offset=0.",
)
@loss_option
@click.option(
    "--shuffles",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Run the rules on this many random orders of the examples and report means. The examples "
    "are then kept in memory. 0 runs the rules once, in the order of DATA.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="The random seed of the shuffles.",
)
@click.option(
    "--radius",
    type=float,
    help="Every weight is kept within [-radius, radius]. The rules coin, pa, pa-i, pa-ii, cw, "
    "cw-stdev and arow do not limit weights and ignore the radius.",
)
@l2_option
@scale_option
@bits_option
@no_intercept_option
@namespace_options
@click.option(
    "--picture",
    type=click.Path(dir_okay=False),
    help="Write a plot of the scores to this PNG, SVG or PDF file.",
)
@table_options
@format_option
@negatives_option
@bad_lines_option
@report_option
@json_option
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> None:
    """Train one model per rule on DATA and compare their progressive validation losses.

    DATA is read once for all rules, and the rules run in parallel on all cores. Each example is
    predicted before the models learn from it. With --shuffles the scores are means and standard
    deviations over random orders of the examples.
    """
    request = Request(**with_data(options))
    rules = request.parsed_rules()
    check_files(request.given.files, [], picture=request.picture, report=request.report)
    if request.given.has_columns:
        request = replace(request, **inferred_settings(ctx, request.given, request.as_json))
        rules = request.parsed_rules()
    started = time.perf_counter()
    compared = _compare(request, rules)
    if not compared.rows[0].losses:
        raise InputError(", ".join(request.data), 0, 0, "none", "at least one example")
    if request.picture:
        from lessregret.report.comparison_picture import draw

        draw(request.picture, compared.rows, request.loss)
    if request.report:
        from lessregret.cli.pages import compare_page

        seconds = time.perf_counter() - started
        compare_page(ctx, request, rules, compared, seconds).write(request.report)
    if request.as_json:
        document = {"rows": [row.as_dict() for row in compared.rows], "skipped": compared.skipped}
        click.echo(json.dumps(document, indent=2))
    else:
        click.echo(_table(compared.rows))


@dataclass(frozen=True)
class Request:
    """What the user asked for."""

    data: tuple[str, ...]
    rules: str
    loss: str
    shuffles: int
    seed: int
    radius: float | None
    l2: float
    scale: str
    bits: int
    no_intercept: bool
    namespaces: Namespaces | None
    given: GivenData
    schema: Schema | None
    picture: str | None
    format: str
    bad_lines: str
    report: str | None
    as_json: bool

    def parsed_rules(self) -> dict[str, Rule]:
        """The rules by what the user called them."""
        check_strength(self.l2)
        return parse_rules(self.rules, self.loss, self.radius)

    def learner(self, rule: Rule) -> Learner:
        """A learner with this rule; as with the radius, L2 is for the rules that have a box."""
        from lessregret.learners.learner import Learner

        return Learner(
            self.loss,
            rule,
            bits=self.bits,
            intercept=not self.no_intercept,
            namespaces=self.namespaces,
            schema=self.schema,
            l2=0.0 if isinf(rule.width) else self.l2,
            scale=self.scale,
            certify=True,
        )

    def stream(self, learner: Learner) -> ExampleStream:
        """The data, for learners like this one."""
        return self.given.open(learner, bad_lines=self.bad_lines)


class Compared(NamedTuple):
    """What came out, and what was read."""

    rows: list[Row]
    examples: int
    skipped: int
    first_skipped: str | None


def _compare(request: Request, rules: dict[str, Rule]) -> Compared:
    from lessregret.data.examples import Examples
    from lessregret.data.streams import BLOCK
    from lessregret.regret.comparison import compare_shuffled, compare_stream

    stream = request.stream(request.learner(next(iter(rules.values()))))
    if request.shuffles == 0:
        rows = compare_stream(rules, request.learner, stream, block=BLOCK)
        marks = rows[0].curve.marks if rows[0].curve else []
        examples = marks[-1].rounds if marks else 0
        return Compared(rows, examples, stream.skipped, stream.first_skipped)
    kept = Examples.collect(stream)
    done = _reporter(request.shuffles)
    rows = compare_shuffled(
        rules, request.learner, kept, shuffles=request.shuffles, seed=request.seed, done=done
    )
    return Compared(rows, len(kept), stream.skipped, stream.first_skipped)


def _reporter(shuffles: int) -> Callable[[int], None]:
    def done(count: int) -> None:
        # At powers of two and at the end, so that a log stays short.
        if count & (count - 1) == 0 or count == shuffles:
            click.echo(f"{count} of {shuffles} shuffles", err=True)

    return done


def _table(rows: list[Row]) -> str:
    width = max(len(row.rule) for row in rows)
    score, heading = _score_of(rows)
    told = f"{'mean loss':>20}  {'mistakes':>20}  {heading:>8}  {'at most left':>12}"
    lines = [f"{'rule':<{width}}  {told}"]
    for row in rows:
        cells = row.as_dict()
        loss = _with_spread(cells["mean_loss"], cells["sd_loss"])
        mistakes = _with_spread(cells["mistake_rate"], cells["sd_mistakes"])
        ranked, left = number(row.mean_score(score), 4), part_in_words(cells["left"])
        lines.append(f"{row.rule:<{width}}  {loss:>20}  {mistakes:>20}  {ranked:>8}  {left:>12}")
    return "\n".join(lines)


def _score_of(rows: list[Row]) -> tuple[str, str]:
    """The score that a table shows beside the loss, and its heading."""
    scores = rows[0].scores
    return ("r2", "R²") if scores and "r2" in scores[0].names else ("auc", "AUC")


def _with_spread(mean: float | None, spread: float | None) -> str:
    return number(mean, 5) if spread is None else f"{number(mean, 5)} ± {number(spread, 5)}"
