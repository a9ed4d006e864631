"""What a rule is: a one-dimensional online algorithm (the paper's Lemma 2).

A learner runs the rule on every coordinate separately. The state of a coordinate is its *slot*. The
rule is two pure functions of the slot:

    weight(slot, value)                    the weight of the coordinate
    absorb(slot, value, gradient, step)    the slot after the round, and the rate that was used

The weight is always computed from the slot. A rule is *coupled* if its step depends on the whole
example. In each round of a coupled rule ``look`` is called for every coordinate and adds to the
statistics of the example; then ``step`` computes the step of the round from these statistics and a
shared state. Rules that are not coupled do not define ``look`` and ``step``.

A rule that keeps weights within an interval is a :class:`BoxedRule`; only such a rule can have a
regret bound.

To write your own rule, subclass :class:`Rule` or :class:`BoxedRule`. No Rust is needed, but the
rule then runs slowly:

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
from dataclasses import asdict, dataclass, fields, replace
from math import inf, sqrt
from typing import Any, ClassVar, NamedTuple, TypeVar

from lessregret.errors import SpecError
from lessregret.learners.rules.limits import check_box, check_limits, limited

Slot = tuple[float, ...]
SelfRule = TypeVar("SelfRule", bound="Rule")
SelfBoxed = TypeVar("SelfBoxed", bound="BoxedRule")


class Step(NamedTuple):
    """The update that a coupled rule computes from the whole example, for all its coordinates."""

    rate: float = 0.0
    """how far a weight moves, per unit of the gradient or of the value"""
    tighten: float = 0.0
    """how much the precision of a weight grows, per unit of the squared value"""


@dataclass
class ExampleStats:
    """Statistics of one example, from which a coupled rule computes its step."""

    round: int
    regression: bool
    """whether labels are numbers, not -1 and +1"""
    label: float
    margin: float
    """the prediction p, computed before the update, with the base margin"""
    importance: float
    slope: float
    """the derivative of the loss in the margin: importance · ℓ'(p, y)"""
    square_norm: float
    """|x|²"""
    variance: float = 0.0
    """Σ variance_i x_i², for the rules that keep a variance of each weight"""
    newcomers: float = 0.0
    """the number of coordinates that never had a gradient before this example"""
    newcomer_rates: float = 0.0
    """Σ rate_i² over the newcomers: the coordinates that no earlier example had"""
    newcomer_widths: float = 0.0
    """Σ D_i² over the newcomers"""
    shrink: float = 0.0
    """importance · λ: a coordinate's gradient is slope · value + shrink · weight"""
    square_weights: float = 0.0
    """Σ w_i² of the weights before the update; 0 without L2"""
    base: float = 0.0
    """b, the base margin: p − b = w·x"""

    @property
    def square_gradient(self) -> float:
        """|g|², the squared gradient of loss and L2 penalty: |slope x + shrink w|²."""
        of_loss = self.slope**2 * self.square_norm
        crossed = 2 * self.slope * self.shrink * (self.margin - self.base)
        # Where the two parts cancel, rounding could leave a square below 0.
        return max(0.0, of_loss + crossed + self.shrink**2 * self.square_weights)

    @property
    def played(self) -> float:
        """g·w, the gradient of loss and L2 penalty times the weights before the update."""
        of_loss = self.slope * (self.margin - self.base)
        return of_loss + self.shrink * self.square_weights


@dataclass(frozen=True, kw_only=True)
class Rule(ABC):
    """An update rule: a one-dimensional online algorithm, run on every coordinate."""

    name: ClassVar[str]
    empty: ClassVar[Slot]
    """The slot of a coordinate that was never updated; all zeros."""
    no_shared: ClassVar[Any] = None
    """The shared state of a coupled rule before the first round."""
    coupled: ClassVar[bool] = False
    descends: ClassVar[bool] = False
    """Whether ``absorb`` moves ``weight``, a field of the slot, by −rate · gradient."""
    unit_values: ClassVar[bool] = False
    """Whether the rule plays on values from −1 to 1: values divided by their size, then clipped."""
    coin_lane: ClassVar[bool] = False
    """Whether at rate "auto" the last lane plays the rule ``coin`` in place of an eighth rate."""
    regresses: ClassVar[bool] = True
    """Whether the rule can learn from labels that are numbers."""
    meets_labels: ClassVar[bool] = False
    """Whether the rule moves the margin to the label, so that the margin must be the prediction."""

    def __post_init__(self) -> None:
        check_limits(self)

    @classmethod
    def learns_from(cls, labels: str) -> bool:
        """Whether the rule can learn from labels of this kind: "binary", "real" or "count"."""
        return labels == "binary" or (
            cls.regresses and not (cls.meets_labels and labels == "count")
        )

    @abstractmethod
    def weight(self, slot: Any, value: float) -> float:
        """The weight of the coordinate, computed from its slot."""

    @abstractmethod
    def absorb(self, slot: Any, value: float, gradient: float, step: Step) -> tuple[Slot, float]:
        """The slot after the round, and the rate η that was used; 0 for rules without a bound."""

    def look(self, slot: Any, value: float, stats: ExampleStats) -> None:
        """For coupled rules: add the contribution of one coordinate to the stats."""

    def step(self, shared: Any, stats: ExampleStats) -> tuple[Any, Step]:
        """For coupled rules: the shared state after this round, and the step of the round."""
        return shared, Step()

    def knowing(self: SelfRule, shared: Any) -> SelfRule:
        """For coupled rules: the rule with what its weights need from the shared state."""
        return self

    def is_proved(self, shared: Any) -> bool:
        """Whether the bound was proved for rounds that led to this shared state."""
        return True

    def spread(self, slot: Any, step: Step) -> float | None:
        """D_i²/(2 η_T,i): the term of this coordinate in the first half of the paper's bound.

        The slot was updated at least once, and the step is that of the last round. None if the rule
        has no bound.
        """
        return None

    def spread_at(self, rate: float) -> float:
        """D_i²/(2η) for the rate η."""
        return self.width**2 / (2 * rate)

    def shared_spread(self, shared: Any) -> float:
        """The part of Σ_i D_i²/(2 η_T,i) that is computed from the shared state."""
        return 0.0

    def theorem(self, slot: Any) -> float | None:
        """The term of this coordinate in the closed form of Theorem 3; None if there is none."""
        return None

    def shared_theorem(self, shared: Any) -> float | None:
        """The closed form of Theorem 2, from the shared state; None if there is none."""
        return None

    @property
    def low(self) -> float:
        """a_i, the smallest weight allowed; −∞ without a feasible set"""
        return -inf

    @property
    def high(self) -> float:
        """b_i, the largest weight allowed; ∞ without a feasible set"""
        return inf

    @property
    def width(self) -> float:
        """D_i = b_i - a_i; ∞ without a feasible set"""
        return self.high - self.low

    def within(self: SelfRule, low: float, high: float) -> SelfRule:
        """A copy of the rule with other limits on the weight; rules without limits return self."""
        return self

    def having(self: SelfRule, **parameters: Any) -> SelfRule:
        """A copy of the rule with some other parameters.

        A default that depends on another parameter follows it: the offset of ``PerCoordinate`` is
        0.3 at rate "auto" and 0 at any other rate, unless it was given.
        """
        known = [parameter.name for parameter in fields(self)]
        for name in parameters:
            if name not in known:
                raise SpecError(f"rule {self.name!r} has no {name}; it has {', '.join(known)}")
        open_ = [parameter.name for parameter in fields(self) if parameter.default is None]
        derived = {name: None for name in open_ if self._is_derived(name)}
        return replace(self, **{**derived, **parameters})

    def _is_derived(self, name: str) -> bool:
        """Whether a parameter has the value that it would get if it were left out."""
        return bool(getattr(replace(self, **{name: None}), name) == getattr(self, name))

    def clip(self, weight: float) -> float:
        """The point of [low, high] that is nearest to the weight."""
        return min(self.high, max(self.low, weight))

    def spec(self) -> dict[str, Any]:
        """The name and the parameters of the rule, as a spec and a model file hold them."""
        return {"name": self.name, **asdict(self)}


@dataclass(frozen=True, kw_only=True)
class BoxedRule(Rule):
    """An update rule that keeps every weight within an interval, its feasible set.

    Parameters
    ----------
    radius : number above 0, default 100
        Every weight is kept within [-radius, radius]. A regret bound needs a finite radius. 100,
        the value in §5.1 of the paper, is so wide that weights hardly reach it on scaled data.
    box : (low, high), optional
        The smallest and the largest weight allowed, in place of ``radius``.
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
        """A copy of the rule with other limits on the weight."""
        return replace(self, box=(low, high))


def rate_number(rate: float | str, width: float) -> float:
    """The rate as a number: ``"theory"`` is D_i/√2, the corrected Theorem 3 (erratum E7)."""
    return width / sqrt(2) if rate == "theory" else float(rate)
