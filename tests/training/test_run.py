"""Does ``lessregret.train`` do what the command does?"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from lessregret import Learner, PerCoordinate, SpecError, train
from lessregret.errors import InputError
from tests.support.command_line import CommandLine

DATA = "1 |word ham eggs\n-1 |word spam\n" * 40
BAD = "nonsense\n"


@pytest.fixture
def log(lessregret: CommandLine) -> str:
    lessregret.write("log.vw", DATA)
    return "log.vw"


CASES: list[tuple[list[str], dict[str, Any]]] = [
    ([], {}),
    (["--rule", "ftrl:l1=0.5", "--bits", "12"], {"rule": "ftrl:l1=0.5", "bits": 12}),
    (
        ["--loss", "hinge", "--certify", "--no-intercept"],
        {"loss": "hinge", "certify": True, "intercept": False},
    ),
    (["--passes", "3", "--names"], {"passes": 3, "names": True}),
    (["--l2", "0.01", "--scale", "full"], {"l2": 0.01, "scale": "full"}),
    (
        ["--importance-aware", "--fixed-share", "0.01"],
        {"importance_aware": True, "fixed_share": 0.01},
    ),
    (["--slim"], {"slim": True}),
]


@pytest.mark.parametrize(
    ("options", "arguments"), CASES, ids=lambda case: " ".join(case) or "plain"
)
def test_it_writes_the_model_of_the_command(
    lessregret: CommandLine, log: str, options: list[str], arguments: dict[str, Any]
) -> None:
    done = lessregret("train", log, "--model", "command", "--json", "--quiet", *options)
    assert done.code == 0, done.stderr
    training = train(log, model="python", **arguments)
    assert Path("python").read_bytes() == Path("command").read_bytes()
    told, ours = json.loads(done.stdout), training.as_dict()
    assert {**ours, "seconds": 0, "model": ""} == {**told, "seconds": 0, "model": ""}


def test_it_writes_the_predictions_of_the_command(lessregret: CommandLine, log: str) -> None:
    assert lessregret("train", log, "--predictions", "command", "--quiet").code == 0
    text = io.StringIO()
    train(log, predictions="python")
    train(log, predictions=text)
    assert Path("python").read_text() == Path("command").read_text() == text.getvalue()


def test_a_resumed_run_is_one_run(log: str) -> None:
    whole = train(log, passes=2)
    train(log, model="half")
    by_name, by_learner = train(log, resume="half"), train(log, resume=Learner.load("half"))
    expected = whole.learner.to_bytes()
    assert by_name.learner.to_bytes() == by_learner.learner.to_bytes() == expected
    assert (by_name.resumed, by_learner.resumed) == ("half", None)


def test_what_a_model_fixes_may_be_repeated_and_not_changed(log: str) -> None:
    train(log, model="half", loss="hinge", bits=10)
    train(log, resume="half", loss="hinge", bits=10, rule=PerCoordinate())
    with pytest.raises(SpecError, match="bits is 11, but the model was trained with 10"):
        train(log, resume="half", bits=11)
    with pytest.raises(SpecError, match=r"rule is .*'rate': 0\.5"):
        train(log, resume="half", rule=PerCoordinate(rate=0.5))


def test_progress_is_told_in_lines(log: str) -> None:
    lines: list[str] = []
    train(log, progress=lines.append)
    assert [line.split(",")[0] for line in lines] == [
        "1 example",
        "2 examples",
        "4 examples",
        "8 examples",
        "16 examples",
        "32 examples",
        "64 examples",
        "80 examples",
    ]


def test_skipped_lines_are_told(lessregret: CommandLine) -> None:
    lessregret.write("bad.vw", DATA + BAD)
    training = train("bad.vw", bad_lines="skip")
    assert (training.skipped, training.ledger.skipped) == (1, 1)
    assert training.first_skipped is not None
    assert training.first_skipped.startswith("bad.vw:81:")
    with pytest.raises(InputError, match=r"bad\.vw:81:"):
        train("bad.vw")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"passes": 0}, "passes must be a whole number from 1 up, found 0"),
        ({"slim": True}, "slim says how to write a model; say where with model"),
        ({"data": "-", "passes": 2}, "standard input can be read only once"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(log: str, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        train(**{"data": log, **arguments})


def test_a_run_is_recorded_only_if_asked(log: str) -> None:
    assert train(log).recorder is None
    recorder = train(log, record=True).recorder
    assert recorder is not None
    assert recorder.curve.marks[-1].rounds == 80
