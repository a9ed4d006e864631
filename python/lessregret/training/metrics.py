"""How good predictions were, judged afterwards from margins and labels.

``sums_of`` and ``exact_auc`` are the readable twins of ``crates/core/src/metrics``: they take the
arrays of all rounds, the core takes block after block in constant memory.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lessregret import _core
from lessregret.learners.losses import loss_named
from lessregret.training.predictions import link
from lessregret.training.scores import MetricSums, Scores

Floats: TypeAlias = NDArray[np.floating[Any]]


def scores_of(loss: str, margins: Floats, labels: Floats, importances: Floats) -> Scores | None:
    """The scores of predictions; None where a label is missing or does not fit the loss.

    >>> scores = scores_of("hinge", np.array([0.5, -2.0]), np.array([1, 0]), np.array([3.0, 1.0]))
    >>> scores.mean_loss, scores.error, scores.auc
    (0.375, 0.0, 1.0)
    """
    fitting = fitting_labels(loss, labels)
    if fitting is None:
        return None
    metrics = _core.Metrics(loss)
    metrics.add_arrays(
        np.ascontiguousarray(margins, np.float64),
        np.ascontiguousarray(fitting, np.float32),
        np.ascontiguousarray(importances, np.float32),
    )
    return Scores(loss, MetricSums(*metrics.sums(False)), metrics.area(False))


def fitting_labels(loss: str, labels: Floats) -> Floats | None:
    """The labels as ±1 for classification, as they are for regression; None if they do not fit."""
    if not np.isfinite(labels).all():
        return None
    if not loss_named(loss).is_classification:
        return labels
    if not np.isin(labels, (-1, 0, 1)).all() or {-1, 0} <= set(labels.tolist()):
        return None
    return np.where(labels > 0, 1.0, -1.0)


def sums_of(loss: str, margins: Floats, labels: Floats, importances: Floats) -> MetricSums:
    """The sums over rounds of importance above 0: labels −1 and 1, or numbers.

    >>> sums_of("hinge", np.array([0.5, -2.0]), np.array([1.0, 1.0]), np.array([3.0, 1.0])).loss
    4.5
    """
    kind, counts = loss_named(loss), importances > 0
    p, y, h = (np.asarray(a, np.float64)[counts] for a in (margins, labels, importances))
    losses = np.array([kind.value(*round_) for round_ in zip(p, y, strict=True)])
    q = link(loss, "probability" if kind.link == "probability" else "auto")(p)
    q = np.sign(p) if kind.link == "sign" else q
    mean = h @ y / h.sum() if len(h) else 0.0
    errors = np.zeros_like(p) if kind.is_classification else q - y
    return MetricSums(
        examples=len(h),
        importance=float(h.sum()),
        loss=float(h @ losses),
        mistakes=float(h @ (y * p <= 0)) if kind.is_classification else 0.0,
        predicted=float(h @ q),
        label_mean=float(mean),
        label_squares=float(h @ (y - mean) ** 2),
        squared_error=float(h @ errors**2),
        absolute_error=float(h @ abs(errors)),
    )


def exact_auc(margins: Floats, labels: Floats, importances: Floats) -> float | None:
    """P(margin of a positive > that of a negative) + ½ P(equal), by sorting all margins.

    >>> exact_auc(np.array([-1.0, 0.5, 0.5, 2.0]), np.array([-1, 1, -1, 1]), np.ones(4))
    0.875
    """
    places = np.unique(margins, return_inverse=True)[1]
    positives = np.bincount(places, importances * (labels > 0))
    negatives = np.bincount(places, importances * (labels <= 0))
    pairs = positives.sum() * negatives.sum()
    below = negatives.cumsum() - negatives / 2
    return float(positives @ below / pairs) if pairs > 0 else None
