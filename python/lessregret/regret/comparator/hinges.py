"""A sum of hinges: the loss of all examples together, where the loss is piecewise linear.

    Σ_k h_k max(0, b_k − a_k·x)

Each example has one hinge for each :class:`~lessregret.learners.losses.loss.Piece` of its loss.
Examples with the same features and the same piece share a hinge, whose weight h is the sum of
theirs.

Each α with 0 ≤ α_k ≤ h_k gives a line below the sum,

    Σ_k h_k max(0, b_k − a_k·x)  ≥  Σ_k α_k b_k − (Σ_k α_k a_k)·x        for every x

since h max(0, z) ≥ α z. The lower bound of the comparator is the least value of such a line, with
the L2 penalty, over the box; whatever found α, the bound holds.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.sparse import csr_array, vstack

from lessregret.learners.losses.loss import Loss
from lessregret.regret.comparator.floats import Floats


class Hinges:
    """Σ_k h_k max(0, b_k − a_k·x), with a row a_k, an offset b_k and a weight h_k above 0."""

    def __init__(self, rows: csr_array, offsets: Floats, weights: Floats) -> None:
        self.rows, self.offsets, self.weights = rows, offsets, weights
        self.columns = csr_array(rows.T)
        """the rows transposed"""

    @classmethod
    def of_labels(
        cls, loss: Loss, rows: csr_array, importances: Iterable[tuple[float, Floats]]
    ) -> Hinges:
        """The hinges of rows; for each label, the importance that it has in each row."""
        parts, offsets, weights = [], [], []
        for label, importance in importances:
            met = np.flatnonzero(importance)
            for piece in loss.pieces(label):
                parts.append(piece.side * rows[met])
                offsets.append(np.full(len(met), float(piece.offset)))
                weights.append(piece.weight * importance[met])
        stacked = csr_array(vstack(parts, format="csr"))
        return cls(stacked, np.concatenate(offsets), np.concatenate(weights))

    def line(self, shares: Floats) -> tuple[float, Floats]:
        """The line c + v·x below the sum, for any α; what is outside of [0, h] is cut off."""
        kept = np.clip(shares, 0.0, self.weights)
        return float(kept @ self.offsets), -(self.columns @ kept)
