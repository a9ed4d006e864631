"""Are the columns of a table what a user would say they are, and are its rows read as they stand?"""

# ruff: noqa: E501 (sentences stand in one piece)
from __future__ import annotations

import gzip
import io
import lzma
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lessregret import Learner
from lessregret.data.column_choices import ColumnChoices
from lessregret.data.convert import convert
from lessregret.data.examples import Examples
from lessregret.data.streams import ExampleStream, open_examples
from lessregret.data.tables import Inferred, infer_schema
from lessregret.errors import InputError, SpecError
from lessregret.learners.schema import Column, Schema
from lessregret.learners.space import FeatureSpace
from tests.support.command_line import ENVIRONMENT

PEOPLE = """\
id,age,city,joined,about,bought
p1,31,Rome,2026-01-31,the quick brown fox,no
p2,,Oslo,2026-02-28,jumps over a dog,yes
p3,58,"Rome",2026-03-31,"lazy, but well loved",no
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    return path


def inferred(path: Path, content: str | None = None, /, **options: Any) -> Inferred:
    if content is not None:
        path.write_text(content)
    known = {field.name for field in fields(ColumnChoices)}
    choices = ColumnChoices(**{name: options.pop(name) for name in known & set(options)})
    return infer_schema([path], choices, **options)


def opened(path: Any, schema: Schema, labels: str = "binary", **options: Any) -> ExampleStream:
    return open_examples([path], FeatureSpace(bits=18, labels=labels, schema=schema), **options)


def rows(stream: ExampleStream) -> list[tuple[float, list[int], list[float], bytes]]:
    return [(e.label, e.slots.tolist(), e.values.tolist(), e.tag) for e in stream]


def kinds(found: Inferred) -> dict[str, str]:
    return {column.name: column.kind for column in found.schema.columns}


def test_kinds_are_inferred_and_given_ones_count_for_more(table: Path) -> None:
    assert kinds(inferred(table, label="bought")) == {
        "id": "category", "age": "number", "city": "category", "joined": "time", "about": "text",
        "bought": "label",
    }  # fmt: skip
    found = inferred(
        table,
        label="bought",
        tag="id",
        category=["age"],
        ignore=["joined"],
        text=["city", "about:2"],
    )
    assert kinds(found) == {
        "id": "tag", "age": "category", "city": "text", "joined": "ignore", "about": "text",
        "bought": "label",
    }  # fmt: skip
    assert [column.words for column in found.schema.columns] == [1, 1, 1, 1, 2, 1]


def test_what_is_printed(table: Path) -> None:
    assert inferred(table, label="bought").lines() == [
        "column  kind      missing  seen",
        "id      category  0 %      p1, p2, p3",
        "age     number    33 %     31 to 58",
        "city    category  0 %      Rome, Oslo",
        "joined  time      0 %      2026-01-31, 2026-02-28, 2026-03-31",
        'about   text      0 %      jumps over a dog, "lazy, but well loved", the quick brown fox',
        "bought  label     0 %      no, yes",
    ]


LABELS = [
    ("words", "y\na\nb\n", {}, ("logistic", ("a", "b"))),
    ("numbers as numbers", "y\n9\n10\n9.0\n", {}, ("logistic", ("9", "10"))),
    ("signs", "y\n1\n-1\n", {}, ("logistic", ("-1", "1"))),
    ("true and false", "y\ntrue\nFalse\n", {}, ("logistic", ("False", "true"))),
    ("positive", "y\na\nb\n", {"positive": "a"}, ("logistic", ("b", "a"))),
    ("one against all", "y\na\nb\nc\n", {"positive": "b"}, ("logistic", (None, "b"))),
    ("numbers", "y\n1\n2\n3.5\n", {}, ("squared", None)),
    ("numbers by loss", "y\n0\n1\n", {"loss": "squared"}, ("squared", None)),
    ("hinge", "y\n0\n1\n", {"loss": "hinge"}, ("hinge", ("0", "1"))),
    ("many numbers, one positive", "y\n1\n2\n3\n", {"positive": "3"}, ("logistic", (None, "3"))),
    ("missing labels do not count", "y,x\na,1\n,2\nb,3\n", {}, ("logistic", ("a", "b"))),
]


@pytest.mark.parametrize(
    ("text", "options", "expected"), [c[1:] for c in LABELS], ids=[c[0] for c in LABELS]
)
def test_labels(table: Path, text: str, options: dict[str, Any], expected: tuple[str, Any]) -> None:
    found = inferred(table, text, label="y", **options)
    assert (found.loss, found.schema.classes) == expected


def test_more_than_two_words_are_many_classes(table: Path) -> None:
    found = inferred(table, "y\nb\nc\na\n", label="y")
    assert (found.loss, found.schema.classes, found.schema.names) == (
        "logistic",
        None,
        ("a", "b", "c"),
    )
    numbers = inferred(table, "y\n3\n1\n2\n", label="y", loss="hinge")
    assert (numbers.loss, numbers.schema.names) == ("hinge", ("1", "2", "3"))


REFUSED = [
    ("one value", "y\na\na\n", {"label": "y"},
     "the first 10,000 rows have only the label 'a' in column 'y', and two are needed; shuffle the rows, "
     "or choose another column as label"),
    ("no value", "y,x\n,1\n", {"label": "y"},
     "the first 10,000 rows have no label in column 'y', and two are needed; shuffle the rows, or choose "
     "another column as label"),
    ("no such positive", "y\na\nb\n", {"label": "y", "positive": "c"},
     "positive: no label in column 'y' is 'c'; it has 'a', 'b'"),
    ("positive number", "y\n1\n2\n", {"label": "y", "positive": "1", "loss": "squared"},
     "positive is for two classes; squared loss has numbers as labels"),
    ("no such label", "bought,x\na,b\n", {"label": "bougth"},
     "label: the table has no column 'bougth'; did you mean 'bought'? it has 'bought', 'x'"),
    ("no such category", "y,x\na,b\n", {"label": "y", "category": ["zzz"]},
     "category: the table has no column 'zzz'; it has 'y', 'x'"),
    ("no such cross", "y,x\na,b\n", {"label": "y", "cross": ("x*xx",)},
     "cross: the table has no column 'xx'; did you mean 'x'? it has 'y', 'x'"),
    ("two kinds", "y,x\na,b\n", {"label": "y", "category": ["x"], "text": ["x"]},
     "column 'x' is given as category and as text; give it once"),
    ("too many words", "y,x\na,b\n", {"label": "y", "text": ["x:9"]},
     "text 'x:9': expected from 1 to 3 words after ':', found 9"),
    ("wrong delimiter", "y,x\na,b\n", {"label": "y", "delimiter": ",,"},
     "the delimiter of a table must be one ASCII character, found ',,'"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "options", "told"), [c[1:] for c in REFUSED], ids=[c[0] for c in REFUSED]
)
def test_requests_that_cannot_be_met(
    table: Path, text: str, options: dict[str, Any], told: str
) -> None:
    with pytest.raises(SpecError) as caught:
        inferred(table, text, **options)
    assert str(caught.value) == told


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found_in_the_first_line(table: Path, delimiter: str) -> None:
    text = PEOPLE.splitlines()[0].replace(",", delimiter) + "\n"
    text += delimiter.join(["1", "2", "3", "2026-01-01", '"a, b; c"', "no"]) + "\n"
    text += delimiter.join(["1", "2", "3", "2026-01-01", '"a| b"', "yes"]) + "\n"
    found = inferred(table, text, label="bought")
    assert (found.delimiter, len(found.columns)) == (delimiter, 6)


def test_tsv_is_known_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("a,b\ty\n1,2\tno\n3\tyes\n")
    found = infer_schema([path], ColumnChoices(label="y"))
    assert kinds(found) == {"a,b": "category", "y": "label"}
    assert len(rows(opened(path, found.schema))) == 2


def test_a_row_is_an_example(table: Path) -> None:
    schema = Schema(
        (
            Column("age", "number"), Column("city", "category"), Column("id", "tag"),
            Column("bought", "label"), Column("about", "ignore"),
        ),
        classes=("no", "yes"),
    )  # fmt: skip
    stream = opened(table, schema, names=True)
    found = rows(stream)
    assert [(row[0], row[2], row[3]) for row in found] == [
        (-1, [31, 1], b"p1"), (1, [1, 1], b"p2"), (-1, [58, 1], b"p3"),
    ]  # fmt: skip
    assert stream.ignored_columns == ["joined"]
    plain = opened(table, schema)
    assert rows(plain) == found
    slots = {name: slot for slot, name in named(stream).items()}
    assert found[1][1] == [slots["age=missing"], slots["city=Oslo"]]


def named(stream: ExampleStream) -> dict[int, str]:
    from lessregret import _core

    names = ["age", "age=missing", "city=Oslo", "city=Rome"]
    return dict(zip(_core.hash_features(names, 18).tolist(), names, strict=True))


def test_columns_in_another_order_give_the_same_examples(table: Path, tmp_path: Path) -> None:
    schema = inferred(table, label="bought").schema
    expected = rows(opened(table, schema))
    import csv

    turned = tmp_path / "turned.csv"
    with table.open(newline="") as file, turned.open("w", newline="") as other:
        writer = csv.writer(other, quoting=csv.QUOTE_ALL)
        for row in csv.reader(file):
            writer.writerow([*row[::-1], "more"])
    stream = opened(turned, schema)
    assert rows(stream) == expected
    assert stream.ignored_columns == ["more"]


def test_only_predicting_works_without_a_label(table: Path) -> None:
    schema = inferred(table, label="bought").schema
    unlabelled = "\n".join(line.rpartition(",")[0] for line in PEOPLE.splitlines())
    table.write_text(unlabelled)
    with pytest.raises(InputError, match="expected a column 'bought' in the header"):
        rows(opened(table, schema))
    assert np.isnan([row[0] for row in rows(opened(table, schema, labels="any"))]).all()


def test_without_header_names_are_given_or_numbered(table: Path) -> None:
    text = "1,no\n2,yes\n"
    found = inferred(table, text, label="c2", header=())
    assert kinds(found) == {"c1": "number", "c2": "label"}
    assert len(rows(opened(table, found.schema, header=False))) == 2
    found = inferred(table, text, label="y", header=("x", "y"))
    stream = opened(table, found.schema, header=False, column_names=["x", "y"])
    assert [row[2] for row in rows(stream)] == [[1.0], [2.0]]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress], ids=["plain", "gzip", "xz"])
def test_packed_tables(tmp_path: Path, pack: Any, threads: int) -> None:
    path = tmp_path / "t.csv.packed"
    head, *lines = PEOPLE.splitlines(keepends=True)
    path.write_bytes(pack((head + "".join(lines) * 5000).encode()))
    found = infer_schema([path], ColumnChoices(label="bought"))
    stream = opened(path, found.schema, format="csv", threads=threads)
    assert len(rows(stream)) == 15000


@pytest.mark.parametrize("text", [b"1 1:1\n", b"1 |a b\n"])
def test_xz_is_for_all_text(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "data.xz"
    path.write_bytes(lzma.compress(text * 1000))
    assert len(list(open_examples([path], FeatureSpace(bits=8)))) == 1000


def test_damaged_xz_is_an_error_with_the_name_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "data.xz"
    packed = lzma.compress(np.random.default_rng(1).bytes(100_000).hex().encode())
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(InputError) as caught:
        list(open_examples([path], FeatureSpace(bits=8), bad_lines="skip"))
    assert str(caught.value).startswith(
        f"{path}: expected a file that can be read, found trouble ("
    )
    assert "end-of-stream marker" in str(caught.value)


def test_any_object_with_read_is_a_file(table: Path) -> None:
    schema = inferred(table, label="bought").schema
    expected = rows(opened(table, schema))
    assert rows(opened(io.BytesIO(PEOPLE.encode()), schema, format="csv")) == expected
    with pytest.raises(
        InputError, match="read\\(\\) must return bytes; open the file in binary mode"
    ):
        rows(opened(io.StringIO(PEOPLE), schema, format="csv"))
    with pytest.raises(InputError, match="expected the name of a file, or an object with read"):
        opened(3, schema, format="csv")


def test_standard_input_can_be_looked_at_before_it_is_read() -> None:
    program = """
from lessregret.data.column_choices import ColumnChoices
from lessregret.data.streams import open_examples
from lessregret.data.tables import infer_schema
from lessregret.learners.space import FeatureSpace
found = infer_schema(["-"], ColumnChoices(label="bought"))
space = FeatureSpace(bits=18, schema=found.schema)
print(found.delimiter, len(list(open_examples(["-"], space, format="csv"))))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=PEOPLE.encode(), capture_output=True, env=ENVIRONMENT, check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == (b", 3\n", b"")


def test_bad_rows_are_skipped_whole_and_counted(table: Path) -> None:
    schema = inferred(table, label="bought").schema
    bad = 'p4,12,"Par"is,2026-01-01,x,no\np5,"\n\n",x\n'
    table.write_text(PEOPLE + bad + PEOPLE.splitlines()[1] + "\n")
    stream = opened(table, schema, bad_lines="skip")
    assert (len(rows(stream)), stream.skipped) == (4, 2)
    assert stream.first_skipped is not None
    assert stream.first_skipped.startswith(f"{table}:5:12: expected ',' or the end of the line")
    with pytest.raises(InputError) as caught:
        rows(opened(table, schema))
    assert (caught.value.line, caught.value.column) == (5, 12)


def test_tables_are_converted_collected_and_learned_from(table: Path, tmp_path: Path) -> None:
    found = inferred(table, label="bought", tag="id")
    expected = rows(opened(table, found.schema, labels="any"))
    arrow = tmp_path / "people.arrow"
    convert(opened(table, found.schema, labels="any"), arrow)
    assert rows(open_examples([arrow], FeatureSpace(bits=18, labels="any"))) == expected
    learner = Learner(found.loss, bits=18, schema=found.schema)
    collected = Examples.collect(open_examples([table], learner))
    learner.learn(collected)
    again = Learner(found.loss, bits=18, schema=found.schema)
    again.learn(open_examples([table], again))
    data = open_examples([table], learner.space.unlabelled())
    other = open_examples([table], learner.space.unlabelled())
    np.testing.assert_array_equal(learner.predict(data).margins, again.predict(other).margins)


def test_a_table_needs_a_schema(table: Path) -> None:
    with pytest.raises(SpecError, match="a table needs a feature space with a schema"):
        list(open_examples([table], FeatureSpace(bits=8), format="csv"))
