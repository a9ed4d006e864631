"""The rules, one a file: the readable twins of ``crates/core/src/rule/``.

>>> sorted(RULES)
['constant', 'global', 'inverse-sqrt', 'per-coordinate']
"""

from __future__ import annotations

from typing import Any

from lessregret.errors import SpecError
from lessregret.rules.constant import Constant
from lessregret.rules.global_rate import Global
from lessregret.rules.inverse_sqrt import InverseSqrt
from lessregret.rules.per_coordinate import PerCoordinate
from lessregret.rules.rule import Rule, Sight

RULES: dict[str, type[Rule]] = {
    rule.name: rule for rule in (Constant, InverseSqrt, Global, PerCoordinate)
}
"""Every rule that has a twin in Rust, by its name."""


def rule_named(name: str, **parameters: Any) -> Rule:
    """The rule with this name and these parameters; those that are None keep their defaults."""
    if name not in RULES:
        raise SpecError(f"unknown rule {name!r}; the rules are {', '.join(RULES)}")
    given = {key: value for key, value in parameters.items() if value is not None}
    try:
        return RULES[name](**given)
    except TypeError:
        raise SpecError(f"rule {name!r} does not take all of {', '.join(given)}") from None


def rule_from_spec(spec: dict[str, Any]) -> Rule:
    """The rule that :meth:`Rule.spec` describes."""
    box = spec.get("box")
    return rule_named(**{**spec, "box": None if box is None else tuple(box)})


__all__ = [
    "RULES",
    "Constant",
    "Global",
    "InverseSqrt",
    "PerCoordinate",
    "Rule",
    "Sight",
    "rule_from_spec",
    "rule_named",
]
