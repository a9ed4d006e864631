"""Is an Arrow file the text it was made from, and can it hurt us?"""

from __future__ import annotations

import contextlib
import gzip
import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lessregret.data.convert import convert
from lessregret.data.streams import open_examples
from lessregret.errors import InputError
from lessregret.learners.space import FeatureSpace
from tests.support.click_logs import SMALL
from tests.support.click_logs import text as log
from tests.support.command_line import COMMAND, ENVIRONMENT, CommandLine
from tests.support.malformed import NUMBER_NOT_WORD

VW = b"""1 |a b c:0.5 b
-1 2.5 tag|a b:-1 |x:3 y z:0
1 0 'other |a q:1e-3
-1 |a
"""
SVMLIGHT = b"1 3:1 17:0.5 90000:2\n0 4:1 17:2 # a comment\n1 1:1\n"


@pytest.fixture
def line(tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    monkeypatch.chdir(tmp_path)
    return CommandLine(tmp_path, capsys)


def trained(line: CommandLine, *arguments: str) -> bytes:
    """The model file of a run."""
    done = line("train", *arguments, "--quiet", "--model", "model.safetensors")
    assert done.code == 0, done.stderr
    return line.read("model.safetensors")


def converted(line: CommandLine, content: bytes, *options: str) -> bytes:
    """The Arrow file of some text, which it leaves as ``data.arrow``."""
    line.write("data.txt", content)
    done = line("convert", "data.txt", "--output", "data.arrow", *options)
    assert done.code == 0, done.stderr
    return line.read("data.arrow")


def unlabelled(bits: int = 18) -> FeatureSpace:
    return FeatureSpace(bits=bits, labels="any")


def examples(*files: Path | str, bits: int = 18, **options: Any) -> list[tuple[Any, ...]]:
    """Every example of the files, floats as their bits."""
    return [
        (np.float32(e.label).tobytes(), e.importance, e.slots.tobytes(), e.values.tobytes(), e.tag)
        for e in open_examples(files, unlabelled(bits), **options)
    ]


@pytest.mark.parametrize("text", [VW, SVMLIGHT, b"|a b\n1 |c\n"], ids=["vw", "svmlight", "absent"])
def test_examples_are_the_same(line: CommandLine, text: bytes) -> None:
    converted(line, text, "--bits", "18")
    assert examples("data.arrow") == examples("data.txt")


@pytest.mark.parametrize("options", [[], ["--rate", "0.1"], ["--loss", "squared"], ["--certify"]])
def test_models_are_the_same_to_the_bit(line: CommandLine, options: list[str]) -> None:
    converted(line, log(SMALL, 3000), "--bits", "16")
    options = [*options, "--bits", "16", "--passes", "2"]
    assert trained(line, "data.arrow", *options) == trained(line, "data.txt", *options)


def test_threads_change_nothing(line: CommandLine) -> None:
    # Enough for several batches, and for helpers.
    converted(line, log(SMALL, 20_000), "--bits", "16")
    one = trained(line, "data.arrow", "--bits", "16", "--threads", "1")
    assert one == trained(line, "data.arrow", "--bits", "16", "--threads", "3")
    assert one == trained(line, "data.txt", "--bits", "16", "--threads", "3")


def test_text_and_arrow_files_mix_in_any_order(line: CommandLine) -> None:
    converted(line, log(SMALL, 20_000), "--bits", "16")
    for files in (["arrow", "txt"], ["txt", "arrow", "txt"], ["arrow", "arrow", "txt", "arrow"]):
        mixed = [f"data.{kind}" for kind in files]
        text = ["data.txt"] * len(files)
        assert examples(*mixed, bits=16, threads=3) == examples(*text, bits=16, threads=3)


def test_packed_files_and_pipes(line: CommandLine) -> None:
    plain = converted(line, VW, "--bits", "18")
    line.write("data.arrow.gz", gzip.compress(plain))
    assert examples("data.arrow.gz") == examples("data.arrow")
    options = ["--quiet", "--json", "--bits", "18"]
    # The text has one feature of value 0, which is a value to the standard scale only.
    for scale, features in (("cap", 9), ("standard", 10)):
        for stdin in (VW, plain, gzip.compress(plain)):
            done = line.apart("train", "-", *options, "--scale", scale, stdin=stdin)
            document = json.loads(done.stdout)
            assert (document["examples"], document["features"]) == (4, features)
    done = line.apart("convert", "-", "--output", "again.arrow", "--bits", "18", stdin=plain)
    assert done.code == 0
    assert line.read("again.arrow") == plain


def test_other_commands_read_it_too(line: CommandLine) -> None:
    converted(line, VW)
    trained(line, "data.txt")
    for command in (["predict", "model.safetensors"], ["compare", "--rules", "pa"]):
        arrow, text = (line(*command, file) for file in ("data.arrow", "data.txt"))
        assert (arrow.code, arrow.stdout) == (0, text.stdout)
    assert " tag\n" in line("predict", "model.safetensors", "data.arrow").stdout
    arrow, text = (line("regret", file, "--json") for file in ("data.arrow", "data.txt"))
    assert json.loads(arrow.stdout)["rows"] == json.loads(text.stdout)["rows"]


def test_fewer_bits_mask_further_and_more_are_refused(line: CommandLine) -> None:
    converted(line, VW, "--bits", "18")
    assert examples("data.arrow", bits=4) == examples("data.txt", bits=4)
    done = line("train", "data.arrow", "--bits", "19", "--quiet")
    assert done.code == 1
    assert done.stderr == (
        "lessregret: error: data.arrow: expected slots of at least 19 bits, as asked for, found "
        "slots of 18 bits; convert the text again with more --bits, or use fewer here\n"
    )


def test_names_are_not_kept(line: CommandLine) -> None:
    converted(line, VW)
    assert line("train", "data.arrow", "--names", "--quiet").stderr == (
        "lessregret: error: data.arrow: expected text, whose features have names to keep, "
        "found an Arrow file, whose features have none\n"
    )


@pytest.mark.parametrize(
    ("text", "loss", "told"),
    [
        (b"1 |a\n2 |a\n", "logistic", "data.arrow:2: expected a label 1, 0 or -1, found '2'"),
        (b"1 |a\n|b\n", "logistic", "data.arrow:2: expected a label, found none"),
        (b"1 |a\n|b\n", "squared", "data.arrow:2: expected a label, found none"),
        (
            b"0 |a\n-1 |b\n",
            "hinge",
            "data.arrow:2: expected a label 1 or 0, as in the lines before, found '-1'",
        ),
    ],
)
def test_labels_are_checked_as_in_text(
    line: CommandLine, text: bytes, loss: str, told: str
) -> None:
    converted(line, text)
    done = line("train", "data.arrow", "--loss", loss, "--quiet")
    assert (done.code, done.stderr) == (1, f"lessregret: error: {told}\n")
    skipped = line(
        "train", "data.arrow", "--loss", loss, "--quiet", "--json", "--bad-lines", "skip"
    )
    document = json.loads(skipped.stdout)
    assert (document["examples"], document["skipped"]) == (1, 1)


def test_the_summary_and_the_document(line: CommandLine) -> None:
    line.write("data.txt", VW + b"1 |a b:x\n")
    done = line("convert", "data.txt", "--output", "a.arrow", "--bad-lines", "skip", "--json")
    document = json.loads(done.stdout)
    size = len(line.read("a.arrow"))
    # One of them has the value 0, which is for the reader of the file to judge.
    expected = {"examples": 4, "features": 6, "bytes": size, "skipped": 1, "output": "a.arrow"}
    assert {**document, **expected} == document
    assert done.stderr == (
        f"4 examples, 6 features, {size:,} bytes\n"
        "skipped        1 bad line; the first: data.txt:5:8: "
        f"expected {NUMBER_NOT_WORD}, found 'x'\n"
        "output         a.arrow\n"
    )


def test_a_failed_run_leaves_the_file_as_it_was(line: CommandLine) -> None:
    before = converted(line, VW)
    line.write("bad.vw", VW + b"1 |a b:x\n")
    done = line("convert", "bad.vw", "--output", "data.arrow")
    assert done.code == 1
    assert "bad.vw:5:8" in done.stderr
    assert line.read("data.arrow") == before
    assert sorted(path.name for path in line.folder.iterdir()) == [
        "bad.vw",
        "data.arrow",
        "data.txt",
    ]


def test_what_is_read_is_not_written_over(line: CommandLine) -> None:
    line.write("data.vw", VW)
    done = line("convert", "data.vw", "--output", "data.vw")
    assert done.code == 2
    assert "the run uses this file, too" in done.stderr
    assert line.read("data.vw") == VW


def test_an_interrupt_leaves_nothing(tmp_path: Path) -> None:
    command = [*COMMAND, "convert", "-", "--output", "data.arrow"]
    run = subprocess.Popen(
        command, cwd=tmp_path, env=ENVIRONMENT, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert run.stdin is not None
    run.stdin.write(VW)
    run.stdin.flush()
    while not list(tmp_path.iterdir()):
        time.sleep(0.01)
    run.send_signal(signal.SIGINT)
    _, told = run.communicate(timeout=60)
    assert (run.returncode, list(tmp_path.iterdir())) == (-signal.SIGINT, [])
    assert b"stopped by SIGINT; not written: --output data.arrow" in told


FUZZ = settings(
    max_examples=400,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small Arrow file, with labels that are absent."""
    folder = tmp_path_factory.mktemp("sound")
    text = folder / "data.vw"
    text.write_bytes(VW + b"|a no label\n")
    convert(open_examples([text], unlabelled()), folder / "data.arrow")
    return folder / "data.arrow"


@FUZZ
@given(data=st.data())
def test_flipped_bytes_are_told_or_harmless(sound: Path, data: st.DataObject) -> None:
    good = sound.read_bytes()
    places = st.tuples(st.integers(0, len(good) - 1), st.integers(1, 255))
    content = bytearray(good)
    for place, change in data.draw(
        st.lists(places, min_size=1, max_size=3, unique_by=lambda p: p[0])
    ):
        content[place] ^= change
    damaged = sound.with_name("damaged.arrow")
    damaged.write_bytes(content)
    with contextlib.suppress(InputError):
        assert examples(damaged) == examples(sound)


def test_every_flipped_bit_of_a_byte_is_told_or_harmless(sound: Path) -> None:
    good = sound.read_bytes()
    damaged = sound.with_name("damaged.arrow")
    whole = examples(sound)
    told = 0
    for place in range(len(good)):
        content = bytearray(good)
        content[place] ^= 1 << place % 8
        damaged.write_bytes(content)
        try:
            assert examples(damaged) == whole, place
        except InputError:
            told += 1
    assert told > len(good) / 4


def test_files_cut_short_are_told(sound: Path) -> None:
    good = sound.read_bytes()
    cut = sound.with_name("cut.arrow")
    for length in range(1, len(good)):
        cut.write_bytes(good[:length])
        with pytest.raises(InputError):
            examples(cut)
    cut.write_bytes(good + b"more")
    with pytest.raises(InputError, match="the footer of an Arrow file with 1 batches"):
        examples(cut)


def test_nothing_of_a_damaged_batch_is_used_even_when_bad_rows_are_skipped(sound: Path) -> None:
    content = bytearray(sound.read_bytes())
    # The tags are the last of the batch.
    content[content.index(b"other")] ^= 1
    damaged = sound.with_name("damaged.arrow")
    damaged.write_bytes(content)
    stream = open_examples([damaged], unlabelled(), bad_lines="skip")
    with pytest.raises(InputError, match=r"checksum .* in batch 1, found .*: the file is damaged"):
        next(iter(stream))


def test_others_read_it(line: CommandLine) -> None:
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    converted(line, b"1 2 first|a b:0.5 c\n|a b\n", "--bits", "18")
    with arrow.ipc.open_file("data.arrow") as file:
        table = file.read_all()
    assert table.schema.metadata[b"lessregret.bits"] == b"18"
    assert table["label"].to_pylist() == [1.0, None]
    assert table["importance"].to_pylist() == [2.0, 1.0]
    assert table["values"].to_pylist() == [[0.5, 1.0], [1.0]]
    assert table["tag"].to_pylist() == [b"first", b""]
    table.validate(full=True)


def test_what_others_write_is_read(line: CommandLine) -> None:
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    converted(line, VW, "--bits", "18")
    with arrow.ipc.open_file("data.arrow") as file:
        table = file.read_all()
    with arrow.ipc.new_file("theirs.arrow", table.schema) as file:
        file.write_table(table.slice(1, 1))
        file.write_table(table.slice(2))
    assert examples("theirs.arrow") == examples("data.txt")[1:]
    bad = table.set_column(1, "importance", arrow.array([1.0, -1, 1, 1], arrow.float32()))
    with arrow.ipc.new_file("bad.arrow", bad.schema) as file:
        file.write_table(bad)
    with pytest.raises(
        InputError, match=r"bad\.arrow:2: expected an importance, 0 or more, found '-1'"
    ):
        examples("bad.arrow")
    with arrow.ipc.new_file("other.arrow", table.drop(["tag"]).schema) as file:
        file.write_table(table.drop(["tag"]))
    with pytest.raises(InputError, match="a column 'tag' of type binary, found no more columns"):
        examples("other.arrow")
