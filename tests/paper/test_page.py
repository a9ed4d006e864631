"""Is the page whole, self-contained and safe to open."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from lessregret.cli import paper as command_module
from lessregret.cli import run
from lessregret.paper import CLAIMS, module_of
from lessregret.paper.finding import HOLDS_IN_PART, Finding, holds_as_corrected
from lessregret.paper.page import write_page
from tests.support.browser import browser_or_skip
from tests.support.html_outline import Outline
from tests.support.page_layout import check_layout

QUICK = ("lemma1", "lemma2", "table2")


class Drawing:
    """A module that draws a picture of nothing."""

    @staticmethod
    def draw(finding: Finding, path: str) -> None:
        Path(path).write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")


def a_finding(claim: str, verdict: str) -> Finding:
    sections = [
        "Text with <b>marks</b> & `code`.",
        "## Table\n\n| a | b |\n| --- | --: |\n| 1 | 2 |",
    ]
    return Finding(claim, verdict, [{"a": 1}], sections)


def test_the_page_is_whole_and_fetches_nothing(tmp_path: Path) -> None:
    findings = {
        "lemma1": a_finding("Lemma 1 & more", "holds"),
        "theorem3": a_finding("Theorem 3", holds_as_corrected("E7")),
        "adaptive": a_finding("Adaptive", "fails as printed"),
        "table2": a_finding("Table 2", HOLDS_IN_PART),
    }
    write_page(tmp_path / "index.html", findings, dict.fromkeys(findings, Drawing), "the <command>")  # type: ignore[arg-type]
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    outline = Outline(page)
    outline.check_that_it_is_one_file()
    assert outline.ids == list(findings)
    assert outline.links == [f"#{name}" for name in findings]
    assert len(outline.pictures) == 4
    assert "<b>marks</b>" not in page
    assert "Lemma 1 &amp; more" in page
    for kind in ("good", "mended", "bad", "partly"):
        assert page.count(f'class="verdict {kind}"') == 2, kind
        assert f".{kind} {{ background: " in page


def test_the_conditions_of_a_verdict_stand_beside_it(tmp_path: Path) -> None:
    finding = replace(a_finding("Table 1", "holds"), conditions="With *fitted* constants.")
    assert "**Verdict: holds.** With *fitted* constants.\n" in finding.markdown()
    assert finding.as_dict()["conditions"] == "With *fitted* constants."
    write_page(tmp_path / "index.html", {"table1": finding}, {"table1": Drawing}, "c")  # type: ignore[dict-item]
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "<p>With <em>fitted</em> constants.</p>" in page


def test_every_claim_has_a_module_that_runs_and_draws() -> None:
    for name in CLAIMS:
        module = module_of(name)
        assert callable(module.run)
        assert callable(module.draw)
        assert module.CLAIM


def test_the_explanation_names_the_sections_that_are_run() -> None:
    page = Path(__file__).parents[2] / "docs" / "explanation" / "one-rate-or-many.md"
    sections = sorted(
        {section for about in CLAIMS.values() for section in re.findall(r"§[\d.]+\d", about)}
    )
    text = " ".join(page.read_text(encoding="utf-8").split())
    assert f"the claims of the paper's {sections[0]} to {sections[-1]} again" in text


def test_the_command_writes_everything(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_module, "CLAIMS", {name: CLAIMS[name] for name in QUICK})
    arguments = ["--examples", "1000", "--data", str(tmp_path), "--out", str(tmp_path), "--json"]
    assert run(["paper", "all", *arguments]) == 0
    printed = capsys.readouterr()
    findings = json.loads(printed.out)["findings"]
    assert len(findings) == len(QUICK)
    assert all({"claim", "verdict", "rows"} <= set(finding) for finding in findings)
    for name in QUICK:
        assert f"{name}: " in printed.err
        assert json.loads((tmp_path / f"{name}.json").read_text())["rows"]
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (tmp_path / f"{name}.md").read_text(encoding="utf-8").startswith("# ")
    ids = Outline((tmp_path / "index.html").read_text(encoding="utf-8")).ids
    assert [name for name in ids if name in CLAIMS] == list(QUICK)
    assert len(set(ids)) == len(ids), "no drawing uses the marks of another one"
    check_layout(browser_or_skip(), tmp_path / "index.html")
