"""Is the page of a run one file that says what the run said, and is it safe to open?"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lessregret.cli import run
from lessregret.report import Origin, Report, Section, Text
from lessregret.report.pictures import below_loss_from
from lessregret.training.curve import CurvePoint
from tests.support.browser import browsed, browser_or_skip
from tests.support.command_line import CommandLine
from tests.support.html_outline import Outline, outline_of
from tests.support.slow import slow

NASTY = "1 |a b <script>alert('x')</script> $x^2$ 日本\n-1 |a d &amp;\n1 |a b \"c\"\n"
REAL = re.compile(r"^\d+\.\d{6}$")


@pytest.fixture(scope="module")
def clicks(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("clicks") / "clicks.vw"
    assert run(["generate", "clicks", "--examples", "3000", "--output", str(path)]) == 0
    return str(path)


def tiles_of(outline: Outline) -> dict[str, str]:
    """The numbers of the headline by name, without their notes."""
    names = [
        k for k, text in enumerate(outline.tiles) if re.match(r"mean|mist|exam|sec|reg|left", text)
    ]
    return {outline.tiles[k]: outline.tiles[k + 1] for k in names}


def test_the_page_says_what_the_document_says(lessregret: CommandLine, clicks: str) -> None:
    done = lessregret(
        "train", clicks, "--rate", "0.1", "--radius", "1", "--certify", "--names", "--bits", "18",
        "--report", "my page.html", "--json", "--quiet",
    )  # fmt: skip
    assert (done.code, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    outline = outline_of("my page.html")
    tiles = tiles_of(outline)
    assert tiles == {
        "mean logistic loss": f"{document['mean_loss']:.6f}",
        "mistakes": f"{document['mistake_rate']:.4%}",
        "examples": "3,000",
        "seconds": f"{document['seconds']:.2f}",
        "left to gain": "open",
    }
    facts = outline.facts()
    assert facts["rate"] == "0.1"
    assert facts["slots"] == f"2^18 = 262,144 for features; {document['touched']:,} touched"
    assert facts["features"].startswith(f"{document['features']:,}, ")
    assert facts[clicks] == f"{os.path.getsize(clicks):,}"
    assert len(outline.pictures) == 3
    last = next(row for row in reversed(outline.rows) if row[0] == "3,000" and len(row) == 3)
    assert last[1] == tiles["mean logistic loss"]


def test_the_command_can_be_pasted_into_a_shell(lessregret: CommandLine, clicks: str) -> None:
    given = ["train", clicks, "--bits", "12", "--report", "it's mine.html", "--quiet"]
    assert lessregret(*given).code == 0
    command = outline_of("it's mine.html").command
    shown = subprocess.run(
        ["bash", "-c", f'lessregret() {{ printf "%s\\n" "$@"; }}; {command}'],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert shown.stdout.splitlines() == given


def test_the_page_names_versions_and_no_machine(lessregret: CommandLine, clicks: str) -> None:
    shutil.copy(clicks, "log.vw")
    assert (
        lessregret("train", "log.vw", "--bits", "12", "--report", "page.html", "--quiet").code == 0
    )
    facts = outline_of("page.html").facts()
    known = {"date", "lessregret", "Python", "numpy", "scipy", "matplotlib", "system"}
    assert known <= facts.keys()
    text = Path("page.html").read_text(encoding="utf-8")
    assert os.getcwd() not in text
    assert os.uname().nodename not in text


def test_strange_names_are_shown_and_not_obeyed(lessregret: CommandLine) -> None:
    data = lessregret.write("a<b>&.vw", NASTY)
    options = ("--names", "--certify", "--scale", "none")
    done = lessregret("train", data, *options, "--report", "page.html")
    assert done.code == 0
    assert done.stderr.endswith("report         page.html\n")
    outline = outline_of("page.html")
    shown = [row[0] for row in outline.rows]
    assert {"a^<script>alert('x')</script>", "a^$x^2$", "a^日本", "a^&amp;", data} <= set(shown)
    assert tiles_of(outline)["examples"] == "3"
    assert len(outline.pictures) == 3, "too few examples to draw the calibration"


@pytest.mark.parametrize("examples", [1, 2, 3])
@pytest.mark.parametrize("importance", ["", "0 "])
def test_hardly_any_examples(lessregret: CommandLine, examples: int, importance: str) -> None:
    data = lessregret.write("few.vw", f"1 {importance}|a b\n" * examples)
    for arguments in (["--certify"], ["--loss", "hinge"], ["--loss", "squared"], ["--rule", "pa"]):
        done = lessregret(
            "train", data, "--bits", "8", "--report", "page.html", *arguments, "--quiet"
        )
        assert (done.code, done.stderr) == (0, "")
        assert tiles_of(outline_of("page.html"))["examples"] == str(examples)


def test_regret_below_zero_is_drawn_and_said(lessregret: CommandLine) -> None:
    """Labels that change sides: whoever follows them loses less than every fixed model."""
    data = lessregret.write("drift.vw", "".join(f"{s} |a b\n" * 1000 for s in (1, -1, 1, -1)))
    done = lessregret("regret", data, "--bits", "8", "--report", "page.html", "--quiet")
    assert done.code == 0
    assert "\nBelow 0: per-coordinate, global lost less than every fixed model" in done.stdout
    picture = Path("page.html").read_text(encoding="utf-8").split("Regret over the examples")[1]
    shown = picture.split("</figure>")[0]
    assert "regret of per-coordinate" in shown
    assert "as the best fixed model" in shown
    assert "bound of" not in shown


def test_the_positive_class_of_a_table_has_its_name(lessregret: CommandLine) -> None:
    rows = "".join(f"{k % 7},{'yes' if k % 3 else 'no'}\n" for k in range(600))
    table = lessregret.write("sales.csv", f"age,bought\n{rows}")
    done = lessregret("train", table, "--label", "bought", "--report", "page.html", "--quiet")
    assert done.code == 0
    text = Path("page.html").read_text(encoding="utf-8")
    assert "of this run label yes was predicted with" in text
    assert "line label yes came more often than predicted" in text
    assert "label 1" not in text


def test_without_names_there_are_slots(lessregret: CommandLine, clicks: str) -> None:
    assert lessregret("train", clicks, "--bits", "12", "--report", "page.html", "--quiet").code == 0
    text = Path("page.html").read_text(encoding="utf-8")
    slots = [row for row in outline_of("page.html").rows if re.match(r"slot \d+$", row[0])]
    assert len(slots) == 5
    assert "<code>--names</code>" in text
    assert "<code>--certify</code>" not in text


def test_without_a_certificate_the_page_says_how_to_have_one(
    lessregret: CommandLine, clicks: str
) -> None:
    asked = ("--bits", "12", "--no-certify", "--report", "page.html", "--quiet")
    assert lessregret("train", clicks, *asked).code == 0
    assert "<code>--certify</code> would certify" in Path("page.html").read_text(encoding="utf-8")
    assert not [text for text in outline_of("page.html").tiles if text.startswith("left to gain")]


def test_a_bound_is_shown_only_below_the_loss(lessregret: CommandLine) -> None:
    rows = "".join(f"{1 if k % 3 else -1} | a:{1 + k % 3}\n" for k in range(4000))
    data = lessregret.write("data.vw", rows)
    for radius, shown in (("0.1", True), ("100", False)):
        asked = ("--rate", "theory", "--radius", radius, "--bits", "8", "--scale", "none")
        done = lessregret("train", data, *asked, "--report", "page.html", "--json", "--quiet")
        document = json.loads(done.stdout)
        assert (document["bound"] < 4000 * document["mean_loss"]) == shown
        page = Path("page.html").read_text(encoding="utf-8")
        told = f"≤ {document['bound'] / 4000:.6f}"
        assert ("<h2>Regret a round</h2>" in page) == shown
        assert (tiles_of(outline_of("page.html")).get("regret a round, proved") == told) == shown
        assert "The proved number is below the loss" in page or not shown
        assert "nothing" not in page


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--passes", "2"], "The data were read 2 times."),
        (["--resume", "m"], "This run went on from m and its 3,000 rounds"),
        (["--rule", "pa"], "would certify what no fixed weights of a given size lose less than"),
        (["--bad-lines", "skip"], "1 bad line skipped; the first: bad.vw:1:"),
        (["--bad-lines", "skip"], "In 3,001 examples of this run label 1 was predicted"),
        (["--loss", "squared"], "mean squared loss"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_a_reader_must_know(
    lessregret: CommandLine, clicks: str, arguments: list[str], told: str
) -> None:
    bad = lessregret.write("bad.vw", "no label |a b\n" * ("skip" in arguments) + "1 |a b\n")
    assert lessregret("train", clicks, "--bits", "12", "--model", "m", "--quiet").code == 0
    bits = [] if "--resume" in arguments else ["--bits", "12"]
    train = ["train", bad, clicks, *bits, "--format", "vw", "--report", "page.html", "--quiet"]
    assert lessregret(*train, *arguments).code == 0
    outline_of("page.html")
    assert told in Path("page.html").read_text(encoding="utf-8")


def test_pages_of_pipes(lessregret: CommandLine) -> None:
    done = lessregret.apart("train", "-", "--report", "page.html", "--quiet", stdin=NASTY.encode())
    assert done.code == 0
    assert ["standard input", "–"] in outline_of("page.html").rows


@pytest.mark.parametrize("command", ["train", "compare"])
@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("no/page.html", "--report no/page.html: there is no folder no"),
        ("data.vw", "--report data.vw: the run uses this file, too; give the page another name"),
        ("./link", "--report ./link: the run uses this file, too; give the page another name"),
        ("pipe", "--report pipe: this is not a file; give the page another name"),
    ],
)
def test_places_that_cannot_be_written_are_refused_before_the_run(
    lessregret: CommandLine, command: str, place: str, told: str
) -> None:
    data = lessregret.write("data.vw", NASTY)
    os.symlink("data.vw", "link")
    os.mkfifo("pipe")
    done = lessregret(command, data, "--report", place)
    assert (done.code, done.stdout, done.stderr) == (2, "", f"lessregret: error: {told}\n")
    assert lessregret.read("data.vw").decode() == NASTY


def test_a_folder_that_may_not_be_written_is_refused(
    lessregret: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = lessregret.write("data.vw", NASTY)
    monkeypatch.setattr(os, "access", lambda *_: False)
    for option in ("--report", "--model"):
        done = lessregret("train", data, option, "page")
        assert (done.code, done.stdout) == (2, "")
        assert f"{option} page: you may not write into the folder ." in done.stderr


@pytest.mark.parametrize("command", ["train", "compare"])
def test_a_run_that_fails_leaves_the_page_as_it_was(lessregret: CommandLine, command: str) -> None:
    data = lessregret.write("data.vw", "1 |a b\n-1 |a c:x\n")
    lessregret.write("page.html", "the page before")
    assert lessregret(command, data, "--report", "page.html").code == 1
    assert lessregret.read("page.html") == b"the page before"
    assert sorted(os.listdir()) == ["data.vw", "page.html"]


@pytest.mark.parametrize("shuffles", ["0", "2"])
def test_the_page_of_compare(lessregret: CommandLine, clicks: str, shuffles: str) -> None:
    rules = "pa,per-coordinate:rate=0.1,global"
    done = lessregret(
        "compare", clicks, "--rules", rules, "--bits", "12", "--shuffles", shuffles,
        "--report", "page.html", "--json",
    )  # fmt: skip
    assert done.code == 0
    scores = {row["rule"]: row for row in json.loads(done.stdout)["rows"]}
    outline = outline_of("page.html")
    shown = [row for row in outline.rows if row[0] in scores and REAL.match(row[1])]
    assert [float(row[1]) for row in shown] == sorted(float(row[1]) for row in shown)
    for rule, *cells in shown:
        losses, mistakes = ("mean_loss", "sd_loss"), ("mistake_rate", "sd_mistakes")
        known = [scores[rule][name] for name in losses]
        shares = [scores[rule][name] for name in mistakes]
        left = scores[rule]["left"]
        told = f"{100 * left:.1f} %" if left <= 0.5 else "open"
        expected = [f"{score:.6f}" for score in known if score is not None]
        expected += [f"{share:.4%}" for share in shares if share is not None]
        assert cells == [*expected, f"{scores[rule]['metrics']['auc']:.6f}", told]
    assert len(shown) == 3
    assert len(outline.pictures) == (1 if shuffles == "0" else 0)
    assert ["per-coordinate:rate=0.1", "radius 100.0, rate 0.1, offset 0.0"] in outline.rows
    page = Path("page.html").read_text(encoding="utf-8")
    assert "<code>ftrl</code> and <code>coin</code>. The others aim at the sign" in page


def test_a_comparison_of_one_example(lessregret: CommandLine) -> None:
    data = lessregret.write("one.vw", "1 |a b\n")
    assert lessregret("compare", data, "--report", "page.html").code == 0
    assert outline_of("page.html").pictures == []


@pytest.mark.parametrize(
    ("bounds", "start"),
    [([9, 9, 9], None), ([9, 9, 1], 4), ([1, 9, 1], 4), ([1, 1, 1], 1), ([None, 1, 1], 2)],
)
def test_from_where_on_a_number_is_below_the_loss(
    bounds: list[float | None], start: int | None
) -> None:
    marks = [
        CurvePoint(rounds, float(rounds), 2.0, None, None, None, bound)
        for rounds, bound in zip((1, 2, 4), bounds, strict=True)
    ]
    assert below_loss_from(marks, "bound") == start


def test_the_page_says_if_losses_are_in_variances(lessregret: CommandLine) -> None:
    rows = "".join(f"{290_000 + 40_000 * (k * k % 11)} | rooms:{k % 7}\n" for k in range(400))
    lessregret.write("prices.vw", rows)
    asked = ("prices.vw", "--loss", "squared", "--bits", "10", "--report", "page.html", "--quiet")
    told = "in variances of the labels: at most"
    for scale, expected in (("standard", True), ("cap", False)):
        assert lessregret("train", *asked, "--scale", scale).code == 0
        page = lessregret.folder.joinpath("page.html").read_text(encoding="utf-8")
        assert (told in page) == expected, scale
        assert "says nothing" not in page


def test_labels_that_are_all_alike_leave_nothing_but_have_a_loss(lessregret: CommandLine) -> None:
    data = lessregret.write("data.vw", "5 | a:1\n5 | a:2\n")
    assert (
        lessregret("train", data, "--loss", "squared", "--report", "page.html", "--quiet").code == 0
    )
    assert tiles_of(outline_of("page.html"))["mean squared loss"] == "12.500000"
    page = Path("page.html").read_text(encoding="utf-8")
    assert "The loss in variances of the labels is 0, so nothing is left." in page


@pytest.mark.parametrize(
    ("options", "told"),
    [(["--scale", "none", "--rate", "9"], True), (["--rate", "9"], False),
     (["--scale", "full", "--rate", "9"], False), (["--scale", "none", "--rule", "coin"], False)],
    ids=["none", "standard", "full", "coin"],
)  # fmt: skip
def test_weights_at_the_edge_are_those_that_a_larger_radius_lets_go(
    lessregret: CommandLine, options: list[str], told: bool
) -> None:
    """Weights are shown for unscaled values, and the radius limits those of scaled values."""
    text = "".join(f"{1 - 2 * (k % 2)} | a:{0.01 * (k % 2)} b:{1 - k % 2}\n" for k in range(99))
    data = lessregret.write("data.vw", text)
    asked = ("--radius", "0.001", "--bits", "10", "--report", "page.html", "--quiet")
    assert lessregret("train", data, *asked, *options).code == 0
    page = Path("page.html").read_text(encoding="utf-8")
    rows = [row for row in outline_of("page.html").rows if re.match(r"slot \d+$", row[0])]
    assert max(abs(float(row[1])) for row in rows) > 0.00099
    assert ("stand at the edge of the feasible set" in page) == told


@pytest.mark.parametrize("loss", ["logistic", slow("hinge"), slow("squared")])
def test_pages_of_the_coin_and_the_stack_have_words_for_all(
    lessregret: CommandLine, clicks: str, loss: str
) -> None:
    rules = ("--rules", "coin,ftrl,per-coordinate")
    for command in (["train", "--names"], ["compare", *rules], ["regret", *rules, "--gap", "0.1"]):
        asked = (clicks, "--loss", loss, "--bits", "12", "--radius", "1", "--report", "page.html")
        assert lessregret(command[0], *asked, *command[1:]).code == 0
        outline = outline_of("page.html")
        shown = {cell for row in outline.rows for cell in row} | set(outline.tiles)
        assert {"coin", "stack"} & shown
        assert not {text for text in shown if re.search(r"\b(None|nan|inf)\b", text)}


def test_a_report_of_ones_own(tmp_path: Path) -> None:
    origin = Origin.now("lessregret a b")
    Report("<T>", "a & b", [Section("S", [Text("*x*")])], origin).write(tmp_path / "p.html")
    text = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert "<title>&lt;T&gt;</title>" in text
    assert "<em>x</em>" in text
    assert Outline(text).command == "lessregret a b"


def test_a_browser_shows_it_and_complains_of_nothing(
    lessregret: CommandLine, tmp_path: Path
) -> None:
    """Behind a wall, with a control: the same page with a picture from outside and a script."""
    browser = browser_or_skip()
    data = lessregret.write("data.vw", NASTY * 50)
    assert lessregret("train", data, "--names", "--report", "page.html", "--quiet").code == 0
    text = Path("page.html").read_text(encoding="utf-8")
    outside = '<img src="http://example.invalid/x.png"><script>alert(1)</script></main>'
    Path("control.html").write_text(text.replace("</main>", outside), encoding="utf-8")
    shown, told = browsed(browser, tmp_path, "page.html")
    assert told == []
    assert "a^&lt;script&gt;alert('x')&lt;/script&gt;" in shown
    assert len(browsed(browser, tmp_path, "control.html")[1]) == 2
