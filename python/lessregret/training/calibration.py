"""Are probabilities what they say? Predicted against observed, in constant memory.

The margins fall into 400 cells of width 0.1 from −20 to 20, where probabilities end at 2·10⁻⁹.
Each cell adds up importance, probability and labels; at the end cells are joined to bins of about
equal weight. A cell is narrow: inside it probabilities differ by a tenth of themselves.
"""

from __future__ import annotations

from math import log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Not when the first rounds are added, with outputs already open: an interrupt may get lost during
# an import.
from scipy.special import expit

Floats = NDArray[np.floating]

LOW, WIDTH, CELLS = -20.0, 0.1, 400
MOST_BINS = 20
LEAST_COUNT = 50
"""examples in a bin; with fewer its observed frequency would say nothing"""
DEVIATIONS = 1.959964
"""standard deviations each way that hold 95 % of a normal distribution"""


class Bin(NamedTuple):
    """Examples of about one probability."""

    predicted: float
    """the mean probability, each made before its example was learned"""
    observed: float
    """the share of label 1"""
    low: float
    """the 95 % interval of the observed share"""
    high: float
    examples: int


class Calibration:
    """Probabilities and what came, added up.

    >>> calibration = Calibration()
    >>> calibration.add(np.zeros(4), np.array([1, -1, -1, -1]), np.ones(4))
    >>> calibration.predicted, calibration.observed
    (0.5, 0.25)
    """

    def __init__(self) -> None:
        # Rows: examples, importance, its square, importance · probability, importance of label 1.
        self._sums = np.zeros((5, CELLS))

    def add(self, margins: Floats, labels: Floats, importances: Floats) -> None:
        """Add rounds: margins of logistic loss, labels −1 and 1."""
        cells = np.clip((margins - LOW) / WIDTH, 0, CELLS - 1).astype(np.intp)
        h = importances.astype(np.float64)
        for row, weights in enumerate((h > 0, h, h * h, h * expit(margins), h * (labels > 0))):
            self._sums[row] += np.bincount(cells, weights, CELLS)

    @property
    def examples(self) -> int:
        """Examples of an importance above 0."""
        return int(self._sums[0].sum())

    @property
    def predicted(self) -> float:
        """The mean probability."""
        return float(self._sums[3].sum() / self._sums[1].sum())

    @property
    def observed(self) -> float:
        """The share of label 1, by importance."""
        return float(self._sums[4].sum() / self._sums[1].sum())

    @property
    def entropy(self) -> float:
        """The mean log loss of the best single probability for all examples, the observed share."""
        return -sum(q * log(q) for q in (self.observed, 1 - self.observed) if q > 0)

    def bins(self) -> list[Bin]:
        """At most 20 bins of about equal weight; none where there are too few examples for two."""
        bins = min(MOST_BINS, self.examples // LEAST_COUNT)
        if bins < 2:
            return []
        running = self._sums[1].cumsum()
        ends = np.searchsorted(running, running[-1] * np.arange(1, bins) / bins) + 1
        starts = np.unique(np.append(ends[ends < CELLS], 0))
        joined = np.add.reduceat(self._sums, starts, axis=1).T
        return [_bin(*sums) for sums in joined.tolist() if sums[0] > 0]


def _bin(examples: float, importance: float, square: float, probability: float, ones: float) -> Bin:
    observed = ones / importance
    low, high = share_interval(observed, importance**2 / square)
    return Bin(probability / importance, observed, low, high, int(examples))


def share_interval(share: float, count: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share observed in ``count`` trials; never empty at 0 or 1.

    With importances the count is (Σh)²/Σh², the number of equal trials that would vary as much.

    >>> [round(end, 4) for end in share_interval(0.1, 100)]
    [0.0552, 0.1744]
    """
    z = DEVIATIONS
    centre = share + z * z / (2 * count)
    reach = z * sqrt(share * (1 - share) / count + (z / (2 * count)) ** 2)
    scale = 1 + z * z / count
    return max(0.0, (centre - reach) / scale), min(1.0, (centre + reach) / scale)
