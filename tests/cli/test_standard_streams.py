"""Does a run outlive a stderr that cannot be written, and say so if stdout cannot be?"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support.command_line import COMMAND, ENVIRONMENT, CommandLine, Done
from tests.support.malformed import GOOD_SVMLIGHT

needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
TRAIN = ["train", "data.txt", "--bits", "8", "--model", "m"]
WARN_AND_TRAIN = """
import sys, warnings
from lessregret.cli import main
from lessregret.learners.learner import Learner
learn = Learner.learn
def warned(*given, **named):
    warnings.warn("a warning of a library", UserWarning)
    return learn(*given, **named)
Learner.learn = warned
main(sys.argv[1:])
"""


@pytest.fixture
def data(lessregret: CommandLine) -> CommandLine:
    """A data file and its model."""
    lessregret.write("data.txt", GOOD_SVMLIGHT)
    assert (
        lessregret("train", "data.txt", "--bits", "8", "--quiet", "--model", "reference").code == 0
    )
    return lessregret


def redirected(redirection: str, *arguments: str, code: str | None = None) -> Done:
    """Run a command with a redirection as a shell makes it."""
    command = COMMAND if code is None else (sys.executable, "-c", code)
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {redirection}', "sh", *command, *arguments],
        capture_output=True, check=False, timeout=60,
        env={**ENVIRONMENT, "PYTHONWARNINGS": "default"},
    )  # fmt: skip
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.parametrize("code", [None, WARN_AND_TRAIN], ids=["progress", "warnings"])
@pytest.mark.parametrize("redirection", ["2>&-", pytest.param("2>/dev/full", marks=needs_full)])
def test_progress_that_cannot_be_written_is_dropped(
    data: CommandLine, redirection: str, code: str | None
) -> None:
    assert redirected(redirection, *TRAIN, code=code) == Done(0, "", "")
    assert data.read("m") == data.read("reference")


def test_progress_that_nobody_reads_is_dropped(data: CommandLine) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run([*COMMAND, *TRAIN], stderr=theirs, env=ENVIRONMENT, check=False)
    os.close(theirs)
    assert done.returncode == 0
    assert data.read("m") == data.read("reference")


@pytest.mark.parametrize("redirection", ["2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_no_file_takes_the_place_of_a_closed_stream(data: CommandLine, redirection: str) -> None:
    """The lowest free descriptor would be the model's, and a message would be written into it."""
    assert redirected(redirection, *TRAIN, "--predictions", "p").code == 0
    assert data.read("m") == data.read("reference")
    assert len(data.read("p").splitlines()) == 3


@pytest.mark.parametrize("redirection", ["2>&-", pytest.param("2>/dev/full", marks=needs_full)])
def test_an_error_that_cannot_be_told_keeps_its_exit_code(
    data: CommandLine, redirection: str
) -> None:
    assert redirected(redirection, "train", "missing").code == 1
    assert redirected(redirection, "train", "data.txt", "--rate", "no").code == 2
    assert redirected(redirection, "train", "--colour").code == 2


READABLE = [
    ["predict", "reference", "data.txt"],
    ["predict", "reference", "data.txt", "--json"],
    ["inspect", "reference"],
    ["train", "data.txt", "--quiet", "--json"],
    ["train", "data.txt", "--quiet", "--predictions", "-"],
    ["generate", "clicks", "--examples", "3"],
    ["--version"],
]


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("command", READABLE, ids=" ".join)
def test_a_closed_stdout_is_an_error(command: list[str]) -> None:
    done = redirected(">&-", *command)
    assert done == Done(1, "", "lessregret: error: standard output: it is closed\n")


@needs_full
@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("command", READABLE, ids=" ".join)
def test_a_full_disk_under_stdout_is_an_error(command: list[str]) -> None:
    done = redirected(">/dev/full", *command)
    assert done == Done(1, "", "lessregret: error: standard output: No space left on device\n")


def test_a_run_that_writes_nothing_to_stdout_does_not_need_it(data: CommandLine) -> None:
    assert redirected(">&-", *TRAIN, "--quiet") == Done(0, "", "")
    assert data.read("m") == data.read("reference")
    assert redirected(">&-", "predict", "m", "data.txt", "--output", "p") == Done(0, "", "")
    assert len(data.read("p").splitlines()) == 3
