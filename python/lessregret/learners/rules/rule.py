"""What a rule is: a one-dimensional online algorithm (the paper's Lemma 2).

A learner runs one rule per coordinate. What the coordinate remembers is its *slot*; the rule is two
pure functions of it:

    weight(slot, value)                    the point the coordinate plays
    absorb(slot, value, gradient, step)    what it remembers after the round, and the rate it used

The weight is always a function of the slot, never a second copy that can go stale. A rule whose
coordinates must talk, because its step depends on the whole example, is *coupled*: ``look`` gathers
what the example shows and ``step`` turns that, with a little shared state, into the step that every
coordinate of the example absorbs with. Coordinate rules leave these two alone.

A rule with a feasible interval is a :class:`BoxedRule`; only such a rule can have a regret bound.

To write a rule of your own, subclass one of the two; it runs (slowly) with no Rust:

>>> from dataclasses import dataclass
>>> from typing import NamedTuple
>>> class Last(NamedTuple):
...     gradient: float = 0.0
>>> @dataclass(frozen=True, kw_only=True)
... class FollowTheLastSign(BoxedRule):
...     name = "follow-the-last-sign"
...     empty = Last()
...     def weight(self, slot, value):
...         return self.low if slot.gradient > 0 else self.high if slot.gradient < 0 else 0.0
...     def absorb(self, slot, value, gradient, step):
...         return Last(gradient), 0.0
>>> FollowTheLastSign(radius=2).weight(Last(0.5), 1.0)
-2.0
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, replace
from math import inf, sqrt
from typing import Any, ClassVar, NamedTuple, TypeVar

from lessregret.learners.rules.limits import check_box, check_limits, limited

Slot = tuple[float, ...]
SelfRule = TypeVar("SelfRule", bound="Rule")
SelfBoxed = TypeVar("SelfBoxed", bound="BoxedRule")


class Step(NamedTuple):
    """What the coordinates of an example are told to do."""

    rate: float = 0.0
    """how far to move, per unit of the gradient or of the value"""
    tighten: float = 0.0
    """how much surer to become, per unit of the squared value"""


@dataclass
class ExampleStats:
    """What one example showed, for the rules whose coordinates talk."""

    round: int
    regression: bool
    """whether labels are numbers, not -1 and +1"""
    label: float
    margin: float
    """p, as it was played"""
    importance: float
    slope: float
    """the gradient in the margin: importance · ℓ'(p, y)"""
    square_norm: float
    """|x|²"""
    variance: float = 0.0
    """Σ variance_i x_i², for the rules that are more or less sure of each coordinate"""
    newcomer_rates: float = 0.0
    """Σ rate_i² over the newcomers, the coordinates never met before this example"""
    newcomer_widths: float = 0.0
    """Σ D_i² over the newcomers"""
    shrink: float = 0.0
    """importance · λ: a coordinate's gradient is slope · value + shrink · weight"""
    square_weights: float = 0.0
    """Σ w_i² of the weights played; 0 without L2"""

    @property
    def square_gradient(self) -> float:
        """|g|² of the round, that of L2 included: |slope x + shrink w|²."""
        of_loss = self.slope**2 * self.square_norm
        crossed = 2 * self.slope * self.shrink * self.margin
        # Where the two parts cancel, rounding could leave a square below 0.
        return max(0.0, of_loss + crossed + self.shrink**2 * self.square_weights)

    @property
    def played(self) -> float:
        """g·w of the round, that of L2 included."""
        return self.slope * self.margin + self.shrink * self.square_weights


@dataclass(frozen=True, kw_only=True)
class Rule(ABC):
    """A one-dimensional online algorithm."""

    name: ClassVar[str]
    empty: ClassVar[Slot]
    """The slot of a coordinate that was never touched; all zeros."""
    no_shared: ClassVar[Any] = None
    """The shared state of a coupled rule before the first round."""
    coupled: ClassVar[bool] = False
    descends: ClassVar[bool] = False
    """Whether ``absorb`` moves ``weight``, a field of the slot, by −rate · gradient."""
    regresses: ClassVar[bool] = True
    """Whether the rule can learn from labels that are numbers."""

    def __post_init__(self) -> None:
        check_limits(self)

    @abstractmethod
    def weight(self, slot: Any, value: float) -> float:
        """The point the coordinate plays."""

    @abstractmethod
    def absorb(self, slot: Any, value: float, gradient: float, step: Step) -> tuple[Slot, float]:
        """What the coordinate remembers after the round, and its rate η; 0 without a bound."""

    def look(self, slot: Any, value: float, stats: ExampleStats) -> None:
        """Coupled rules: add to the stats what this coordinate shows."""

    def step(self, shared: Any, stats: ExampleStats) -> tuple[Any, Step]:
        """Coupled rules: the shared state after this round, and the round's step."""
        return shared, Step()

    def spread(self, slot: Any, step: Step) -> float | None:
        """D_i²/(2 η_T,i): the coordinate's share of the first half of the paper's bound.

        The slot is a touched one and the step that of the last round; None if there is no bound.
        """
        return None

    def spread_at(self, rate: float) -> float:
        """D_i²/(2η), for rules whose last rate follows from slot or step."""
        return self.width**2 / (2 * rate)

    def shared_spread(self, shared: Any) -> float:
        """The part of the spread that the shared state knows."""
        return 0.0

    def theorem(self, slot: Any) -> float | None:
        """The coordinate's share of the theorem's closed form."""
        return None

    def shared_theorem(self, shared: Any) -> float | None:
        """The closed form, where it is a matter of the shared state."""
        return None

    @property
    def low(self) -> float:
        """a_i"""
        return -inf

    @property
    def high(self) -> float:
        """b_i"""
        return inf

    @property
    def width(self) -> float:
        """D_i = b_i - a_i"""
        return self.high - self.low

    def within(self: SelfRule, low: float, high: float) -> SelfRule:
        """The same rule on another interval; a rule without one stays as it is."""
        return self

    def clip(self, weight: float) -> float:
        """The nearest point of the interval."""
        return min(self.high, max(self.low, weight))

    def spec(self) -> dict[str, Any]:
        """The rule as it stands in a spec and in the model file."""
        return {"name": self.name, **asdict(self)}


@dataclass(frozen=True, kw_only=True)
class BoxedRule(Rule):
    """A one-dimensional online algorithm on the interval [low, high].

    Parameters
    ----------
    radius : number above 0, default 100
        The feasible set is [-radius, radius] in every coordinate. The paper's experiments (§5.1)
        use 100: wide enough never to bind on scaled data, and finite, so that a bound exists.
    box : (low, high), optional
        An interval that need not be symmetric, in place of ``radius``.
    """

    radius: float = limited(100.0, above=0)
    box: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_box(self.box)

    @property
    def low(self) -> float:
        """a_i"""
        return -float(self.radius) if self.box is None else float(self.box[0])

    @property
    def high(self) -> float:
        """b_i"""
        return float(self.radius) if self.box is None else float(self.box[1])

    def within(self: SelfBoxed, low: float, high: float) -> SelfBoxed:
        """The same rule on another interval."""
        return replace(self, box=(low, high))


def rate_number(rate: float | str, width: float) -> float:
    """The rate as a number: ``"theory"`` is D_i/√2, the corrected Theorem 3 (erratum E7)."""
    return width / sqrt(2) if rate == "theory" else float(rate)
