"""Does the catalogue find every rule of the core in its own file?"""

from __future__ import annotations

import subprocess
import sys

import pytest

from lessregret import _core
from lessregret.learners import rules
from lessregret.learners.rules import RULES
from lessregret.learners.rules.catalogue import rule_by_class


def test_every_rule_of_the_core_has_a_readable_twin() -> None:
    assert list(RULES) == _core.RULES
    assert [rule.name for rule in RULES.values()] == _core.RULES


def test_rules_are_found_by_the_name_of_their_class() -> None:
    for rule in RULES.values():
        assert rule_by_class(rule.__name__) is rule
        assert getattr(rules, rule.__name__) is rule
        assert rule.__name__ in rules.__all__


def test_what_is_no_rule_is_not_found() -> None:
    with pytest.raises(KeyError):
        RULES["magic"]
    with pytest.raises(AttributeError, match="has no attribute 'Magic'"):
        _ = rules.Magic


def test_a_rule_is_imported_when_it_is_asked_for() -> None:
    code = (
        "import sys; from lessregret.learners.rules import RULES; RULES['per-coordinate'];"
        "print(*[name for name in sys.modules if 'learners.rules.' in name])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = {name.rsplit(".", 1)[1] for name in done.stdout.split()}
    assert imported == {"catalogue", "limits", "per_coordinate", "rule"}
