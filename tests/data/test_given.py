"""Tables of all kinds: does the same table give the same model, however it is stored?"""

from __future__ import annotations

import csv
import io
import lzma
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import lessregret
from lessregret.data.column_choices import ColumnChoices
from lessregret.data.given import given_data
from lessregret.errors import SpecError
from tests.support.data_home import home_with

ADULT = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital", "occupation"),
    *("relationship", "race", "sex", "gain", "loss", "hours", "country", "income"),
)
TABLES: dict[str, dict[str, Any]] = {
    "adult": {"label": "income", "columns": {"header": ADULT}},
    "bank": {"label": "y"},
    "spambase": {"label": "58"},
    "elec": {"label": "class"},
    "bike-hours": {"label": "cnt", "columns": {"ignore": ["casual", "registered"]}},
    "california-housing": {"label": "median_house_value"},
}


def model(data: Any = (), **said: Any) -> bytes:
    return lessregret.train(data, bits=18, **said).learner.to_bytes()


def mixed_rows() -> str:
    """Numbers, categories with quotes and commas, dates, text and missing cells."""
    lines = ["when,city,age,price,about,bought"]
    for k in range(300):
        city = ['"Paris, France"', "Oslo", '"the ""Big"" Apple"'][k * k % 3]
        age = "" if k % 7 == 0 else str(20 + k % 50)
        about = ["", "quick and friendly help", f"order {k} was late again"][k % 3]
        when = f"2026-{1 + k % 12:02}-{1 + k % 28:02} {k % 24:02}:15:00"
        lines.append(f"{when},{city},{age},{k / 8},{about},{'buys' if k % 5 < 2 else 'leaves'}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_text(mixed_rows())
    return path


def stored(table: Path) -> Iterator[Any]:
    """The table in other files, and as frames of other libraries."""
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    folder = table.parent
    rows = f"SELECT * FROM read_csv('{table}', nullstr='')"
    for ending in ("parquet", "jsonl"):
        kind = "JSON" if ending == "jsonl" else "PARQUET"
        duckdb.sql(f"COPY ({rows}) TO '{folder / f'table.{ending}'}' (FORMAT {kind})")
        yield folder / f"table.{ending}"
    database = duckdb.connect(str(folder / "table.duckdb"))
    database.sql(f"CREATE TABLE rows AS {rows}")
    database.close()
    yield folder / "table.duckdb"
    yield duckdb.sql(rows)
    yield from frames(folder)


def frames(folder: Path) -> Iterator[Any]:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    polars = pytest.importorskip("polars", reason="polars is not installed")
    feather = pytest.importorskip("pyarrow.feather", reason="pyarrow is not installed")
    yield pandas.read_csv(folder / "table.csv", parse_dates=["when"])
    frame = polars.read_csv(folder / "table.csv", try_parse_dates=True)
    yield frame
    yield frame.to_arrow()
    feather.write_feather(frame.to_arrow(), folder / "table.arrow", compression="uncompressed")
    yield folder / "table.arrow"


def test_the_same_table_is_the_same_model_however_it_is_stored(table: Path) -> None:
    expected = model(table, label="bought")
    for other in stored(table):
        assert model(other, label="bought") == expected, other


def test_a_query_is_a_table(table: Path) -> None:
    whole = model(table, label="bought")
    assert model(query=f"SELECT * FROM '{table}'", label="bought") == whole
    some = lessregret.train(query=f"SELECT * FROM '{table}' WHERE price < 10", label="bought")
    assert some.ledger.rounds == 80


def test_what_is_said_of_columns_needs_columns(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="columns are named, but vw text has none"):
        given_data(tmp_path / "x.vw", format="vw", choices=ColumnChoices(label="y"))


def by_hand(rows: list[list[str]], schema: Any) -> Iterator[str]:
    """The rows as Vowpal Wabbit text with the features that the page on formats names."""
    place = {column.name: k for k, column in enumerate(schema.columns)}
    for row in rows:
        label, features = "", []
        for column in schema.columns:
            cell, name = row[place[column.name]].strip(), column.name.replace(" ", "_")
            if column.kind == "label":
                known = schema.classes
                label = cell if known is None else "1" if cell == known[1] else "-1"
            elif column.kind == "ignore":
                continue
            elif cell in schema.missing:
                features.append(f"{name}=missing")
            elif column.kind == "number":
                features.append(f"{name}:{cell}")
            elif column.kind == "category":
                features.append(f"{name}={cell}".replace(" ", "_").replace(":", "_"))
            else:
                day = datetime.fromisoformat(cell)
                weekday = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"][day.weekday()]
                features += [f"{name}.weekday={weekday}", f"{name}.month={day.month}"]
                features.append(f"{name}:{(day - datetime(1970, 1, 1)).days}")
        yield f"{label} | {' '.join(features)}\n"


@pytest.mark.parametrize("name", TABLES)
def test_a_raw_table_is_learned_as_its_text_by_hand(name: str, tmp_path: Path) -> None:
    path = home_with().folder / "tables" / f"{name}.csv.xz"
    if not path.exists():
        pytest.skip(f"the data home lacks tables/{name}.csv.xz")
    trained = lessregret.train(path, **TABLES[name])
    text = lzma.decompress(path.read_bytes()).decode()
    rows = [row for row in csv.reader(io.StringIO(text), skipinitialspace=True) if row]
    schema = trained.learner.space.schema
    assert schema is not None
    lines = by_hand(rows if name == "adult" else rows[1:], schema)
    (tmp_path / "table.vw").write_text("".join(lines))
    loss = trained.learner.spec["loss"]
    other = lessregret.train(tmp_path / "table.vw", loss=loss)
    assert trained.ledger.rounds == other.ledger.rounds
    assert trained.ledger.mean_loss == pytest.approx(other.ledger.mean_loss, rel=0.005)
