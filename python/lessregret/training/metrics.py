"""How good predictions were, judged afterwards from margins and labels."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lessregret.learners.losses import loss_named

Floats: TypeAlias = NDArray[np.floating[Any]]


def mean_loss(loss: str, margins: Floats, labels: Floats, importances: Floats) -> float | None:
    """The mean loss, by importance; None where a label is missing or does not fit the loss.

    >>> mean_loss("hinge", np.array([0.5, -2.0]), np.array([1.0, 0.0]), np.array([3.0, 1.0]))
    0.375
    """
    signed = fitting_labels(loss, labels)
    total = float(importances.sum())
    if signed is None or total == 0:
        return None
    value = loss_named(loss).value
    losses = [value(p, y) for p, y in zip(margins, signed, strict=True)]
    return float(importances @ np.array(losses)) / total


def mistake_rate(loss: str, margins: Floats, labels: Floats, importances: Floats) -> float | None:
    """The share of wrong signs; None for regression or where a label does not fit.

    >>> mistake_rate("hinge", np.array([0.5, 1.0]), np.array([1.0, 0.0]), np.array([3.0, 1.0]))
    0.25
    """
    signed = fitting_labels(loss, labels)
    total = float(importances.sum())
    if signed is None or total == 0 or not loss_named(loss).is_classification:
        return None
    return float(importances[signed * margins <= 0].sum()) / total


def fitting_labels(loss: str, labels: Floats) -> Floats | None:
    """The labels as ±1 for classification, as they are for regression; None if they do not fit."""
    if not np.isfinite(labels).all():
        return None
    if not loss_named(loss).is_classification:
        return labels
    if not np.isin(labels, (-1, 0, 1)).all() or {-1, 0} <= set(labels.tolist()):
        return None
    return np.where(labels > 0, 1.0, -1.0)
