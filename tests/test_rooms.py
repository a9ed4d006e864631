"""Is the house as its plans say? Paths in the pages exist, layers are those that are enforced."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli", reason="tomllib came with Python 3.11")

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "python" / "lessregret"
ARCHITECTURE = ROOT / "docs" / "explanation" / "architecture.md"
PAGES = [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
KINDS = {"estimators", "golden", "laws", "support", "twins"}
"""Folders of tests that are kinds of tests, not rooms."""
MOST_ENTRIES = 16


def entries(folder: Path) -> list[str]:
    ignored = {"__pycache__"}
    return [
        path.name for path in folder.iterdir() if path.name not in ignored and path.suffix != ".so"
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_path_that_a_page_names_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"`((?:crates|python|tests|docs|benchmarks|fuzz)/[\w./-]*)`", text)
    missing = [name for name in named if "NAME" not in name and not (ROOT / name).exists()]
    assert not missing
    assert len(named) > 10 or page not in (PAGES[0], ARCHITECTURE)


def layers(text: str, heading: str) -> list[list[str]]:
    """The indented lines behind a heading, split into their rooms."""
    block = text.split(heading, 1)[1].split("\n\n", 2)[1]
    return [re.split(r" [·:] ", line.strip()) for line in block.splitlines()]


def test_the_layers_of_the_page_are_those_that_are_enforced() -> None:
    shown = layers(ARCHITECTURE.read_text(encoding="utf-8"), "held by import-linter")
    with (ROOT / "pyproject.toml").open("rb") as file:
        contract = tomllib.load(file)["tool"]["importlinter"]["contracts"][0]
    enforced = [[room.strip(" ()") for room in layer.split(":")] for layer in contract["layers"]]
    assert [sorted(layer) for layer in shown] == [sorted(layer) for layer in enforced]


def test_the_rooms_of_the_core_on_the_page_are_those_that_are_enforced() -> None:
    shown = layers(ARCHITECTURE.read_text(encoding="utf-8"), "held by `crates/core/tests/rooms.rs`")
    test = (ROOT / "crates" / "core" / "tests" / "rooms.rs").read_text(encoding="utf-8")
    table = re.search(r"const LAYERS[^=]*= \[(.*?)\n\];", test, re.DOTALL)
    assert table
    enforced = [re.findall(r'"(\w+)"', line) for line in table[1].splitlines()]
    assert [sorted(layer) for layer in shown] == [sorted(layer) for layer in enforced if layer]


@pytest.mark.parametrize(
    "folder", [PACKAGE, ROOT / "crates" / "core" / "src"], ids=lambda p: p.name
)
def test_the_top_is_short(folder: Path) -> None:
    assert len(entries(folder)) <= MOST_ENTRIES, sorted(entries(folder))


ARITHMETIC = re.compile(r"[\w)\]] [*/] [\w(]|\.(sqrt|exp|ln|powi|powf)\(")
"""products, quotients and functions of numbers; sums may count"""


@pytest.mark.parametrize(
    "source",
    sorted((ROOT / "crates" / "python" / "src").glob("*.rs")),
    ids=lambda source: source.name,
)
def test_the_binding_has_no_arithmetic(source: Path) -> None:
    lines = source.read_text(encoding="utf-8").splitlines()
    code = [line for line in lines if not line.lstrip().startswith("//")]
    assert [line for line in code if ARITHMETIC.search(line)] == []
    assert len(lines) < 300


def mirrored() -> list[Path]:
    """The test modules in the folders of rooms."""
    folders = [path for path in (ROOT / "tests").iterdir() if path.is_dir()]
    rooms = [folder for folder in folders if folder.name not in KINDS and entries(folder)]
    return [test for room in rooms for test in sorted(room.rglob("test_*.py"))]


@pytest.mark.parametrize(
    "test", mirrored(), ids=lambda test: test.relative_to(ROOT / "tests").as_posix()
)
def test_a_test_is_named_after_a_module_or_a_folder(test: Path) -> None:
    folder = PACKAGE / test.parent.relative_to(ROOT / "tests")
    assert folder.is_dir(), f"{folder} is no room"
    name = test.stem.removeprefix("test_")
    known = {path.stem for path in folder.iterdir() if path.stem != "__init__"} | {folder.name}
    assert any(name == stem or name.startswith(f"{stem}_") for stem in known), sorted(known)


def test_no_test_is_imported_as_a_library() -> None:
    for test in (ROOT / "tests").rglob("*.py"):
        text = test.read_text(encoding="utf-8")
        assert not re.search(r"^(from|import) tests[.\w]*\.test_", text, re.MULTILINE), test
