"""Is every malformed table met with one exact sentence?"""

# ruff: noqa: E501 (sentences stand in one piece)
from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from lessregret.data.streams import open_examples
from lessregret.errors import InputError
from lessregret.learners.schema import Column, Schema
from lessregret.learners.space import FeatureSpace

HEAD = "age,city,at,w,y\n"
GOOD = "31,Rome,2026-01-31,1,no\n"
SCHEMA = Schema(
    (
        Column("age", "number"), Column("city", "category"), Column("at", "time"),
        Column("w", "weight"), Column("y", "label"),
    ),
    classes=("no", "yes"),
)  # fmt: skip

INSIDE = (
    "no quote inside a cell without quotes (write the cell in quotes, and every quote in it twice)"
)
AFTER = "',' or the end of the line after a quoted cell (write a quote inside it twice)"
CLOSE = "a quote that closes the quoted cell"
RETURN = "a newline after '\\r' (write the cell in quotes if '\\r' belongs to it)"
FIVE = "5 cells, one for each column of the header (write a cell with ',' in it in quotes)"
NUMBER = "a number in column 'age'; train with --category age if its cells are not all numbers"
LARGE = "a number within ±3.4e38 in column 'age'; train with --category age if its cells are not all numbers"
DATE = "a date in column 'at'; train with --category at if its cells are not all times"
WEIGHT = "a finite number from 0 up, the weight of the row, in column 'w'"
LABEL = "the label 'no' or 'yes' in column 'y'"
TWICE = "a name for each column that no other has (rename one of the two)"


def absent(name: str) -> str:
    return f"a column '{name}' in the header (is the first line of the file a header?)"


class Bad(NamedTuple):
    name: str
    text: str
    told: str


def row(name: str, line: str, place: str, expected: str, found: str) -> Bad:
    """A bad row after a good one, in line 3."""
    return Bad(name, f"{HEAD}{GOOD}{line}", f":{place}: expected {expected}, found {found}")


def header(name: str, text: str, place: str, expected: str, found: str) -> Bad:
    return Bad(name, text, f":{place}: expected {expected}, found {found}")


CASES = [
    row("quote in a cell", '31,Ro"me,2026-01-31,1,no\n', "3:6", INSIDE, "'\"'"),
    row("quote after a blank", '31, "Rome",2026-01-31,1,no\n', "3:5", INSIDE, "'\"'"),
    row("quote at the end of a cell", '31,Rome",2026-01-31,1,no\n', "3:8", INSIDE, "'\"'"),
    row("quote in the last cell", '31,Rome,2026-01-31,1,n"o\n', "3:23", INSIDE, "'\"'"),
    row("text after a quote", '31,"Ro"me,2026-01-31,1,no\n', "3:8", AFTER, "'m'"),
    row("blank after a quote", '31,"Rome" ,2026-01-31,1,no\n', "3:10", AFTER, "' '"),
    row("semicolon after a quote", '31,"Rome";2026-01-31,1,no\n', "3:10", AFTER, "';'"),
    row("control after a quote", '31,"Rome"\x01,2026-01-31,1,no\n', "3:10", AFTER, r"'\x01'"),
    row("text in a later line", '31,"Ro\nme"x,2026-01-31,1,no\n', "4:4", AFTER, "'x'"),
    row("single quote doubled at the end", '31,"Rome"",2026-01-31,1,no\n', "3:4", CLOSE,
        "the end of the file"),
    row("no closing quote", '31,"Rome,2026-01-31,1,no\n', "3:4", CLOSE, "the end of the file"),
    row("no closing quote, more lines", f'31,"Rome\n{GOOD}{GOOD}', "3:4", CLOSE, "the end of the file"),
    row("only a quote", '"', "3:1", CLOSE, "the end of the file"),
    row("no closing quote in a later line", f'"31\n","Rome\n{GOOD}', "4:3", CLOSE,
        "the end of the file"),
    row("carriage return in a cell", "31,Ro\rme,2026-01-31,1,no\n", "3:6", RETURN, "'m'"),
    row("two carriage returns", "31,Rome,2026-01-31,1,no\r\r\n", "3:24", RETURN, "end of line"),
    row("carriage return before a delimiter", "31,Rome\r,2026-01-31,1,no\n", "3:8", RETURN, "','"),
    row("NUL", "31,Ro\0me,2026-01-31,1,no\n", "3:6", "text without NUL bytes", r"'\x00'"),
    row("NUL in quotes", '31,"Ro\0me",2026-01-31,1,no\n', "3:7", "text without NUL bytes", r"'\x00'"),
    row("too few cells", "31,Rome,2026-01-31,1\n", "3", FIVE, "4"),
    row("one cell", "31\n", "3", FIVE, "1"),
    row("blanks only", "   \n", "3", FIVE, "1"),
    row("too many cells", "31,Rome,Italy,2026-01-31,1,no\n", "3:28", FIVE, "6"),
    row("delimiter at the end", "31,Rome,2026-01-31,1,no,\n", "3:25", FIVE, "6"),
    row("too many cells in a later line", '31,"Ro\nme",2026-01-31,1,no,x\n', "4:21", FIVE, "6"),
    row("other delimiter", "31;Rome;2026-01-31;1;no\n", "3", FIVE, "1"),
    row("word for a number", "old,Rome,2026-01-31,1,no\n", "3:1", NUMBER, "'old'"),
    row("decimal comma", '"1,5",Rome,2026-01-31,1,no\n', "3:1", NUMBER, "'1,5'"),
    row("thousands", '"1,000",Rome,2026-01-31,1,no\n', "3:1", NUMBER, "'1,000'"),
    row("currency", "$5,Rome,2026-01-31,1,no\n", "3:1", NUMBER, "'$5'"),
    row("percent", "5%,Rome,2026-01-31,1,no\n", "3:1", NUMBER, "'5%'"),
    row("two numbers", "5 6,Rome,2026-01-31,1,no\n", "3:1", NUMBER, "'5 6'"),
    row("hexadecimal", "0x1F,Rome,2026-01-31,1,no\n", "3:1", NUMBER, "'0x1F'"),
    row("infinity", "inf,Rome,2026-01-31,1,no\n", "3:1", LARGE, "'inf'"),
    row("too large", "1e39,Rome,2026-01-31,1,no\n", "3:1", LARGE, "'1e39'"),
    row("word for a date", "31,Rome,noon,1,no\n", "3:9", DATE, "'noon'"),
    row("month 13", "31,Rome,2026-13-01,1,no\n", "3:9", DATE, "'2026-13-01'"),
    row("31 February", "31,Rome,2026-02-31,1,no\n", "3:9", DATE, "'2026-02-31'"),
    row("date of another country", "31,Rome,31.01.2026,1,no\n", "3:9", DATE, "'31.01.2026'"),
    row("negative weight", "31,Rome,2026-01-31,-1,no\n", "3:20", WEIGHT, "'-1'"),
    row("no weight", "31,Rome,2026-01-31,,no\n", "3:20", WEIGHT, "''"),
    row("weight nan", "31,Rome,2026-01-31,nan,no\n", "3:20", WEIGHT, "'nan'"),
    row("other label", "31,Rome,2026-01-31,1,maybe\n", "3:22", LABEL, "'maybe'"),
    row("label in capitals", "31,Rome,2026-01-31,1,NO\n", "3:22", LABEL, "'NO'"),
    row("no label", "31,Rome,2026-01-31,1,\n", "3:22", LABEL, "''"),
    row("label after lines", '31,"\n\n",2026-01-31,1,x\n', "5:16", LABEL, "'x'"),
    row("after blank lines", "\n\r\n\nold,Rome,2026-01-31,1,no\n", "6:1", NUMBER, "'old'"),
    header("column missing", "age,city,w,y\n", "1", absent("at"), "'age', 'city', 'w', 'y'"),
    header("no header", GOOD, "1", absent("age"), "'31', 'Rome', '2026-01-31', '1', 'no'"),
    header("capitals", "Age,city,at,w,y\n", "1", absent("age"), "'Age', 'city', 'at', 'w', 'y'"),
    header("header with another delimiter", HEAD.replace(",", ";"), "1",
           "a column 'age' (cells are separated by ','; is that the delimiter?)",
           "'age;city;at;w;y'"),
    header("name twice", "age,city,at,w,y,age\n", "1:17", TWICE, "'age' for columns 1 and 6"),
    header("name twice, blanks", "age, age,at\n", "1:5", TWICE, "'age' for columns 1 and 2"),
    header("name twice after blank lines", "\n\nage,age\n", "3:5", TWICE, "'age' for columns 1 and 2"),
    header("quote in the header", 'a"ge,city\n', "1:2", INSIDE, "'\"'"),
    header("header without closing quote", '"age,city\n', "1:1", CLOSE, "the end of the file"),
    header("NUL in the header", "a\0ge,city\n", "1:2", "text without NUL bytes", r"'\x00'"),
]  # fmt: skip


def test_there_are_many_cases() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 40


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_malformed_table(tmp_path: Path, case: Bad) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(case.text.encode())
    told = f"{path}{case.told}"
    space = FeatureSpace(bits=18, schema=SCHEMA)
    for names in (False, True):
        with pytest.raises(InputError) as caught:
            list(open_examples([path], space, names=names))
        assert str(caught.value) == told


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_rows_are_skipped_and_headers_are_not(tmp_path: Path, case: Bad) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(case.text.encode())
    stream = open_examples([path], FeatureSpace(bits=18, schema=SCHEMA), bad_lines="skip")
    if not case.text.startswith(HEAD):
        with pytest.raises(InputError):
            list(stream)
        return
    assert len(list(stream)) == 1
    assert stream.first_skipped == f"{path}{case.told}"


def test_a_row_too_long_is_one_bad_row(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    long = '31,"' + "Rome\n" * 4_000_000 + '",2026-01-31,1,no\n'
    path.write_text(HEAD + GOOD + long + GOOD + "x\n")
    stream = open_examples([path], FeatureSpace(bits=18, schema=SCHEMA), bad_lines="skip")
    assert (len(list(stream)), stream.skipped) == (2, 2)
    assert stream.first_skipped == (
        f"{path}:3: expected a row of at most 16 MiB (is a quote not closed, or not at the start of its "
        "cell?), found a longer one"
    )
