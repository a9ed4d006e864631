"""Does ``explain`` add up to what ``predict`` writes, and name features wherever it can?"""

from __future__ import annotations

import json

import numpy as np
import pytest

from lessregret import Learner
from tests.support.command_line import CommandLine

CLICKS = """\
1 'first |user anna |ad shoes red:0.5
-1 |user bert |ad hats
-1 2 |user anna |ad hats
1 'last |user bert |ad shoes
"""


@pytest.fixture
def model(lessregret: CommandLine) -> str:
    lessregret.write("clicks.vw", CLICKS)
    assert lessregret("train", "clicks.vw", "--model", "m", "--quiet").code == 0
    return "m"


@pytest.mark.parametrize("top", [1, 2, 99])
def test_the_rows_add_up_to_what_predict_writes(
    lessregret: CommandLine, model: str, top: int
) -> None:
    done = lessregret("explain", model, "clicks.vw", "--rows", "9", "--json", "--top", str(top))
    rows = json.loads(done.stdout)["rows"]
    margins = lessregret("predict", model, "clicks.vw", "--as", "margin").stdout.split("\n")
    assert [row["row"] for row in rows] == [1, 2, 3, 4]
    assert [row["tag"] for row in rows] == ["first", None, None, "last"]
    assert [row["label"] for row in rows] == [1.0, -1.0, -1.0, 1.0]
    for row, margin in zip(rows, margins, strict=False):
        total = sum(part["part"] for part in row["parts"]) + row["others"]["part"]
        assert total == pytest.approx(row["margin"], abs=1e-12)
        assert float(margin.split()[0]) == pytest.approx(row["margin"], rel=1e-5)
        assert row["prediction"] == pytest.approx(1 / (1 + np.exp(-row["margin"])))


def test_features_without_a_name_have_their_slot(lessregret: CommandLine, model: str) -> None:
    assert lessregret("convert", "clicks.vw", "--output", "clicks.arrow", "--quiet").code == 0
    [row] = json.loads(lessregret("explain", model, "clicks.arrow", "--json").stdout)["rows"]
    names = {part["name"] for part in row["parts"]}
    assert names == {None, "(intercept)"}
    page = lessregret("explain", model, "clicks.arrow").stdout
    assert all(f"slot {part['slot']}" in page for part in row["parts"] if not part["name"])


def test_a_name_that_the_model_does_not_know_for_a_slot_is_shared(lessregret: CommandLine) -> None:
    lessregret.write("one.vw", "1 | 3\n-1 | 5\n" * 3)
    lessregret("train", "one.vw", "--bits", "3", "--names", "--model", "m", "--quiet")
    lessregret.write("new.vw", "| 11 5\n")
    page = lessregret("explain", "m", "new.vw").stdout
    assert "3 (shared)" in page
    assert "5 (shared)" not in page
    assert "features with different names use this slot" in page


def test_a_model_of_columns_is_refused(lessregret: CommandLine) -> None:
    Learner(columns=3).save(lessregret.folder / "columns")
    lessregret.write("clicks.vw", CLICKS)
    done = lessregret("explain", "columns", "clicks.vw")
    assert done.code == 2
    assert "explain in Python with what trained it" in done.stderr


@pytest.mark.parametrize(
    ("text", "row", "told"),
    [
        ("", 1, "expected at least one example, found none"),
        ("", 3, "expected at least one example, found none"),
        ("1 |a b\n", 2, "expected an example at --row 2, found 1 example"),
        ("1 |a b\n", 9, "expected an example at --row 9, found 1 example"),
    ],
)
def test_too_few_examples_are_an_error(
    lessregret: CommandLine, model: str, text: str, row: int, told: str
) -> None:
    lessregret.write("few.vw", text)
    done = lessregret("explain", model, "few.vw", "--row", str(row), "--format", "vw")
    assert done.code == 1
    assert told in done.stderr


def test_bad_lines_are_told(lessregret: CommandLine, model: str) -> None:
    lessregret.write("bad.vw", "1 |a b:c\n1 |a b\n")
    assert "expected a number" in lessregret("explain", model, "bad.vw").stderr
    done = lessregret("explain", model, "bad.vw", "--bad-lines", "skip")
    assert done.code == 0
    assert "skipped 1 bad line; the first: bad.vw:1:" in done.stderr
