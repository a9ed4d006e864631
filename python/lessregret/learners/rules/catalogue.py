"""Which rules there are; each is imported when asked for: the command line starts sooner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lessregret.learners.rules.rule import Rule

CLASSES = {
    "constant": "Constant",
    "inverse-sqrt": "InverseSqrt",
    "global": "Global",
    "per-coordinate": "PerCoordinate",
    "ftrl": "Ftrl",
    "pa": "PA",
    "pa-i": "PA1",
    "pa-ii": "PA2",
    "cw": "CW",
    "cw-stdev": "CWStdev",
    "arow": "Arow",
}

HOMES = {
    "Arow": "arow",
    "CW": "confidence_weighted",
    "CWStdev": "confidence_weighted",
    "Constant": "constant",
    "Ftrl": "ftrl",
    "Global": "global_rate",
    "InverseSqrt": "inverse_sqrt",
    "PA": "passive_aggressive",
    "PA1": "passive_aggressive",
    "PA2": "passive_aggressive",
    "PerCoordinate": "per_coordinate",
}


def rule_class(name: str) -> type[Rule]:
    """The class with this name."""
    module = import_module(f"lessregret.learners.rules.{HOMES[name]}")
    found: type[Rule] = getattr(module, name)
    return found


class Catalogue(Mapping[str, "type[Rule]"]):
    """The rules by their names."""

    def __getitem__(self, name: str) -> type[Rule]:
        return rule_class(CLASSES[name])

    def __iter__(self) -> Iterator[str]:
        return iter(CLASSES)

    def __len__(self) -> int:
        return len(CLASSES)
