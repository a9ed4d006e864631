"""Does a pipe that is held open answer, save and end well?"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from threading import Timer

import pytest

from lessregret import Learner
from tests.support.command_line import COMMAND, ENVIRONMENT, CommandLine

LINES = [f"{k % 2} |a f{k % 7}:{k % 5 + 1} g{k % 3}\n" for k in range(200)]
BITS = ("--bits", "8", "--quiet")


@contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [*COMMAND, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=ENVIRONMENT, bufsize=0,
    )  # fmt: skip
    with process:
        try:
            yield process
        finally:
            process.kill()


def ask(process: subprocess.Popen[bytes], line: str) -> str:
    """The answer to one line, while the input stays open."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line.encode())
    return process.stdout.readline().decode()


def wait_for(what: Callable[[], object]) -> None:
    give_up = time.monotonic() + 60
    while not what():
        assert time.monotonic() < give_up, "it did not come"
        time.sleep(0.01)


@pytest.fixture(autouse=True)
def no_signal_is_ignored() -> None:
    """A shell lets what it starts in the background ignore SIGINT, and so would every run here."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def stopped(process: subprocess.Popen[bytes], number: int) -> str:
    """What a run tells last after a signal, which alone ends it."""
    assert process.stderr is not None
    process.send_signal(number)
    # A signal that gets lost must fail the test, not hold it up.
    give_up = Timer(60, process.kill)
    give_up.start()
    told = process.stderr.read().decode()
    give_up.cancel()
    assert process.wait(timeout=60) == -number, told
    assert "Traceback" not in told
    return told.splitlines()[-1]


def rounds(model: str) -> int:
    return Learner.load(model).tally().rounds if os.path.exists(model) else 0


@pytest.fixture
def model(lessregret: CommandLine) -> CommandLine:
    """A log, and the model and the predictions of a training on it as a file."""
    lessregret.write("log.vw", "".join(LINES))
    done = lessregret("train", "log.vw", *BITS, "--model", "m", "--predictions", "p")
    assert done.code == 0, done.stderr
    return lessregret


@pytest.mark.parametrize("threads", ["1", "2"])
def test_predict_answers_each_line(model: CommandLine, threads: str) -> None:
    expected = model("predict", "m", "log.vw").stdout.splitlines(keepends=True)
    with running("predict", "m", "-", "--threads", threads) as process:
        assert [ask(process, line) for line in LINES] == expected


def test_train_answers_each_line_before_it_learns_from_it(model: CommandLine) -> None:
    with running("train", "-", *BITS, "--predictions", "-", "--model", "new") as process:
        answers = [ask(process, line) for line in LINES]
        assert process.communicate()[0] == b""
    assert "".join(answers).encode() == model.read("p")
    assert Path("new").read_bytes() == Path("m").read_bytes()


@pytest.mark.slow
def test_an_answer_takes_less_than_50_milliseconds(model: CommandLine) -> None:
    for command in (["predict", "m", "-"], ["train", "-", *BITS, "--predictions", "-"]):
        with running(*command) as process:
            ask(process, LINES[0])
            seconds = []
            for line in LINES:
                started = time.perf_counter()
                assert ask(process, line)
                seconds.append(time.perf_counter() - started)
                time.sleep(0.005)
        assert median(seconds) < 0.05


@pytest.mark.parametrize("cut", [1, 7, 61, 1000])
def test_the_model_does_not_depend_on_pauses(model: CommandLine, cut: int) -> None:
    text = "".join(LINES).encode()
    with running("train", "-", *BITS, "--model", "new") as process:
        assert process.stdin is not None
        for start in range(0, len(text), cut):
            process.stdin.write(text[start : start + cut])
            if start % (5 * cut) == 0:
                time.sleep(0.002)
        process.stdin.close()
        assert process.wait(timeout=60) == 0
    assert Path("new").read_bytes() == Path("m").read_bytes()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_an_endless_training_and_its_model_is_saved(
    model: CommandLine, number: signal.Signals
) -> None:
    outputs = ("--model", "new", "--predictions", "q")
    with running("train", "-", *BITS, *outputs, "--save-every", "50") as process:
        assert process.stdin is not None
        # The last line has no end yet: it is no example.
        process.stdin.write("".join(LINES).encode() + b"1 |a f")
        wait_for(lambda: rounds("new") == len(LINES))
        told = stopped(process, number)
    assert told == (
        f"lessregret: error: stopped by {number.name}; written: --model new, --predictions q"
    )
    assert Path("new").read_bytes() == Path("m").read_bytes()
    assert model.read("q") == model.read("p")


def test_a_signal_saves_what_came_since_the_last_time(model: CommandLine) -> None:
    with running("train", "-", *BITS, "--predictions", "-", "--model", "new") as process:
        for line in LINES[:3]:
            ask(process, line)
        told = stopped(process, signal.SIGTERM)
    assert told.endswith("written: --model new; perhaps written in part: --predictions -")
    assert rounds("new") == 3


def test_a_training_that_is_stopped_before_its_first_example_has_no_model(
    model: CommandLine,
) -> None:
    with running("train", "-", *BITS, "--model", "new", "--predictions", "q") as process:
        wait_for(lambda: [name for name in os.listdir() if name.endswith(".partial")])
        told = stopped(process, signal.SIGTERM)
    assert told.startswith("lessregret: error: stopped by SIGTERM; not written: --model new")


@pytest.mark.parametrize("interval", ["0.05s", "3"])
def test_the_model_is_saved_while_input_is_waited_for(model: CommandLine, interval: str) -> None:
    every = ("--save-every", interval, "--model", "new")
    with running("train", "-", *BITS, *every, "--predictions", "-") as process:
        for line in LINES[:6]:
            ask(process, line)
        wait_for(lambda: rounds("new") == 6)


@pytest.mark.parametrize("interval", ["0", "x", "5d", "-1", "1.5", "0s"])
def test_an_interval_is_examples_or_a_time(model: CommandLine, interval: str) -> None:
    done = model("train", "log.vw", "--model", "new", "--save-every", interval)
    assert done.code == 2
    assert f"such as 60s, 5m or 1h, found {interval!r}" in done.stderr


def test_saving_needs_a_model(model: CommandLine) -> None:
    done = model("train", "log.vw", "--save-every", "5")
    assert (done.code, "say where with --model" in done.stderr) == (2, True)


@pytest.mark.parametrize("threads", ["1", "2"])
def test_lines_without_labels_are_predicted_and_not_learned(
    model: CommandLine, threads: str
) -> None:
    mixed = [LINES[0][1:], *LINES[:90], *(line[1:] for line in LINES[90:97]), *LINES[90:]]
    model.write("mixed.vw", "".join(mixed))
    asked = ("--predictions", "q", "--unlabelled", "predict", "--threads", threads)
    done = model("train", "mixed.vw", *BITS, "--model", "new", *asked, "--report", "page.html")
    assert done.code == 0, done.stderr
    assert Path("new").read_bytes() == Path("m").read_bytes()
    played, known = model.read("q").decode().split(), model.read("p").decode().split()
    assert played[0] == "0.5"
    assert played[1:91] + played[98:] == known
    model("train", "log.vw", *BITS, "--model", "half", "--resume", "m")
    with running("train", "-", *BITS, "--predictions", "-", "--unlabelled", "predict") as process:
        answers = [
            ask(process, line) for line in [*LINES[:90], *(line[1:] for line in LINES[90:97])]
        ]
    assert [answer.strip() for answer in answers[90:]] == played[91:98]


def test_a_line_without_a_label_is_an_error_unless_it_is_asked_for(model: CommandLine) -> None:
    model.write("bad.vw", LINES[0] + LINES[1][1:])
    done = model("train", "bad.vw", *BITS)
    assert done.code == 1
    assert "bad.vw:2:2: expected a label, found '|'" in done.stderr
    model.write("bad.vw", LINES[0] + "7" + LINES[1][1:])
    done = model("train", "bad.vw", *BITS, "--unlabelled", "predict")
    assert (done.code, "expected a label 1, 0 or -1" in done.stderr) == (1, True)


def test_rows_of_a_table_may_lack_labels(lessregret: CommandLine) -> None:
    rows = [f"{k % 4},{'xy'[k % 2]},{k % 3 % 2}\n" for k in range(60)]
    lessregret.write("all.csv", "n,c,y\n" + "".join(rows))
    lessregret.write("some.csv", "n,c,y\n" + "".join(rows[:30]) + "1,x,\n" + "".join(rows[30:]))
    table = ("--label", "y", *BITS, "--columns", "columns.toml", "--unlabelled", "predict")
    lessregret.write("columns.toml", 'number = ["n"]\ncategory = ["c"]\n')
    for name in ("all", "some"):
        done = lessregret("train", f"{name}.csv", *table, "--model", name, "--predictions", "p")
        assert done.code == 0, done.stderr
    assert len(lessregret.read("p").splitlines()) == 61
    assert Path("all").read_bytes() == Path("some").read_bytes()


def test_a_followed_log_goes_on_after_rotation_and_truncation(model: CommandLine) -> None:
    model.write("live.vw", "".join(LINES[:50]))
    every = ("--save-every", "0.05s", "--model", "new")
    with running("train", "live.vw", *BITS, "--follow", *every) as process:
        wait_for(lambda: rounds("new") == 50)
        with open("live.vw", "a", encoding="utf-8") as log:
            log.write("".join(LINES[50:80]))
        os.rename("live.vw", "live.vw.1")
        model.write("next.vw", "".join(LINES[80:120]))
        os.rename("next.vw", "live.vw")
        wait_for(lambda: rounds("new") == 120)
        Path("live.vw").write_text("".join(LINES[120:130]), encoding="utf-8")
        wait_for(lambda: rounds("new") == 130)
        with open("live.vw", "a", encoding="utf-8") as log:
            log.write("".join(LINES[130:]))
        wait_for(lambda: rounds("new") == len(LINES))
        stopped(process, signal.SIGTERM)
    assert Path("new").read_bytes() == Path("m").read_bytes()


def test_what_cannot_be_followed_is_told(model: CommandLine) -> None:
    model.write("t.csv", "y,x\n1,2\n")
    for data, told in [
        (("log.vw", "m"), "expected one file"),
        (("-",), "leave out --follow"),
        (("t.csv", "--label", "y"), "only text is followed"),
    ]:
        done = model("train", *data, "--follow", *BITS)
        assert (done.code, told in done.stderr) == (2, True), done.stderr
