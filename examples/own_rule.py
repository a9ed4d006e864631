"""A rule of your own, set beside the rule of the paper on the same examples.

    python examples/own_rule.py

A rule is what one coordinate remembers and two functions. This one remembers the sum of its
gradients and the sum of their squares, and plays −rate · G/√S. It runs in Python, slowly, with the
ledger and the certificate of every other rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from lessregret import BoxedRule, PerCoordinate, ReadableLearner, Rule


class Sums(NamedTuple):
    """What a coordinate remembers."""

    gradients: float = 0.0
    squares: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Lazy(BoxedRule):
    """Plays −rate · G/√S, kept within the radius."""

    name = "lazy"
    empty = Sums()

    rate: float = 0.3

    def weight(self, slot: Any, value: float) -> float:
        if slot.squares == 0:
            return self.clip(0.0)
        return self.clip(-self.rate * slot.gradients / sqrt(slot.squares))

    def absorb(self, slot: Any, value: float, gradient: float, step: Any) -> tuple[Any, float]:
        return Sums(slot.gradients + gradient, slot.squares + gradient**2), 0.0


def mean_loss(rule: Rule, rounds: int) -> float:
    """The loss of a rule on random examples whose label depends on their three features."""
    rng = np.random.default_rng(0)
    learner = ReadableLearner("logistic", rule, certify=True, scale="none")
    for _ in range(rounds):
        slots = sorted(rng.choice(20, size=3, replace=False).tolist())
        values = rng.normal(size=3).tolist()
        margin = sum(v * np.cos(s) * 2 for s, v in zip(slots, values, strict=True))
        learner.play(slots=slots, values=values, label=1 if margin + rng.logistic() > 0 else -1)
    loss = learner.ledger().mean_loss
    assert loss is not None
    return loss


if __name__ == "__main__":
    for rule in (Lazy(radius=10.0), PerCoordinate(radius=10.0, rate=0.3)):
        print(f"{rule.name:15} {mean_loss(rule, 2000):.4f}")
