"""Are crossed features where Vowpal Wabbit puts them? Its own package is asked, line by line."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from lessregret import FeatureSpace, InputError, Namespaces, SpecError, open_examples
from lessregret.data.convert import convert

BITS = 18
LINES = [
    "1 |a x:2 y |b z:3",
    "1 |b x:2 y:3 |a z | q",
    "1 |apple x:2 |b z |ant y |b w |c :1 :2",
    "1 |a x x:3 |a y:-1 |b 17 z:0 18:0.5",
    "1 |b:0.5 x:3 y |user u7 u8 |hour 23 |unused v",
    "1 | q:3 r |d s:2 t |c w",
    "1 |a x:0.3 y:0.7 w:0.1 |b z:0.9 v:0.3 |c s:1.1 |d t:0.77",
    "1 |c only",
]
OPTIONS = [
    ("-q ab", {"crosses": ["ab"]}),
    ("-q ba", {"crosses": ["ba"]}),
    ("-q ab -q ba", {"crosses": ["ab", "ba"]}),
    ("-q ba -q ab", {"crosses": ["ba", "ab"]}),
    ("-q aa", {"crosses": ["aa"]}),
    ("-q ::", {"crosses": ["::"]}),
    ("-q a: -q :b", {"crosses": ["a:", ":b"]}),
    ("-q :b -q a:", {"crosses": [":b", "a:"]}),
    ("-q :a -q b: --cubic ::a", {"crosses": [":a", "b:", "::a"]}),
    ("--cubic abc", {"crosses": ["abc"]}),
    ("--cubic aaa", {"crosses": ["aaa"]}),
    ("--cubic aba", {"crosses": ["aba"]}),
    ("--cubic :::", {"crosses": [":::"]}),
    ("--interactions bcab -q ab", {"crosses": ["bcab", "ab"]}),
    ("--interactions abcd --interactions bbaa", {"crosses": ["abcd", "bbaa"]}),
    ("--interactions aabb", {"crosses": ["aabb"]}),
    ("--ignore a -q ab -q bc", {"crosses": ["ab", "bc"], "ignore": "a"}),
    ("--keep a --keep b -q ::", {"crosses": ["::"], "keep": ["a", "b"]}),
    ("--keep c", {"keep": "c"}),
    ("--ignore ab", {"ignore": ["a", "b"]}),
    # This option of Vowpal Wabbit sorts the names, ours does not.
    ("--experimental_full_name_interactions user|hour", {"crosses": ["hour*user"]}),
    ("--experimental_full_name_interactions apple|apple", {"crosses": [("apple", "apple")]}),
    ("--experimental_full_name_interactions user|hour|user", {"crosses": ["user*hour*user"]}),
]
SEED = 19
MOST_ANY = 3


def random_options(count: int) -> list[tuple[str, dict[str, object]]]:
    """Crosses of two to four letters and colons, in any order, with duplicates."""
    rng = np.random.default_rng(SEED)
    found: list[tuple[str, dict[str, object]]] = []
    while len(found) < count:
        sizes = rng.integers(2, 5, size=rng.integers(1, 5))
        words = ["".join(rng.choice(list("abcd::"), size=size)) for size in sizes]
        words += ["".join(rng.permutation(list(words[0])))]
        if all(word.count(":") <= MOST_ANY for word in words):
            options = " ".join(f"--interactions {word}" for word in words)
            found.append((options, {"crosses": words}))
    return found


OPTIONS += random_options(30)
FEATURE = re.compile(r"([^\t]*):(\d+):([-+.\de]+):[-+.\de]+(@[-+.\de]+)?")
AUDIT = "import sys, vowpalwabbit; vowpalwabbit.Workspace(sys.argv[1]).finish()"


def theirs(options: str, file: Path) -> list[dict[int, float]]:
    """The slots and values of every line, as ``--audit`` prints them."""
    pytest.importorskip(
        "vowpalwabbit", reason="Vowpal Wabbit is not installed; it is the extra 'vw'"
    )
    asked = f"-d {file} -b {BITS} --audit --noconstant {options}"
    done = subprocess.run(
        [sys.executable, "-c", AUDIT, asked], capture_output=True, text=True, check=True
    )
    lines = [line for line in done.stdout.splitlines() if line == "" or line.startswith("\t")]
    found = [FEATURE.findall(line) for line in lines]
    return [sums((int(slot), float(value)) for _, slot, value, _ in line) for line in found]


def sums(pairs: object) -> dict[int, float]:
    total: dict[int, float] = defaultdict(float)
    for slot, value in pairs:  # type: ignore[attr-defined]
        total[slot] += value
    return {slot: value for slot, value in total.items() if value != 0}


def ours(settings: dict[str, object], file: Path) -> list[dict[int, float]]:
    space = FeatureSpace(bits=BITS, namespaces=Namespaces(**settings))  # type: ignore[arg-type]
    found = []
    for example in open_examples([file], space):
        pairs = zip(example.slots.tolist(), example.values.tolist(), strict=True)
        found.append(sums(pairs))
    return found


@pytest.mark.parametrize(("options", "settings"), OPTIONS, ids=[option for option, _ in OPTIONS])
def test_slots_and_values_are_vowpal_wabbits(
    options: str, settings: dict[str, object], tmp_path: Path
) -> None:
    file = tmp_path / "data.vw"
    file.write_text("".join(f"{line}\n" for line in LINES))
    expected, found = theirs(options, file), ours(settings, file)
    assert len(expected) == len(found) == len(LINES)
    for line, their, our in zip(LINES, expected, found, strict=True):
        assert set(our) == set(their), line
        # Vowpal Wabbit prints six digits.
        np.testing.assert_allclose(
            [our[slot] for slot in sorted(our)], [their[slot] for slot in sorted(their)], rtol=1e-5
        )


PINNED = {
    ("ab",): {55432: 2, 42847: 1, 124687: 3, 80151: 6, 171394: 3},
    ("ba",): {55432: 2, 42847: 1, 124687: 3, 156693: 6, 138178: 3},
    ("aa",): {55432: 2, 42847: 1, 124687: 3, 1680: 4, 31047: 2, 253394: 1},
}
"""What version 9.11.9 gives for the first of the lines."""


@pytest.mark.parametrize("crosses", PINNED, ids="".join)
def test_numbers_that_need_no_package(crosses: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "data.vw"
    file.write_text(LINES[0] + "\n")
    assert ours({"crosses": crosses}, file) == [PINNED[crosses]]


def test_text_without_namespaces_cannot_be_crossed(tmp_path: Path) -> None:
    file = tmp_path / "data.txt"
    file.write_text("1 1:1 2:1\n")
    space = FeatureSpace(bits=BITS, namespaces=Namespaces(crosses=["ab"]))
    for bad_lines in "stop", "skip":
        with pytest.raises(InputError, match=r"expected Vowpal Wabbit text, which has namespaces"):
            list(open_examples([file], space, bad_lines=bad_lines))


def test_an_arrow_file_knows_its_crosses(tmp_path: Path) -> None:
    text, arrow = tmp_path / "data.vw", tmp_path / "data.arrow"
    text.write_text("".join(f"{line}\n" for line in LINES))
    crossed = Namespaces(crosses=["ab", "user*hour"], ignore="d")
    space = FeatureSpace(bits=BITS, labels="any", namespaces=crossed)
    convert(open_examples([text], space), arrow)
    settings = {"crosses": crossed.crosses, "ignore": crossed.ignore}
    assert ours(settings, arrow) == ours(settings, text)
    for other in None, Namespaces(crosses=["ab"]):
        with pytest.raises(InputError, match=r"converted with the crosses and namespaces"):
            list(open_examples([arrow], FeatureSpace(bits=BITS, namespaces=other)))


def test_dicts_have_keys_and_files_have_none(tmp_path: Path) -> None:
    space = FeatureSpace(bits=BITS, namespaces=Namespaces(crosses=["user*hour"], of="keys"))
    with pytest.raises(SpecError, match=r"dicts whose keys are crossed \(crosses user\*hour\)"):
        list(open_examples([tmp_path / "none.vw"], space))
