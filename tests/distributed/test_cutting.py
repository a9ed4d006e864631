"""Tables as pieces: row groups and batches hold all rows once, and small files go together."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from lessregret import InputError, Learner, SpecError
from lessregret.distributed import (
    ArrowRows,
    RowGroups,
    Several,
    WholeFile,
    cut,
    cut_table,
    in_process,
    train,
    train_interval,
)
from lessregret.distributed.cutting import about_examples
from lessregret.distributed.pieces import singles

pyarrow: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

ROWS = 900
COLUMNS = {
    "age": [20 + k % 50 for k in range(ROWS)],
    "city": ["Rome" if k % 3 else "Oslo" for k in range(ROWS)],
    "bought": ["yes" if k % 3 and k % 50 > 9 else "no" for k in range(ROWS)],
}


@pytest.fixture
def table() -> Any:
    return pyarrow.table(COLUMNS)


@pytest.fixture
def parquet(tmp_path: Path, table: Any) -> Path:
    import pyarrow.parquet

    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(table, path, row_group_size=100)
    return path


def alone(table: Any) -> bytes:
    start = train(table, label="bought", syncs=1, workers=1, engine=in_process)
    return start.to_bytes()


def test_row_groups_are_all_rows_once(parquet: Path, table: Any) -> None:
    for count in (1, 2, 4, 9, 50):
        pieces = [part for piece in cut([parquet], count) for part in singles(piece)]
        ranges = [(part.start, part.stop) for part in pieces if isinstance(part, RowGroups)]
        assert [start for start, _ in ranges] == [0, *(stop for _, stop in ranges[:-1])]
        assert ranges[-1][1] == ROWS
        assert all(start % 100 == 0 for start, _ in ranges)
        assert len(ranges) <= min(count, 9)
    run = train(parquet, label="bought", workers=1, syncs=5, engine=in_process)
    assert run.to_bytes() == alone(table)


def test_slices_of_a_table_are_sent_without_the_rest(table: Any) -> None:
    pieces = cut_table(table, 7)
    assert sum(piece.table.num_rows for piece in pieces if isinstance(piece, ArrowRows)) == ROWS
    sent = [pickle.dumps(piece) for piece in pieces]
    assert all(len(content) < len(pickle.dumps(ArrowRows(table))) / 3 for content in sent)
    learner = train(table, label="bought", workers=1, syncs=1, engine=in_process)
    start = Learner(learner.spec["loss"], bits=22, schema=learner.space.schema).to_bytes()
    for content in sent:
        start = train_interval(start, pickle.loads(content))
    assert start == learner.to_bytes()


def test_a_stopped_run_over_a_table_goes_on(table: Any, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"label": "bought", "workers": 2, "syncs": 3, "engine": in_process}

    def stop(line: str) -> None:
        if line.startswith("sync 2 "):
            raise InterruptedError

    with pytest.raises(InterruptedError):
        train(table, checkpoint=tmp_path / "kept", progress=stop, **settings)
    resumed = train(table, checkpoint=tmp_path / "kept", **settings)
    assert resumed.to_bytes() == train(table, **settings).to_bytes()
    with pytest.raises(SpecError, match="run with other files or settings"):
        train(table.slice(1), checkpoint=tmp_path / "kept", **settings)


def test_small_files_are_one_piece(tmp_path: Path) -> None:
    for k in range(30):
        (tmp_path / f"{k:02}.vw").write_text("1 | a\n-1 | b\n" * 5)
    pieces = cut([f"{tmp_path}/*.vw"], 4)
    assert 4 <= len(pieces) <= 5
    assert all(isinstance(piece, Several) for piece in pieces)
    assert sum(len(list(singles(piece))) for piece in pieces) == 30
    learner = train(f"{tmp_path}/*.vw", start=Learner(bits=8), syncs=2, engine=in_process)
    assert learner.tally().rounds == 300


def test_csv_files_are_whole(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("age,bought\n" + "31,no\n58,yes\n" * 20)
    pieces = cut([f"{tmp_path}/*.csv"], 8)
    assert [type(piece) for piece in pieces] == [WholeFile, WholeFile]
    learner = train(f"{tmp_path}/*.csv", label="bought", syncs=4, engine=in_process)
    assert learner.tally().rounds == 80


def test_syncs_every_so_many_examples(tmp_path: Path, parquet: Path) -> None:
    told: list[str] = []
    train(parquet, label="bought", every=300, engine=in_process, workers=1, progress=told.append)
    assert len(told) == 3
    log = tmp_path / "log.vw"
    log.write_text("1 | a\n0 | b\n" * 500)
    assert about_examples([log]) == 1000
    packed = tmp_path / "log.vw.gz"
    packed.touch()
    with pytest.raises(SpecError, match="packed file"):
        about_examples([packed])
    with pytest.raises(SpecError, match="every must be 1 or more, found 0"):
        train(log, every=0)


def test_what_is_missing_is_said(tmp_path: Path, table: Any) -> None:
    with pytest.raises(SpecError, match="needs a label"):
        train(table, engine=in_process)
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"broken.parquet: expected a Parquet file"):
        cut([broken], 2)
