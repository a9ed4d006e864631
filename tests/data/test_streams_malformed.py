"""Is every malformed input met with one exact sentence, and does the old model survive it?"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lessregret import Learner, ModelFileError
from lessregret.learners.model_file import read_header
from lessregret.learners.rules import RULES
from tests.support.command_line import CommandLine, Done
from tests.support.malformed import (
    ACCEPTED,
    BAD,
    DIVERGED,
    FILES,
    GOOD_SVMLIGHT,
    GOOD_VW,
    LABELS,
    NUMBER_NOT_WORD,
    Bad,
)
from tests.support.model_files import (
    NOT_OURS,
    WRONG_HEADERS,
    WRONG_SLOTS,
    Wrong,
    edited,
    small_learner,
)

MODEL = "model.safetensors"
TRAIN = ("--model", MODEL, "--bits", "10", "--quiet")


@pytest.fixture
def model(lessregret: CommandLine) -> bytes:
    """A model that an earlier run left."""
    data = lessregret.write("earlier.txt", GOOD_SVMLIGHT)
    assert lessregret("train", data, *TRAIN) == Done(0, "", "")
    return lessregret.read(MODEL)


def names(cases: list[Bad] | list[Wrong]) -> list[str]:
    return [case.name for case in cases]


def failed(sentence: str) -> Done:
    return Done(1, "", f"lessregret: error: {sentence}\n")


def test_there_are_many_cases() -> None:
    assert len({case.name for case in [*BAD, *DIVERGED]}) == len([*BAD, *DIVERGED]) >= 80


@pytest.mark.parametrize("case", BAD, ids=names(BAD))
def test_bad_data(lessregret: CommandLine, model: bytes, case: Bad) -> None:
    data = lessregret.write("data.txt", case.content)
    done = lessregret("train", data, *TRAIN, *case.options)
    assert done == failed(data + case.told.replace("{file}", data))
    assert lessregret.read(MODEL) == model
    assert set(os.listdir()) == {"data.txt", "earlier.txt", MODEL}


@pytest.mark.parametrize("case", DIVERGED, ids=names(DIVERGED))
def test_data_too_large_to_learn_from(lessregret: CommandLine, model: bytes, case: Bad) -> None:
    data = lessregret.write("data.txt", case.content)
    assert lessregret("train", data, *TRAIN, "--scale", "none", *case.options) == failed(case.told)
    assert lessregret.read(MODEL) == model


APART = [LABELS[0], FILES[0], FILES[5], FILES[-1]]


@pytest.mark.parametrize("case", APART, ids=names(APART))
def test_bad_data_in_a_process_of_its_own(lessregret: CommandLine, model: bytes, case: Bad) -> None:
    data = lessregret.write("data.txt", case.content)
    done = lessregret.apart("train", data, *TRAIN, *case.options)
    assert done == failed(data + case.told.replace("{file}", data))
    assert lessregret.read(MODEL) == model


@pytest.mark.parametrize("case", APART, ids=names(APART))
def test_bad_data_on_standard_input(lessregret: CommandLine, model: bytes, case: Bad) -> None:
    done = lessregret.apart("train", "-", *TRAIN, *case.options, stdin=case.content)
    assert done == failed("<stdin>" + case.told.replace("{file}", "<stdin>"))
    assert lessregret.read(MODEL) == model


@pytest.mark.parametrize("name", ACCEPTED)
def test_other_spellings_are_accepted(lessregret: CommandLine, name: str) -> None:
    """With a scale to which a zero is nothing, since one of the spellings writes one."""
    models = []
    for content in (GOOD_SVMLIGHT, ACCEPTED[name]):
        data = lessregret.write("data.txt", content)
        assert lessregret("train", data, *TRAIN, "--scale", "cap") == Done(0, "", "")
        models.append(lessregret.read(MODEL))
    assert models[0] == models[1]


def test_the_second_file_is_named(lessregret: CommandLine, model: bytes) -> None:
    bad = lessregret.write("second.txt", b"1 1:1\n1 x\n")
    done = lessregret("train", "earlier.txt", bad, *TRAIN)
    assert done == failed("second.txt:2:3: expected an index, 0 or more, found 'x'")
    assert lessregret.read(MODEL) == model


def test_each_file_may_write_negatives_its_own_way(lessregret: CommandLine, model: bytes) -> None:
    other = lessregret.write("other.txt", GOOD_SVMLIGHT.replace(b"\n0", b"\n-1"))
    assert lessregret("train", "earlier.txt", other, *TRAIN).code == 0


@pytest.mark.parametrize(
    ("path", "told"),
    [("missing.txt", "no such file"), (".", "a directory"), ("earlier.txt/x", "trouble (Not a "
     "directory (os error 20))")],
)  # fmt: skip
def test_what_is_no_file(lessregret: CommandLine, model: bytes, path: str, told: str) -> None:
    sentence = f"{path}: expected a file that can be read, found {told}"
    assert lessregret("train", path, *TRAIN) == failed(sentence)
    assert lessregret("train", "earlier.txt", path, *TRAIN) == failed(sentence)
    assert lessregret("train", path, *TRAIN, "--bad-lines", "skip") == failed(sentence)
    assert lessregret("predict", MODEL, path) == failed(sentence)
    assert lessregret.read(MODEL) == model


def test_an_unreadable_file(lessregret: CommandLine, model: bytes) -> None:
    os.chmod("earlier.txt", 0)
    if os.access("earlier.txt", os.R_OK):
        pytest.skip("this user, perhaps root, may read every file")
    told = "expected a file that can be read, found one without permission to read"
    assert lessregret("train", "earlier.txt", *TRAIN) == failed(f"earlier.txt: {told}")
    assert lessregret.read(MODEL) == model


def test_a_name_that_is_not_utf8(lessregret: CommandLine, model: bytes) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    Path(name).write_bytes(GOOD_SVMLIGHT)
    assert lessregret.apart("train", name, *TRAIN) == Done(0, "", "")
    assert lessregret.read(MODEL) == model
    told = "expected a file that can be read, found no such file"
    done = lessregret.apart("train", name + "x", *TRAIN)
    assert done == failed(f"caf\N{REPLACEMENT CHARACTER}.txtx: {told}")


def test_bad_lines_are_skipped_counted_and_the_first_is_told(lessregret: CommandLine) -> None:
    lines = b"1 1:1\n2 1:1\n1 1:nan\n1 " + 17_000_000 * b"x" + b"\n\xff\n0 2:1\n"
    data = lessregret.write("data.txt", lines)
    first = "data.txt:2:1: expected a label 1, 0 or -1, found '2'"
    done = lessregret("train", data, "--bits", "10", "--bad-lines", "skip", "--model", MODEL)
    assert done.code == 0
    assert f"\nskipped        4 bad lines; the first: {first}\n" in done.stderr
    assert Learner.load(MODEL).ledger().skipped == 4
    done = lessregret("predict", MODEL, data, "--bad-lines", "skip")
    assert done.code == 0
    assert len(done.stdout.splitlines()) == 3
    told = "data.txt:3:5: expected a finite number, found 'nan'"
    assert done.stderr == f"skipped 3 bad lines; the first: {told}\n"


def test_bad_data_to_predict(lessregret: CommandLine, model: bytes) -> None:
    data = lessregret.write("data.txt", GOOD_VW + b"1 |a b:x\n")
    done = lessregret("predict", MODEL, data)
    assert done.code == 1
    assert done.stderr == (
        f"lessregret: error: data.txt:4:8: expected {NUMBER_NOT_WORD}, found 'x'\n"
    )
    assert lessregret("predict", MODEL, data, "--json") == done._replace(stdout="")


def refusals(lessregret: CommandLine, file: str) -> dict[str, Done]:
    """What every command that loads a model says of the file."""
    data = lessregret.write("data.txt", GOOD_SVMLIGHT)
    return {
        "inspect": lessregret("inspect", file, "--weights", "3"),
        "predict": lessregret("predict", file, data),
        "resume": lessregret("train", data, "--resume", file, "--model", file, "--quiet"),
    }


def check_refused(lessregret: CommandLine, content: bytes, told: str) -> None:
    file = lessregret.write("wrong.safetensors", content)
    done = refusals(lessregret, file)
    assert done == dict.fromkeys(done, failed(f"{file}: {told}"))
    assert lessregret.read(file) == content


@pytest.mark.parametrize("name", NOT_OURS)
def test_files_that_are_no_models(lessregret: CommandLine, name: str) -> None:
    content, what = NOT_OURS[name]
    check_refused(lessregret, content, f"is not a model of lessregret: {what}")
    sentence = f"wrong.safetensors: is not a model of lessregret: {what}"
    assert lessregret("inspect", "wrong.safetensors") == failed(sentence)


@pytest.mark.parametrize("case", WRONG_HEADERS, ids=names(WRONG_HEADERS))
def test_models_with_a_wrong_header(lessregret: CommandLine, case: Wrong) -> None:
    check_refused(lessregret, edited(small_learner().to_bytes(), case.edit), case.told)
    sentence = f"wrong.safetensors: {case.told}"
    assert lessregret("inspect", "wrong.safetensors") == failed(sentence)


@pytest.mark.parametrize("case", WRONG_SLOTS, ids=names(WRONG_SLOTS))
def test_models_with_wrong_slots(lessregret: CommandLine, case: Wrong) -> None:
    check_refused(lessregret, edited(small_learner().to_bytes(), case.edit), case.told)


def test_models_that_are_not_there(lessregret: CommandLine) -> None:
    for done in refusals(lessregret, "missing").values():
        assert done == failed("missing: cannot be opened: No such file or directory (os error 2)")


def test_a_folder_is_no_model(tmp_path: Path) -> None:
    for load in (Learner.load, read_header):
        with pytest.raises(ModelFileError, match=r": cannot be opened: is a directory$"):
            load(tmp_path)


def test_an_edit_of_nothing_is_a_good_file() -> None:
    content = small_learner().to_bytes()
    untouched = edited(content, lambda header, tensors: None)
    assert Learner.from_bytes(untouched).to_bytes() == content


def test_every_flipped_bit_is_noticed(tmp_path: Path) -> None:
    content = small_learner(tmp_path).to_bytes()
    for at in range(len(content)):
        for bit in range(8):
            flipped = bytearray(content)
            flipped[at] ^= 1 << bit
            with pytest.raises(ModelFileError):
                Learner.from_bytes(bytes(flipped))


def test_every_cut_is_noticed(tmp_path: Path) -> None:
    content = small_learner(tmp_path).to_bytes()
    for length in range(len(content)):
        with pytest.raises(ModelFileError):
            Learner.from_bytes(content[:length])
    for more in (b"\0", b" ", content):
        with pytest.raises(ModelFileError):
            Learner.from_bytes(content + more)


def test_damage_is_told(lessregret: CommandLine) -> None:
    content = small_learner().to_bytes()
    flipped = content[:-1] + bytes([content[-1] ^ 1])
    told = refusals(lessregret, lessregret.write("flipped", flipped))["predict"].stderr
    assert "flipped: is damaged: its checksum is " in told
    assert told.endswith(". Use a backup, or train again\n")
    told = refusals(lessregret, lessregret.write("cut", content[:-5]))["predict"].stderr
    size = len(content) - 8 - int.from_bytes(content[:8], "little")
    assert f"it holds {size - 5} bytes of data where its header says {size}" in told


RATE = "rate must be a number above 0"
STRENGTH = "l2 must be a number from 0 up that fits a float32"
MISUSES = {
    "rule": (("--rule", "magic"), "unknown rule 'magic'; the rules are "
             + ", ".join(RULES)),
    "loss": (("--loss", "magic"), "Error: Invalid value for '--loss': unknown loss 'magic'; the "
             "losses are logistic, hinge, squared, squared-hinge, poisson, absolute, "
             "quantile:0.9, huber:1"),
    "format": (("--format", "xml"), "Error: Invalid value for '--format': 'xml' is not one of "
               "'auto', 'svmlight', 'vw', 'csv', 'tsv'."),
    "bad lines": (("--bad-lines", "repair"), "Error: Invalid value for '--bad-lines': 'repair' "
                  "is not one of 'stop', 'skip'."),
    "bits 0": (("--bits", "0"), "Error: Invalid value for '--bits': 0 is not in the range "
               "1<=x<=31."),
    "bits 32": (("--bits", "32"), "Error: Invalid value for '--bits': 32 is not in the range "
                "1<=x<=31."),
    "passes 0": (("--passes", "0"), "Error: Invalid value for '--passes': 0 is not in the range "
                 "x>=1."),
    "rate 0": (("--rate", "0"), f"PerCoordinate: {RATE} or 'theory' or 'auto', found 0.0"),
    "rate nan": (("--rate", "nan"), f"PerCoordinate: {RATE} or 'theory' or 'auto', found nan"),
    "rate inf": (("--rate", "inf"), f"PerCoordinate: {RATE} or 'theory' or 'auto', found inf"),
    "rate -1": (("--rate", "-1"), f"PerCoordinate: {RATE} or 'theory' or 'auto', found -1.0"),
    "rate fast": (("--rate", "fast"), f"PerCoordinate: {RATE} or 'theory' or 'auto', found 'fast'"),
    "rate 1e300": (("--rate", "1e300"), "rate must be a positive number that fits a float32, "
                   "found 1e300"),
    "rate 1e-300": (("--rate", "1e-300"), "rate must be a positive number that fits a float32, "
                    "found 1e-300"),
    "theory without a theorem": (("--rate", "theory", "--rule", "constant"),
                                 f"Constant: {RATE}, found 'theory'"),
    "radius 0": (("--radius", "0"), "PerCoordinate: radius must be a number above 0, found 0.0"),
    "radius nan": (("--radius", "nan"), "PerCoordinate: radius must be a number above 0, "
                   "found nan"),
    "radius 3e38": (("--radius", "3e38"), "a box needs low < high and a width that fits a "
                    "float32, found [-3e38, 3e38]"),
    "l2 -1": (("--l2", "-1"), f"{STRENGTH}, found -1.0"),
    "l2 nan": (("--l2", "nan"), f"{STRENGTH}, found nan"),
    "l2 1e39": (("--l2", "1e39"), f"{STRENGTH}, found 1e+39"),
    "l2 without a box": (("--l2", "0.1", "--rule", "cw"), "l2 is for rules that follow the "
                         "gradient on a box, and this rule does not; leave out l2, or use another "
                         "rule"),
    "stdin twice": (("-", "--passes", "2"), "standard input can be read only once; use "
                    "--passes 1 or a file"),
    "stdout twice": (("--json", "--predictions", "-"), "--json and --predictions - both want "
                     "stdout; write predictions to a file"),
    "model in no folder": (("--model", "no/m"), "--model no/m: there is no folder no"),
    "model in a device": (("--model", "/dev/null"), "--model /dev/null: this is not a file; "
                          "give the model another name"),
    "other loss": (("--resume", MODEL, "--loss", "hinge"), "--loss is 'hinge', but "
                   f"{MODEL} was trained with 'logistic'; leave it out, or train a new model"),
    "other rule": (("--resume", MODEL, "--rule", "global"), "--rule is 'global', but "
                   f"{MODEL} was trained with 'per-coordinate'; leave it out, or train a new "
                   "model"),
    "other rate": (("--resume", MODEL, "--rate", "3"), "--rate is 3.0, but "
                   f"{MODEL} was trained with 'auto'; leave it out, or train a new model"),
    "other scale": (("--resume", MODEL, "--scale", "full"), "--scale is 'full', but "
                    f"{MODEL} was trained with 'standard'; leave it out, or train a new model"),
    "other bits": (("--resume", MODEL, "--bits", "12"), "--bits is 12, but "
                   f"{MODEL} was trained with 10; leave it out, or train a new model"),
    "l2 later": (("--resume", MODEL, "--l2", "0.1"), "--l2 is 0.1, but "
                 f"{MODEL} was trained with 0.0; leave it out, or train a new model"),
    "no certificate later": (("--resume", MODEL, "--no-certify"), "--certify is False, but "
                             f"{MODEL} was trained with True; leave it out, or train a new model"),
    "intercept later": (("--resume", MODEL, "--no-intercept"), "--no-intercept is True, but "
                        f"{MODEL} was trained with False; leave it out, or train a new model"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISUSES)
def test_misuse(lessregret: CommandLine, model: bytes, name: str) -> None:
    options, told = MISUSES[name]
    done = lessregret("train", "earlier.txt", *options)
    assert (done.code, done.stdout) == (2, "")
    expected = told if told.startswith("Error: ") else f"lessregret: error: {told}"
    assert done.stderr.splitlines()[-1] == expected
    assert lessregret.read(MODEL) == model


def test_options_repeated_on_resuming_are_no_misuse(lessregret: CommandLine, model: bytes) -> None:
    repeated = ("--loss", "logistic", "--rate", "auto", "--scale", "standard", "--radius", "100")
    assert lessregret("train", "earlier.txt", "--resume", MODEL, "--quiet", *repeated).code == 0


def test_the_l2_of_ftrl_is_not_that_of_the_rounds(lessregret: CommandLine) -> None:
    data = lessregret.write("data.txt", GOOD_SVMLIGHT)
    asked = ("--rule", "ftrl:l2=0.5", "--l2", "0.1", "--quiet")
    assert lessregret("train", data, *asked, "--model", "m").code == 0
    assert lessregret("train", data, *asked, "--resume", "m") == Done(0, "", "")
    for options, told in [
        (("--rule", "ftrl:l2=0.1"), "--rule ftrl:l2 is 0.1, but m was trained with 0.5"),
        (("--l2", "0.5"), "--l2 is 0.5, but m was trained with 0.1"),
    ]:
        done = lessregret("train", data, "--resume", "m", *options)
        cure = "leave it out, or train a new model"
        assert done == Done(2, "", f"lessregret: error: {told}; {cure}\n")


def test_misused_predictions(lessregret: CommandLine) -> None:
    data = lessregret.write("data.txt", GOOD_SVMLIGHT)
    for loss, output, told in [
        ("hinge", "probability", "--as probability needs logistic loss; m has hinge loss"),
        ("squared", "label", "--as label needs a classifier; m has squared loss"),
    ]:
        assert lessregret("train", data, "--loss", loss, "--model", "m", "--quiet").code == 0
        done = lessregret("predict", "m", data, "--as", output)
        assert done == Done(2, "", f"lessregret: error: {told}\n")


def test_models_of_columns_belong_to_estimators(lessregret: CommandLine) -> None:
    data = lessregret.write("data.txt", GOOD_SVMLIGHT)
    Learner(columns=3).save("m")
    done = lessregret("predict", "m", data)
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr == (
        "lessregret: error: m: the model was trained on the columns of a matrix, and text has "
        "named features; predict in Python with what trained it. Models of 'train', and of "
        "estimators fitted to dicts, can be used here\n"
    )
    told = "lessregret: error: m: the model has columns, not hashed slots; "
    done = lessregret("train", data, "--resume", "m")
    assert done == Done(2, "", f"{told}it was made by an estimator and goes on there\n")


def test_more_slots_than_memory(lessregret: CommandLine, model: bytes) -> None:
    limited = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30));"
        "from lessregret.cli import main; main(sys.argv[1:])"
    )
    done = lessregret.apart("train", "earlier.txt", "--bits", "31", "--model", MODEL, code=limited)
    assert done == Done(2, "", "lessregret: error: 2147483649 slots need 137438953536 bytes, more "
                               "than there are; use fewer bits\n")  # fmt: skip
    assert lessregret.read(MODEL) == model
