"""Does the speed benchmark still run, on what it says it runs on? No time is asserted."""

from __future__ import annotations

import doctest
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks.speed import contestants, growth, in_memory, instructions, random_access, record
from benchmarks.speed.__main__ import known_contestants, some
from benchmarks.speed.contestants import RIVER, Contestant, chosen
from benchmarks.speed.data import Cache, check_folder
from benchmarks.speed.generate import clicks, dense, tfidf, tiny
from benchmarks.speed.process import ROOT, ContestantFailedError, Run, run
from benchmarks.speed.rivals.vw_text import tokens
from benchmarks.speed.rounds import Standing, take_turns
from benchmarks.speed.settings import Settings
from benchmarks.speed.text_sets import measure, row, scaled

SMALL = 0.0005
BITS = 16
"""Enough here; the memory of 2^22 slots in eight lanes takes longer than the rest of the tests."""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cache]:
    """One folder for all."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contestants, "BITS", BITS)
        patch.setattr(growth, "BITS", BITS)
        yield Cache(tmp_path_factory.mktemp("speed"), SMALL)


def cells(section: str) -> list[list[str]]:
    """The rows of a section's table without the headings."""
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_both_texts_of_tfidf_teach_the_same(cache: Cache) -> None:
    svmlight, vw = cells(measure("tfidf", Settings(cache, 1, ["one"])))
    assert (svmlight[1], vw[1]) == ("svmlight", "vw")
    assert svmlight[-3:] == vw[-3:]
    assert 0 < float(vw[-1]) < 1


def test_ours_runs_on_clicks_by_turns(cache: Cache) -> None:
    section = measure("clicks", Settings(cache, 2, ["one", "auto", "parse"]))
    assert "500 lines" in section
    assert "Left out" not in section
    one, auto, parse = cells(section)
    assert one[4] == "1.00"
    assert 0 < float(auto[-3]) < 1
    assert parse[-3:] == ["–"] * 3


def test_ours_runs_on_what_is_tiny_at_any_scale(cache: Cache) -> None:
    section = measure("tiny", Settings(cache, 1, ["auto"]))
    assert "2,000 lines" in section
    assert 0 < float(cells(section)[0][-1]) < 1


def test_ours_runs_on_arrays(cache: Cache) -> None:
    (row,) = cells(in_memory.measure(Settings(cache, 1, ["learner-auto"])))
    assert 0 < float(row[-2]) < 1


def test_growth_has_a_row_for_each_size(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "TIMES", (1, 2))
    rows = cells(growth.measure(Settings(cache, 1)))
    assert [row[2] for row in rows] == ["500", "1,000"] * 2


def test_tfidf_rows_are_of_unit_length_and_ascend() -> None:
    block = next(tfidf.rows_of(1, 300))
    lengths = np.sqrt(((block.millionths / tfidf.UNIT) ** 2).sum(axis=1))
    assert np.allclose(lengths, 1, atol=1e-4)
    assert (np.diff(block.words, axis=1) > 0).all()
    assert block.words.max() < tfidf.WORDS
    assert 0.3 < block.positive.mean() < 0.7


def test_tfidf_text_is_its_rows() -> None:
    svmlight, vw = next(tfidf.svmlight_and_vw(1, 50))
    rows = tfidf.arrays(1, 50)
    for line, columns, values in zip(
        svmlight.splitlines(), rows["columns"], rows["values"], strict=True
    ):
        pairs = [feature.split(b":") for feature in line.split()[1:]]
        assert [int(index) - 1 for index, _ in pairs] == columns.tolist()
        assert [np.float32(value) for _, value in pairs] == values.tolist()
    assert vw.replace(b" | ", b" ") == svmlight


def test_clicks_are_twenty_tokens_with_frequent_ones() -> None:
    lines = b"".join(clicks.vw(1, 500)).decode().splitlines()
    assert all(line.count("|") == 10 and len(tokens(line)) == 20 for line in lines)
    distinct = {token for line in lines for token in tokens(line)}
    assert 20 < len(distinct) < 5_000
    assert 0.05 < np.mean([line.startswith("1") for line in lines]) < 0.4


def test_dense_has_every_column_in_every_row() -> None:
    for line in b"".join(dense.vw(1, 20)).decode().splitlines():
        label, *features = line.replace("| ", "").split()
        assert label in ("1", "-1")
        assert [each.split(":")[0] for each in features] == [f"c{k}" for k in range(20)]


def test_tiny_is_150_different_words() -> None:
    for line in b"".join(tiny.vw(1, 20)).splitlines():
        words = [feature.split(b":")[0] for feature in line.split()[2:]]
        assert len(set(words)) == len(words) == 150


def test_data_depend_on_the_part_alone() -> None:
    first, again, other = (b"".join(clicks.vw(part, 100)) for part in (1, 1, 2))
    assert first == again
    assert not set(first.splitlines()) & set(other.splitlines())


def test_a_process_is_measured_and_heard() -> None:
    done = run([sys.executable, "-c", "print('{\"work\": 3}')"])
    assert done.said == {"work": 3}
    assert done.wall > 0
    assert done.peak > 1_000_000


def test_a_failure_is_told_by_its_last_line() -> None:
    with pytest.raises(ContestantFailedError, match="no such thing"):
        run([sys.executable, "-c", "raise SystemExit('no such thing')"])


def test_who_fails_has_no_more_turns() -> None:
    fine, broken = [sys.executable, "-c", ""], [sys.executable, "-c", "1/0"]
    standings = take_turns({"fine": fine, "broken": broken}, 2)
    assert (len(standings["fine"].runs), standings["fine"].failure) == (2, None)
    assert (len(standings["broken"].runs), standings["broken"].failure) == (
        0,
        "ZeroDivisionError: division by zero",
    )


def test_who_fails_is_left_out_of_the_table_with_the_reason(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = Contestant("missing", "Nobody", "vw", "benchmarks.speed.no_such_module")
    monkeypatch.setattr("benchmarks.speed.text_sets.chosen", lambda *_: [missing])
    section = measure("tiny", Settings(cache, 1))
    assert cells(section) == []
    assert "Left out: Nobody: " in section
    assert "no_such_module" in section


def test_only_the_work_is_scaled_up_and_it_is_marked() -> None:
    short = Run(wall=3.0, user=2.0, peak=5_000_000, said={"work": 2.0, "work_user": 1.0})
    long = scaled(short, RIVER)
    assert (long.wall, long.user) == (21.0, 11.0)
    told = row(RIVER, Standing([short]), 21.0, 7.0)
    assert told[:7] == ["River\\*", "vw", "21.0\\*", "21.0\\*", "3.00\\*", "11.0\\*", "5"]


def test_contestants_are_chosen_by_key_or_kind() -> None:
    assert [c.key for c in chosen("clicks", ["vw", "one"])] == ["one-vw", "vw", "vw-sgd"]
    assert some("--contestants", "vw,one", known_contestants()) == ["vw", "one"]
    with pytest.raises(SystemExit, match=r"--contestants: expected some of .*; found nobody"):
        some("--contestants", "one,nobody", known_contestants())


def test_the_parent_is_small_because_its_memory_counts_as_its_childrens() -> None:
    heavy = "{'numpy', 'lessregret'} & set(sys.modules)"
    code = f"import sys, benchmarks.speed.__main__; sys.exit(len({heavy}))"
    assert run([sys.executable, "-c", code]).peak > 0


def test_random_access_is_put_together() -> None:
    told = "\n".join(
        f'{{"lanes": {lanes}, "what": "{what}", "nanoseconds": {time}}}'
        for time in (2.0, 4.0, 9.0)
        for lanes in (1, 8)
        for what in ("limit", "limit-large", "learn")
    )
    rows = cells(random_access.as_table(told, 20))
    assert rows[0] == ["1", "one random slot changed, pages of 4 kB", "2^20", "8", "2.0", "4.0"]
    assert len(rows) == 6


@pytest.mark.parametrize(
    ("scale", "memory", "bits"), [(1, 2**40, 26), (8, 2**40, 26), (0.25, 2**40, 24), (1, 2**30, 22)]
)
def test_slots_fit_into_memory(scale: float, memory: int, bits: int) -> None:
    assert random_access.fitting_bits(scale, memory) == bits


def test_the_cache_is_not_in_the_repository() -> None:
    with pytest.raises(SystemExit, match="outside the repository"):
        check_folder(ROOT / "benchmarks" / "cache")


def test_a_record_names_no_place() -> None:
    text = record.document(["tiny"], "python -m benchmarks.speed", [0.1, 0.2], ["## tiny"])
    assert text.startswith("# Speed: tiny, ")
    assert "0.1, 0.2" in text
    assert "vowpalwabbit 9." in text
    assert str(Path.home()) not in text
    assert str(ROOT) not in text


@pytest.mark.parametrize(
    "name",
    [
        "table",
        "score",
        "contestants",
        "instructions",
        "generate.lines",
        "generate.tiny",
        "rivals.vw_text",
    ],
)
def test_examples_in_docstrings_hold(name: str) -> None:
    module = importlib.import_module(f"benchmarks.speed.{name}")
    failed, tried = doctest.testmod(module)
    assert (failed, tried > 0) == (0, True)


def test_kernels_are_those_of_the_program() -> None:
    source = (ROOT / "crates" / "core" / "examples" / "kernels.rs").read_text()
    assert all(f'"{kernel}" =>' in source for kernel in instructions.KERNELS)
