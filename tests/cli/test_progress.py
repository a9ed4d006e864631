"""What people see while a run goes on: numbers, the table on a pipe, the bar on a terminal."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

from lessregret.cli.progress import Bar, Recent, Silence, Table, make_progress, since
from lessregret.ledger import Certificate, Ledger, Norms, SlotSummary, Tally
from lessregret.report.wording import number
from tests.support.command_line import COMMAND, ENVIRONMENT

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
