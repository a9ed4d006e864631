"""What the default certifies on real data is true, and leaves little open."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.certificates import ledger_of, measure
from benchmarks.quality.sets import DataSet, data_sets
from lessregret.data.datasets import DataHome
from lessregret.report.wording import certified_in_words


def data_set(name: str) -> DataSet:
    found = data_sets(DataHome.default())
    if name not in found:
        pytest.skip(f"{name} is not in the data home; set LESSREGRET_DATA")
    return found[name]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("a9a", 0.15),
        ("avazu-piece", 0.20),
        ("bank", 0.25),
        ("california-housing", 0.15),
    ],
)
def test_little_is_left_open_and_no_point_of_a_set_loses_less(name: str, most: float) -> None:
    row = measure(name, data_set(name), steps=20)
    said = row.ledger.statement
    assert said is not None
    assert row.violations == 0
    assert said.certified <= row.best
    assert said.left <= most


@pytest.mark.slow
@pytest.mark.parametrize("name", ["books", "dvd", "electronics", "kitchen"])
def test_with_more_words_than_examples_it_is_said_in_words(name: str, tmp_path: Path) -> None:
    file = tmp_path / "words.vw"
    file.write_bytes(b"".join(data_set(name).lines()))
    ledger = ledger_of(file, is_regression=False)
    assert "slots for 2,000 examples they can often fit all labels" in certified_in_words(ledger)


def test_the_table_of_the_docs_is_that_of_the_newest_record() -> None:
    root = Path(__file__).parent.parent
    record = max((root / "benchmarks/records").glob("*-certificates.md"))
    rows = [line for line in record.read_text("utf-8").splitlines() if line.startswith("|")]
    page = (root / "docs/explanation/regret.md").read_text("utf-8")
    assert len(rows) > 2
    assert "\n".join(rows) in page
