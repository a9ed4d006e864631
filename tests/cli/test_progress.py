"""What people see while a run goes on: numbers, the table on a pipe, the bar on a terminal."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

from lessregret.cli.progress import (
    Bar,
    ReadingLines,
    Recent,
    Silence,
    Table,
    make_progress,
    since,
)
from lessregret.ledger import Certificate, Ledger, Norms, SlotSummary, Tally
from lessregret.report.wording import number
from tests.support.command_line import COMMAND, ENVIRONMENT, CommandLine

LINE = b"1 1:1\n0 2:1\n"


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (None, 3, "–"), (0.0, 3, "0.000"), (-0.5, 1, "-0.5"), (1234.5678, 2, "1,234.57"),
        (999_999.0, 1, "999,999.0"), (1e6, 1, "1e+06"), (-2.5e7, 3, "-2.5e+07"),
        (float("inf"), 2, "inf"), (1e-9, 4, "0.0000"),
    ],
)  # fmt: skip
def test_numbers(value: float | None, digits: int, shown: str) -> None:
    assert number(value, digits) == shown


def ledger(rounds: int, loss: float, offset: float | None = None) -> Ledger:
    tally = Tally(rounds=rounds, importance=rounds, loss=loss)
    certificate = Certificate(offset, Norms.of([1.0]), Norms.of([0.5])) if offset else None
    return Ledger(tally, SlotSummary(8.0, None, None, 1), True, 0, certificate)


def test_since() -> None:
    assert since(ledger(4, 2.0), Tally()) == (0.5, 0.5)
    assert since(ledger(4, 2.0), Tally(rounds=2, importance=2, loss=1.5)) == (0.5, 0.25)
    assert since(ledger(4, 2.0), Tally(rounds=3, importance=4, loss=2))[1] is None


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    with Table(Tally()) as table:
        for moment in (
            ledger(1, 0.5),
            ledger(2, 1.5, 1.0),
            ledger(2, 1.5),
            ledger(1000, 1000, 900),
        ):
            table.checkpoint(moment.tally, lambda moment=moment: moment)
            table.advance(10, moment.tally)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == [
        "        rounds   loss so far    loss since  at most left",
        "             1       0.50000       0.50000             –",
        "             2       0.75000       1.00000          open",
        "         1,000       1.00000       1.00050        10.1 %",
    ]


def test_the_table_of_a_resumed_run_begins_where_it_stopped(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with Table(Tally(rounds=2, importance=2, loss=1.5)) as table:
        for moment in (ledger(2, 1.5), ledger(4, 2.0)):
            table.checkpoint(moment.tally, lambda moment=moment: moment)
    assert capsys.readouterr().err.splitlines()[1:] == [
        "             4       0.50000       0.25000             –",
    ]


def test_the_loss_of_the_last_second() -> None:
    moments = iter([0.0, 0.4, 0.8, 1.2, 2.1, 5.0])
    recent = Recent(clock=lambda: next(moments))

    def told(loss: float) -> float | None:
        return recent.loss(Tally(rounds=0, importance=importances.pop(0), loss=loss))

    importances = [2.0, 4.0, 6.0, 8.0, 8.0, 8.0]
    assert told(2.0) is None
    assert told(3.0) == 0.5
    assert told(3.0) == 0.25
    # A second before is 0.2: the block that ended at 0.0 is the last before it.
    assert told(6.0) == pytest.approx(4 / 6)
    # A second before is 1.1: the block that ended at 0.8.
    assert told(6.0) == 1.5
    assert told(6.0) is None


def test_which_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    assert type(make_progress(True, None, Tally())) is Silence
    assert type(make_progress(False, None, Tally())) is Table
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert type(make_progress(False, None, Tally())) is Bar
    assert type(make_progress(False, None, Tally(), every=10)) is Table


def on_a_terminal(*arguments: str) -> tuple[int, str, str]:
    """Exit code, what the terminal showed, and stdout, which is a pipe."""
    ours, theirs = pty.openpty()
    environment = {**ENVIRONMENT, "TERM": "xterm"}
    process = subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=theirs, env=environment
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # Linux says so when the other side of a terminal is closed.
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    stdout, _ = process.communicate()
    return process.returncode, shown.decode(), stdout.decode()


def test_the_bar(tmp_path: Path) -> None:
    data = tmp_path / "data.txt"
    data.write_bytes(LINE * 200_000)
    code, shown, stdout = on_a_terminal("train", str(data), "--bits", "10")
    assert (code, stdout) == (0, "")
    assert "━" in shown
    assert re.search(r"[\d,]+ examples, loss 0\.\d{5}", shown)
    assert "loss so far" not in shown
    assert "400,000 examples, 3 slots touched" in shown


def test_quiet_means_quiet_on_a_terminal_too(tmp_path: Path) -> None:
    data = tmp_path / "data.txt"
    data.write_bytes(LINE)
    assert on_a_terminal("train", str(data), "--bits", "10", "--quiet") == (0, "", "")


def test_an_error_on_a_terminal_follows_the_bar(tmp_path: Path) -> None:
    data = tmp_path / "data.txt"
    data.write_bytes(LINE + b"1 x\n")
    code, shown, _ = on_a_terminal("train", str(data), "--bits", "10")
    assert code == 1
    assert shown.endswith(
        f"lessregret: error: {data}:3:3: expected an index, 0 or more, found 'x'\r\n"
    )


@pytest.mark.parametrize("to_file", [True, False])
def test_predictions_have_a_bar_and_stdout_stays_data(tmp_path: Path, to_file: bool) -> None:
    data, model = tmp_path / "data.txt", tmp_path / "model"
    data.write_bytes(LINE * 100)
    train = ["train", str(data), "--bits", "10", "--quiet", "--model", str(model)]
    assert on_a_terminal(*train)[0] == 0
    to = ["--output", str(tmp_path / "predictions")] if to_file else []
    code, shown, stdout = on_a_terminal("predict", str(model), str(data), *to)
    assert code == 0
    assert "━" in shown
    written = (tmp_path / "predictions").read_text() if to_file else stdout
    assert len(written.splitlines()) == 200


def rounds_of(table: str) -> list[str]:
    return re.findall(r"^ +([\d,]+) +\d+\.\d{5} ", table, re.MULTILINE)


def test_train_prints_a_row_at_every_so_many_examples(lessregret: CommandLine) -> None:
    data = lessregret.write("data.txt", LINE * 50)
    done = lessregret("train", data, "--bits", "10", "-P", "30", "--model", "m")
    assert rounds_of(done.stderr) == ["30", "60", "90", "100"]
    # A run that goes on counts from the first example of the model.
    again = lessregret("train", data, "--resume", "m", "--progress", "64")
    assert rounds_of(again.stderr) == ["128", "192", "200"]


def test_rows_at_other_places_change_no_bit(lessregret: CommandLine) -> None:
    data = lessregret.write("data.txt", LINE * 50)
    for name, options in (("a", []), ("b", ["-P", "7"])):
        assert lessregret("train", data, "--bits", "10", "--model", name, *options).code == 0
    assert lessregret.read("a") == lessregret.read("b")


def test_progress_and_quiet_are_one_too_many(lessregret: CommandLine) -> None:
    done = lessregret("train", lessregret.write("data.txt", LINE), "-P", "7", "--quiet")
    assert done.code == 2
    assert "-P asks for progress and --quiet for none; leave out one of them" in done.stderr


def test_predict_prints_a_line_at_every_so_many_examples(lessregret: CommandLine) -> None:
    data = lessregret.write("data.txt", LINE * 50)
    assert lessregret("train", data, "--bits", "10", "--model", "m", "--quiet").code == 0
    done = lessregret("predict", "m", data, "-P", "40")
    told = done.stderr.splitlines()
    assert [line.split(", ")[0] for line in told] == ["40 examples", "80 examples"]
    assert all(re.search(r", [\d,]+ a second, \d+\.\d MB/s$", line) for line in told)
    assert done.stdout == lessregret("predict", "m", data).stdout


def test_the_lines_of_reading(capsys: pytest.CaptureFixture[str]) -> None:
    moments = iter([0.0, 2.0, 4.0])
    with ReadingLines(100, clock=lambda: next(moments)) as lines:
        assert lines.limit(0, 1000) == 100
        lines.read(1_000_000, 99)
        lines.read(2_000_000, 100)
        assert lines.limit(100, 16) == 16
        lines.read(0, 250)
    assert capsys.readouterr().err.splitlines() == [
        "100 examples, 50 a second, 1.0 MB/s",
        "250 examples, 62 a second",
    ]


def test_convert_has_a_bar(tmp_path: Path) -> None:
    data = tmp_path / "data.txt"
    data.write_bytes(LINE * 20_000)
    convert = ["convert", str(data), "--output", str(tmp_path / "examples.arrow")]
    code, shown, stdout = on_a_terminal(*convert)
    assert (code, stdout) == (0, "")
    assert "━" in shown
    assert re.search(r"40,000 examples(?!,)", shown), "the bar"
    assert "40,000 examples, 40,000 features" in shown, "the summary"
    assert "━" not in on_a_terminal(*convert, "--quiet")[1]


def test_merge_counts_the_models_that_it_reads(tmp_path: Path) -> None:
    data, start = tmp_path / "data.txt", str(tmp_path / "start")
    data.write_bytes(LINE * 10)
    train = ["train", str(data), "--quiet", "--model"]
    assert on_a_terminal(*train, start, "--bits", "10")[0] == 0
    shards = [str(tmp_path / name) for name in "ab"]
    for shard in shards:
        assert on_a_terminal(*train, shard, "--resume", start)[0] == 0
    code, shown, _ = on_a_terminal("merge", start, *shards, "--model", str(tmp_path / "merged"))
    assert code == 0
    assert "━" in shown
    assert "merging 2 shards" in shown
    assert "merged 2 shards: 60 examples" in shown


@pytest.mark.parametrize("options", [[], ["--low-memory"]])
def test_regret_shows_the_passes_and_the_gap(tmp_path: Path, options: list[str]) -> None:
    data = tmp_path / "data.txt"
    data.write_bytes(LINE * 20_000)
    measure = ["regret", str(data), "--bits", "10", "--rules", "per-coordinate", *options]
    code, shown, stdout = on_a_terminal(*measure)
    assert code == 0
    assert "━" in shown
    assert re.search(r"gap \d\.\de-\d+, passes \d+", shown)
    assert stdout.startswith("rule")
    assert on_a_terminal(*measure, "--quiet")[1] == ""
