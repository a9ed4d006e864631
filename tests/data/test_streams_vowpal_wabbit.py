"""Are files like those of Vowpal Wabbit's own tests read as it reads them, or refused in words?

The files here were written after the odd ones among them: dates, tabs, two spaces, empty lines and
namespaces, lines without labels. None is a copy.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

import pytest

from lessregret import FeatureSpace, InputError, open_examples
from tests.support.command_line import CommandLine, Done
from tests.support.malformed import NUMBER_NOT_WORD, TAB, TOUCHING
from tests.support.vowpal_wabbit import Read, sums, theirs

BITS = 18
SPACE = FeatureSpace(bits=BITS, labels="real")
FILES = {
    "dates in tags and names": (
        "0.5211 1 PFF/20091028|T PFF |f t1:-0.02 r5:0.72\n"
        "0.5 1 BIL/20091028|T BIL |f t1:0 t60:-7.3e-07\n"
        "0.5 |d 2009-10-28 28.10.2009 28/10/2009 12h30 20091028T1230Z\n"
    ),
    "tabs after the bar": "18150 |\t3\t150\tsaab\t?\t99.1\t\n-2 |\t-1\t?\t \tvolvo\n",
    "two spaces": "-1 |f  1:1  2:-1 \n1  1.0  |f   1:-1    \n",
    "ranges and plus signs": "3879 | 26-35 0 A 4+ M\n+6976 | 0-17 +1 -1 1.56 .5\n",
    "empty namespaces": "1 B/03|u 71 |a |c 1\n2 R/0c|u 24 || |a|c\n1 |\n3 |a\n",
    "a bar for each feature": "-1284747.77 | 0:4.0895637 | 1:9.407 | 2:7.67\n",
    "names left out": "3 | :1\n4 |other_namespace :1 :2\n",
    "weights of namespaces": "1 |a:2 b c:3 |d:0.5 e |f:-1 g:2 |h:0 i\n",
    "tags of all kinds": "1 'A |a b=1\n1 2 'B|a b=0\n1 2 C|a b\n1 7|a b\n1 a/b:c|a b\n1 ''d'|a b\n",
    "odd letters": "1 |é naïve:2 日本 ß \u00a0x\n",
    "odd characters": "1 |a # ## \"b c\" d\\te ^f g^h i=j,k ; %20 ? !\n",
    "control characters": "1 |a b\x0b c\x0c:2 \x1bd\n",
    "huge and small values": "1 |a b:10000000000 c:-4e9 d:1e-30 e:3e38 f:1e-50\n",
    "the same feature twice": "0 |f 188:1.5 197:2 188:1.5 28008 28008 a a:-1\n",
    "returns before the ends": "1 |a b\r\n2 |a b:2\r\n\r\n0.5 3 't |a\r\n",
    "no end of the last line": "1 | 2\n2 | 3",
    "no end but a return": "1 |a b:2\n2 |a b:2\r",
    "empty lines": "\n1 | x:1\n\n\n   \n2 | x\n\n",
    "initial predictions": "1 1 0.5 |a b\n0 2 -1e-3 't |a b\n1 1 0.25|a b\n1 1 0 t|a b\n",
    "importance of zero": "1 0 |a b\n-0 0.0 |a c\n",
    "without labels": "| 0:1 2049:6\n t/2| a b\n't |a b\n|user A |item 1 red \n1 t/3| a b\n",
    "more than 4096 features": "1 |f " + " ".join(f"{k}:0.0046" for k in range(5000)) + "\n",
}  # fmt: skip


def lines_of(text: str) -> list[str]:
    """The lines that are not empty, without their ends."""
    return [line.removesuffix("\r") for line in text.split("\n") if line.strip()]


def ours(text: str, folder: Path, space: FeatureSpace) -> list[Read]:
    file = folder / "data.vw"
    file.write_bytes(text.encode())
    return [
        Read(
            sums(zip(each.slots, each.values, strict=True)),
            None if math.isnan(each.label) else each.label,
            each.importance,
            each.tag.decode(),
            each.base,
        )
        for each in open_examples([file], space, format="vw")
    ]


@pytest.mark.parametrize("name", FILES)
def test_files_are_read_as_vowpal_wabbit_reads_them(name: str, tmp_path: Path) -> None:
    text = FILES[name]
    expected = theirs(BITS, lines_of(text))
    found = ours(text, tmp_path, SPACE.unlabelled())
    assert len(found) == len(expected) > 0
    # Vowpal Wabbit reads decimals with an arithmetic of its own, off by an ulp or two.
    for each, read in zip(found, expected, strict=True):
        assert each.features == pytest.approx(read.features, rel=1e-6)
        label = None if read.label is None else pytest.approx(read.label, rel=1e-6)
        assert each.label == label
        assert (each.importance, each.tag) == (read.importance, read.tag)
        assert each.base == pytest.approx(read.base, rel=1e-6)


@pytest.mark.parametrize("name", sorted(FILES.keys() - {"without labels"}))
def test_files_are_trained_on_and_predicted(lessregret: CommandLine, name: str) -> None:
    data = lessregret.write("data.vw", FILES[name])
    options = ("--loss", "squared", "--quiet", "--model", "model.safetensors")
    assert lessregret("train", data, *options) == Done(0, "", "")
    done = lessregret("predict", "model.safetensors", data)
    assert done.code == 0
    assert len(done.stdout.splitlines()) == len(lines_of(FILES[name]))


def test_lines_without_labels_are_predicted_only(lessregret: CommandLine) -> None:
    data = lessregret.write("data.vw", FILES["without labels"])
    earlier = lessregret.write("earlier.vw", "1 |a b\n0 |a c\n")
    assert lessregret("train", earlier, "--quiet", "--model", "model.safetensors").code == 0
    done = lessregret("predict", "model.safetensors", data)
    assert (done.code, len(done.stdout.splitlines())) == (0, 5)
    done = lessregret("train", data, "--quiet")
    assert done == Done(1, "", "lessregret: error: data.vw:1:1: expected a label, found '|'\n")


class Refused(NamedTuple):
    """A line that Vowpal Wabbit reads as something that was hardly meant."""

    line: str
    told: str
    meant: str
    """a line that says what Vowpal Wabbit reads"""


REFUSED = [
    Refused("1:0.5 |a b", "1: expected a number as label, found '1:0.5'", "1 |a b"),
    Refused("1,5 |a b", "1: expected a number as label, found '1,5'", "1 |a b"),
    Refused("# |a b", "1: expected a number as label, found '#'", "0 |a b"),
    Refused("1|a b", f"1: expected {TOUCHING}, found '1|'", "'1 |a b"),
    Refused("1\t|a b", rf"2: expected {TAB}, found '\x09'", "|a b"),
    Refused('1 "t |a b', "3: expected an importance, 0 or more, found '\"t'", "1 0 |a b"),
    Refused("1 2 t", "6: expected '|' before the features, found end of line", "1 2 't |"),
    Refused(
        "1 |a b:2011-10-28 c", f"8: expected {NUMBER_NOT_WORD}, found '2011-10-28'", "1 |a b:2011",
    ),
    Refused("1 |a b:12:30 c", f"8: expected {NUMBER_NOT_WORD}, found '12:30'", "1 |a b:12"),
    Refused("1 |a b:1,5 c", f"8: expected {NUMBER_NOT_WORD}, found '1,5'", "1 |a b"),
    Refused("1 |a b:0x10", f"8: expected {NUMBER_NOT_WORD}, found '0x10'", "1 |a b:16"),
    Refused("1 |a b: 2", "8: expected a number after ':', found ' '", "1 |a b:2"),
    Refused("1 |a:x b", "6: expected a number after ':', found 'x'", "1 |"),
    Refused("1 |:2 b", "4: expected a namespace or a blank after '|', found ':'", "1 |"),
    Refused("1 |a b:nan c", "8: expected a finite number, found 'nan'", "1 |a c"),
]  # fmt: skip


@pytest.mark.parametrize("case", REFUSED, ids=[case.line for case in REFUSED])
def test_lines_that_are_refused(case: Refused, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        ours(f"1 |a b\n{case.line}\n", tmp_path, SPACE)
    assert str(caught.value) == f"{tmp_path / 'data.vw'}:2:{case.told}"


@pytest.mark.parametrize("case", REFUSED, ids=[case.line for case in REFUSED])
def test_what_vowpal_wabbit_reads_in_refused_lines(case: Refused) -> None:
    read, meant = theirs(BITS, [case.line, case.meant])
    assert read == meant


def test_a_word_as_value_has_a_slot_of_its_own_there(tmp_path: Path) -> None:
    told = f":1:14: expected {NUMBER_NOT_WORD}, found 'de'"
    with pytest.raises(InputError) as caught:
        ours("1 |a country:de b\n", tmp_path, SPACE)
    assert str(caught.value).endswith(told)
    (word,) = ours("1 |a country=de b\n", tmp_path, SPACE)
    (read,) = theirs(BITS, ["1 |a country:de b"])
    assert list(word.features.values()) == list(read.features.values()) == [1.0, 1.0]
    assert len(word.features.keys() & read.features.keys()) == 1
