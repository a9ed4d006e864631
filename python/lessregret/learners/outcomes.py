"""What a learner returns for examples: arrays with one entry per example."""

from __future__ import annotations

from functools import cached_property
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple, Protocol

from lessregret import _core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Arrays(Protocol):
    """Where the arrays come from."""

    @property
    def classes(self) -> int | None: ...

    @property
    def margins(self) -> NDArray[np.float64]: ...
    @property
    def labels(self) -> NDArray[np.float32]: ...
    @property
    def importances(self) -> NDArray[np.float32]: ...
    @property
    def tags(self) -> list[bytes]: ...
    def label_sums(self) -> tuple[float, float, float]: ...
    def __len__(self) -> int: ...


class LabelSums(NamedTuple):
    """Sums over the labels of examples, from which their mean and variance are known.

    >>> labels = LabelSums().joined(LabelSums(1.0, 2.0, 0.0)).joined(LabelSums(3.0, 6.0, 1.0))
    >>> labels, labels.variance
    (LabelSums(importance=4.0, mean=5.0, squares=13.0), 3.25)
    """

    importance: float = 0.0
    """Σh"""
    mean: float = 0.0
    """Σhy/Σh"""
    squares: float = 0.0
    """Σh(y − mean)²; a sum of y² would lose the digits of labels that are far from 0"""

    def joined(self, others: LabelSums) -> LabelSums:
        """The sums over these and other labels (Chan, Golub & LeVeque 1979)."""
        importance = self.importance + others.importance
        if importance == 0:
            return self
        share, way = others.importance / importance, others.mean - self.mean
        squares = self.squares + others.squares + way**2 * share * self.importance
        return LabelSums(importance, self.mean + share * way, squares)

    @property
    def variance(self) -> float:
        """The mean squared distance from the mean; 0 without labels."""
        return self.squares / self.importance if self.importance else 0.0

    @property
    def size(self) -> float:
        """The root mean square of the labels."""
        return sqrt(self.variance + self.mean**2)


class Outcomes:
    """The margins, labels, importances and tags of the examples that were learned or predicted.

    ``len(outcomes)`` is the number of examples. An array is created when it is first used, so that
    a run that uses none of them does not import numpy.
    """

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays

    def __len__(self) -> int:
        return len(self._arrays)

    def label_sums(self) -> LabelSums:
        """Sums over the labels; no array is created. Examples without one do not count."""
        return LabelSums(*self._arrays.label_sums())

    def add_to(self, metrics: _core.Metrics) -> None:
        """Add the rounds to metrics. Of a learner in Rust no array is created."""
        if isinstance(self._arrays, _core.Outcomes):
            metrics.add(self._arrays)
        else:
            metrics.add_arrays(self.margins, self.labels, self.importances)

    def add_to_classes(self, metrics: _core.ClassMetrics, codes: list[int]) -> None:
        """Add the rounds of many classes, whose codes these are, to metrics."""
        if isinstance(self._arrays, _core.Outcomes):
            metrics.add(self._arrays, codes)
        else:
            margins = self._arrays.margins
            metrics.add_arrays(
                codes[: self._arrays.classes], margins, self.labels, self.importances
            )

    def add_to_slices(self, slices: _core.Slices) -> None:
        """Add the rounds to slices; only those of a stream have values to be sliced by."""
        assert isinstance(self._arrays, _core.Outcomes)
        slices.add(self._arrays)

    @cached_property
    def margins(self) -> NDArray[np.float64]:
        """The margins. When learning, each is computed before the example is learned from.

        Of many classes a row for each example, with the margin of every class. A class that was not
        known yet has the margin −∞.
        """
        margins, classes = self._arrays.margins, self._arrays.classes
        return margins if classes is None else margins.reshape(len(self), classes)

    @cached_property
    def labels(self) -> NDArray[np.float32]:
        """The labels; NaN for an example without a label."""
        return self._arrays.labels

    @cached_property
    def importances(self) -> NDArray[np.float32]:
        """The importances (sample weights)."""
        return self._arrays.importances

    @cached_property
    def tags(self) -> list[bytes]:
        """The tags; empty for an example without a tag."""
        return self._arrays.tags
