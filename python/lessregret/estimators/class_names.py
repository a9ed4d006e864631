"""The names of the classes as a model file holds them, and back.

Numbers and truth values are written as Python writes them, and read back as such. A word that looks
like one of them would come back as another class, so it is not written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def names_of(classes: NDArray[Any]) -> tuple[str, ...] | None:
    """The names of classes; None if they could not be told from their names.

    >>> names_of(np.array([0, 1])), names_of(np.array(["0", "1"]))
    (('0', '1'), None)
    """
    names = tuple(str(known) for known in classes.tolist())
    read = classes_named(names)
    alike = [type(known) for known in read.tolist()] == [type(known) for known in classes.tolist()]
    return names if alike and (read == classes).all() else None


def classes_named(names: Sequence[str | None]) -> NDArray[Any]:
    """The classes with these names; a negative class without a name is that of all other labels.

    >>> classes_named(("no", "yes")).tolist(), classes_named(("-1", "1")).tolist()
    (['no', 'yes'], [-1, 1])
    """
    words = [f"not {names[-1]}" if name is None else name for name in names]
    if set(words) <= {"False", "True"}:
        return np.array([word == "True" for word in words])
    numbers = _numbers(words, int)
    numbers = _numbers(words, float) if numbers is None else numbers
    return np.array(words if numbers is None else numbers)


def _numbers(words: list[str], kind: type[int] | type[float]) -> list[float] | None:
    try:
        return [kind(word) for word in words]
    except ValueError:
        return None
