"""What a learner is given to learn from: a source of examples, how many of them, in which order.

Anything else is refused here, with an error that says what was expected.
"""

from __future__ import annotations

import sys
from operator import index
from typing import TYPE_CHECKING, Any, Protocol

from lessregret import _core
from lessregret.errors import InputError, SpecError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

CORES = (_core.Stream, _core.Examples, _core.Rows)


class Source(Protocol):
    """A source of examples: a stream of files, examples in memory, or the rows of a matrix."""

    @property
    def core(self) -> _core.Stream | _core.Examples | _core.Rows:
        """The source in Rust."""
        ...


def core_of(examples: Source) -> _core.Stream | _core.Examples | _core.Rows:
    """The source in Rust."""
    core: Any = getattr(examples, "core", None)
    if isinstance(core, CORES):
        return core
    found = "None" if examples is None else f"an object of type {type(examples).__name__!r}"
    raise SpecError(
        f"examples: expected an ExampleStream, Examples or Rows, found {found}; open_examples "
        "reads files, Rows.from_csr takes a matrix"
    )


def checked_limit(limit: int | None) -> int | None:
    """The largest number of examples to read, which the core can hold; None for no limit.

    0 is refused: no outcomes mean that the stream has ended.
    """
    if limit is None:
        return None
    try:
        number = index(limit)
    except TypeError:
        number = 0
    if number < 1:
        raise SpecError(f"limit: expected a whole number from 1 up, or None, found {limit!r}")
    return min(number, sys.maxsize)


def checked_order(order: ArrayLike | None) -> NDArray[np.uint32] | None:
    """The order as the core reads it; what a cast would change is refused."""
    if order is None:
        return None
    import numpy as np

    given = np.asarray(order)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise InputError("order", 0, 0, repr(order), "a list of whole numbers")
    if given.size and not 0 <= given.min() <= given.max() < 1 << 32:
        outside = given.min() if given.min() < 0 else given.max()
        raise InputError("order", 0, 0, str(outside), "whole numbers from 0 to 4294967295")
    return np.ascontiguousarray(given, dtype=np.uint32)
