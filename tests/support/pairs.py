"""Which losses and rules go together, taken from the registries."""

from __future__ import annotations

from lessregret.learners.losses import LOSSES
from lessregret.learners.rules import RULES, BoxedRule, Rule, parse_rule
from tests.support.slow import slow

ONE_LANE = ["global:rate=0.1", "per-coordinate:rate=0.3", "ftrl:rate=0.1"]
"""The rules whose default is several lanes, in one; the rates are those of the paper's Table 1."""

EVERY_RULE = [*RULES, *ONE_LANE]
"""For ``parse_rule``: every rule by its name, and in one lane where the default has eight."""


def rule_class(text: str) -> type:
    """The class of a rule as a user writes it."""
    return RULES[text.split(":")[0]]


def regresses(loss: str) -> bool:
    """Whether the labels of the loss are numbers."""
    return not LOSSES[loss].is_classification


def learns(rule: Rule, loss: str) -> bool:
    """Whether the rule can learn with the loss."""
    return rule.learns_from(LOSSES[loss].labels)


def is_certifiable(rule: str) -> bool:
    """Whether the linearised regret of the rule can be measured: only against a box."""
    return issubclass(rule_class(rule), BoxedRule)


def has_lanes(rule: str) -> bool:
    """Whether the rule as it is written has lanes."""
    return getattr(parse_rule(rule), "rate", None) == "auto"


BOXED = [rule for rule in EVERY_RULE if is_certifiable(rule)]
"""The rules on a box: they have a bound, a certificate and L2."""

ONE_OF_EACH = ["logistic", "hinge", "squared"]
"""A loss for each way of mixing, for tests of what a loss's own file does not decide."""

PAIRS = [
    (loss, rule)
    for loss in ONE_OF_EACH
    for rule in EVERY_RULE
    if rule_class(rule).regresses or LOSSES[loss].is_classification
]
"""These losses with every rule that can learn from them."""


def cover(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Some of the pairs: every rule once, and the losses by turns."""
    chosen = {}
    for k, rule in enumerate(dict.fromkeys(rule for _, rule in pairs)):
        losses = [loss for loss, name in pairs if name == rule]
        chosen[rule] = losses[k % len(losses)]
    return [(loss, rule) for rule, loss in chosen.items()]


COVER = cover(PAIRS)
"""The pairs that quick tests try where all would take minutes; slow tests try the others."""

SOME_QUICK = [pair if pair in COVER else slow(*pair) for pair in PAIRS]
"""Every pair, for ``parametrize``: all but those of the cover are slow tests."""
