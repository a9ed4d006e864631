"""Do the twins of a rule or a loss say the same of themselves?

Each file opens with a title and a block: what is played, what a slot holds, which regret is proved,
by whom, and where the code departs from the source. The blocks of the two languages must be equal,
but for how their lines are broken.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from lessregret.learners import labels
from lessregret.learners.losses import LOSSES
from lessregret.learners.rules import RULES

CORE = Path(__file__).parents[2] / "crates" / "core" / "src"
RULE_FILES = sorted({Path(inspect.getfile(rule)) for rule in RULES.values()})
LOSS_FILES = sorted({Path(inspect.getfile(type(loss))) for loss in LOSSES.values()})
RUST_NAMES = {"global_rate": "global"}
"""``global`` is a keyword of Python."""


def python_header(file: Path) -> str:
    """The docstring of the module."""
    return re.match(r'"""(.*?)"""', file.read_text(encoding="utf-8"), re.DOTALL)[1].strip()  # type: ignore[index]


def rust_header(file: Path) -> str:
    """The documentation at the head of the file."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return "\n".join(line[3:].removeprefix(" ") for line in lines if line.startswith("//!"))


def block(header: str, first: str) -> list[str]:
    """The block that begins with a keyword, word by word."""
    found = re.search(rf"^ *{first} .*?(?=\n\s*\n(?! )|\n```|\Z)", header, re.DOTALL | re.MULTILINE)
    assert found, header
    return found[0].split()


@pytest.mark.parametrize("file", RULE_FILES, ids=lambda file: file.stem)
def test_the_twins_of_a_rule_have_one_header(file: Path) -> None:
    twin = CORE / "rule" / f"{RUST_NAMES.get(file.stem, file.stem)}.rs"
    ours, theirs = python_header(file), rust_header(twin)
    assert ours.splitlines()[0] == theirs.splitlines()[0]
    assert block(ours, "Plays") == block(theirs, "Plays")
    for keyword in ("Plays", "Slot", "Regret", "Source", "Departs"):
        assert keyword in block(ours, "Plays"), keyword


@pytest.mark.parametrize("file", LOSS_FILES, ids=lambda file: file.stem)
def test_the_twins_of_a_loss_have_one_header(file: Path) -> None:
    twin = CORE / "loss" / f"{file.stem}.rs"
    ours, theirs = python_header(file), rust_header(twin)
    assert ours.splitlines()[0] == theirs.splitlines()[0]
    assert block(ours, "Loss") == block(theirs, "Loss")


def test_the_twins_of_the_labels_have_one_header() -> None:
    file = Path(inspect.getfile(labels))
    ours, theirs = python_header(file), rust_header(CORE / "example" / "scale" / "labels.rs")
    assert block(ours, "Each label") == block(theirs, "Each label")
