"""What every loss of the margin is.

A loss ℓ(p, y) is convex in the margin p = w·x; its slope is dℓ/dp, so that the gradient of a round
in coordinate i is slope · x_i. A loss's file holds all that is particular to it: value and slope,
what its labels are, what a margin predicts, how lanes that suffer it are mixed
(:mod:`lessregret.learners.mixture`), and the push of importance-aware updates
(:mod:`lessregret.learners.importance`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Piece(NamedTuple):
    """weight · max(0, offset − side · p): a part of a piecewise linear loss of the margin p."""

    weight: float
    offset: float
    side: float


class Loss(ABC):
    """A convex loss of the margin.

    A loss of your own needs a name, ``value`` and ``slope``. Lanes that suffer it are mixed by
    AdaHedge, which asks for nothing but convexity; importance-aware updates need ``push`` too.
    """

    name: str
    labels: ClassVar[Literal["binary", "real", "count"]] = "binary"
    """Two classes, -1 and +1, or any finite number, or a count from 0 to 2^24."""
    link: ClassVar[Literal["probability", "sign", "number", "count"]] = "sign"
    """What a margin predicts: the probability of +1, a score whose sign is the class, a number, or
    by e^p an expected count."""
    mixing: ClassVar[Literal["log-odds", "clipped-mean", "adahedge"]] = "adahedge"
    """How lanes that suffer this loss are mixed."""
    degree: ClassVar[int] = 0
    """d: if labels are measured in a unit that is u times smaller, losses are u^d times larger."""
    has_kink: ClassVar[bool] = False
    """Whether the slope jumps, so that a search for the minimum needs a smoothed loss."""

    is_steep: ClassVar[bool] = False
    """Whether the slope grows without limit, so that a step by it alone can go much too far."""

    @abstractmethod
    def value(self, margin: float, label: float) -> float:
        """ℓ(p, y)."""

    @abstractmethod
    def slope(self, margin: float, label: float) -> float:
        """dℓ/dp, a subgradient where there is a kink."""

    def in_units(self, unit: float) -> Loss:
        """The loss by which predictions and labels in the user's units lose u^d times as much.

        For labels that are standardised: u is their standard deviation, or the mean of counts.
        """
        return self

    def pieces(self, label: float) -> tuple[Piece, ...]:
        """The pieces that add up to the loss, where it is piecewise linear and not below 0.

        The best fixed point of such a loss is the solution of a linear program. No pieces mean that
        the loss is not of this kind.
        """
        return ()

    def push(self, margin: float, label: float, importance: float, response: float) -> float:
        """The importance-aware push u, for an importance and a response above 0."""
        raise NotImplementedError(f"no importance-aware push is known for the loss {self.name!r}")

    def predictions(self, margins: NDArray[np.float64]) -> NDArray[np.float64]:
        """The predictions of margins: of a label that is a number, or of an expected count."""
        if self.link != "count":
            return margins
        import numpy as np

        return np.exp(margins)

    @property
    def has_push(self) -> bool:
        """Whether importance-aware updates are known for this loss."""
        return type(self).push is not Loss.push

    @property
    def units(self) -> str:
        """What losses, regrets and bounds of the game on standardised labels are in."""
        if self.labels == "count":
            return "in mean counts"
        return "in variances of the labels" if self.degree == 2 else "in deviations of the labels"

    @property
    def is_classification(self) -> bool:
        """Whether labels are -1 and +1 and mistakes are counted."""
        return self.labels == "binary"

    def is_mistake(self, margin: float, label: float) -> bool:
        """Whether the sign is wrong; a margin of 0 decides nothing and is a mistake."""
        return self.is_classification and label * margin <= 0
