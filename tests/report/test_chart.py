"""Can the pages be read, on a wide screen and on a phone?"""

from __future__ import annotations

from pathlib import Path

import pytest

from lessregret.report import Origin, Report, Section, Text
from lessregret.report.axis import Axis, losses_axis, short_count
from lessregret.report.chart import Chart, Line, spread
from tests.support.browser import browser_or_skip
from tests.support.command_line import CommandLine
from tests.support.page_layout import check_layout, laid_out

RULES = "per-coordinate:rate=theory,global:rate=theory"
COMMANDS = {
    "train": ("--names", "--certify"),
    "compare": ("--rules", "per-coordinate,global,ftrl,cw,pa,arow,coin"),
    "regret": ("--rules", RULES, "--radius", "1", "--gap", "0.05"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_page_can_be_read_wide_and_narrow(lessregret: CommandLine, command: str) -> None:
    browser = browser_or_skip()
    lessregret("generate", "clicks", "--examples", "3000", "--output", "clicks.vw")
    asked = (command, "clicks.vw", "--bits", "14", *COMMANDS[command])
    assert lessregret(*asked, "--report", "page.html").code == 0
    check_layout(browser, Path("page.html").resolve())


def test_the_check_sees_what_is_wrong(tmp_path: Path) -> None:
    """A control: a page with small letters and a table that is too wide."""
    browser = browser_or_skip()
    origin = Origin("lessregret train x", "now", {})
    Report("T", "l", [Section("S", [Text("x")])], origin).write(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    bad = (
        '<p style="font-size: 9px">small</p><div class="scroll"><p style="width: 70rem">wide</p>'
        "</div><h4>low</h4><svg></svg></main>"
    )
    (tmp_path / "page.html").write_text(text.replace("</main>", bad), encoding="utf-8")
    found = laid_out(browser, tmp_path / "page.html", 400)
    assert (found["smallest"], found["least"]) == (9, "small")
    assert len(found["cut"]) == len(found["unnamed"]) == 1
    assert found["headings"] == [1, 2, 2, 4]


@pytest.mark.parametrize(
    ("axis", "ticks"),
    [
        (Axis("n", 0, 100_000, counts=True), ["0", "20k", "40k", "60k", "80k", "100k"]),
        (Axis("n", 0, 3, counts=True), ["0", "1", "2", "3"]),
        (Axis("n", 1, 1e6, True, counts=True), ["1", "100", "10k", "1M"]),
        (Axis("p", 0.003, 0.5, True), ["0.003", "0.01", "0.03", "0.1", "0.3"]),
        (Axis("p", 0.3, 0.34, True), ["0.3", "0.31", "0.32", "0.33", "0.34"]),
        (Axis("x", -0.1, 0.1), ["-0.1", "-0.05", "0", "0.05", "0.1"]),
        (Axis("x", 2.0, 2.0), ["2"]),
    ],
)
def test_ticks_are_round_and_few(axis: Axis, ticks: list[str]) -> None:
    assert [axis.label(tick) for tick in axis.ticks()] == ticks


def test_an_axis_of_losses_begins_at_0_unless_the_range_is_wide() -> None:
    assert losses_axis("loss", [0.2, 0.4]).low == 0
    assert losses_axis("loss", [0.001, 0.4]).logarithmic
    assert not losses_axis("loss", [0.0, 0.4]).logarithmic
    assert losses_axis("loss", []).high > 0
    assert short_count(999_999) == "999.999k"


def test_names_move_apart_and_stay_in_the_field() -> None:
    tops = spread([295, 296, 297], [20, 40, 20], 300)
    assert tops == [230, 250, 290]
    assert spread([], [], 300) == []


def test_the_pointer_shows_the_values_of_all_lines() -> None:
    lines = [Line("a", [(1.0, 0.5), (3.0, 0.25)]), Line("b <i>", [(1.0, 0.75)])]
    chart = Chart(Axis("examples", 0, 4, counts=True), Axis("loss", 0, 1), "about", lines)
    text = chart.html()
    assert "<span>1 examples\na: 0.5\nb &lt;i&gt;: 0.75</span>" in text
    assert '<i style="left: 50.00%; width: 50.00%"></i><span>3 examples\na: 0.25</span>' in text
