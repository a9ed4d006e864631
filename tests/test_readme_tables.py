"""Are the figures of the README those of the newest records?"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
CONTESTANTS = ("lessregret, one rate", "lessregret, no rate chosen", "Vowpal Wabbit 9.11")
SHOWN = ("avazu-piece", "clicks", "rcv1-piece", "20news-comp", "adult", "bank", "elec-shuffled")
"""two click logs, two sets of text, three tables; with the two sets that are hardly better"""
COLUMNS = 6
"""of the record of the quality: the data, ours and four rivals"""


def newest(kind: str) -> Path:
    """The newest record of a kind; of two on one day the second is called -2."""
    found = (ROOT / "benchmarks/records").glob(f"*-{kind}*.md")
    return max(found, key=lambda path: path.stem)


def rows(record: Path) -> dict[str, list[str]]:
    """The rows of all tables of a record, the first of each name."""
    found: dict[str, list[str]] = {}
    for line in record.read_text("utf-8").splitlines():
        if line.startswith("|"):
            name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            found.setdefault(name, cells)
    return found


def speed_rows() -> list[str]:
    """The least seconds of the contestants, as rows of the README."""
    known = rows(newest("default-speed"))
    return [
        f"| {name} | {' | '.join(cell.split(' / ')[0] for cell in known[name])} |"
        for name in CONTESTANTS
    ]


def quality_rows() -> list[str]:
    """The losses on the shown sets, without the error rates."""
    known = rows(newest("quality"))
    return [
        f"| {name} | {' | '.join(re.sub(r' .*', '', c) for c in known[name][: COLUMNS - 1])} |"
        for name in SHOWN
    ]


def quality_summary() -> str:
    """How the default does on all sets, from the record's own sums."""
    text = newest("quality").read_text("utf-8")
    worse = re.findall(r"by more than 0\.3 %: (\d+) of (\d+)", text)
    means = re.findall(r"over the best rival's: (\d\.\d+)", text)
    sets, all_worse = sum(int(n) for _, n in worse), sum(int(k) for k, _ in worse)
    return (
        f"On {all_worse} of {sets} sets it is more than 0.3 % worse than the best rival. "
        f"The geometric mean of its loss over the best\nrival's is {means[0]} "
        f"for log loss and {means[1]} for squared loss."
    )


def test_the_tables_are_those_of_the_newest_records() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert "\n".join(speed_rows()) in readme
    assert "\n".join(quality_rows()) in readme
    assert quality_summary() in readme
    for kind in ("default-speed", "quality"):
        assert f"(benchmarks/records/{newest(kind).name})" in readme
