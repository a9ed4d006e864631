"""Does ``lessregret regret`` say what was measured, keep it, and stop when it is told to?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from lessregret.cli import run
from lessregret.cli.regret import Watch
from lessregret.regret.comparator import BestFixed
from tests.support.browser import browsed, browser_or_skip
from tests.support.command_line import COMMAND, ENVIRONMENT, CommandLine
from tests.support.html_outline import outline_of
from tests.support.malformed import NUMBER_NOT_WORD

SMALL = ("--bits", "12", "--radius", "1")
FIELDS = {
    "rule", "box", "rounds", "mean_loss", "mean_penalty", "mistake_rate", "best_loss",
    "best_total", "gap", "regret_low", "regret_high", "linear_regret", "bound", "theorem",
}  # fmt: skip


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("log") / "clicks.vw"
    assert run(["generate", "clicks", "--examples", "1500", "--output", str(path)]) == 0
    return str(path)


def document_of(lessregret: CommandLine, *arguments: str) -> dict[str, Any]:
    done = lessregret("regret", *arguments, "--json", "--quiet")
    assert (done.code, done.stderr) == (0, "")
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_the_table_says_what_the_document_says(lessregret: CommandLine, log: str) -> None:
    document = document_of(lessregret, log, *SMALL)
    done = lessregret("regret", log, *SMALL, "--quiet")
    assert (done.code, done.stderr) == (0, "")
    heading, *lines = done.stdout.splitlines()
    assert heading.split("  ")[0] == "rule"
    for line, row in zip(lines, document["rows"], strict=True):
        assert line.split() == [
            row["rule"], f"{row['mean_loss']:.6f}", f"{row['best_loss']:.6f}", f"{row['gap']:.1e}",
            f"{row['regret_low']:.6f}", "to", f"{row['regret_high']:.6f}",
            f"{row['linear_regret']:.6f}", f"{row['bound']:.6f}",
        ]  # fmt: skip


PRICES = "".join(
    f"{290_000 + 40_000 * (k % 7) + 900 * (k % 3)} | rooms:{k % 7} age:{k * k % 11}\n"
    for k in range(600)
)


@pytest.mark.parametrize("more", [(), ("--low-memory",)], ids=["memory", "files"])
def test_prices_are_measured_in_variances_of_the_labels(
    lessregret: CommandLine, more: tuple[str, ...]
) -> None:
    lessregret.write("prices.vw", PRICES)
    asked = ("prices.vw", "--loss", "squared", "--scale", "standard", *SMALL, *more)
    document = document_of(lessregret, *asked)
    assert document["game"] == "standardised labels"
    for row in document["rows"]:
        assert 0 < row["best_loss"] < row["mean_loss"] < 1
        assert row["regret_high"] <= row["linear_regret"] <= row["bound"]
    done = lessregret("regret", *asked, "--quiet", "--report", "page.html")
    told = "The labels are standardised: all numbers are in variances of the labels."
    assert done.stdout.splitlines()[-1] == told
    page = lessregret.folder.joinpath("page.html").read_text(encoding="utf-8")
    assert "All numbers are per example, in variances of the labels." in page


def test_the_regret_of_a_run_is_that_of_the_game_it_played(lessregret: CommandLine) -> None:
    """The bound and the certificate of ``train`` and of ``regret`` are the same numbers."""
    lessregret.write("prices.vw", PRICES)
    asked = ("prices.vw", "--loss", "squared", "--scale", "standard", *SMALL)
    [row] = document_of(lessregret, *asked, "--rules", "per-coordinate:rate=0.3")["rows"]
    done = lessregret("train", *asked, "--rate", "0.3", "--certify", "--json", "--quiet")
    trained = json.loads(done.stdout)
    assert trained["bound"] / 600 == pytest.approx(row["bound"], rel=1e-12)
    assert trained["linear_regret"] / 600 == pytest.approx(row["linear_regret"], rel=1e-12)
    assert trained["standardised_loss"] / 600 == pytest.approx(row["mean_loss"], rel=1e-12)


def test_the_document(lessregret: CommandLine, log: str) -> None:
    document = document_of(lessregret, log, *SMALL, "--l2", "0.001")
    assert set(document) == {
        "examples", "loss", "l2", "scale", "game", "rows", "best_of_size", "skipped", "seconds",
    }  # fmt: skip
    assert document["game"] == "labels as given"
    assert (document["examples"], document["loss"], document["l2"]) == (1500, "logistic", 0.001)
    for row in document["rows"]:
        assert set(row) == FIELDS | {"growth"}
        assert [set(mark) for mark in row["growth"]] == [FIELDS - {"rule", "box"}] * 2
        assert [mark["rounds"] for mark in row["growth"]] == [750, 1500]
        assert 0 < row["gap"] <= 1e-4
        assert row["regret_low"] <= row["linear_regret"] <= row["bound"]
        total = row["mean_loss"] + row["mean_penalty"]
        assert row["regret_low"] == pytest.approx(total - row["best_total"])


def test_with_l2_the_table_says_so(lessregret: CommandLine, log: str) -> None:
    [row, _] = document_of(lessregret, log, *SMALL, "--l2", "0.01")["rows"]
    done = lessregret("regret", log, *SMALL, "--l2", "0.01", "--quiet")
    heading, first, _ = done.stdout.splitlines()
    assert "loss + L2" in heading
    assert first.split()[1] == f"{row['mean_loss'] + row['mean_penalty']:.6f}"


def test_progress_is_on_stderr(lessregret: CommandLine, log: str) -> None:
    done = lessregret("regret", log, *SMALL)
    told = done.stderr.splitlines()
    assert told[-1].startswith("best fixed model of 1,500 examples: ")
    assert any(line.startswith("best fixed model of 750 examples: ") for line in told)
    assert done.stdout == lessregret("regret", log, *SMALL, "--quiet").stdout


def test_without_growth_only_the_whole_is_searched(lessregret: CommandLine, log: str) -> None:
    document = document_of(lessregret, log, *SMALL, "--no-growth")
    assert [len(row["growth"]) for row in document["rows"]] == [1, 1]
    assert "750" not in lessregret("regret", log, *SMALL, "--no-growth").stderr


def test_low_memory_gives_the_same_numbers(lessregret: CommandLine, log: str) -> None:
    kept = document_of(lessregret, log, *SMALL, "--no-growth")
    again = document_of(lessregret, log, *SMALL, "--low-memory")
    for one, other in zip(kept["rows"], again["rows"], strict=True):
        assert [mark["rounds"] for mark in other["growth"]] == [512, 1024, 1500]
        assert [mark["gap"] is None for mark in other["growth"]] == [True, True, False]
        for name in FIELDS - {"rule", "box"}:
            same = None if one[name] is None else pytest.approx(one[name], rel=1e-9)
            assert other[name] == same, name


def test_a_pipe_is_kept_and_not_read_again(lessregret: CommandLine, log: str) -> None:
    content = Path(log).read_bytes()
    piped = lessregret.apart("regret", "-", *SMALL, "--quiet", stdin=content)
    assert piped == lessregret("regret", log, *SMALL, "--quiet")
    os.mkfifo("pipe")
    for name in ("-", "pipe"):
        done = lessregret("regret", name, "--low-memory")
        told = f"--low-memory reads the data again and again, and {name} can be read only once"
        assert (done.code, done.stdout) == (2, "")
        assert done.stderr.startswith(f"lessregret: error: {told}; ")


@pytest.mark.parametrize("low_memory", [[], ["--low-memory"]], ids=["kept", "low-memory"])
@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "data.vw: expected at least one example, found none"),
        ("1 0 |a b\n", "the examples: expected at least one of an importance above 0, found none"),
        ("3 |a b\n", "data.vw:1:1: expected a label 1, 0 or -1, found '3'"),
        ("1 |a b\n1 |a b:x\n", f"data.vw:2:8: expected {NUMBER_NOT_WORD}, found 'x'"),
    ],
    ids=["none", "weightless", "label", "value"],
)
def test_data_that_cannot_be_measured(
    lessregret: CommandLine, content: str, told: str, low_memory: list[str]
) -> None:
    data = lessregret.write("data.vw", content)
    done = lessregret("regret", data, *low_memory, "--report", "page.html", "--checkpoint", "best")
    assert (done.code, done.stdout, done.stderr) == (1, "", f"lessregret: error: {told}\n")
    assert os.listdir() == ["data.vw"]


def test_bad_lines_are_counted_once(lessregret: CommandLine) -> None:
    data = lessregret.write("data.vw", "1 |a b\nx |a b\n-1 |a c\n")
    for arguments in ([], ["--low-memory"]):
        document = document_of(lessregret, data, "--bad-lines", "skip", *arguments)
        assert (document["examples"], document["skipped"]) == (2, 1)


@pytest.mark.parametrize("option", ["--gap", "--radius"])
@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf"])
def test_numbers_out_of_range(lessregret: CommandLine, option: str, value: str) -> None:
    done = lessregret("regret", "no-such-file", "--rules", "pa", option, value)
    told = f"lessregret: error: {option} must be a number above 0; got {value}\n"
    assert (done.code, done.stdout, done.stderr) == (2, "", told)


def test_rules_without_a_box(lessregret: CommandLine, log: str) -> None:
    rules = ("--rules", "per-coordinate,pa")
    _, row = document_of(lessregret, log, *SMALL, *rules)["rows"]
    assert (row["box"], row["bound"], row["linear_regret"]) == ([-1, 1], None, None)
    assert row["regret_low"] > 0
    # Values of 1 and 2 only: a search in so wide a box reaches the gap that is asked for.
    wide = ("--bits", "12", "--scale", "none")
    assert document_of(lessregret, log, *wide, *rules)["rows"][1]["box"] == [-100, 100]
    done = lessregret("regret", log, *SMALL, *rules, "--l2", "0.1")
    told = "--l2 is for rules with a feasible set, and pa has none; leave out one"
    assert (done.code, done.stdout, done.stderr) == (2, "", f"lessregret: error: {told}\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--picture", "p.txt"], "--picture p.txt: a picture ends in .png, .svg, .pdf"),
        (["--picture", "no/p.png"], "--picture no/p.png: there is no folder no"),
        (["--checkpoint", "no/best"], "--checkpoint no/best: there is no folder no"),
        (["--report", "no/p.html"], "--report no/p.html: there is no folder no"),
        (["--checkpoint", "b", "--report", "b"], "--report b: the run uses this file, too; give"),
        (["--report", "data.vw"], "--report data.vw: the run uses this file, too; give"),
        (["--rules", "pa,pa"], "--rules pa,pa: a rule is named twice"),
        (["--rules", "pa:rate=1"], "rule 'pa' has no rate; it has epsilon"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_requests_are_refused_before_the_run(
    lessregret: CommandLine, arguments: list[str], told: str
) -> None:
    data = lessregret.write("data.vw", "not read\n")
    done = lessregret("regret", data, *arguments)
    assert (done.code, done.stdout) == (2, "")
    assert told in done.stderr
    assert os.listdir() == ["data.vw"]


# --- checkpoints and Ctrl-C ----------------------------------------------------------------------


def passes_told(stderr: str) -> int:
    return int(stderr.splitlines()[-1].rpartition(" ")[2].replace(",", ""))


def test_a_checkpoint_spares_passes(lessregret: CommandLine, log: str) -> None:
    arguments = ("regret", log, *SMALL, "--no-growth", "--checkpoint", "best")
    first, second = lessregret(*arguments), lessregret(*arguments)
    assert (first.code, second.code) == (0, 0)
    assert passes_told(second.stderr) < passes_told(first.stderr)
    assert sorted(os.listdir()) == ["best"]
    assert BestFixed.load("best").gap <= 1e-4


def test_a_checkpoint_is_of_all_examples(lessregret: CommandLine, log: str) -> None:
    """A search over half of them, which comes first, must not take its place."""
    arguments = ("regret", log, *SMALL, "--checkpoint", "best", "--quiet")
    assert lessregret(*arguments).code == 0
    assert BestFixed.load("best").importance == 1500


def test_a_checkpoint_that_is_none_is_left_alone(lessregret: CommandLine) -> None:
    lessregret.write("best", "something else")
    lessregret.write("data.vw", "1 |a b\n")
    done = lessregret("regret", "data.vw", "--checkpoint", "best")
    assert (done.code, done.stdout) == (1, "")
    assert done.stderr.startswith("lessregret: error: best: not a best fixed point that was saved")
    assert lessregret.read("best") == b"something else"


def interrupted(folder: Path, arguments: list[str]) -> tuple[int, str, str]:
    """Code, output and messages of a run, interrupted when the search shows that it has begun."""
    process = subprocess.Popen(
        [*COMMAND, "regret", *arguments], cwd=folder, env=ENVIRONMENT, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    watchdog = threading.Timer(60, process.kill)
    watchdog.start()
    assert process.stderr is not None
    process.stderr.readline()
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate()
    watchdog.cancel()
    return process.returncode, stdout, stderr


ENDLESS = ["--gap", "1e-300", "--no-growth", *SMALL]
"""No search reaches it: sums in float64 are rounded."""


def test_ctrl_c_ends_the_search_with_the_gap_it_has(lessregret: CommandLine, log: str) -> None:
    arguments = [log, *ENDLESS, "--json", "--checkpoint", "best", "--report", "page.html"]
    code, stdout, stderr = interrupted(lessregret.folder, arguments)
    assert code == 0
    assert "stopped by SIGINT; the gap asked for is 1.0e-300" in stderr
    for row in json.loads(stdout)["rows"]:
        assert row["gap"] > 1e-300
        assert row["regret_low"] < row["regret_high"]
        assert row["regret_low"] <= row["linear_regret"]
    assert BestFixed.load("best").gap == pytest.approx(json.loads(stdout)["rows"][0]["gap"])
    page = Path("page.html").read_text(encoding="utf-8")
    assert "The search for the best fixed model was stopped at a gap of" in page


@pytest.fixture
def interrupts(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many Ctrl-C come at each step of the search, in order; emptied as they come."""
    coming: list[int] = []
    shown = Watch.__call__

    def watched(self: Watch, rounds: int, best: BestFixed, last: bool) -> bool:
        for _ in range(coming.pop(0) if coming else 0):
            os.kill(os.getpid(), signal.SIGINT)
        return shown(self, rounds, best, last)

    monkeypatch.setattr(Watch, "__call__", watched)
    before = signal.getsignal(signal.SIGINT)
    yield coming
    assert signal.getsignal(signal.SIGINT) is before


def test_no_step_is_taken_after_ctrl_c(
    lessregret: CommandLine, log: str, interrupts: list[int]
) -> None:
    interrupts += [0, 0, 1, 0, 0]
    done = lessregret("regret", log, *ENDLESS, "--json", "--quiet")
    gaps = [row["gap"] for row in json.loads(done.stdout)["rows"]]
    assert interrupts == [0, 0]
    assert min(gaps) > 1e-3


@pytest.mark.parametrize("steps", [2, 12])
def test_a_stopped_search_says_what_is_certified(
    lessregret: CommandLine, log: str, interrupts: list[int], steps: int
) -> None:
    """The interval of the table, or that nothing is known that was not known before."""
    interrupts += [0] * (steps - 1) + [1]
    done = lessregret("regret", log, *ENDLESS, "--json", "--quiet")
    assert done.code == 0
    told = done.stderr.splitlines()
    assert told[0] == "stopped by SIGINT; the gap asked for is 1.0e-300"
    rows = json.loads(done.stdout)["rows"]
    assert len(told) == 1 + len(rows)
    for line, row in zip(told[1:], rows, strict=True):
        if row["gap"] >= row["best_total"]:
            assert line.startswith(f"{row['rule']}: no gap is certified; ")
        else:
            assert line == (
                f"{row['rule']}: certified at gap {row['gap']:.1e}: the regret is "
                f"from {row['regret_low']:.6f} to {row['regret_high']:.6f}"
            )


def test_the_second_ctrl_c_interrupts(
    lessregret: CommandLine, log: str, interrupts: list[int]
) -> None:
    lessregret.write("page.html", "the page before")
    interrupts += [0, 2]
    done = lessregret("regret", log, *ENDLESS, "--quiet", "--report", "page.html")
    assert (done.code, done.stdout) == (130, "")
    assert done.stderr.split("\n") == [
        "no regret is certified: the search for the best fixed model had not ended",
        "",
        "lessregret: error: stopped by SIGINT; left as it was: --report page.html",
        "",
    ]
    assert lessregret.read("page.html") == b"the page before"


# --- the page and the picture --------------------------------------------------------------------


def test_the_page_says_what_the_document_says(lessregret: CommandLine, log: str) -> None:
    rules = "per-coordinate:rate=0.1,global,pa"
    document = document_of(
        lessregret, log, *SMALL, "--rules", rules, "--report", "page.html"
    )  # fmt: skip
    outline = outline_of("page.html")
    assert outline.command == f"lessregret regret {log} --bits 12 --radius 1 --rules {rules} " + (
        "--report page.html --json --quiet"
    )
    tiles = dict(zip(outline.tiles[::3], outline.tiles[1::3], strict=True))
    for row in document["rows"]:
        assert tiles[f"regret of {row['rule']}"] == f"{row['regret_low']:.5f}"
        proved = [row["linear_regret"], row["bound"]]
        assert [
            row["rule"], f"{row['mean_loss']:.5f}", f"{row['best_loss']:.5f}",
            f"{row['regret_low']:.5f} to {row['regret_high']:.5f}",
            *("–" if number is None else f"{number:.5f}" for number in proved),
        ] in outline.rows  # fmt: skip
        for mark in row["growth"]:
            shown = [f"{mark['rounds']:,}", row["rule"], f"{mark['mean_loss']:.6f}"]
            assert shown in [cells[:3] for cells in outline.rows]
    assert outline.facts()["gap asked for"] == "0.0001"
    assert outline.facts()["gap reached"] == f"{document['rows'][0]['gap']:.1e}"
    assert ["pa", "[-1, 1]", "epsilon 0.1"] in outline.rows
    assert len(outline.pictures) == 3
    page = Path("page.html").read_text(encoding="utf-8")
    assert "Without a feasible set of their own: pa." in page
    assert "They have neither a linearised regret nor a bound." in page
    assert "was stopped at a gap" not in page


@pytest.mark.parametrize(
    ("importance", "unit"), [("", "per example"), ("2 ", "per unit of importance")]
)
def test_the_text_under_the_table_is_true_of_its_numbers(
    lessregret: CommandLine, importance: str, unit: str
) -> None:
    lines = [f"{label} {importance}|a {name}\n" for label, name in [(1, "b"), (-1, "c")] * 50]
    data = lessregret.write("data.vw", "".join(lines))
    done = lessregret("regret", data, *SMALL, "--gap", "0.3", "--report", "page.html", "--quiet")
    assert (done.code, done.stderr) == (0, "")
    outline = outline_of("page.html")
    page = Path("page.html").read_text(encoding="utf-8")
    rows = [row for row in outline.rows if row[0] in ("per-coordinate", "global")][:2]
    for row in rows:
        loss, best, ends, *proved = row[1:]
        low, high = map(float, ends.split(" to "))
        assert low <= high <= float(proved[0]) <= float(proved[1])
        # Three numbers rounded to five digits. The mixture may lose less than any fixed model of
        # this radius.
        rounding = 3 * 0.5e-5 + 1e-12
        assert low - rounding <= float(loss) - float(best) <= high + rounding
    assert f"All numbers are {unit}." in page
    assert {note.split(" ", 2)[2] for note in outline.tiles[2::3]} == {unit}


@pytest.mark.parametrize(
    ("arguments", "pictures"),
    [(["few.vw"], 1), (["few.vw", "--rules", "pa"], 1), (["few.vw", "--low-memory"], 1),
     (["LOG", "--low-memory"], 3), (["LOG", "--l2", "0.1"], 3), (["LOG", "--no-growth"], 1),
     (["LOG", "--rules", "pa,cw"], 3), (["LOG", "--loss", "hinge", "--rules", "ftrl"], 3)],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)  # fmt: skip
def test_pages_of_all_kinds(
    lessregret: CommandLine, log: str, arguments: list[str], pictures: int
) -> None:
    lessregret.write("few.vw", "1 |a b\n-1 |a c\n1 |a b\n")
    given = [log if argument == "LOG" else argument for argument in arguments]
    done = lessregret("regret", *given, *SMALL, "--report", "page.html", "--quiet")
    assert (done.code, done.stderr) == (0, "")
    assert len(outline_of("page.html").pictures) == pictures
    page = Path("page.html").read_text(encoding="utf-8")
    assert ("the best fixed model is sought once" in page) == (
        "--low-memory" in given and pictures > 1
    )
    assert ("loss + L2" in page) == ("--l2" in given)


def test_a_page_of_a_pipe(lessregret: CommandLine) -> None:
    done = lessregret.apart(
        "regret", "-", "--report", "page.html", "--quiet", stdin=b"1 |a b\n-1 |a\n"
    )
    assert done.code == 0
    assert ["standard input", "–"] in outline_of("page.html").rows


def test_a_browser_shows_the_page(lessregret: CommandLine, log: str, tmp_path: Path) -> None:
    browser = browser_or_skip()
    assert lessregret("regret", log, *SMALL, "--report", "page.html", "--quiet").code == 0
    shown, told = browsed(browser, tmp_path, "page.html")
    assert told == []
    assert "Loss over the examples" in shown
    assert shown.count('role="img"') == 3


@pytest.mark.parametrize("growth", ["--growth", "--no-growth", "--low-memory"])
def test_the_picture(lessregret: CommandLine, log: str, growth: str) -> None:
    for name in ("regret.svg", "regret.png"):
        done = lessregret("regret", log, *SMALL, growth, "--picture", name, "--quiet")
        assert (done.code, done.stderr) == (0, "")
    assert ElementTree.parse("regret.svg").getroot().tag.endswith("svg")
    assert lessregret.read("regret.png").startswith(b"\x89PNG")


@pytest.mark.parametrize("loss", ["logistic", "squared"])
@pytest.mark.parametrize("intercept", [(), ("--no-intercept",)], ids=["intercept", "none"])
def test_the_best_of_a_size_is_above_what_is_certified(
    lessregret: CommandLine, log: str, loss: str, intercept: tuple[str, ...]
) -> None:
    data = log if loss == "logistic" else lessregret.write("prices.vw", PRICES)
    given = ("--loss", loss, "--no-growth", *intercept)
    document = document_of(lessregret, data, *SMALL, *given)
    found = document["best_of_size"]
    assert {each["shape"] for each in found} == {"box", "ball", "l1"}
    for each in found:
        assert each["certified"] <= each["loss"]
        assert each["rule"] in {row["rule"] for row in document["rows"]}
    best = min(row["best_loss"] - row["gap"] for row in document["rows"])
    largest = max(each["radius"] for each in found if each["shape"] == "box")
    if largest <= 1:
        assert all(each["loss"] >= best - 1e-9 for each in found)


def test_with_little_memory_or_l2_no_sizes_are_searched(lessregret: CommandLine, log: str) -> None:
    for given in (("--low-memory",), ("--l2", "0.01")):
        assert document_of(lessregret, log, *SMALL, "--gap", "0.1", *given)["best_of_size"] == []


def test_the_page_shows_the_best_of_each_size(lessregret: CommandLine, log: str) -> None:
    done = lessregret("regret", log, *SMALL, "--no-growth", "--quiet", "--report", "page.html")
    assert done.code == 0
    page = (lessregret.folder / "page.html").read_text("utf-8")
    assert "Fixed weights of every size" in page
    assert "the true least loss of that size lies between the circle" in page
