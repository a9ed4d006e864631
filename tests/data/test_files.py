"""Does a run refuse to overwrite what it reads, before it opens anything?"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lessregret import SpecError, train
from tests.support.command_line import CommandLine

DATA = "1 |a b\n-1 |a c\n" * 5


@pytest.fixture
def files(lessregret: CommandLine) -> CommandLine:
    """A data file, a model, and other names of the data file."""
    lessregret.write("d.vw", DATA)
    assert lessregret("train", "d.vw", "--model", "m", "-q").code == 0
    os.symlink("d.vw", "symbolic")
    os.link("d.vw", "hard")
    return lessregret


OVERWRITING = [
    ("train d.vw --predictions d.vw", "--predictions d.vw", "the predictions"),
    ("train d.vw --model d.vw", "--model d.vw", "the model"),
    ("train d.vw --report d.vw", "--report d.vw", "the page"),
    ("train d.vw --predictions symbolic", "--predictions symbolic", "the predictions"),
    ("train d.vw --model hard", "--model hard", "the model"),
    ("train symbolic --predictions hard", "--predictions hard", "the predictions"),
    ("train d.vw --resume m --predictions m", "--predictions m", "the predictions"),
    ("train d.vw --model new --predictions new", "--predictions new", "the predictions"),
    ("train d.vw --model new --predictions ./new", "--predictions ./new", "the predictions"),
    ("predict m d.vw --output d.vw", "--output d.vw", "the output"),
    ("predict m d.vw --output m", "--output m", "the output"),
    ("convert d.vw --output hard", "--output hard", "the output"),
    ("compare d.vw --report hard", "--report hard", "the page"),
    ("regret d.vw --checkpoint hard", "--checkpoint hard", "the checkpoint"),
]


@pytest.mark.parametrize(("command", "option", "thing"), OVERWRITING, ids=lambda part: str(part))
def test_an_output_that_is_an_input_is_refused(
    files: CommandLine, command: str, option: str, thing: str
) -> None:
    before = Path("d.vw").read_bytes(), Path("m").read_bytes()
    done = files(*command.split())
    assert done.code == 2
    assert done.stderr == (
        f"lessregret: error: {option}: the run uses this file, too; give {thing} another name\n"
    )
    assert (Path("d.vw").read_bytes(), Path("m").read_bytes()) == before
    assert not Path("new").exists()


def test_a_model_may_be_written_over_the_one_it_goes_on_from(files: CommandLine) -> None:
    assert files("train", "d.vw", "--resume", "m", "--model", "m", "-q").code == 0


def test_devices_may_be_written_to(files: CommandLine) -> None:
    assert files("train", "d.vw", "--predictions", "/dev/null", "-q").code == 0


MISSING = [
    "train d.vw missing --model new -q",
    "predict m d.vw missing --output new",
    "compare d.vw missing",
    "regret d.vw missing",
    "convert d.vw missing --output new",
]


@pytest.mark.parametrize("command", MISSING)
def test_a_missing_file_is_told_before_another_is_learned_from(
    files: CommandLine, command: str
) -> None:
    done = files(*command.split())
    assert done.code == 1
    assert done.stderr == (
        "lessregret: error: missing: expected a file that can be read, found no such file\n"
    )
    assert not Path("new").exists()


def test_train_of_python_refuses_too(files: CommandLine) -> None:
    told = "d.vw: the run uses this file, too"
    with pytest.raises(SpecError, match=told):
        train("hard", predictions="d.vw")
    with pytest.raises(SpecError, match=told):
        train("symbolic", model="d.vw")
    with pytest.raises(SpecError, match="predictions m: the run uses this file, too"):
        train("d.vw", resume="m", predictions="m")
    assert Path("d.vw").read_text() == DATA
