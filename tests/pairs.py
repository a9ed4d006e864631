"""Which losses and rules go together, taken from the registries."""

from __future__ import annotations

from lessregret.losses import LOSSES
from lessregret.rules import RULES, BoxedRule

PAIRS = [
    (loss, rule)
    for loss in LOSSES
    for rule in RULES
    if RULES[rule].regresses or LOSSES[loss].is_classification
]
"""Every loss with every rule that can learn from it, by their names."""


def is_certifiable(rule: str) -> bool:
    """Whether the linearised regret of the rule can be measured: only against a box."""
    return issubclass(RULES[rule], BoxedRule)
