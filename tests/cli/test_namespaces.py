"""Do the options of namespaces mean what they mean in Vowpal Wabbit, and are typos explained?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lessregret.cli.spelling import VOWPAL_WABBIT
from tests.support.command_line import CommandLine

LINES = "1 |user u7 |hour 23 |ad shoes:0.5\n-1 |user u8 |hour 23 |ad hats\n" * 10
TRAIN = ("train", "log.vw", "--bits", "10", "--quiet", "--json")


@pytest.fixture
def log(lessregret: CommandLine) -> CommandLine:
    lessregret.write("log.vw", LINES)
    return lessregret


def features(log: CommandLine, *options: str) -> int:
    done = log(*TRAIN, *options)
    assert done.code == 0, done.stderr
    return int(json.loads(done.stdout)["features"])


def test_crosses_add_features(log: CommandLine) -> None:
    plain = features(log)
    assert features(log, "-q", "uh") == features(log, "--cross", "user*hour") == plain + 20
    assert features(log, "-q", "uh", "-q", "hu", "--quadratic", "ua") == plain + 40
    assert features(log, "--cubic", "uha") == features(log, "--interactions", "uha") == plain + 20
    assert features(log, "-q", "::") == plain + 6 * 20
    assert features(log, "--keep", "u", "--keep", "hour", "-q", "::") == plain + 2 * 20
    assert features(log, "--ignore", "ad", "--ignore", "hour") == plain - 2 * 20


def test_the_model_crosses_by_itself(log: CommandLine) -> None:
    assert log(*TRAIN, "-q", "uh", "--model", "m", "--predictions", "p").code == 0
    assert log(*TRAIN, "--resume", "m", "--model", "n").code == 0
    assert log("predict", "m", "log.vw").code == 0
    done = log(*TRAIN, "--resume", "m", "-q", "ua")
    assert (done.code, done.stderr) == (
        2,
        "lessregret: error: crosses is u*a, but m was trained with u*h; leave it out, or train a "
        "new model\n",
    )


def test_all_commands_cross(log: CommandLine) -> None:
    asked = ("-q", "uh", "--bits", "10")
    assert log("convert", "log.vw", "--output", "log.arrow", "--quiet", *asked).code == 0
    assert (
        features(log, "-q", "uh")
        == json.loads(log("train", "log.arrow", "--quiet", "--json", *asked).stdout)["features"]
    )
    done = log("train", "log.arrow", "--quiet", "--bits", "10")
    assert done.code == 1
    assert "convert the text again with the same -q, --cross, --keep and --ignore" in done.stderr
    rules = ("--rules", "per-coordinate:rate=0.5")
    compared = [log("compare", "log.vw", *rules, *more).stdout for more in (asked, asked[2:])]
    assert compared[0] != compared[1]
    regret = ("regret", "log.vw", *rules, "--quiet", "--gap", "0.1", *asked)
    assert log(*regret).code == log(*regret, "--low-memory").code == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("-q", "log.vw"), "expected the first letters of two namespaces, found 'log.vw'"),
        (("-q", "abc", "log.vw"), "--cross user*hour crosses namespaces by their full names"),
        (("log.vw", "--cubic", "ab"), "first letters of three namespaces, found 'ab'"),
        (("log.vw", "--interactions", "a"), "first letters of two or more namespaces, found 'a'"),
        (("log.vw", "--cross", "ab"), "expected names with '*' between, as in user*hour"),
        (("log.vw", "--keep", "a", "--ignore", "a"), "is to be kept and to be ignored"),
        (("log.vw", "--loss_function", "logistic"), "here use --loss"),
        (("-b", "18", "log.vw"), "-b is an option of Vowpal Wabbit; here use --bits"),
        (("-d", "log.vw"), "give the file without an option"),
        (("log.vw", "--quiett"), "--quiet"),
    ],
)
def test_what_is_misspelled_is_explained(
    log: CommandLine, options: tuple[str, ...], told: str
) -> None:
    done = log("train", *options)
    assert done.code == 2
    assert told in " ".join(done.stderr.split())


@pytest.mark.parametrize("command", ["train", "predict", "compare", "regret", "convert"])
@pytest.mark.parametrize("option", VOWPAL_WABBIT)
def test_every_option_of_the_table_is_explained(
    lessregret: CommandLine, command: str, option: str
) -> None:
    done = lessregret(command, "data", option)
    assert done.code == 2
    assert f"{option} is an option of Vowpal Wabbit; here {VOWPAL_WABBIT[option]}" in done.stderr


def test_svmlight_text_has_no_namespaces(lessregret: CommandLine) -> None:
    lessregret.write("data.txt", "1 1:1\n")
    done = lessregret("train", "data.txt", "-q", "ab", "--quiet")
    assert (done.code, done.stderr) == (
        1,
        "lessregret: error: data.txt: expected Vowpal Wabbit text, which has namespaces (crosses "
        "a*b), found svmlight text, which has none\n",
    )
    assert not Path("m").exists()
