"""What every loss of the margin is.

A loss ℓ(p, y) is convex in the margin p = w·x; its slope is dℓ/dp, so that the gradient of a round
in coordinate i is slope · x_i.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar


class Loss(ABC):
    """A convex loss of the margin."""

    name: ClassVar[str]
    is_classification: ClassVar[bool] = True

    @abstractmethod
    def value(self, margin: float, label: float) -> float:
        """ℓ(p, y)."""

    @abstractmethod
    def slope(self, margin: float, label: float) -> float:
        """dℓ/dp, a subgradient where there is a kink."""

    def is_mistake(self, margin: float, label: float) -> bool:
        """Whether the sign is wrong; a margin of 0 decides nothing and is a mistake."""
        return self.is_classification and label * margin <= 0
