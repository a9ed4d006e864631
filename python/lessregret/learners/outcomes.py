"""What a learner gives back for examples: one entry an example."""

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
    """What examples showed when they were played.

    ``len(outcomes)`` is the number of examples. Arrays are made when they are asked for, so that a
    run that wants none of them does not even import numpy.
    """

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays

    def __len__(self) -> int:
        return len(self._arrays)

    @cached_property
    def margins(self) -> NDArray[np.float64]:
        """The margins; where something was learned, each made before its example was learned."""
        return self._arrays.margins

    @cached_property
    def labels(self) -> NDArray[np.float32]:
        """The labels, NaN where there is none."""
        return self._arrays.labels

    @cached_property
    def importances(self) -> NDArray[np.float32]:
        """The importances."""
        return self._arrays.importances

    @cached_property
    def tags(self) -> list[bytes]:
        """The tags, empty where there is none."""
        return self._arrays.tags
