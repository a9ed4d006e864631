"""Is Table 2 re-run as its page says, and can each of its claims fail?"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from lessregret.cli import run
from lessregret.data.datasets import DataHome
from lessregret.paper import table2
from lessregret.paper.finding import Finding, Request
from tests.support.claims import check_pictures
from tests.support.data_home import home_with

ROOT = Path(__file__).parent.parent.parent
FIELDS = {
    "data", "preset", "rule", "rounds", "mean_loss", "mean_penalty", "mistake_rate", "best_loss",
    "best_total", "gap", "regret_low", "regret_high", "linear_regret", "bound", "theorem",
    "ratio_low", "ratio_high", "paper_regret", "paper_ratio", "features",
}  # fmt: skip
LOWER, FAR_LOWER, ORDER = range(3)


@pytest.fixture(scope="module")
def finding() -> Finding:
    """The simulated logs only, and short ones."""
    return table2.run(Request(DataHome(Path("no-such-folder")), examples=2000))


def test_the_rows(finding: Finding) -> None:
    assert json.loads(json.dumps(finding.as_dict()))["rows"] == finding.rows
    keys = [(row["data"], row["preset"], row["rule"]) for row in finding.rows]
    assert keys == [
        (data, preset, rule)
        for data in table2.PRINTED
        for preset in ("printed", "corrected", "theory")
        for rule in ("global", "per-coordinate")
    ]
    for row in finding.rows:
        assert set(row) == FIELDS
        assert row["rounds"] == 2000
        assert 0 < row["gap"] <= table2.GAP
        assert row["regret_high"] - row["regret_low"] == pytest.approx(row["gap"])
        assert 0 < row["ratio_low"] <= row["ratio_high"]


def test_the_ratio_is_that_of_the_two_rules(finding: Finding) -> None:
    for one, coord in zip(finding.rows[::2], finding.rows[1::2], strict=True):
        for row in (one, coord):
            assert row["ratio_low"] == one["regret_low"] / coord["regret_high"]
            assert row["ratio_high"] == one["regret_high"] / coord["regret_low"]
        printed = table2.PRINTED[one["data"]]
        assert (one["paper_regret"], coord["paper_regret"]) == printed
        assert one["paper_ratio"] == printed[0] / printed[1]


def test_all_presets_have_one_comparator(finding: Finding) -> None:
    for data in table2.PRINTED:
        assert len({row["best_total"] for row in finding.rows if row["data"] == data}) == 1


def test_the_order_holds(finding: Finding) -> None:
    claims = table2.judge(finding.rows)
    assert len(claims) == 3
    assert list(claims.values())[ORDER]
    assert finding.verdict == "holds in part"


def doctored(rows: list[dict[str, Any]], **changes: Any) -> list[dict[str, Any]]:
    """Rows for which all claims hold, then some numbers of the last row changed."""
    good = [
        {**row, "regret_low": base, "regret_high": base + 0.01, "gap": 0.01, "ratio_low": 6.0,
         "linear_regret": 2.0, "bound": 3.0}
        for row in copy.deepcopy(rows)
        for base in [1.0 if row["rule"] == "global" else 0.1]
    ]  # fmt: skip
    good[-1].update(changes)
    return good


def test_each_claim_can_fail(finding: Finding) -> None:
    def judged(**changes: Any) -> list[bool]:
        return list(table2.judge(doctored(finding.rows, **changes)).values())

    assert judged() == [True, True, True]
    assert judged(regret_high=1.0) == [False, True, True]
    assert judged(linear_regret=0.05) == [True, True, False]
    assert judged(bound=1.9) == [True, True, False]
    near = [{**row, "ratio_low": 4.9} if row["data"] == "shoe" else row
            for row in doctored(finding.rows)]  # fmt: skip
    assert list(table2.judge(near).values()) == [True, False, True]
    one_reading = [{**row, "ratio_low": 4.9} if row["preset"] != "theory" else row
                   for row in doctored(finding.rows)]  # fmt: skip
    assert all(table2.judge(one_reading).values())


def test_the_words_follow_the_claims(finding: Finding) -> None:
    told = table2.agreement(finding.rows, True, False)
    assert told.startswith("The direction agrees: ")
    assert "Its size does not." in told
    told = table2.agreement(finding.rows, False, True)
    assert told.startswith("The direction does not agree on every log")
    assert "So does its size, for some reading." not in told.split(".")[0]


def test_the_words_tell_the_numbers_of_the_rows_and_of_the_paper(
    finding: Finding, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = table2.agreement(finding.rows, True, False)
    assert "the paper has 5.3 to 12.3 and" in told
    assert "Global's is 0.148 to 0.263; ours" in told
    few = [{**row, "features": 7} for row in finding.rows]
    assert "7 to 7 features of value 0 or 1" in table2.agreement(few, True, False)
    monkeypatch.setattr(table2, "PRINTED", dict.fromkeys(table2.PRINTED, (0.8, 0.1)))
    told = table2.agreement(finding.rows, True, False)
    assert "the paper has 8.0 to 8.0 and" in told
    assert "Global's is 0.800 to 0.800; ours" in told
    assert "5.3 to 12.3" not in told


def test_the_tables_of_the_page_in_the_documentation_agree() -> None:
    """The ratios of one are the quotients of the other, up to what rounding leaves open."""
    page = (ROOT / "docs" / "explanation" / "table-2.md").read_text(encoding="utf-8")
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines()
             if line.startswith("| ")]  # fmt: skip
    regrets = {row[0]: row for row in cells if len(row) == 7 and row[1][:1].isdigit()}
    ratios = {row[0]: row[1] for row in cells if len(row) == 3 and " to " in row[1]}
    assert set(regrets) == set(ratios) == {*table2.PRINTED, *table2.REAL}
    for name, interval in ratios.items():
        low, high = map(float, interval.split(" to "))
        coord, one = (float(regrets[name][k].split()[0]) for k in (2, 4))
        assert (one - 5e-5) / (coord + 5e-5) <= high + 5e-3
        assert low - 5e-3 <= (one + 5e-5) / (coord - 5e-5)
    ends = [float(end) for interval in ratios.values() for end in interval.split(" to ")]
    assert f"{min(ends):.2f} to {max(ends):.2f} here" in " ".join(page.split())


def test_without_a_data_home_the_simulated_logs_are_run(finding: Finding) -> None:
    assert len(finding.not_run) == len(table2.REAL)
    for name, reason in zip(table2.REAL, finding.not_run, strict=True):
        assert reason.startswith(f"{name}: not in the data home; ")
        assert f"- {reason}" in finding.markdown()


def test_the_pictures(finding: Finding, tmp_path: Path) -> None:
    check_pictures("table2", finding, tmp_path)


@pytest.mark.parametrize("name", table2.REAL)
def test_real_logs(name: str) -> None:
    home = home_with(name)
    log = table2.Log(name, *table2.DATASETS[name].load(home))
    rows = table2.run_log(log)
    assert [row["paper_regret"] for row in rows] == [None] * 6
    lower, _, order = table2.judge(rows).values()
    assert lower
    assert order


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    arguments = ["--data", str(tmp_path), "--examples", "1000", "--out", str(out)]
    assert run(["paper", "table2", *arguments]) == 0
    printed = capsys.readouterr()
    assert "table2: shoe: 1,000 examples" in printed.err
    assert "Simulated logs of 1,000 impressions (seed 0)" in printed.out
    assert (out / "table2.md").read_text(encoding="utf-8") == printed.out
    document = json.loads((out / "table2.json").read_text())
    assert document["claim"] == table2.CLAIM
    assert len(document["rows"]) == 54
    assert (out / "table2.png").read_bytes().startswith(b"\x89PNG")
