"""What ``train``, ``compare`` and ``regret`` hand to the pages of ``--report``."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from lessregret.learners.largest_weights import largest_weights
from lessregret.report import (
    CompareRun,
    DataFile,
    Origin,
    RegretRun,
    Report,
    TrainRun,
    compare_report,
    regret_report,
    train_report,
)

if TYPE_CHECKING:
    from lessregret.cli import compare, regret
    from lessregret.learners.rules import Rule
    from lessregret.training.run import Training

SHOWN_WEIGHTS = 20


def train_page(ctx: click.Context, training: Training) -> Report:
    """The page of a run of ``train``."""
    learner, recorder = training.learner, training.recorder
    assert recorder is not None
    found = largest_weights(learner, SHOWN_WEIGHTS, intercept=False)
    has_intercept = learner.spec["intercept"]
    run = TrainRun(
        document=training.as_dict(),
        ledger=training.ledger,
        labels=recorder.late.all_labels,
        curve=recorder.curve,
        calibration=recorder.calibration,
        weights=[weight for weight in found if weight.weight != 0],
        intercept=learner.weight(learner.slots - 1) if has_intercept else None,
        files=[DataFile.of(name) for name in training.data],
        first_skipped=training.first_skipped,
        passes=training.passes,
        resumed=training.resumed,
        window=recorder.window,
        metrics=training.metrics,
    )
    return train_report(run, _origin(ctx))


def compare_page(
    ctx: click.Context,
    request: compare.Request,
    rules: dict[str, Rule],
    compared: compare.Compared,
    seconds: float,
) -> Report:
    """The page of a run of ``compare``."""
    run = CompareRun(
        rows=compared.rows,
        rules=rules,
        loss=request.loss,
        scale=request.scale,
        bits=request.bits,
        intercept=not request.no_intercept,
        shuffles=request.shuffles,
        seed=request.seed,
        examples=compared.examples,
        skipped=compared.skipped,
        seconds=seconds,
        files=[DataFile.of(name) for name in request.data],
        first_skipped=compared.first_skipped,
    )
    return compare_report(run, _origin(ctx))


def regret_page(
    ctx: click.Context, request: regret.Request, rules: dict[str, Rule], run: regret.Run
) -> Report:
    """The page of a run of ``regret``."""
    recorded = RegretRun(
        measured=run.measured,
        rules=rules,
        loss=request.loss,
        l2=request.l2,
        scale=request.scale,
        asked_gap=request.gap,
        bits=request.bits,
        intercept=not request.no_intercept,
        skipped=run.stream.skipped,
        seconds=run.seconds,
        files=[DataFile.of(name) for name in request.data],
        first_skipped=run.stream.first_skipped,
        certified=run.certified,
        best_of_size=run.best,
    )
    return regret_report(recorded, _origin(ctx))


def _origin(ctx: click.Context) -> Origin:
    """The run as it was typed."""
    return Origin.now(shlex.join(["lessregret", *(ctx.obj or ())]))
