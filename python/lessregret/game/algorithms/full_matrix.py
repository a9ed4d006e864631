"""AdaGrad with the full matrix, for a few hundred dimensions at most (§6, the concurrent work).

    Plays     x ← argmin over F of η g·x + ½ (x − x_t)'H_t(x − x_t),  H_t = δI + (Σ g g')^½
    Regret    ≤ max|x* − x_t|²/(2η) tr(G^½) + η tr(G^½), η = D/√2 gives √2 D tr(G^½)
    Source    Duchi, Hazan & Singer 2011
    Cost      a symmetric eigendecomposition a round, O(n³)

With gradients along the axes only it is diagonal AdaGrad.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from lessregret.errors import SpecError
from lessregret.game.algorithms.algorithm import Algorithm, Seen
from lessregret.game.domains import Box, Domain, Point


class FullMatrixAdaGrad(Algorithm):
    """Full-matrix AdaGrad on a box."""

    def __init__(self, rate: float | None = None, offset: float = 0.0) -> None:
        self.rate = rate
        """η; D/√2 if not given"""
        self.offset = offset
        """δ"""

    def start(self, domain: Domain, rounds: int | None = None) -> None:
        if not isinstance(domain, Box):
            raise SpecError("full-matrix AdaGrad is here for boxes")
        self.domain = domain
        self.point = domain.start
        self.outer = np.zeros((domain.dimensions, domain.dimensions))
        self.step = domain.diameter / sqrt(2) if self.rate is None else self.rate

    def feed(self, seen: Seen) -> None:
        gradient = np.zeros(self.domain.dimensions)
        gradient[seen.coordinates] = seen.gradient
        self.outer += np.outer(gradient, gradient)
        values, vectors = np.linalg.eigh(self.outer)
        roots = self.offset + np.sqrt(np.maximum(values, 0.0))
        kept = roots > 1e-12 * roots.max()
        basis = vectors[:, kept]
        moved = self.point - self.step * basis @ ((basis.T @ gradient) / roots[kept])
        matrix = (vectors * roots) @ vectors.T
        self.point = project_in_norm(moved, matrix, self.domain)


def project_in_norm(target: Point, matrix: NDArray[np.float64], box: Box) -> Point:
    """argmin over the box of (x − target)'matrix(x − target), by coordinate descent."""
    x = box.project(target)
    if np.array_equal(x, target):
        return x
    diagonal = np.diag(matrix)
    for _ in range(1000):
        before = x.copy()
        for i in np.flatnonzero(diagonal > 0):
            slope = matrix[i] @ (x - target)
            x[i] = min(box.high[i], max(box.low[i], x[i] - slope / diagonal[i]))
        if np.abs(x - before).max() <= 1e-12 * (1 + np.abs(x).max()):
            break
    return x
