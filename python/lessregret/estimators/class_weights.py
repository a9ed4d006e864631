"""What multiplies the importance of an example because of its class.

    class_weight      h ← h · weight of the class; "balanced" is Σh / (K Σh of the class)
    negatives_kept    h ← h / p for negatives, of which a log kept the fraction p

Class weights change what is predicted: probabilities are those of data in which a class is as
frequent as its weight says. ``negatives_kept`` makes them true again: a log of which some negatives
were left out at random has, in expectation, the sums of loss and gradient of the whole log if each
negative that is left stands for 1/p.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessregret.errors import SpecError

BALANCED = "balanced"
NEEDS_ALL_LABELS = (
    "class_weight='balanced' needs the labels of all rows before the first is learned, so it is "
    "only for fit; count the classes of a sample and give the weights as a dict, as in "
    "class_weight={0: 0.5, 1: 5.0}"
)


def is_class_weight(given: Any) -> bool:
    """Whether it is None, "balanced" or a dict of weights from 0 up."""
    if isinstance(given, Mapping):
        return all(_is_number(w) and isfinite(w) and w >= 0 for w in given.values())
    return given is None or (isinstance(given, str) and given == BALANCED)


def is_kept(given: Any) -> bool:
    """Whether it is a number above 0 and at most 1."""
    return _is_number(given) and 0 < given <= 1


def _is_number(given: Any) -> bool:
    return isinstance(given, Real) and not isinstance(given, bool)


def class_factors(
    given: Mapping[Any, float] | str | None,
    classes: NDArray[Any],
    places: NDArray[np.intp],
    importances: NDArray[np.float64] | None,
    *,
    may_grow: bool = False,
) -> NDArray[np.float64]:
    """The weight of each class; ``places`` are the numbers of the classes of the examples.

    >>> class_factors("balanced", np.array(["no", "yes"]), np.array([0, 0, 0, 1]), None).tolist()
    [0.6666666666666666, 2.0]
    >>> class_factors({"yes": 3.0}, np.array(["no", "yes"]), np.array([0]), None).tolist()
    [1.0, 3.0]
    """
    if isinstance(given, Mapping):
        known = classes.tolist()
        strangers = [name for name in given if name not in known]
        if strangers and not may_grow and len(given) - len(strangers) < len(known):
            raise SpecError(
                f"class_weight has {strangers[0]!r}, which is not a class; the classes are "
                f"{', '.join(map(repr, known[:5]))}{', ...' if len(known) > 5 else ''}"
            )
        return np.array([given.get(name, 1.0) for name in known], dtype=np.float64)
    sums = np.bincount(places, importances, minlength=len(classes))
    # A class without examples has no importance to be multiplied.
    factors: NDArray[np.float64] = sums.sum() / (len(classes) * np.where(sums > 0, sums, 1.0))
    return factors
