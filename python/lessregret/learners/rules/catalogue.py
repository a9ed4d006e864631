"""Which rules there are: those in the core's table, each found in a file of this folder.

There is no second list to keep. The file named like a rule is looked at first and the others only
if the rule is not there, so that the command line imports no more than it uses.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from lessregret._core import RULES as NAMES

if TYPE_CHECKING:
    from lessregret.learners.rules.rule import Rule

FOLDER = os.path.dirname(__file__)
NOT_RULES = {"__init__", "catalogue", "limits", "rule"}


@cache
def rule_by_name(name: str) -> type[Rule]:
    """The class of the rule with this name, as users write it."""
    for found in _rules(first=name.replace("-", "_")):
        if found.name == name:
            return found
    raise LookupError(f"the core's rule {name!r} has no readable twin in {FOLDER}")


@cache
def rule_by_class(name: str) -> type[Rule] | None:
    """The rule whose class has this name."""
    snake_case = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    return next((rule for rule in _rules(first=snake_case) if rule.__name__ == name), None)


def _rules(first: str) -> Iterator[type[Rule]]:
    """The rules of all files, those of one file first."""
    from lessregret.learners.rules.rule import Rule

    # Not by pathlib, which takes five times as long to import as a rule.
    files = {file.removesuffix(".py") for file in os.listdir(FOLDER) if file.endswith(".py")}
    for module in sorted(files - NOT_RULES, key=lambda file: (file != first, file)):
        for member in vars(import_module(f"lessregret.learners.rules.{module}")).values():
            if isinstance(member, type) and issubclass(member, Rule) and "name" in vars(member):
                yield member


class Catalogue(Mapping[str, "type[Rule]"]):
    """The rules by their names."""

    def __getitem__(self, name: str) -> type[Rule]:
        if name not in NAMES:
            raise KeyError(name)
        return rule_by_name(name)

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)
