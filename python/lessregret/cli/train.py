"""``lessregret train``: text in, model and regret out."""

from __future__ import annotations

import json
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from lessregret.cli.endless import endless_options
from lessregret.cli.namespaces import namespace_options
from lessregret.cli.options import (
    bad_lines_option,
    bits_option,
    by_option,
    classes_option,
    data_or_query_argument,
    format_option,
    json_option,
    l2_option,
    loss_option,
    negatives_option,
    no_intercept_option,
    parse_classes,
    progress_option,
    report_option,
    scale_option,
    threads_option,
)
from lessregret.cli.outputs import check_files, open_text
from lessregret.cli.progress import make_progress
from lessregret.cli.slices_table import slices_table
from lessregret.cli.spelling import Command
from lessregret.cli.stopping import end_by_signal, finishing_at_signals
from lessregret.cli.table_options import inferred_settings, table_options, take_data
from lessregret.cli.train_answer import train_answer
from lessregret.cli.workers import Workers, take_workers, trained_by, worker_options
from lessregret.data.files import STREAM
from lessregret.errors import InputError, SpecError
from lessregret.learners.rules import RULES, Rule, number_or_word, rule_named, rule_settings

if TYPE_CHECKING:
    from lessregret.data.given import GivenData
    from lessregret.learners.learner import Learner
    from lessregret.learners.namespaces import Namespaces
    from lessregret.training.run import Training


@click.command("train", cls=Command)
@data_or_query_argument
@loss_option
@click.option(
    "--rule",
    "rule_text",
    default="per-coordinate",
    show_default=True,
    metavar="RULE",
    help="The update rule. Parameters follow its name, as in ftrl:l1=0.5:offset=0. The rules are "
    + ", ".join(RULES)
    + ".",
)
@click.option(
    "--rate",
    type=str,
    help="The learning rate: a number, 'theory' or 'auto'. 'theory' is the rate for which the "
    "regret bound of the rule is proved. 'auto' trains several models at the same time, called "
    "lanes, and mixes their predictions, weighted by their past losses. The default is 'auto' for "
    "the rules that allow it.",
)
@click.option(
    "--radius",
    type=float,
    help="Every weight is kept within [-radius, radius]. The default is 100. The rule coin, which "
    "is also a lane of the default, does not limit weights; its radius is that of the models that "
    "its bound compares with. The rules pa, pa-i, pa-ii, cw, cw-stdev and arow do not limit "
    "weights and have no radius.",
)
@l2_option
@scale_option
@bits_option
@no_intercept_option
@namespace_options
@classes_option
@click.option(
    "--importance-aware/--no-importance-aware",
    default=None,
    help="Use importance-aware updates (Karampatziakis and Langford 2011): an example with "
    "importance h moves the weights as many small steps of total importance h would. A large "
    "importance then does not overshoot the label. There is no regret bound for these updates. The "
    "default is --importance-aware for Poisson loss with rate 'auto', whose slope is so steep that "
    "other updates overshoot the label, and --no-importance-aware otherwise.",
)
@click.option(
    "--fixed-share",
    type=float,
    metavar="NUMBER",
    help="For data that drift, only with rate 'auto': after each example this fraction of the "
    "mixture weights is shared equally among the experts, so that another expert can become the "
    "best one. The default is 0.0001.",
)
@click.option(
    "--certify/--no-certify",
    default=None,
    help="Whether to compute a lower bound on the loss of all fixed weights of a given size. This "
    "needs 8 more bytes of memory for each slot in use. The default is --certify with rate 'auto' "
    "and --no-certify otherwise.",
)
@click.option(
    "--passes",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="The number of passes over DATA. The reported loss and regret include the examples of all "
    "passes.",
)
@click.option("--model", type=click.Path(dir_okay=False), help="The file to write the model to.")
@click.option(
    "--slim",
    is_flag=True,
    help="Write only the nonzero weights to --model. The file is smaller; it can be used to "
    "predict but not to continue training.",
)
@click.option(
    "--resume",
    type=click.Path(dir_okay=False),
    help="Continue training from this model file. The result is the same as if training had never "
    "stopped.",
)
@click.option(
    "--predictions",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="Write the prediction of each example to this file; '-' is stdout. Each prediction is "
    "made before the model learns from the example.",
)
@click.option(
    "--names",
    is_flag=True,
    help="Store the feature names in the model, so that 'inspect' can show them. This uses more "
    "memory and time.",
)
@table_options
@format_option
@negatives_option
@bad_lines_option
@threads_option
@worker_options
@report_option
@by_option
@progress_option
@endless_options
@click.option("--quiet", is_flag=True, help="Print neither progress nor a summary.")
@json_option
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> None:
    """Train a model on DATA and report its progressive validation loss and its regret.

    Each example is predicted before the model learns from it. DATA are tables (CSV, TSV, Parquet,
    JSON lines, Arrow, DuckDB, SQLite), of which --label names the column to predict, or files in
    LIBSVM/svmlight or Vowpal Wabbit format, plain or compressed with gzip, zstd or xz; '-' is
    standard input. What the columns of a table are is inferred from its first rows, unless options
    say it. Progress and the summary are printed to stderr.
    """
    given, rest = take_data(options)
    request = Request(**take_workers({**rest, "data": tuple(given.files)}))
    _check(request)
    if request.workers is not None and given.negatives_kept != 1:
        raise SpecError("--negatives-kept is for one learner; leave it out, or --workers and --ray")
    started = time.perf_counter()
    learner = _learner(ctx, request, given)
    try:
        training = _trained(request, given, learner)
    except InputError:
        # A run that was stopped before its first example has none.
        end_by_signal()
        raise
    training = training._replace(resumed=request.resume, seconds=time.perf_counter() - started)
    if request.report:
        from lessregret.cli.pages import train_page

        train_page(ctx, training).write(request.report)
    _tell(request, training)
    end_by_signal()


def _trained(request: Request, given: GivenData, learner: Learner) -> Training:
    """The run, by one learner or by several workers."""
    if request.workers is not None:
        return trained_by(request.workers, given, learner, request)
    from lessregret.training.run import train

    total, before, every = _total_bytes(request, given), learner.tally(), request.every_line
    with (
        _predictions(request) as predictions,
        make_progress(request.quiet, total, before, every) as progress,
        finishing_at_signals() as note,
    ):
        if given.is_endless:
            given.on_open = lambda stream: note(stream.stop)
        return train(
            given,
            passes=request.passes,
            model=request.model,
            slim=request.slim,
            resume=learner,
            predictions=predictions,
            names=request.names,
            bad_lines=request.bad_lines,
            unlabelled=request.unlabelled,
            threads=request.threads,
            save_every=request.save_every,
            record=request.report is not None,
            by=request.by,
            progress=progress,
            progress_every=request.every_line,
        )


@dataclass(frozen=True)
class Request:
    """What the user asked for."""

    data: tuple[str, ...]
    loss: str
    rule_text: str
    rate: str | None
    radius: float | None
    l2: float
    scale: str
    bits: int
    no_intercept: bool
    namespaces: Namespaces | None
    classes_text: str | None
    importance_aware: bool | None
    fixed_share: float | None
    certify: bool | None
    passes: int
    model: str | None
    slim: bool
    resume: str | None
    predictions: str | None
    names: bool
    format: str
    bad_lines: str
    unlabelled: str
    save_every: str | None
    threads: int | None
    workers: Workers | None
    report: str | None
    by: tuple[str, ...]
    every_line: int | None
    quiet: bool
    as_json: bool

    def rule(self) -> Rule:
        """The rule asked for."""
        rate = None if self.rate is None else number_or_word(self.rate)
        written = rule_settings(self.rule_text)
        for name, value in (("rate", rate), ("radius", self.radius)):
            if value is not None and name in written:
                raise SpecError(f"{name} is given twice, by --rule and by --{name}")
        return rule_named(**{"rate": rate, "radius": self.radius, **written})

    @property
    def classes(self) -> str | int | list[str] | None:
        """The classes asked for, if there may be more than two."""
        return parse_classes(self.classes_text)

    def settings(self) -> dict[str, Any]:
        """Which learner a new model has."""
        return {
            "loss": self.loss,
            "rule": self.rule(),
            "bits": self.bits,
            "intercept": not self.no_intercept,
            "certify": self.certify,
            "l2": self.l2,
            "scale": self.scale,
            "importance_aware": self.importance_aware,
            "fixed_share": self.fixed_share,
            "namespaces": self.namespaces,
        }


def _check(request: Request) -> None:
    """Say before the run, not after it, what cannot be done."""
    from lessregret.training.saving import SaveInterval

    request.rule()
    if "-" in request.data and request.passes > 1:
        raise SpecError("standard input can be read only once; use --passes 1 or a file")
    if request.predictions == STREAM and request.as_json:
        raise SpecError("--json and --predictions - both want stdout; write predictions to a file")
    if request.quiet and request.every_line is not None:
        raise SpecError("-P asks for progress and --quiet for none; leave out one of them")
    if request.save_every is not None:
        SaveInterval.parse(request.save_every)
        if not request.model:
            raise SpecError("--save-every says how often to write a model; say where with --model")
    if request.slim and not request.model:
        raise SpecError("--slim says how to write a model; say where with --model")
    if request.workers is not None:
        request.workers.check(request)
    check_files(
        request.data,
        [request.resume],
        model=request.model,
        predictions=request.predictions,
        report=request.report,
    )


def _predictions(request: Request) -> AbstractContextManager[IO[str] | str | None]:
    """Standard output, or the name of the file that the run opens, if any."""
    return open_text(STREAM) if request.predictions == STREAM else nullcontext(request.predictions)


def _learner(ctx: click.Context, request: Request, given: GivenData) -> Learner:
    """A new learner, or the model to go on from, if the options fit it."""
    from lessregret.learners.learner import Learner
    from lessregret.learners.namespaces import check_same
    from lessregret.training.run import codes_of_classes, names_of_classes

    if request.resume is None:
        settings, asked = request.settings(), request.classes
        if asked is not None:
            settings |= codes_of_classes(asked, given.has_columns)
        names = names_of_classes(asked) if given.has_columns else None
        return Learner(**{**settings, **inferred_settings(ctx, given, request.quiet, names)})
    if request.classes is not None:
        raise SpecError(f"--classes: {request.resume} has its classes; leave it out")
    learner = Learner.load(request.resume)
    _check_resumed(ctx, request, learner.spec)
    check_same(request.namespaces, learner.space.namespaces, request.resume)
    return learner


def _check_resumed(ctx: click.Context, request: Request, spec: dict[str, Any]) -> None:
    """Options that a model already fixes may be repeated, not changed."""
    if "bits" not in spec["table"]:
        raise SpecError(
            f"{request.resume}: the model has columns, not hashed slots; "
            "it was made by an estimator and goes on there"
        )
    held = {
        "--loss": spec["loss"],
        "--bits": spec["table"]["bits"],
        "--no-intercept": not spec["intercept"],
        "--certify": spec["certify"],
        "--l2": spec["l2"],
        "--scale": spec["scale"],
        "--importance-aware": spec["importance_aware"],
        "--fixed-share": spec["fixed_share"],
        **_as_options(spec["rule"]),
    }
    for option, asked in _asked(ctx, request).items():
        if asked != held.get(option):
            raise SpecError(
                f"{option} is {asked!r}, but {request.resume} was trained with "
                f"{held.get(option)!r}; leave it out, or train a new model"
            )


def _asked(ctx: click.Context, request: Request) -> dict[str, Any]:
    """What the user said on the command line of the things that a model fixes."""
    asked: dict[str, Any] = {
        "loss": request.loss,
        "bits": request.bits,
        "no_intercept": request.no_intercept,
        "certify": request.certify,
        "l2": request.l2,
        "scale": request.scale,
        "importance_aware": request.importance_aware,
        "fixed_share": request.fixed_share,
    }
    rule = {
        "rule_text": rule_settings(request.rule_text),
        "rate": {"rate": None if request.rate is None else number_or_word(request.rate)},
        "radius": {"radius": request.radius},
    }

    def said(name: str) -> bool:
        return ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE

    options = {f"--{name.replace('_', '-')}": asked[name] for name in asked if said(name)}
    for name in filter(said, rule):
        options |= _as_options(rule[name])
    return options


def _as_options(rule: dict[str, Any]) -> dict[str, Any]:
    """A rule's settings by what a user calls them; ``l2`` of a rule is not ``--l2``."""
    names = {"name": "--rule", "rate": "--rate", "radius": "--radius"}
    return {names.get(key, f"--rule {rule.get('name')}:{key}"): rule[key] for key in rule}


def _total_bytes(request: Request, given: GivenData) -> int | None:
    total = given.total_bytes
    return None if total is None else total * request.passes


def _tell(request: Request, training: Training) -> None:
    if request.as_json:
        click.echo(json.dumps(training.as_dict(), indent=2))
    if not request.quiet:
        written = {"model": request.model, "report": request.report}
        click.echo(train_answer(training, written), err=True)
        for slicing in training.metrics.slices if training.metrics else ():
            click.echo(f"\n{slices_table(slicing)}", err=True)
    for finding in training.warnings:
        click.echo(f"lessregret: warning: {finding.in_shell}", err=True)
