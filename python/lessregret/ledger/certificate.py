"""The certificate: what no fixed weights of a given size could have lost less than.

A convex loss lies above its tangents. Let p_t be the margin played in round t, y_t the label, h_t
the importance and α_t = h_t ℓ'(p_t, y_t). For all fixed weights u:

    Σ h_t ℓ(u·x_t, y_t)  ≥  Σ [h_t ℓ(p_t, y_t) − α_t p_t] + G·u          G = Σ α_t x_t

The first sum on the right is the offset. The least value of the right side is

    offset − r‖G‖₁    over the box  |u_i| ≤ r
    offset − r‖G‖₂    over the ball ‖u‖₂ ≤ r
    offset − r‖G‖_∞   over the L1 ball ‖u‖₁ ≤ r

so three norms of G certify every size r at once. The weight of the intercept has a limit of its
own. The core computes the norms (``learn/certificate.rs``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, overload

from lessregret.errors import SpecError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Shape: TypeAlias = Literal["box", "ball", "l1"]
SHAPES: tuple[Shape, ...] = ("box", "ball", "l1")
"""The sets of weights that a certificate is for: |u_i| ≤ r, ‖u‖₂ ≤ r and ‖u‖₁ ≤ r."""


class Norms(NamedTuple):
    """Three norms of a vector.

    >>> Norms.of([3.0, -4.0])
    Norms(l1=7.0, l2=5.0, max=4.0)
    """

    l1: float
    l2: float
    max: float

    @classmethod
    def of(cls, numbers: Sequence[float]) -> Norms:
        """The norms of these numbers."""
        sizes = [abs(number) for number in numbers]
        squares = sum(size * size for size in sizes)
        return cls(float(sum(sizes)), float(squares**0.5), float(max(sizes, default=0.0)))

    def size(self, shape: Shape) -> float:
        """The least radius of a set of this shape that holds the vector."""
        return {"box": self.max, "ball": self.l2, "l1": self.l1}[shape]

    def dual(self, shape: Shape) -> float:
        """The largest product of the vector with a point of the set with radius 1."""
        return {"box": self.l1, "ball": self.l2, "l1": self.max}[shape]


@dataclass(frozen=True)
class Certificate:
    """The sums of a run that certify the total loss of all fixed weights.

    Losses are sums over the rounds, in the game that the regret is about. Weights are those of the
    values as the learner scales them.

    >>> certificate = Certificate(10.0, Norms.of([3.0, -4.0]), Norms.of([0.6, 0.8]), 2.0, -0.5)
    >>> certificate.least(1.0, "ball"), certificate.least(1.0, "ball", intercept=0.0)
    (4.0, 5.0)
    """

    offset: float
    sums: Norms
    """the norms of G without the intercept"""
    weights: Norms
    """the norms of the learned weights without the intercept; with lanes, of the lane, other than
    the coin, that lost least"""
    intercept_sum: float = 0.0
    """G of the intercept; 0 without one"""
    intercept_weight: float = 0.0
    """the learned weight of the intercept; 0 without one"""
    vector: Callable[[], tuple[NDArray[np.uint32], NDArray[np.float64]]] | None = field(
        default=None, repr=False, compare=False
    )
    """returns the slots and their numbers of G, if the learner can still tell them"""

    @overload
    def least(self, radius: float, shape: Shape, intercept: float | None = None) -> float: ...

    @overload
    def least(
        self, radius: NDArray[np.float64], shape: Shape, intercept: float | None = None
    ) -> NDArray[np.float64]: ...

    def least(self, radius: Any, shape: Shape, intercept: float | None = None) -> Any:
        """The least total loss that any weights of this size can have; never below 0.

        ``intercept`` limits the absolute weight of the intercept; without it the limit is the
        size of the learned one.
        """
        check_shape(shape)
        limit = abs(self.intercept_weight) if intercept is None else intercept
        if not (limit >= 0 and isfinite(limit)):
            raise SpecError(f"intercept must be a number from 0 up, found {limit!r}")
        constant = self.offset - limit * abs(self.intercept_sum)
        if isinstance(radius, int | float):
            if not (radius >= 0 and isfinite(radius)):
                raise SpecError(f"radius must be a number from 0 up, found {radius!r}")
            return max(0.0, constant - radius * self.sums.dual(shape))
        return self._least_of_many(radius, shape, constant)

    def _least_of_many(self, radii: Any, shape: Shape, constant: float) -> Any:
        import numpy as np

        radii = np.asarray(radii, dtype=np.float64)
        if not (np.isfinite(radii) & (radii >= 0)).all():
            raise SpecError("radius must be numbers from 0 up")
        return np.maximum(0.0, constant - radii * self.sums.dual(shape))

    def against(self, weights: Any) -> float:
        """A lower bound on the total loss of these weights; never below 0.

        ``weights`` has one number for each slot, that of the intercept included, or is a dict from
        slots to numbers.
        """
        if self.vector is None:
            raise SpecError("the certificate has only norms; ask the learner for a new ledger")
        slots, sums = self.vector()
        return max(0.0, self.offset + float(sums @ _numbers_at(weights, slots)))

    def size(self, shape: Shape) -> float:
        """The size of the learned weights: the radius of the least set of this shape around 0."""
        check_shape(shape)
        return self.weights.size(shape)


def check_shape(shape: str) -> None:
    """Raise a :class:`SpecError` for a shape that is not known."""
    if shape not in SHAPES:
        raise SpecError(f"shape must be one of {', '.join(SHAPES)}, found {shape!r}")


def _numbers_at(weights: Any, slots: NDArray[np.uint32]) -> NDArray[np.float64]:
    import numpy as np

    if isinstance(weights, dict):
        return np.array([weights.get(int(slot), 0.0) for slot in slots], dtype=np.float64)
    dense = np.asarray(weights, dtype=np.float64)
    if dense.ndim != 1 or (len(slots) and int(slots.max()) >= len(dense)):
        expected = int(slots.max()) + 1 if len(slots) else 0
        raise SpecError(
            f"weights must be one list with a number for each slot, at least {expected:,}, "
            f"found shape {dense.shape}"
        )
    return dense[slots]


HALF = 0.5
"""The part of the loss that may stay open in a statement. Where more is open, fixed weights could
have fitted nearly everything, and a number would look as if it said something."""


class Statement(NamedTuple):
    """What a run certifies of fixed weights as large as those that it learned.

    >>> said = Statement(shape="ball", radius=5.0, intercept=1.0, lost=0.332, certified=0.308)
    >>> f"{said.left:.3f}", said.speaks
    ('0.072', True)
    """

    shape: Shape
    radius: float
    """the size of the learned weights"""
    intercept: float
    """the absolute weight of the learned intercept"""
    lost: float
    """the mean loss of the run; with L2, of loss and penalty"""
    certified: float
    """the mean loss below which no fixed weights of this size are"""

    @property
    def left(self) -> float:
        """The part of the loss that the best fixed weights of this size could save, at most."""
        return (self.lost - self.certified) / self.lost if self.lost > 0 else 0.0

    @property
    def speaks(self) -> bool:
        """Whether at least half of the loss is certified to be out of reach."""
        return self.left <= HALF

    def as_dict(self) -> dict[str, Any]:
        """All numbers, for JSON."""
        return {**self._asdict(), "left": self.left, "speaks": self.speaks}
