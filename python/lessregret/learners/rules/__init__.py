"""The rules, one a file: the readable twins of ``crates/core/src/rule/``.

>>> list(RULES)[:6]
['constant', 'inverse-sqrt', 'global', 'per-coordinate', 'adaptive-revision', 'ftrl']
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from lessregret.errors import SpecError
from lessregret.learners.names import RULES_ELSEWHERE, unknown
from lessregret.learners.rules.catalogue import Catalogue, rule_by_class
from lessregret.learners.rules.rule import BoxedRule, ExampleStats, Rule, Step

if TYPE_CHECKING:
    from lessregret.learners.rules.adaptive_revision import AdaptiveRevision
    from lessregret.learners.rules.arow import Arow
    from lessregret.learners.rules.coin import Coin
    from lessregret.learners.rules.confidence_weighted import CW, CWStdev
    from lessregret.learners.rules.constant import Constant
    from lessregret.learners.rules.ftrl import Ftrl
    from lessregret.learners.rules.global_rate import Global
    from lessregret.learners.rules.inverse_sqrt import InverseSqrt
    from lessregret.learners.rules.passive_aggressive import PA, PA1, PA2
    from lessregret.learners.rules.per_coordinate import PerCoordinate

RULES: Mapping[str, type[Rule]] = Catalogue()
"""Every rule that has a twin in Rust, by its name."""


def __getattr__(name: str) -> Any:
    found = None if name.startswith("_") else rule_by_class(name)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


def rule_named(name: str, **parameters: Any) -> Rule:
    """The rule with this name and these parameters; those that are None keep their defaults."""
    if name not in RULES:
        raise SpecError(unknown("rule", "rules", name, RULES, RULES_ELSEWHERE))
    known = [parameter.name for parameter in fields(RULES[name])]
    given = {key: value for key, value in parameters.items() if value is not None}
    for key in given:
        if key not in known:
            raise SpecError(f"rule {name!r} has no {key}; it has {', '.join(known)}")
    return RULES[name](**given)


def rule_from_spec(spec: dict[str, Any]) -> Rule:
    """The rule that :meth:`Rule.spec` describes."""
    settings = dict(spec)
    if settings.get("box") is not None:
        settings["box"] = tuple(settings["box"])
    return rule_named(**settings)


def parse_rule(text: str, **parameters: Any) -> Rule:
    """The rule that a user wrote as ``name`` or ``name:parameter=value:parameter=value``.

    Parameters given beside the text count where the text does not give them and the rule has them.

    >>> parse_rule("ftrl:l1=0.5:offset=0", radius=2.0).spec()["l1"]
    0.5
    """
    written = rule_settings(text)
    known = {parameter.name for parameter in fields(rule_named(**written))}
    also = {key: value for key, value in parameters.items() if key in known}
    return rule_named(**{**also, **written})


def rule_settings(text: str) -> dict[str, Any]:
    """The name and the parameters of a rule as a user wrote it.

    >>> rule_settings("ftrl:l1=0.5")
    {'name': 'ftrl', 'l1': 0.5}
    """
    name, *settings = text.split(":")
    written: dict[str, Any] = {"name": name}
    for setting in settings:
        parameter, value = _setting(text, setting)
        if parameter in written:
            raise SpecError(f"in rule {text!r}, {parameter} is given twice")
        written[parameter] = value
    return written


def _setting(text: str, setting: str) -> tuple[str, float | str]:
    name, equals, value = setting.partition("=")
    if not equals:
        raise SpecError(f"in rule {text!r}, expected parameter=value after ':', found {setting!r}")
    return name, number_or_word(value)


def number_or_word(text: str) -> float | str:
    """What a user wrote, as a number if it is one."""
    try:
        return float(text)
    except ValueError:
        return text


__all__ = [
    "CW",
    "PA",
    "PA1",
    "PA2",
    "RULES",
    "AdaptiveRevision",
    "Arow",
    "BoxedRule",
    "CWStdev",
    "Coin",
    "Constant",
    "ExampleStats",
    "Ftrl",
    "Global",
    "InverseSqrt",
    "PerCoordinate",
    "Rule",
    "Step",
    "number_or_word",
    "parse_rule",
    "rule_from_spec",
    "rule_named",
    "rule_settings",
]
