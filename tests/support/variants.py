"""Variants of a rule, made from the limits of its own parameters."""

from __future__ import annotations

from dataclasses import Field, fields
from typing import Any

from lessregret.learners.rules import BoxedRule, Rule

SMALL_BOX: dict[str, Any] = {"radius": 2.0}
"""Wide enough to move in, and small enough that a large rate meets its ends."""
ONE_RATE: dict[str, Any] = {"rate": 0.3}


def variants(rule: type[Rule]) -> list[Rule]:
    """The rule as it is by default, and with each parameter at values that its limits allow."""
    base: dict[str, Any] = dict(SMALL_BOX) if issubclass(rule, BoxedRule) else {}
    by_name = {parameter.name: parameter for parameter in fields(rule)}
    if "rate" in by_name and "auto" in by_name["rate"].metadata["words"]:
        base |= ONE_RATE
    made = [rule(), rule(**base)]
    for name, parameter in by_name.items():
        made += [rule(**{**base, name: value}) for value in values(parameter)]
    return list(dict.fromkeys(made))


def values(parameter: Field[Any]) -> list[Any]:
    """What the limits of a parameter allow: all words, numbers at and near their ends."""
    if parameter.name == "box":
        return [(0.5, 1.5), (-0.25, 0.125)]
    limits = parameter.metadata
    above, least = limits["above"], limits["least"]
    numbers = [] if above is None else [above + 0.05, above + 0.3]
    numbers += [] if least is None else [least, least + 0.75]
    return [*limits["words"], *numbers]
