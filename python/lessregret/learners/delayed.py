"""A readable learner whose labels come late.

    play(example)              the margin now, and what is to be kept until the label comes
    absorb(played, label)      learn from it, whenever that is

The gradient of a round is that of the margin that was played. A rule with ``revise`` is told the
sum of the gradients that each feature had absorbed at the play, its *reading*. Any other rule that
is not coupled absorbs the late gradient as if it had come at once.

The fast twin is ``crates/core/src/learn/single/late.rs``, by which the service learns. This learner
also runs rules without ``revise``, to compare rules under delays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from lessregret.errors import SpecError
from lessregret.learners.losses import loss_named
from lessregret.learners.rules.rule import Rule, Step


class Played(NamedTuple):
    """A prediction that waits for its label."""

    slots: tuple[int, ...]
    values: tuple[float, ...]
    margin: float
    readings: tuple[float, ...]
    """for every feature the sum of the gradients that it had absorbed"""


class DelayedLearner:
    """A learner of one rule that is not coupled, at one rate.

    Parameters
    ----------
    rule : Rule
        Its rate is a number or "theory".
    loss : str, default "logistic"

    >>> from lessregret.learners.rules import rule_named
    >>> learner = DelayedLearner(rule_named("adaptive-revision", rate=0.5))
    >>> first, second = learner.play([7], [1.0]), learner.play([7], [1.0])
    >>> learner.absorb(first, 1.0)
    >>> learner.absorb(second, 1.0)
    >>> learner.play([7], [1.0]).margin
    0.5
    """

    def __init__(self, rule: Rule, loss: str = "logistic") -> None:
        if rule.coupled or getattr(rule, "rate", None) == "auto":
            raise SpecError(
                f"rule {rule.name!r}: a delayed learner needs a rule that is not coupled, and a "
                "rate other than 'auto'"
            )
        self.rule, self.loss = rule, loss_named(loss)
        self.slots: dict[int, Any] = {}

    def play(self, slots: Sequence[int], values: Sequence[float]) -> Played:
        """Predict an example, and keep what learning from it will need."""
        states = [self.slots.get(slot, self.rule.empty) for slot in slots]
        pairs = zip(states, values, strict=True)
        margin = sum(self.rule.weight(state, value) * value for state, value in pairs)
        readings = tuple(getattr(state, "sum", 0.0) for state in states)
        return Played(tuple(slots), tuple(values), float(margin), readings)

    def absorb(self, played: Played, label: float, importance: float = 1.0) -> None:
        """Learn from a prediction whose label has come."""
        slope = importance * self.loss.slope(played.margin, label)
        revise = getattr(self.rule, "revise", None)
        for slot, value, reading in zip(played.slots, played.values, played.readings, strict=True):
            state, gradient = self.slots.get(slot, self.rule.empty), slope * value
            if gradient == 0:
                continue
            if revise is None:
                self.slots[slot], _ = self.rule.absorb(state, value, gradient, Step())
            else:
                self.slots[slot], _ = revise(state, value, gradient, reading)
