"""What predictions lost, and the table of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.quality.contestants import CONTESTANTS, OURS, Predictions, Run

NEAR = 1.003
"""A loss within 0.3 % of the best rival's is not counted as worse."""


class Score(NamedTuple):
    """Of one contestant on one set."""

    loss: float
    """mean log loss, or the squared error over the variance of the labels"""
    error: float
    """the share of wrong signs; NaN in regression"""


class Result(NamedTuple):
    """Of all contestants on one set."""

    name: str
    is_regression: bool
    scores: Mapping[str, Score]

    def best_rival(self, field: str) -> float:
        """The least of what the rivals have there."""
        theirs = [getattr(s, field) for name, s in self.scores.items() if name != OURS]
        return float(np.nanmin(theirs)) if not np.all(np.isnan(theirs)) else math.nan

    @property
    def ratio(self) -> float:
        """Our loss as a part of the best rival's."""
        return self.scores[OURS].loss / self.best_rival("loss")


def labels_of(file: Path) -> Predictions:
    """The labels of a file of text."""
    with file.open() as lines:
        return np.array([float(line.split(" ", 1)[0]) for line in lines])


def score(run: Run, labels: Predictions, is_regression: bool) -> Score:
    """The mean losses, the lower of what was told and what the predictions say."""
    if is_regression:
        lost = np.mean((run.predictions - labels) ** 2)
        return Score(least(lost, run.told) / float(np.var(labels)), math.nan)
    wrong = float(np.mean((run.predictions > 0) != (labels > 0)))
    return Score(least(np.mean(np.logaddexp(0.0, -labels * run.predictions)), run.told), wrong)


def least(*losses: float) -> float:
    """The least; a loss that is no number is one without end."""
    return min(float(loss) if math.isfinite(loss) else math.inf for loss in losses)


def as_line(result: Result) -> str:
    """One row: loss and error of each contestant, and how much better our loss is."""
    cells = [as_cell(result.scores.get(name)) for name in CONTESTANTS]
    return f"| {result.name} | {' | '.join(cells)} | {1 - result.ratio:+.1%} |"


def as_cell(score: Score | None) -> str:
    """The loss, and the error in per cent."""
    if score is None:
        return ""
    loss = f"{score.loss:.4f}" if score.loss < 1000 else f"{score.loss:.1e}"
    return loss if math.isnan(score.error) else f"{loss} ({score.error:.2%})"


def as_table(results: Sequence[Result]) -> str:
    """All rows by kind, and what they come to."""
    parts = []
    for title, is_regression in (("Log loss (error rate)", False), ("MSE / variance", True)):
        chosen = [result for result in results if result.is_regression == is_regression]
        if chosen:
            heading = f"| data | {' | '.join(CONTESTANTS)} | better than the best rival by |"
            rule = "| --- |" + " ---: |" * (len(CONTESTANTS) + 1)
            lines = [heading, rule, *(as_line(result) for result in chosen)]
            parts += [f"## {title}", "\n".join(lines), summary(chosen)]
    return "\n\n".join(parts)


def summary(results: Sequence[Result]) -> str:
    """Counts, and the geometric mean of the ratios."""
    worse = sum(result.ratio > NEAR for result in results)
    mean = math.exp(sum(math.log(result.ratio) for result in results) / len(results))
    text = f"Worse than the best rival by more than 0.3 %: {worse} of {len(results)}."
    text += f" Geometric mean of our loss over the best rival's: {mean:.3f}."
    errors = [(result.scores[OURS].error, result.best_rival("error")) for result in results]
    known = [our <= their for our, their in errors if not math.isnan(our)]
    return text + (
        f" Error rate at most the best rival's: {sum(known)} of {len(known)}." if known else ""
    )
