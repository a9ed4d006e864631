"""The rule of an estimator, and its parameters as those of the estimator: ``rule__rate``.

A rule is given as None, which means ``PerCoordinate()``, by its name, or as a Rule. Its parameters
can be set in all three cases, so that a grid search may vary them:

    GridSearchCV(OnlineClassifier(rule="ftrl"), {"rule__rate": [0.05, 0.1, 0.2]})
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from lessregret.errors import SpecError
from lessregret.learners.rules import PerCoordinate, Rule, parse_rule

PREFIX = "rule__"


def rule_of(given: Any) -> Rule:
    """The rule that an estimator was given.

    >>> rule_of("ftrl").rate, rule_of(None).name
    ('auto', 'per-coordinate')
    """
    if given is None:
        return PerCoordinate()
    if isinstance(given, str):
        return parse_rule(given)
    if not isinstance(given, Rule):
        raise SpecError(f"rule must be a Rule, the name of one, or None, found {given!r}")
    return given


def nested_parameters(given: Any) -> dict[str, Any]:
    """The parameters of the rule, with ``rule__`` before their names; none if it is no rule.

    >>> nested_parameters("constant")["rule__rate"]
    0.1
    """
    try:
        rule = rule_of(given)
    except SpecError:
        # What is wrong with it is said when the estimator is fitted.
        return {}
    return {PREFIX + field.name: getattr(rule, field.name) for field in fields(rule)}


def with_nested(given: Any, parameters: Mapping[str, Any]) -> Any:
    """The rule with these parameters, given with ``rule__`` before their names.

    A rule that has them already stays as it was given.

    >>> with_nested("ftrl", {"rule__rate": 0.2}).rate, with_nested("ftrl", {"rule__l1": 0})
    (0.2, 'ftrl')
    """
    rule = rule_of(given)
    changed = rule.having(**{name.removeprefix(PREFIX): parameters[name] for name in parameters})
    return given if changed == rule else changed
