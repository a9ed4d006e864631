"""The catalogue of rules: are all there under their names, and only when asked for?"""

from __future__ import annotations

import subprocess
import sys

import pytest

from lessregret.learners import rules
from lessregret.learners.rules import RULES
from lessregret.learners.rules.catalogue import CLASSES, HOMES


def test_every_rule_stands_under_its_name() -> None:
    assert [rule.name for rule in RULES.values()] == list(RULES) == list(CLASSES)
    assert {rule.__name__ for rule in RULES.values()} == set(HOMES)
    assert all(getattr(rules, name).__name__ == name for name in HOMES)
    assert set(HOMES) <= set(rules.__all__)


def test_what_is_no_rule_is_not_there() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Adam'"):
        _ = rules.Adam
    assert "adam" not in RULES


def test_a_rule_is_imported_when_it_is_asked_for() -> None:
    code = "import sys, lessregret.learners.rules as r; r.PerCoordinate; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    modules = done.stdout.split()
    assert "lessregret.learners.rules.per_coordinate" in modules
    assert "lessregret.learners.rules.passive_aggressive" not in modules
