"""Are the cells of a table those that Python's csv module finds?

It is less strict: it takes a quote inside a cell without quotes, several carriage returns before a
newline, and NUL bytes. Where we refuse a table that it reads, that must be the reason.
"""

from __future__ import annotations

import csv

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessregret import _core
from lessregret.errors import InputError

STRICTER = ("no quote inside a cell", "a newline after '\\r'", "text without NUL")

cells = st.text(st.sampled_from('ab,;"\n\r\t é'), max_size=6)
tables = st.lists(st.lists(cells, min_size=1, max_size=4), max_size=6)
bytes_of_tables = st.text(st.sampled_from('a,,""\n\n\r\0 '), max_size=40)


def lines(text: str) -> list[str]:
    """The lines with their newlines; a carriage return ends none."""
    return [line + "\n" for line in text.split("\n")]


def as_python_reads(text: str, delimiter: str) -> list[list[str]] | None:
    try:
        return [row for row in csv.reader(lines(text), delimiter=delimiter, strict=True) if row]
    except csv.Error:
        return None


def check(text: str, delimiter: str = ",") -> None:
    expected = as_python_reads(text, delimiter)
    try:
        found = _core.split_cells(text.encode("latin-1"), delimiter)
    except InputError as error:
        reason = error.expected
    else:
        assert expected == [[cell.decode("latin-1") for cell in row] for row in found]
        return
    assert expected is None or reason.startswith(STRICTER), text


@settings(max_examples=500, deadline=None)
@given(tables, st.sampled_from(",;\t"), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_what_python_writes(
    table: list[list[str]], delimiter: str, end: str, everything: bool
) -> None:
    rows: list[str] = []

    class Lines:
        def write(self, line: str) -> int:
            rows.append(line)
            return len(line)

    # It quotes a carriage return only if its line ends have one.
    quoting = csv.QUOTE_ALL if everything or end == "\n" else csv.QUOTE_MINIMAL
    csv.writer(Lines(), delimiter=delimiter, lineterminator=end, quoting=quoting).writerows(table)
    text = "".join(rows)
    found = _core.split_cells(text.encode("latin-1"), delimiter)
    assert [[cell.decode("latin-1") for cell in row] for row in found] == table


@settings(max_examples=2000, deadline=None)
@given(bytes_of_tables)
def test_any_text(text: str) -> None:
    check(text)


@settings(max_examples=500, deadline=None)
@given(tables, st.integers(0, 200), st.sampled_from('",\n\rx'))
def test_text_with_one_change(table: list[list[str]], place: int, byte: str) -> None:
    text = "\n".join(",".join(f'"{cell}"' for cell in row) for row in table)
    place %= len(text) + 1
    check(text[:place] + byte + text[place + 1 :])


@pytest.mark.parametrize(
    "text",
    [
        '"a""b"',
        '""',
        '"a\n\nb",c',
        ",\n,",
        'a\r\n"b\r\n"\r\n',
        '"a',
        '"a"b',
        'a"b',
        '"a" ',
        "a\rb",
        " ",
    ],
)
def test_the_turns_of_the_grammar(text: str) -> None:
    check(text)
