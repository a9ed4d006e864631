"""Follow the proximally regularised leader, diagonal, on any set inside a box (§6).

Plays     argmin over F of  Σ g_s·x + ½ Σ_s (x − x_s)'Q_s(x − x_s),  Q_{1:t,ii} = (k/D_i) √S_{t,i}
          = the projection of −Q⁻¹z on F in the Q norm, z = Σ g_s − Σ Q_s x_s
Regret    ≤ √2 Σ_i D_i √S_{T,i} with k = √2, D_i the widths of the box around F
Source    McMahan & Streeter 2010; the halved second term of McMahan 2017 gives k = √2
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from lessregret.game.algorithms.algorithm import Algorithm, Seen
from lessregret.game.domains import Box, Domain, Point


class DiagonalFTPRL(Algorithm):
    """FTPRL-Diag for any feasible set."""

    def __init__(self, strength: float = sqrt(2)) -> None:
        self.strength = strength
        """k: √2 for the halved bound, 2 for the one first published"""

    def start(self, domain: Domain, rounds: int | None = None) -> None:
        self.domain = domain
        self.point = domain.start
        self.energy = np.zeros(domain.dimensions)
        self.regulariser = np.zeros(domain.dimensions)
        self.z = np.zeros(domain.dimensions)
        widths = domain.box.widths
        self.strengths = self.strength / np.where(widths > 0, widths, np.inf)
        """k/D_i; 0 for a coordinate that cannot move"""

    def feed(self, seen: Seen) -> Point:
        where = seen.coordinates
        energy = self.energy[where] + seen.gradient**2
        self.energy[where] = energy
        after = self.strengths[where] * np.sqrt(energy)
        added = after - self.regulariser[where]
        self.regulariser[where] = after
        self.z[where] += seen.gradient - added * self.point[where]
        if isinstance(self.domain, Box):
            # Only the round's coordinates move; the projection splits.
            least = np.divide(-self.z[where], after, out=self.point[where], where=after > 0)
            low, high = self.domain.low[where], self.domain.high[where]
            self.point[where] = np.minimum(high, np.maximum(low, least))
        else:
            self.point = self._least()
        rates = np.zeros(len(after))
        return np.divide(1.0, after, out=rates, where=after > 0)

    def _least(self) -> Point:
        q = self.regulariser
        if not q.any():
            return self.domain.start
        # A coordinate never seen is free; a small weight keeps it near where it would start.
        weights = np.maximum(q, 1e-12 * q.max())
        target = np.where(q > 0, -self.z / weights, self.domain.start)
        return self.domain.project(target, weights)
