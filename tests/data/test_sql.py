"""Are files, databases and queries the tables that they hold, in order and in bounded memory?"""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from lessregret import ArrowTable, Column, FeatureSpace, Learner, Schema, open_examples, open_table
from lessregret.data.convert import convert
from lessregret.data.recognise import recognise
from lessregret.data.sql import Query
from lessregret.errors import InputError, SpecError
from tests.support.command_line import ENVIRONMENT

SCHEMA = Schema(
    (
        Column("age", "number"),
        Column("city", "category"),
        Column("at", "time"),
        Column("y", "label"),
    ),
    classes=("no", "yes"),
)
ROWS = 5_000
SQL = f"""
    SELECT i % 90 AS age, if(i % 11 = 0, NULL, 'city ' || i % 37) AS city,
        TIMESTAMP '2026-01-01' + i * INTERVAL 7 MINUTE AS at, if(i % 3 = 0, 'yes', 'no') AS y
    FROM range({ROWS}) rows(i)
"""


def learned(table: object) -> bytes:
    learner = Learner("logistic", bits=16, schema=SCHEMA)
    learner.learn(open_table(table, learner))
    assert learner.ledger().rounds == ROWS
    return learner.to_bytes()


@pytest.fixture(scope="module")
def expected() -> bytes:
    return learned(duckdb.sql(SQL))


def parquet(folder: Path) -> str:
    duckdb.sql(SQL).write_parquet(str(folder / "t.parquet"))
    return str(folder / "t.parquet")


def parquet_parts(folder: Path) -> str:
    for part, rows in enumerate(["i < 1000", "i >= 1000 AND i < 1003", "i >= 1003"]):
        duckdb.sql(f"{SQL} WHERE {rows}").write_parquet(str(folder / f"part-{part}.parquet"))
    return str(folder / "part-*.parquet")


def json_lines(folder: Path) -> str:
    duckdb.sql(f"COPY ({SQL}) TO '{folder}/t.jsonl' (FORMAT json)")
    return str(folder / "t.jsonl")


def packed_json_lines(folder: Path) -> str:
    duckdb.sql(f"COPY ({SQL}) TO '{folder}/t.jsonl.gz' (FORMAT json, COMPRESSION gzip)")
    return str(folder / "t.jsonl.gz")


def arrow_file(folder: Path) -> str:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    table = pa.table(duckdb.sql(SQL))
    with pa.ipc.new_file(str(folder / "t.arrow"), table.schema) as file:
        file.write_table(table, max_chunksize=1000)
    return str(folder / "t.arrow")


def feather(folder: Path) -> str:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    polars.DataFrame(duckdb.sql(SQL)).write_ipc(folder / "t.feather", compression="zstd")
    return str(folder / "t.feather")


def database(folder: Path) -> str:
    connection = duckdb.connect(folder / "t.duckdb")
    connection.execute(f"CREATE TABLE rows_of_it AS {SQL}")
    connection.close()
    return str(folder / "t.duckdb")


def sqlite(folder: Path) -> str:
    connection = sqlite3.connect(folder / "t.db")
    connection.execute("CREATE TABLE t (age INTEGER, city TEXT, at TEXT, y TEXT)")
    rows = [(age, city, str(at), y) for age, city, at, y in duckdb.sql(SQL).fetchall()]
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
    connection.commit()
    connection.close()
    return str(folder / "t.db")


FILES = [
    parquet, parquet_parts, json_lines, packed_json_lines, arrow_file, feather, database, sqlite,
]  # fmt: skip


@pytest.mark.parametrize("write", FILES, ids=lambda write: write.__name__)
def test_every_file_gives_the_same_model(
    write: Callable[[Path], str], tmp_path: Path, expected: bytes
) -> None:
    data = recognise(write(tmp_path))
    assert data.kind == "table"
    assert learned(data.table) == expected
    # Whatever was read is read again from its beginning.
    assert learned(data.table) == expected


def test_a_query_joins_files(tmp_path: Path, expected: bytes) -> None:
    file = parquet(tmp_path)
    (tmp_path / "classes.csv").write_text("y,wanted\nyes,1\nno,1\n")
    query = f"""
        SELECT age, city, "at", y FROM '{file}' JOIN '{tmp_path}/classes.csv' USING (y)
        ORDER BY "at"
    """
    assert learned(recognise(query=query).table) == expected
    stem = database(tmp_path)
    assert learned(recognise(stem, query="SELECT * FROM rows_of_it;").table) == expected


def test_nested_objects_are_columns(tmp_path: Path) -> None:
    lines = [{"a": 1, "user": {"name": "x", "place": {"city": "Rome"}}, "l": [1]}, {"a": 2}]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    table = ArrowTable(recognise(tmp_path / "t.jsonl").table)
    assert [name for name, _ in table.columns] == ["a", "user.name", "user.place.city", "l"]
    columns = Column("a", "number"), Column("user.place.city", "category")
    space = FeatureSpace(bits=10, labels="any", schema=Schema(columns))
    assert [len(example.slots) for example in table.examples(space)] == [2, 2]


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("selekt", r"query: expected a query that DuckDB can run, found trouble \(Parser Error"),
        ("SELECT 1 FROM 'no.parquet'", r"found trouble \(IO Error: No files found"),
        ("SELECT x FROM range(3) t(i)", "Referenced column"),
        ("CREATE TABLE t (i INT)", "expected one SELECT, found CREATE"),
        ("SELECT 1; SELECT 2", "found SELECT and SELECT"),
        ("", "found nothing"),
    ],
)
def test_a_query_that_cannot_run_is_told_in_one_line(query: str, told: str) -> None:
    with pytest.raises(InputError, match=told) as raised:
        ArrowTable(recognise(query=query).table, "query")
    assert "\n" not in str(raised.value)


def test_an_error_in_the_middle_of_a_file_is_told(tmp_path: Path) -> None:
    lines = ['{"x": 1}'] * 30_000 + ['{"x": "no number"}']
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    schema = Schema((Column("x", "number"),))
    data = recognise(tmp_path / "t.jsonl")
    stream = open_table(data.table, FeatureSpace(bits=9, labels="any", schema=schema), name="t")
    with pytest.raises(InputError, match=r"t: expected a table .*in line 30001") as raised:
        list(stream)
    assert "\n" not in str(raised.value)


def test_kinds_of_data(tmp_path: Path) -> None:
    for name, kind in {
        "a.vw": "text", "-": "text", "a.vw.gz": "text", "a.csv": "csv", "b.TSV.zst": "csv",
        "c.parquet": "table", "d.ndjson": "table",
    }.items():  # fmt: skip
        assert recognise(name).kind == kind, name
    examples = tmp_path / "e.arrow"
    (tmp_path / "e.vw").write_text("1 |a b\n")
    convert(open_examples([tmp_path / "e.vw"], FeatureSpace(bits=10)), examples)
    assert recognise(examples).kind == "text"
    assert recognise(duckdb.sql("SELECT 1")).kind == "table"
    with pytest.raises(SpecError, match="expected files of one kind, found csv and table"):
        recognise(["a.csv", "b.parquet"])
    with pytest.raises(SpecError, match=r"expected files of one kind, such as all .parquet"):
        recognise(["a.jsonl", "b.parquet"])
    with pytest.raises(InputError, match="expected files that match the pattern"):
        recognise(str(tmp_path / "*.parquet"))
    with pytest.raises(SpecError, match="data: expected names of files or a table"):
        recognise(17)


def test_a_database_with_several_tables_needs_a_name(tmp_path: Path, expected: bytes) -> None:
    for file in (database(tmp_path), sqlite(tmp_path)):
        connect: Any = duckdb.connect if file.endswith("duckdb") else sqlite3.connect
        connection = connect(file)
        connection.execute("CREATE TABLE other (i INTEGER)")
        connection.commit()
        connection.close()
        with pytest.raises(InputError, match=r"expected one table, .*--table, found the tables"):
            recognise(file)
        table = "t" if file.endswith(".db") else "rows_of_it"
        assert learned(recognise(file, table=table).table) == expected
    with pytest.raises(SpecError, match="is no database"):
        recognise("a.vw", table="t")


def test_a_file_that_is_no_table_is_told(tmp_path: Path) -> None:
    for name in ("t.parquet", "t.duckdb", "t.sqlite", "t.arrow"):
        (tmp_path / name).write_bytes(b"nonsense" * 1000)
        with pytest.raises(InputError, match=re.escape(name)):
            ArrowTable(recognise(tmp_path / name).table, name)


PEAK = """
import re, sys
from pathlib import Path
from lessregret import Column, Learner, Schema, open_table
from lessregret.data.recognise import recognise
schema = Schema((Column("x", "number"), Column("s", "category")))
learner = Learner("logistic", bits=16, schema=schema)
stream = open_table(recognise(sys.argv[1]).table, learner.space.unlabelled())
while len(learner.predict(stream, limit=1 << 16)):
    pass
print(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""


def peak(folder: Path, rows: int) -> int:
    """The largest memory of a run over a Parquet file, in megabytes."""
    file = folder / f"{rows}.parquet"
    duckdb.sql(f"""
        COPY (SELECT i * 0.5::DOUBLE AS x, md5(i::VARCHAR) || md5((i + 1)::VARCHAR) AS s
        FROM range({rows}) t(i)) TO '{file}' (ROW_GROUP_SIZE 100_000)
    """)
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(file)], capture_output=True, env=ENVIRONMENT, check=True
    )
    file.unlink()
    return int(done.stdout) // 1000


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc, as on Linux")
def test_the_memory_of_a_streamed_file_is_bounded(tmp_path: Path) -> None:
    small, large = peak(tmp_path, 1_500_000), peak(tmp_path, 4_500_000)
    # Three times the rows, 200 MB of text more. DuckDB reads some row groups ahead in both.
    assert large - small < 60, (small, large)


def test_duckdb_is_imported_when_it_is_used() -> None:
    program = (
        "import lessregret.cli, lessregret.data.recognise, sys; print('duckdb' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, env=ENVIRONMENT)
    assert done.stdout.strip() == b"False"


def test_rows_keep_their_order() -> None:
    schema = Schema((Column("i", "tag"),))
    space = FeatureSpace(bits=4, labels="any", schema=schema)
    stream = open_table(Query("SELECT i FROM range(300_000) t(i)"), space)
    assert [int(example.tag) for example in stream] == list(range(300_000))
