"""The two classes of a classifier that is told them one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class _Unmet:
    """The class that no example had yet."""

    def __repr__(self) -> str:
        return "a class not met yet"


UNMET: Any = _Unmet()


class LabelsMet:
    """The negative and the positive class, of which one may not be met yet.

    >>> met = LabelsMet.first("spam")
    >>> met.labels["spam"], met.meet("ham"), met.classes().tolist()
    (-1.0, 1.0, ['spam', 'ham'])
    """

    def __init__(self, negative: Any, positive: Any, *, is_guess: bool = False) -> None:
        self.negative, self.positive, self._is_guess = negative, positive, is_guess
        self.labels = {negative: -1.0, positive: 1.0}

    @classmethod
    def first(cls, y: Any) -> LabelsMet:
        """The classes after the first example, which had class y."""
        plain = y.item() if isinstance(y, np.generic) else y
        if isinstance(plain, bool):
            return cls(False, True)
        if plain == 1:
            # If -1 comes, it was -1 and 1.
            return cls(0, plain, is_guess=True)
        if plain in (0, -1):
            return cls(plain, 1)
        return cls(plain, UNMET)

    def meet(self, y: Any) -> float:
        """The label of a class that is new."""
        plain = y.item() if isinstance(y, np.generic) else y
        if self._is_guess and plain == -1:
            self.__init__(-1, self.positive)  # type: ignore[misc]
        elif self.positive is UNMET:
            self.__init__(self.negative, plain)  # type: ignore[misc]
        else:
            known = f"{self.negative!r} and {self.positive!r}"
            raise ValueError(f"y must be one of the classes {known}, found {plain!r}")
        return self.labels[plain]

    def classes(self) -> NDArray[Any]:
        """The classes that are known, the negative one first."""
        known = [self.negative, self.positive]
        return np.array([label for label in known if label is not UNMET])

    def probabilities(self, positive: float) -> dict[Any, float]:
        """The probability of each class that is known."""
        if self.positive is UNMET:
            return {self.negative: 1.0}
        return {self.negative: 1.0 - positive, self.positive: positive}
