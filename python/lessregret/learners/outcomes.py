"""What a learner returns for examples: arrays with one entry per example."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Arrays(Protocol):
    """Where the arrays come from."""

    @property
    def margins(self) -> NDArray[np.float64]: ...
    @property
    def labels(self) -> NDArray[np.float32]: ...
    @property
    def importances(self) -> NDArray[np.float32]: ...
    @property
    def tags(self) -> list[bytes]: ...
    def __len__(self) -> int: ...


class Outcomes:
    """The margins, labels, importances and tags of the examples that were learned or predicted.

    ``len(outcomes)`` is the number of examples. An array is created when it is first used, so that
    a run that uses none of them does not import numpy.
    """

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays

    def __len__(self) -> int:
        return len(self._arrays)

    @cached_property
    def margins(self) -> NDArray[np.float64]:
        """The margins. When learning, each is computed before the example is learned from."""
        return self._arrays.margins

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
