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
    assert lessregret("train", "d.vw", "--model", "m", "--quiet").code == 0
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
    assert files("train", "d.vw", "--resume", "m", "--model", "m", "--quiet").code == 0


def test_devices_may_be_written_to(files: CommandLine) -> None:
    assert files("train", "d.vw", "--predictions", "/dev/null", "--quiet").code == 0


MISSING = [
    "train d.vw missing --model new --quiet",
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


LONGEST_NAME = 255
"""bytes, in the file systems that people use"""
EVERY_OUTPUT = [
    "train d.vw --model",
    "train d.vw --predictions",
    "train d.vw --report",
    "predict m d.vw --output",
    "convert d.vw --output",
    "compare d.vw --report",
    "regret d.vw --checkpoint",
    "generate clicks --examples 5 --output",
]


@pytest.fixture
def untouched(files: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """No example is read: an output that cannot be written is told before."""

    def read(*_: object, **__: object) -> None:
        raise AssertionError("an example was read")

    monkeypatch.setattr("lessregret.data.streams.open_examples", read)
    monkeypatch.setattr("lessregret.data.given.open_examples", read)


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("command", EVERY_OUTPUT)
@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("no/new", "there is no folder no"),
        ("d.vw/new", "there is no folder d.vw"),
        ("n" * (LONGEST_NAME + 1), "cannot be written: File name too long"),
        ("nowhere", "cannot be written: No such file or directory"),
        ("circle", "cannot be written: too many symbolic links"),
    ],
    ids=["no folder", "file as folder", "long name", "link to no folder", "links in a circle"],
)
def test_a_place_that_cannot_be_written_is_told_before_the_run(
    files: CommandLine, command: str, path: str, told: str
) -> None:
    os.symlink("no/new", "nowhere")
    os.symlink("circle", "circle")
    before = sorted(os.listdir())
    done = files(*command.split(), path)
    assert done.code == 2
    assert done.stderr.startswith(f"lessregret: error: {command.split()[-1]} {path}: {told}")
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize("command", EVERY_OUTPUT)
def test_the_longest_name_can_be_written(files: CommandLine, command: str) -> None:
    name = "n" * LONGEST_NAME
    done = files(*command.split(), name)
    assert done.code == 0, done.stderr
    assert os.path.getsize(name) > 0
    assert not [file for file in os.listdir() if file.endswith(".partial")]


@pytest.mark.parametrize("command", EVERY_OUTPUT)
def test_every_output_keeps_permissions_and_links(files: CommandLine, command: str) -> None:
    os.mkdir("folder")
    os.symlink("folder/target", "output")
    assert files(*command.split(), "output").code == 0
    os.chmod("folder/target", 0o640)
    before = os.stat("folder/target").st_ino
    assert files(*command.split(), "output").code == 0
    found = os.stat("folder/target")
    assert found.st_mode & 0o7777 == 0o640
    assert found.st_ino != before, "the file was not replaced as a whole"
    assert os.path.islink("output")
    assert os.listdir("folder") == ["target"]


@pytest.mark.usefixtures("untouched")
def test_train_of_python_checks_its_places_too(files: CommandLine) -> None:
    for name in ("no/new", "n" * (LONGEST_NAME + 1)):
        with pytest.raises(SpecError, match=f"model {name}: "):
            train("d.vw", model=name)
        with pytest.raises(SpecError, match=f"predictions {name}: "):
            train("d.vw", predictions=name)
