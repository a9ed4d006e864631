"""Does the command line start at once, explain itself, and leave as it should?"""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from lessregret import OnlineClassifier, OnlineRegressor
from lessregret.cli import COMMANDS, cli, run
from tests.support.command_line import COMMAND, ENVIRONMENT, CommandLine, Done
from tests.support.malformed import GOOD_SVMLIGHT

HEAVY = ("numpy", "scipy", "sklearn", "matplotlib", "rich")
"""What takes longer to import than to learn from a small file; the core takes half a ms."""
WHICH_ARE_IMPORTED = f"""
import sys
from lessregret.cli import run
code = run(sys.argv[1:])
print(*[name for name in {HEAVY} if name in sys.modules], file=sys.stderr)
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["train", "--help"],
        ["predict", "--help"],
        ["inspect", "--help"],
        ["generate", "clicks", "--help"],
        ["demo", "--help"],
        ["--version"],
        ["inspect", "model"],
        ["train", "data.txt", "--bits", "4", "--quiet", "--json"],
    ],
    ids=" ".join,
)
def test_nothing_heavy_is_imported_where_it_is_not_needed(
    lessregret: CommandLine, arguments: list[str]
) -> None:
    lessregret.write("data.txt", GOOD_SVMLIGHT)
    assert lessregret("train", "data.txt", "--bits", "4", "--model", "model", "--quiet").code == 0
    done = lessregret.apart(*arguments, code=WHICH_ARE_IMPORTED)
    assert done.stdout
    assert done.stderr.split() == []


def commands() -> list[tuple[str, click.Command]]:
    """All commands, those in groups too."""
    ctx = click.Context(cli)
    found = [(name, cli.get_command(ctx, name)) for name in cli.list_commands(ctx)]
    inner = [
        (f"{name} {child}", command.commands[child])
        for name, command in found
        if isinstance(command, click.Group)
        for child in command.commands
    ]
    return [(name, command) for name, command in [*found, *inner] if command is not None]


@pytest.mark.parametrize(("name", "command"), commands(), ids=[name for name, _ in commands()])
def test_every_command_explains_itself(name: str, command: click.Command) -> None:
    assert command.help
    assert command.help.split("\n\n")[0].endswith(".")
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{name} {parameter.name}"
            assert parameter.help.endswith("."), f"{name} {parameter.name}"


def test_the_first_lines() -> None:
    """They stand in for the commands' own docstrings, which would have to be imported."""
    folder = Path(sys.modules["lessregret.cli"].__file__ or "").parent
    for name, line in COMMANDS.items():
        assert folder.joinpath(f"{name}.py").exists()
        assert line.endswith(".")
        assert "  " not in line
    groups = [(name, command) for name, command in commands() if isinstance(command, click.Group)]
    assert groups
    for name, group in groups:
        assert COMMANDS[name] == (group.help or "").split("\n")[0]


def test_every_command_has_both_helps(lessregret: CommandLine) -> None:
    for name, _ in commands():
        done = lessregret(*name.split(), "-h")
        assert done == lessregret(*name.split(), "--help")
        assert (done.code, done.stderr) == (0, "")
        assert done.stdout.startswith(f"Usage: lessregret {name} ")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["fly"], "No such command 'fly'"),
        (["train"], "Missing argument 'DATA...'"),
        (["train", "x", "--colour"], "No such option"),
        (["predict", "m"], "Missing argument 'DATA...'"),
        (["inspect"], "Missing argument 'MODEL'"),
        (["inspect", "m", "--weights", "-1"], "-1 is not in the range x>=0"),
        (["generate", "clicks", "--examples", "many"], "'many' is not a valid integer"),
        (["generate", "clicks", "--click-rate", "2"], "click_rate"),
    ],
)
def test_misuse_is_code_2(lessregret: CommandLine, arguments: list[str], told: str) -> None:
    done = lessregret(*arguments)
    assert (done.code, done.stdout) == (2, "")
    assert told in done.stderr


def test_no_command_shows_help(lessregret: CommandLine) -> None:
    done = lessregret.apart()
    assert done.code == 2
    assert "Usage: lessregret" in done.stdout + done.stderr


def test_the_script_is_the_module(lessregret: CommandLine) -> None:
    script = Path(sys.executable).with_name("lessregret")
    if not script.exists():
        pytest.skip("the package's script is not beside this Python")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == lessregret.apart("--version").stdout


def test_json_is_one_document(lessregret: CommandLine) -> None:
    data = lessregret.write("data.txt", GOOD_SVMLIGHT)
    trained = lessregret("train", data, "--bits", "8", "--json", "--certify", "--model", "m")
    document = json.loads(trained.stdout)
    asked = "examples features loss rule mean_loss mistake_rate bound linear_regret skipped seconds"
    assert document.keys() >= {*asked.split(), "model"}
    assert document["linear_regret"] <= document["bound"]
    assert document["model"] == "m"
    for arguments in (["predict", "m", data, "--json"], ["inspect", "m", "--json"]):
        done = lessregret(*arguments)
        assert (done.code, done.stderr) == (0, "")
        assert json.loads(done.stdout)


@pytest.mark.parametrize("made", [OnlineClassifier, OnlineRegressor])
def test_a_model_of_an_estimator_fitted_to_dicts_predicts_text(
    lessregret: CommandLine, made: Any
) -> None:
    people = [{"age": 0.31, "country": "de"}, {"age": 0.62, "country": "fr"}, {"age": 0.5}]
    model = made(bits=10).fit(people, [0, 1, 1])
    model.learner_.save("m")
    data = lessregret.write(
        "people.vw", "| age:0.31 country=de\n| age:0.62 country=fr\n| age:0.5\n"
    )
    done = lessregret("predict", "m", data, "--as", "margin")
    assert (done.code, done.stderr) == (0, "")
    margin = model.decision_function if made is OnlineClassifier else model.predict
    assert [float(each) for each in done.stdout.split()] == pytest.approx(margin(people), rel=1e-5)


def test_predictions_go_where_they_are_asked(lessregret: CommandLine) -> None:
    data = lessregret.write("data.txt", GOOD_SVMLIGHT)
    train = ("train", data, "--bits", "8", "--quiet", "--model", "m")
    printed = lessregret(*train, "--predictions", "-")
    assert lessregret(*train, "--predictions", "p.txt") == Done(0, "", "")
    assert lessregret.read("p.txt").decode() == printed.stdout
    printed = lessregret("predict", "m", data)
    assert lessregret("predict", "m", data, "--output", "p.txt") == Done(0, "", "")
    assert lessregret.read("p.txt").decode() == printed.stdout
    assert len(printed.stdout.splitlines()) == 3


def test_places_that_cannot_be_written(lessregret: CommandLine) -> None:
    data = lessregret.write("data.txt", GOOD_SVMLIGHT)
    assert lessregret("train", data, "--bits", "8", "--quiet", "--model", "m").code == 0
    for arguments in (
        ["train", data, "--quiet", "--bits", "8", "--predictions", "no/p"],
        ["predict", "m", data, "--output", "no/p"],
        ["generate", "clicks", "--examples", "5", "--output", "no/p"],
    ):
        done = lessregret(*arguments)
        assert (done.code, done.stdout) == (2, "")
        assert "no/p: there is no folder no" in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("command", [["predict", "m", "data.txt"], ["inspect", "m"]])
def test_a_full_disk_under_stdout(lessregret: CommandLine, command: list[str]) -> None:
    data = lessregret.write("data.txt", GOOD_SVMLIGHT)
    assert lessregret("train", data, "--bits", "8", "--quiet", "--model", "m").code == 0
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, *command], stdout=full, stderr=subprocess.PIPE, env=ENVIRONMENT, check=False
        )
    assert done.returncode == 1
    assert done.stderr == b"lessregret: error: standard output: No space left on device\n"


@pytest.mark.parametrize(
    "command",
    [
        ["generate", "clicks", "--examples", "50000"],
        ["generate", "clicks", "--examples", "50000", "--format", "csv", "--phrase", "forex"],
        ["predict", "m", "many.txt"],
        ["predict", "m", "data.txt"],
        ["inspect", "m", "--weights", "3"],
        ["train", "many.txt", "--quiet", "--predictions", "-", "--bits", "8"],
    ],
    ids=" ".join,
)
def test_a_reader_that_goes_away(lessregret: CommandLine, command: list[str]) -> None:
    data = lessregret.write("data.txt", GOOD_SVMLIGHT)
    lessregret.write("many.txt", GOOD_SVMLIGHT * 30_000)
    assert lessregret("train", data, "--bits", "8", "--quiet", "--model", "m").code == 0
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run(
        [*COMMAND, *command], stdout=theirs, stderr=subprocess.PIPE, env=ENVIRONMENT, check=False
    )
    os.close(theirs)
    assert (done.returncode, done.stderr) == (1, b"")


def test_an_interrupt_while_waiting_for_input(lessregret: CommandLine) -> None:
    """Ctrl-C ends a run that waits on a pipe, and the model is as it was."""
    data = lessregret.write("data.txt", GOOD_SVMLIGHT)
    assert lessregret("train", data, "--bits", "8", "--quiet", "--model", "m").code == 0
    before = lessregret.read("m")
    process = subprocess.Popen(
        [*COMMAND, "train", "-", "--bits", "8", "--model", "m"], stdin=subprocess.PIPE,
        stderr=subprocess.PIPE, env=ENVIRONMENT, bufsize=0,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write(GOOD_SVMLIGHT)
    seen = process.stderr.read(10)
    process.send_signal(signal.SIGINT)
    # The pipe stays open: only the signal can end the run.
    seen += process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=30) == -signal.SIGINT
    process.stdin.close()
    told = b"lessregret: error: stopped by SIGINT; left as it was: --model m"
    assert seen.splitlines()[-1] == told
    assert b"Traceback" not in seen
    assert lessregret.read("m") == before
    assert set(os.listdir()) == {"data.txt", "m"}


def test_an_interrupt_while_learning(
    lessregret: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = lessregret.write("data.txt", GOOD_SVMLIGHT)

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("lessregret.learners.learner.Learner.learn", interrupt)
    done = lessregret("train", data, "--bits", "8", "--model", "m", "--quiet")
    assert (done.code, done.stdout) == (130, "")
    assert done.stderr.strip() == ("lessregret: error: stopped by SIGINT; not written: --model m")
    assert os.listdir() == ["data.txt"]


def test_out_of_memory_is_a_sentence(
    lessregret: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = lessregret.write("data.txt", GOOD_SVMLIGHT)

    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("lessregret.learners.learner.Learner.learn", fail)
    done = lessregret("train", data, "--bits", "8", "--quiet")
    assert done == Done(1, "", "lessregret: error: out of memory; use fewer --bits\n")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_names_that_the_terminal_cannot_show(lessregret: CommandLine, encoding: str) -> None:
    data = lessregret.write("data.vw", "1 |w 日本 é\n")
    assert lessregret("train", data, "--bits", "18", "--names", "--model", "m", "--quiet").code == 0
    for command in (["inspect", "m", "--weights", "3"], ["predict", "m", data]):
        done = subprocess.run(
            [*COMMAND, *command], capture_output=True, check=False,
            env={**ENVIRONMENT, "PYTHONIOENCODING": encoding},
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b"")


def test_generated_logs_can_be_gzipped(lessregret: CommandLine) -> None:
    ask = ("generate", "clicks", "--examples", "20", "--seed", "3")
    plain = lessregret.apart(*ask)
    for _ in range(2):
        assert lessregret(*ask, "--output", "log.vw.gz") == Done(0, "", "")
        packed = lessregret.read("log.vw.gz")
        assert gzip.decompress(packed).decode() == plain.stdout
    assert lessregret(*ask, "--output", "log.vw") == Done(0, "", "")
    assert lessregret.read("log.vw").decode() == plain.stdout
    assert lessregret("train", "log.vw.gz", "--quiet").code == 0


def test_run_takes_any_sequence() -> None:
    assert run(("--version",)) == 0


def test_a_bug_of_ours_is_a_sentence_and_not_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("lessregret.learners.model_file.read_header", broken)
    monkeypatch.delenv("LESSREGRET_TRACEBACK", raising=False)
    assert run(["inspect", "any"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("lessregret: error: ZeroDivisionError: division by zero (a bug")
    monkeypatch.setenv("LESSREGRET_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        run(["inspect", "any"])


def test_numbers_a_round_have_the_denominator_of_the_mean_loss(lessregret: CommandLine) -> None:
    """With importances every mean is per unit of importance, and the summary says so."""
    lessregret.write("data.vw", "1 2.5 |a b\n-1 0.5 |a c\n1 4 |a b d\n")
    done = lessregret("train", "data.vw", "--radius", "0.01", "--json", "--bits", "8")
    told = json.loads(done.stdout)
    assert told["importance"] == 7.0
    lines = done.stderr.splitlines()
    bound = next(line for line in lines if line.startswith("regret"))
    assert f"at most {told['bound'] / 7:,.6f} per unit of importance" in bound
    said = told["statement"]
    assert said["lost"] == pytest.approx(told["mean_loss"])
    left = f"{100 * said['left']:.1f} %"
    assert lines[3] == f"{'3':>14}{told['mean_loss']:>14.5f}{lines[3].split()[2]:>14}{left:>14}"
