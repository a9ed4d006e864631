"""Does the ablation leave out one part and nothing else, and do the pictures show its record?"""

from __future__ import annotations

import doctest
import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from benchmarks import ablation_record
from benchmarks.ablation import LIMITS, rows_of, written
from benchmarks.ablation_parts import READABLE, SWITCHED, learner_of
from benchmarks.ablation_record import Found, record
from lessregret.data.streams import open_examples
from tests.support.raw_tables import random_table

DOCS = Path(__file__).parent.parent / "docs"
pytest.importorskip("matplotlib", reason="the pictures are drawn with it")


def lines(regression: bool) -> list[bytes]:
    """A made table as Vowpal Wabbit text."""
    rows = random_table(3, 150, regression=regression)
    return [
        f"{row.label:.9g} | ".encode()
        + b" ".join(
            f"c{i}:{value:.9g}".encode() for i, value in zip(row.slots, row.values, strict=True)
        )
        + b"\n"
        for row in rows
    ]


def margins(part: str, regression: bool) -> list[float]:
    learner = READABLE[part].learner(regression)
    with written(lines(regression)) as file:
        return [learner.play(*row).margin for row in rows_of(file)]


@pytest.mark.parametrize("regression", [False, True])
def test_the_readable_default_is_that_of_the_product(regression: bool) -> None:
    learner = learner_of(regression, SWITCHED["default"])
    with written(lines(regression)) as file:
        product = learner.learn(open_examples([file], learner, format="vw")).margins
    assert np.allclose(margins("default", regression), product, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("part", [name for name in READABLE if name != "default"])
def test_every_part_changes_the_predictions(part: str) -> None:
    with_it, without = margins("default", True), margins(part, True)
    assert not np.allclose(with_it, without, rtol=1e-6, atol=1e-6)


@pytest.fixture
def ratios_of() -> Callable[[str, str, str], dict[str, float]]:
    return module("draw_ablation").ratios_of


def module(name: str) -> ModuleType:
    """A program of the folder of the documentation."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_pictures_read_what_the_record_writes(
    ratios_of: Callable[[str, str, str], dict[str, float]],
) -> None:
    found = [Found("clicks", False, 2_000, {"default": 0.2, "no coin": 0.3, "no AdaHedge": None})]
    outliers = {"default": 1.0, "scale cap": 1.0, "one rate": 1.0}
    outliers |= {f"{name}, outlier": 2_000.0 for name in outliers}
    text = record(LIMITS, found, found, found, [Found("prices", True, 9, outliers)])
    assert ratios_of(text, "Tiny sets", "no coin") == {"clicks": 1.5}
    assert ratios_of(text, "Tiny sets", "no AdaHedge") == {}
    assert ratios_of(text, "A label outlier", "one rate") == {"prices": 2000.0}


def test_every_picture_of_the_page_is_drawn() -> None:
    page = (DOCS / "explanation" / "why-nothing-to-tune.md").read_text(encoding="utf-8")
    drawn = {f"ablation-{picture.file}.svg" for picture in module("draw_ablation").PICTURES}
    assert {name for name in drawn if f"../pictures/{name}" in page} == drawn
    assert all((DOCS / "pictures" / name).exists() for name in drawn)


def test_examples_in_docstrings_hold() -> None:
    failed, tried = doctest.testmod(ablation_record)
    assert (failed, tried > 0) == (0, True)
