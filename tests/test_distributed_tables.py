"""Are the tables of the page about many machines those of the newest record?"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent
SETS = 6


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("|")]


def test_the_tables_of_the_docs_are_those_of_the_newest_record() -> None:
    record = max(
        (ROOT / "benchmarks/records").glob("*-distributed*.md"), key=lambda path: path.stem
    )
    page = (ROOT / "docs/explanation/beyond-one-machine.md").read_text("utf-8")
    section = page.split("## How much is lost\n")[1].split("\n## ")[0]
    told = rows(section)
    assert len(told) > 3 * SETS
    assert told == [row for row in rows(record.read_text("utf-8")) if row in told]
    assert record.name in section
