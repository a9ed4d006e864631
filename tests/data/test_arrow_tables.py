"""Do tables of other libraries give the examples that their cells are, whatever holds them?"""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessregret import Column, Examples, FeatureSpace, Learner, Schema, _core
from lessregret.data.arrow_tables import ArrowTable, open_table
from lessregret.data.streams import Example, ExampleStream
from lessregret.errors import InputError, SpecError

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

COLUMNS = (
    Column("age", "number"),
    Column("city", "category"),
    Column("body", "text", words=2),
    Column("at", "time"),
    Column("w", "weight"),
    Column("id", "tag"),
    Column("y", "label"),
)
SCHEMA = Schema(COLUMNS, classes=("no", "yes"), crosses=(("age", "city"),))
SPACE = FeatureSpace(bits=16, schema=SCHEMA)
CELLS = {
    "age": [37, None, 4],
    "city": ["New York", "Rome", None],
    "body": ["To be, or", None, "a name that is longer than twelve bytes"],
    "at": [dt.datetime(2026, 11, 17, 8, 5), None, dt.datetime(1969, 12, 31, 23, 59, 59, 5)],
    "w": [1.5, 2.0, 0.25],
    "id": ["a", "b", None],
    "y": ["yes", "no", "yes"],
}
MANY = 9_000
"""Rows that make many pieces, so that threads start."""


def features(examples: ExampleStream) -> list[tuple[Any, ...]]:
    return [comparable(example) for example in examples]


def comparable(example: Example) -> tuple[Any, ...]:
    label, importance, slots, values, tag, base = example
    return str(label), importance, slots.tolist(), values.tobytes(), tag, base


def as_texts(cells: dict[str, list[Any]]) -> _core.Table:
    """The same cells as the text of a CSV file."""
    columns = [[None if cell is None else str(cell) for cell in cells[name]] for name in cells]
    return _core.Table.of_texts(list(cells), iter([columns]), "texts")


def of_texts(cells: dict[str, list[Any]], space: FeatureSpace = SPACE) -> list[tuple[Any, ...]]:
    return features(ExampleStream(_core.Stream.over_table(as_texts(cells), space.to_json())))


def one_column(array: Any, kind: Any, **schema: Any) -> FeatureSpace:
    columns = (Column("x", kind),)
    return FeatureSpace(bits=16, labels="any", schema=Schema(columns, **schema))


def encoded(array: Any, kind: Any) -> list[tuple[Any, ...]]:
    return features(open_table(pa.table({"x": array}), one_column(array, kind)))


def encoded_texts(cells: list[Any], kind: Any) -> list[tuple[Any, ...]]:
    return of_texts({"x": cells}, one_column(None, kind))


def pandas_table() -> Any:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    return pandas.DataFrame(CELLS)


def polars_table() -> Any:
    return pytest.importorskip("polars", reason="polars is not installed").DataFrame(CELLS)


def duckdb_table() -> Any:
    import duckdb

    connection = duckdb.connect()
    connection.register("cells", pa.table(CELLS))
    return connection.sql("SELECT * FROM cells")


class OnlyArray:
    """A table that has one batch and no stream."""

    def __arrow_c_array__(self, requested_schema: object = None) -> Any:
        return pa.record_batch(CELLS).__arrow_c_array__()


TABLES = {
    "pyarrow table": lambda: pa.table(CELLS),
    "pyarrow batch": lambda: pa.record_batch(CELLS),
    "pyarrow reader": lambda: pa.table(CELLS).to_reader(max_chunksize=1),
    "array only": OnlyArray,
    "pandas": pandas_table,
    "polars": polars_table,
    "duckdb": duckdb_table,
}


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_every_library_gives_the_same_examples(make: Any) -> None:
    assert features(open_table(make(), SPACE)) == of_texts(CELLS)


def test_the_order_of_the_columns_does_not_matter() -> None:
    turned = pa.table(dict(reversed(CELLS.items())))
    assert features(open_table(turned, SPACE)) == of_texts(CELLS)


@pytest.mark.parametrize(
    "kind",
    [
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float32",
        "float64",
    ],
)
@pytest.mark.parametrize("column", ["number", "category"])
def test_numbers_of_all_widths(kind: str, column: str) -> None:
    cells = [1, None, 100]
    texts = [None if cell is None else f"{cell}{'.0' * ('float' in kind)}" for cell in cells]
    assert encoded(pa.array(cells, kind), column) == encoded_texts(texts, column)


@pytest.mark.parametrize("column", ["number", "category"])
@pytest.mark.parametrize(
    ("array", "texts"),
    [
        (pa.array([0.1, None, 3e38], pa.float32()), ["0.1", None, "3e38"]),
        (pa.array(np.array([0.5, 2.0, -1.0], np.float16)), ["0.5", "2.0", "-1.0"]),
        (pa.array([0.1, float("nan"), 1e300 * 0]), ["0.1", None, "0.0"]),
        (pa.array([True, None, False]), ["true", None, "false"]),
        (pa.array([2**64 - 1, None], pa.uint64()), [str(2**64 - 1), None]),
        (pa.array([decimal.Decimal("12.30"), None]), ["12.30", None]),
        (pa.array([decimal.Decimal("-0.05")], pa.decimal128(38, 2)), ["-0.05"]),
        (pa.nulls(2), [None, None]),
        (pa.array(["1", None, "2.5"]).dictionary_encode(), ["1", None, "2.5"]),
        (pa.array([0.1, None], pa.float32()).dictionary_encode(), ["0.1", None]),
    ],
    ids=str,
)
def test_numbers_have_the_text_of_a_csv_file(array: Any, texts: list[Any], column: str) -> None:
    assert encoded(array, column) == encoded_texts(texts, column)


@pytest.mark.parametrize("column", ["category", "text", "tag"])
@pytest.mark.parametrize(
    "kind", ["string", "large_string", "string_view", "binary", "large_binary", "binary_view"]
)
def test_text_of_all_layouts(kind: str, column: str) -> None:
    cells = ["a", "", None, "thirteen byte", " a blank ", "日本", "?"]
    array = pa.array([None if cell is None else cell.encode() for cell in cells], pa.binary())
    array = array.cast(getattr(pa, kind.replace("_view", ""))())
    array = pa.array(array.to_pylist(), getattr(pa, kind)())
    assert encoded(array, column) == encoded_texts(cells, column)
    assert encoded(array[2:], column) == encoded_texts(cells[2:], column)


@pytest.mark.parametrize("index", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"])
def test_dictionaries(index: str) -> None:
    values = pa.array(["x", None, "y z"])
    keys = pa.array([2, None, 0, 1, 0], index)
    array = pa.DictionaryArray.from_arrays(keys, values)
    for column in ("category", "text"):
        expected = encoded_texts(["y z", None, "x", None, "x"], column)
        assert encoded(array, column) == expected
        assert encoded(array[1:], column) == expected[1:]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_times_of_all_units_and_zones(unit: str, zone: str | None) -> None:
    moments = [dt.datetime(2026, 11, 17, 23, 14), None, dt.datetime(1960, 2, 29, 0, 0, 1)]
    array = pa.array(moments, pa.timestamp(unit, zone))
    texts = [None if moment is None else f"{moment}Z" for moment in moments]
    assert encoded(array, "time") == encoded_texts(texts, "time")
    category = [None if moment is None else str(moment) for moment in moments]
    assert encoded(array, "category") == encoded_texts(category, "category")


@pytest.mark.parametrize("kind", [pa.date32(), pa.date64()], ids=str)
def test_dates(kind: Any) -> None:
    days = [dt.date(2026, 11, 17), None, dt.date(1960, 2, 29)]
    assert encoded(pa.array(days, kind), "time") == encoded_texts(days, "time")


@pytest.mark.parametrize(
    ("array", "column", "told"),
    [
        (
            pa.array([[1]]),
            "number",
            "expected numbers, text, dates or true and false in column 'x'",
        ),
        (pa.array([{"a": 1}]), "category", r"leave it out with --ignore x, found the type Struct"),
        (pa.array([1], pa.duration("s")), "number", "found the type Duration"),
        (pa.array([dt.time(1)]), "time", "found the type Time64"),
        (pa.array([1]), "time", "expected dates in column 'x'; train with --category x"),
        (pa.array([dt.date(2026, 1, 1)]), "number", "expected numbers in column 'x'"),
    ],
    ids=str,
)
def test_types_that_a_column_cannot_hold_are_named(array: Any, column: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        encoded(array, column)


def test_a_type_that_cannot_be_read_may_be_ignored() -> None:
    table = pa.table({"x": [1], "nested": [[1]]})
    schema = Schema((Column("x", "number"), Column("nested", "ignore")))
    space = FeatureSpace(bits=10, labels="any", schema=schema)
    assert len(features(open_table(table, space))) == 1


def test_an_absent_column_is_named_and_others_are_told() -> None:
    table = pa.table(CELLS)
    with pytest.raises(InputError, match="frame: expected a column 'city', which is a category"):
        open_table(table.drop_columns(["city"]), SPACE, name="frame")
    with pytest.raises(InputError, match="a column 'y', which is a label"):
        open_table(table.drop_columns(["y"]), SPACE)
    twice = pa.Table.from_arrays([table["age"], table["age"]], names=["x", "x"])
    with pytest.raises(InputError, match="one column with the name 'x', found two of them"):
        open_table(twice, one_column(None, "number"))
    more = table.append_column("more", table["age"])
    assert open_table(more, SPACE).ignored_columns == ["more"]


def test_rows_that_are_predicted_need_no_label_weight_and_tag() -> None:
    table = pa.table(CELLS).drop_columns(["y", "w", "id"])
    found = features(open_table(table, SPACE.unlabelled()))
    expected = of_texts(CELLS, SPACE.unlabelled())
    assert [row[2:4] for row in found] == [row[2:4] for row in expected]
    assert [row[:2] for row in found] == [("nan", 1.0)] * 3


def test_a_bad_cell_is_told_by_its_row_and_column_or_skipped() -> None:
    ages = ["1", "2", "old", "4"]
    table = pa.table({"x": ages})
    space = one_column(None, "number")
    stream = open_table(table, space, name="frame")
    with pytest.raises(InputError) as raised:
        features(stream)
    told = "frame:3: expected a number in column 'x'; train with --category x if its cells are not"
    assert str(raised.value).startswith(told)
    assert raised.value.line == 3
    stream = open_table(table, space, name="frame", bad_lines="skip")
    assert (len(features(stream)), stream.skipped) == (3, 1)
    assert str(stream.first_skipped).startswith("frame:3: ")


def test_rows_are_counted_over_all_batches() -> None:
    batches = [pa.record_batch({"x": [str(k)] * MANY}) for k in (1, 2)]
    batches.append(pa.record_batch({"x": ["x"]}))
    for threads in (1, 3):
        reader = pa.RecordBatchReader.from_batches(batches[0].schema, batches)
        stream = open_table(reader, one_column(None, "number"), threads=threads)
        with pytest.raises(InputError, match=f"table:{2 * MANY + 1}: expected a number"):
            features(stream)


def test_a_table_needs_a_schema_and_columns() -> None:
    with pytest.raises(SpecError, match="a table needs a schema"):
        open_table(pa.table(CELLS), FeatureSpace(bits=10))
    with pytest.raises(InputError, match=r"expected a table with __arrow_c_stream__.*'int'"):
        open_table(17, SPACE)
    with pytest.raises(InputError, match="trouble"):
        open_table(pa.array([1, 2]), SPACE)


def test_a_table_is_read_once() -> None:
    table = ArrowTable(pa.table(CELLS), "frame")
    assert len(features(table.examples(SPACE))) == 3
    with pytest.raises(SpecError, match="frame: the table was read already"):
        table.examples(SPACE)


def test_nothing_is_not_an_error() -> None:
    assert features(open_table(pa.table(CELLS).slice(0, 0), SPACE)) == []
    assert features(open_table(pa.table(CELLS).schema.empty_table(), SPACE)) == []


def broken_batches() -> Iterator[Any]:
    yield pa.record_batch({"x": [1]})
    raise ValueError("the line is dead")


def test_an_error_of_the_library_is_told_in_its_turn() -> None:
    schema = pa.schema({"x": pa.int64()})
    for threads in (1, 2):
        reader = pa.RecordBatchReader.from_batches(schema, broken_batches())
        stream = open_table(reader, one_column(None, "number"), threads=threads)
        rows = iter(stream)
        assert next(rows).values.tolist() == [1.0]
        with pytest.raises(InputError, match=r"table: expected a table .* the line is dead"):
            next(rows)


def many() -> Any:
    rng = np.random.default_rng(7)
    cells = {
        "age": rng.integers(0, 99, MANY),
        "city": pa.array([f"city {k}" for k in rng.integers(0, 50, MANY)]).dictionary_encode(),
        "body": [f"word{k} and word{k % 7}" for k in rng.integers(0, 500, MANY)],
        "at": pa.array(rng.integers(0, 2**40, MANY), pa.timestamp("ms")),
        "w": rng.uniform(0, 2, MANY),
        "id": pa.array(np.arange(MANY)),
        "y": rng.choice(["no", "yes"], MANY),
    }
    return pa.table(cells)


def learner() -> Learner:
    return Learner("logistic", bits=16, schema=SCHEMA)


def model(table: Any, **options: Any) -> bytes:
    trained = learner()
    trained.learn(open_table(table, trained, **options))
    return trained.to_bytes()


def test_threads_and_batches_do_not_change_a_bit() -> None:
    table = many()
    expected = model(table, threads=1)
    for threads in (2, 5):
        assert model(table, threads=threads) == expected
    for size in (7, 1000):
        assert model(table.to_reader(max_chunksize=size), threads=3) == expected
    assert model(table.slice(0, 8000)) != expected


def test_examples_are_collected_limited_and_named() -> None:
    table = many()
    collected = Examples.collect(open_table(table, learner()))
    assert len(collected) == MANY
    kept = learner()
    kept.learn(collected)
    assert kept.to_bytes() == model(table)
    part, whole = learner(), learner()
    stream = open_table(table, part, names=True)
    while len(part.learn(stream, limit=1234)):
        pass
    whole.learn(open_table(table, whole))
    assert part.to_bytes() == whole.to_bytes()
    part.keep_names(stream)
    slots, _ = part.weights()
    names = {part.name(int(slot))[0] for slot in slots if part.name(int(slot))}
    assert {"age", "city=city 7", "body=word3_and", "at.hour=5"} <= names


def test_predictions_have_tags() -> None:
    table, trained = many(), learner()
    trained.learn(open_table(table, trained))
    outcomes = trained.predict(open_table(table, trained.space.unlabelled()))
    assert outcomes.tags[17] == b"17"
    assert len(outcomes) == MANY


# --- samples -----------------------------------------------------------------------------------


def test_a_sample_tells_what_columns_seem_to_be() -> None:
    cells = {**CELLS, "code": ["02139", "10001", "94305"], "nested": [[1]] * 3, "none": [None] * 3}
    table = pa.table(cells)
    table = table.append_column("level", pa.array(["1", "2", "1"]).dictionary_encode())
    table = table.append_column("flag", pa.array([True, False, None]))
    sampled = {column["name"]: column for column in ArrowTable(table).sample()["columns"]}
    assert {name: column["kind"] for name, column in sampled.items()} == {
        "age": "number", "city": "category", "body": "text", "at": "time", "w": "number",
        "id": "category", "y": "category", "code": "category", "nested": "ignore",
        "none": "ignore", "level": "category", "flag": "number",
    }  # fmt: skip
    age, level = sampled["age"], sampled["level"]
    assert (age["cells"], age["missing"], age["different"], age["is_cut"]) == (3, 1, 2, False)
    assert age["range"] == [4.0, 37.0]
    assert level["values"] == [["1", 2], ["2", 1]]
    assert sampled["city"]["range"] is None


def test_what_a_sample_reads_of_a_reader_is_read_again() -> None:
    table = many()
    opened = ArrowTable(table.to_reader(max_chunksize=100))
    assert opened.sample(rows=250)["columns"][0]["cells"] == 250
    assert opened.sample(rows=10)["columns"][0]["cells"] == 10
    trained = learner()
    trained.learn(opened.examples(trained))
    assert trained.to_bytes() == model(table)


def test_the_index_of_pandas_is_no_column() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame({"x": [1, 2]}, index=[7, 9])
    assert [column["name"] for column in ArrowTable(frame).sample()["columns"]] == ["x"]


# --- any table ---------------------------------------------------------------------------------

WORDS = st.none() | st.text(max_size=14)
NUMBERS = st.none() | st.floats(allow_nan=False, allow_infinity=False, width=32)
WHOLE = st.none() | st.integers(-(2**63), 2**63 - 1)


@given(st.lists(st.tuples(WORDS, WORDS, NUMBERS, WHOLE), max_size=20), st.integers(1, 5))
def test_any_table_is_the_table_of_its_texts(rows: list[Any], size: int) -> None:
    # NUL bytes and blanks that text has but CSV files do not keep are no matter here.
    columns = [Column("a", "category"), Column("b", "text", words=2), Column("c", "number")]
    columns.append(Column("d", "category"))
    space = FeatureSpace(bits=20, labels="any", schema=Schema(tuple(columns)))
    cells = dict(zip("abcd", map(list, zip(*rows, strict=True)) if rows else [[]] * 4, strict=True))
    kinds = pa.string(), pa.string_view(), pa.float32(), pa.int64()
    arrays = {name: pa.array(cells[name], kind) for name, kind in zip("abcd", kinds, strict=True)}
    reader = pa.table(arrays).to_reader(max_chunksize=size)
    assert features(open_table(reader, space)) == of_texts(cells, space)
