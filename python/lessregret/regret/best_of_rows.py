"""The best fixed point of given rows, enclosed in float64.

The comparator reads values, labels and importances as float32. That is how our own learners see
them, but not how other learners do. So its point is judged again, by the rows as they were given:

    total    Σ h ℓ(u·x, y) of its point u
    lower    the largest of three lower bounds on the loss of every point of the box:
             the tangents at u·x, the tangents at the predictions of the learner,
             and the comparator's own bound, less what the rounding can have changed

The rounding changes a margin by at most Σ_i r_i |x_i − float32(x_i)|, with r_i the largest absolute
weight of the box, and logistic and hinge loss by no more than the margin. Squared loss has no such
limit; the comparator's bound counts there only if nothing was rounded.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from lessregret.data.examples import Examples
from lessregret.learners.space import FeatureSpace
from lessregret.regret.comparator import BestFixed, GapWarning, best_fixed
from lessregret.regret.comparator.floats import Floats
from lessregret.regret.given_predictions import GivenExamples

HALF_DIGIT = 2.0**-23
"""Twice the largest relative error of an importance as float32."""


def best_of_rows(
    given: GivenExamples, low: Floats, high: Floats, gap: float, other_lower: float
) -> BestFixed:
    """The best fixed point of a box that has an interval for each weight, the intercept last.

    ``other_lower`` is a lower bound on the total of every point of the box that is already known.
    """
    rows = csr_array(given.rows)
    found = _found_in_float32(given, rows, low, high, gap)
    point = np.zeros(given.columns + given.intercept)
    point[found.slots] = found.weights
    margins = given.margins(point)
    total = given.total(margins)
    lower = max(
        _least_of_tangents(given, margins, total, low, high),
        found.lower - _rounded(given, rows, np.maximum(np.abs(low), np.abs(high)), found),
        other_lower,
    )
    best = replace(found, loss=total, lower=min(lower, total), importance=given.importance)
    if best.gap > gap:
        warnings.warn(_missed(best.gap, gap), GapWarning, stacklevel=3)
    return best


def _found_in_float32(
    given: GivenExamples, rows: Any, low: Floats, high: Floats, gap: float
) -> BestFixed:
    # An interval of the intercept that holds only 0 is no interval to the comparator.
    intercept = given.intercept and bool(low[-1] < high[-1])
    slots, labels = given.columns + intercept, given.loss.labels
    space = FeatureSpace(columns=given.columns, labels=labels, intercept=intercept)
    examples = Examples.from_csr(rows, given.labels, given.importances, space=space)
    with warnings.catch_warnings():
        # What it says of float32 need not hold for the rows.
        warnings.simplefilter("ignore", GapWarning)
        return best_fixed(examples, given.loss.name, (low[:slots], high[:slots]), gap=gap)


def _missed(reached: float, asked: float) -> str:
    return (
        f"the search for the best fixed point ended with a gap of {reached:.1e} per example; "
        f"{asked:.1e} was asked for. The regret that is told is an interval as wide. For a smaller "
        f"gap scale the columns of X, or use a smaller radius; or ask for a gap of {reached:.1e}"
    )


def least_of_line(offset: float, sums: Floats, low: Floats, high: Floats) -> float:
    """The least value of offset + G·u over the box."""
    return offset + float(np.minimum(low * sums, high * sums).sum())


def _least_of_tangents(
    given: GivenExamples, margins: Floats, total: float, low: Floats, high: Floats
) -> float:
    slopes = given.slopes(margins)
    offset = total - float((given.importances * slopes) @ margins)
    return least_of_line(offset, given.weighted_sum(slopes), low, high)


def _rounded(given: GivenExamples, rows: Any, reach: Floats, found: BestFixed) -> float:
    """By how much the comparator's lower bound can be too large, since it read float32."""
    moved = (np.abs(_error(rows)).T @ given.importances) @ reach[: given.columns]
    labels, importances = _error(given.labels).any(), _error(given.importances).any()
    if given.loss.is_classification:
        return float(moved) + HALF_DIGIT * bool(importances) * abs(found.lower)
    return np.inf if moved or labels or importances else 0.0


def _error(values: Any) -> Any:
    return values - values.astype(np.float32).astype(np.float64)
