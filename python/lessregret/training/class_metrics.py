"""How good predictions of many classes were, judged afterwards from margins and labels.

``class_sums_of`` is the readable twin of ``crates/core/src/metrics/classes.rs``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lessregret import _core
from lessregret.training.class_predictions import class_losses, places_of
from lessregret.training.class_scores import MOST, TOP, ClassScores, ClassSums

Floats: TypeAlias = NDArray[np.floating[Any]]


def class_scores_of(
    loss: str,
    codes: Sequence[int],
    names: Sequence[str],
    margins: Floats,
    labels: Floats,
    importances: Floats,
) -> ClassScores | None:
    """The scores of predictions; None where a label is missing or not the code of a class.

    >>> margins, ones = np.array([[0.0, 2.0], [1.0, -1.0]]), np.ones(2)
    >>> class_scores_of("logistic", [3, 7], ["a", "b"], margins, np.array([7.0, 7.0]), ones).error
    0.5
    """
    if places_of(np.asarray(labels, np.float64), codes) is None:
        return None
    metrics = _core.ClassMetrics(loss)
    metrics.add_arrays(
        list(codes),
        np.ascontiguousarray(margins, np.float64).ravel(),
        np.ascontiguousarray(labels, np.float32),
        np.ascontiguousarray(importances, np.float32),
    )
    return ClassScores(loss, ClassSums.of(metrics.sums(False)), tuple(names))


def class_sums_of(
    loss: str, codes: Sequence[int], margins: Floats, labels: Floats, importances: Floats
) -> ClassSums:
    """The sums over rounds of importance above 0 whose labels are codes of classes.

    >>> margins = np.array([[0.0, 2.0], [1.0, 1.0]])
    >>> class_sums_of("hinge", [3, 7], margins, np.array([7.0, 7.0]), np.ones(2)).confusions
    ((1, 0, 1.0), (1, 1, 1.0))
    """
    counts = (importances > 0) & np.isin(labels, codes)
    p, h = np.asarray(margins[counts], np.float64), np.asarray(importances[counts], np.float64)
    y = np.array([list(codes).index(int(label)) for label in labels[counts]], dtype=np.intp)
    rows, width = np.arange(len(y)), len(codes)
    own, rivals = p[rows, y], p.copy()
    rivals[rows, y] = -np.inf
    ranks = (rivals >= own[:, np.newaxis]).sum(1)
    predicted = np.where(ranks == 0, y, rivals.argmax(1))
    pairs: Counter[tuple[int, int]] = Counter()
    for label, guess, importance in zip(y.tolist(), predicted.tolist(), h.tolist(), strict=True):
        pairs[min(label, MOST), min(guess, MOST)] += importance
    return ClassSums(
        examples=len(y),
        importance=float(h.sum()),
        loss=float(h @ class_losses(loss, p, y)),
        ranks=_totals(np.minimum(ranks, TOP), h, TOP + 1)[:TOP],
        observed=_totals(y, h, width),
        predicted=_totals(predicted, h, width),
        hits=_totals(y, h * (ranks == 0), width),
        confusions=tuple((*pair, float(total)) for pair, total in sorted(pairs.items())),
    )


def _totals(places: NDArray[np.intp], weights: Floats, width: int) -> tuple[float, ...]:
    return tuple(np.bincount(places, weights, width).tolist())
