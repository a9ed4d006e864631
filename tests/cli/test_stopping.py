"""Does a signal end a run so that nothing is half written, and the user is told what is there?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread, Timer

import pytest

from lessregret.cli.outputs import PLANNED
from tests.support.command_line import COMMAND, ENVIRONMENT, CommandLine
from tests.support.malformed import GOOD_SVMLIGHT

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
MORE_THAN_A_PIPE_HOLDS = GOOD_SVMLIGHT * 20_000
"""Once it is written, the other end has begun to read."""
QUIET = {**ENVIRONMENT, "PYTHONWARNINGS": "error,ignore::ResourceWarning"}
"""A signal may come while Python imports a module, whose open file is then no error of ours."""
SIGNAL_DURING_IMPORT = """
import signal, sys
from lessregret.cli import main

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("numpy"):
            try:
                signal.raise_signal(signal.SIGTERM)
            except BaseException as error:
                raise ImportError("broken") from error

sys.meta_path.insert(0, Finder())
main(["generate", "clicks", "--examples", "10", "--output", "p"])
"""
"""An import may turn an interrupt into an error of its own, as this one would do."""
SIGNAL_IN_A_FINALISER = """
import signal
from lessregret.cli import main, raise_at_signals
import lessregret.cli.generate

class Finaliser:
    def __del__(self):
        signal.raise_signal(signal.SIGTERM)

raise_at_signals()
Finaliser()
main(["generate", "clicks", "--examples", "1000000000", "--output", "p"])
"""
"""Python drops what is raised in a finaliser, so that the run would go on."""
by_name = {"ids": lambda number: number.name}


@pytest.fixture
def files(lessregret: CommandLine) -> CommandLine:
    """Data, their model, and a file for each output, with the content of an earlier run."""
    lessregret.write("data.txt", GOOD_SVMLIGHT)
    assert lessregret("train", "data.txt", "--bits", "8", "--quiet", "--model", "m").code == 0
    for name in ("p", "page.html", "best"):
        lessregret.write(name, "of an earlier run")
    return lessregret


def partial_files() -> list[str]:
    return [name for name in os.listdir() if name.endswith(".partial")]


def wait_for(what: Callable[[], object]) -> None:
    give_up = time.monotonic() + 60
    while not what():
        assert time.monotonic() < give_up, "it did not come"
        time.sleep(0.01)


@pytest.fixture(autouse=True)
def no_signal_is_ignored() -> None:
    """``nohup`` ignores SIGHUP, and every process that it starts would do so, too."""
    for number in SIGNALS:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def waiting(*arguments: str, **options: object) -> Iterator[subprocess.Popen[bytes]]:
    """A run that waits for input that does not come."""
    process = subprocess.Popen(
        [*COMMAND, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=QUIET, bufsize=0, **options,
    )  # type: ignore[call-overload]  # fmt: skip
    with process:
        try:
            yield process
        finally:
            process.kill()


def interrupt(*_: object, **__: object) -> None:
    """Takes the place of a function, as if Ctrl-C came when it is called."""
    raise KeyboardInterrupt


def feed(process: subprocess.Popen[bytes]) -> None:
    """Give a run input, so that it has begun to read and its outputs are open; not the end."""
    assert process.stdin is not None
    assert process.stdout is not None
    # A run that answers waits until its answers are read, and does not read on meanwhile.
    Thread(target=process.stdout.read, daemon=True).start()
    process.stdin.write(MORE_THAN_A_PIPE_HOLDS)


def stopped(process: subprocess.Popen[bytes], number: int) -> list[str]:
    """What a run tells on stderr after a signal, which alone can end it; its last lines."""
    assert process.stderr is not None
    process.send_signal(number)
    # A signal that gets lost must fail the test, not hold it up.
    give_up = Timer(60, process.kill)
    give_up.start()
    told = process.stderr.read().decode()
    give_up.cancel()
    assert "Traceback" not in told
    # A shell shows it as 128 + the number.
    assert process.wait(timeout=60) == -number
    return told.splitlines()


@pytest.mark.parametrize("number", SIGNALS, **by_name)
def test_a_stopped_training_on_a_pipe_writes_its_files(
    files: CommandLine, number: signal.Signals
) -> None:
    before = {name: files.read(name) for name in os.listdir()}
    outputs = ("--model", "m", "--predictions", "p", "--report", "page.html")
    with waiting("train", "-", "--bits", "8", "--quiet", *outputs) as process:
        feed(process)
        told = stopped(process, number)
    assert told[-1] == (
        f"lessregret: error: stopped by {number.name}; "
        "written: --model m, --predictions p, --report page.html"
    )
    assert not partial_files()
    assert all(files.read(name) != before[name] for name in ("m", "p", "page.html"))


@pytest.mark.parametrize("number", SIGNALS, **by_name)
@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("predict m - --output p", "left as it was: --output p"),
        ("predict m - --output new", "not written: --output new"),
        ("convert - --output p", "left as it was: --output p"),
        ("convert - --output new", "not written: --output new"),
        ("generate clicks --examples 1000000000 --output p", "left as it was: --output p"),
        ("generate clicks --examples 1000000000 --output p.gz", "not written: --output p.gz"),
    ],
)
def test_a_stopped_command_leaves_no_temporary_file(
    files: CommandLine, command: str, told: str, number: signal.Signals
) -> None:
    before = {name: files.read(name) for name in os.listdir()}
    with waiting(*command.split()) as process:
        feed(process) if "-" in command.split() else wait_for(partial_files)
        lines = stopped(process, number)
    assert lines[-1] == f"lessregret: error: stopped by {number.name}; {told}"
    assert {name: files.read(name) for name in os.listdir()} == before


def test_output_to_a_pipe_is_told_to_be_a_part(files: CommandLine) -> None:
    with waiting("predict", "m", "-") as process:
        feed(process)
        lines = stopped(process, signal.SIGTERM)
    assert lines[-1] == (
        "lessregret: error: stopped by SIGTERM; perhaps written in part: --output -"
    )


def test_what_was_written_before_is_told(
    files: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lessregret.learners.learner.Learner.save", interrupt)
    outputs = ("--model", "m", "--predictions", "p", "--report", "new.html")
    done = files("train", "data.txt", "--bits", "8", "--quiet", *outputs)
    assert (done.code, done.stdout) == (130, "")
    assert done.stderr.strip() == (
        "lessregret: error: stopped by SIGINT; written: --predictions p; "
        "not written: --report new.html; left as it was: --model m"
    )
    assert len(files.read("p").splitlines()) == 3


def test_a_command_without_files_says_so(
    files: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert files("train", "data.txt", "--quiet", "--model", "m").code == 0
    assert PLANNED
    monkeypatch.setattr("lessregret.learners.model_file.read_header", interrupt)
    done = files("inspect", "m")
    assert done.code == 130
    assert done.stderr.strip() == ("lessregret: error: stopped by SIGINT; no file was written")


@pytest.mark.parametrize("number", SIGNALS, **by_name)
def test_a_shell_sees_the_code_of_the_signal(files: CommandLine, number: signal.Signals) -> None:
    """The signal goes to the group, as Ctrl-C of a terminal does; the shell survives it."""
    script = f'trap : {number.name[3:]}; "$@"; echo $?'
    process = subprocess.Popen(
        ["bash", "-c", script, "bash", *COMMAND, "train", "-", "--quiet", "--predictions", "p"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT,
        start_new_session=True,
    )  # fmt: skip
    with process:
        wait_for(partial_files)
        os.killpg(process.pid, number)
        assert process.stdout is not None
        assert process.stdout.read() == f"{128 + number}\n".encode()


def test_nohup_is_obeyed(files: CommandLine) -> None:
    def ignore() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    arguments = ("train", "-", "--bits", "8", "--quiet", "--model", "new", "--predictions", "p")
    with waiting(*arguments, preexec_fn=ignore) as process:
        wait_for(partial_files)
        process.send_signal(signal.SIGHUP)
        process.communicate(GOOD_SVMLIGHT)
        assert process.returncode == 0
    assert files.read("new") == files.read("m")


def test_the_first_ctrl_c_ends_a_regret_that_waits_for_input(files: CommandLine) -> None:
    with waiting("regret", "-", "--bits", "8", "--checkpoint", "new") as process:
        feed(process)
        lines = stopped(process, signal.SIGINT)
    assert lines[-1] == "lessregret: error: stopped by SIGINT; not written: --checkpoint new"


def test_a_regret_that_is_ended_before_its_search_certifies_nothing(
    files: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lessregret.data.examples.Examples.collect", interrupt)
    done = files("regret", "data.txt", "--bits", "8")
    assert (done.code, done.stdout) == (130, "")
    assert done.stderr.splitlines()[0] == (
        "no regret is certified: the search for the best fixed model had not ended"
    )


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("script", [SIGNAL_DURING_IMPORT, SIGNAL_IN_A_FINALISER])
def test_a_signal_whose_exception_could_get_lost_ends_the_run(script: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=QUIET, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == -signal.SIGTERM
    assert done.stderr.splitlines()[-1].startswith("lessregret: error: stopped by SIGTERM")
