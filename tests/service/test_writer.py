"""Disks that are full, databases that are locked, queues that are long: is nothing acknowledged
that is not kept?"""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lessregret.learners.learner import Learner
from tests.support.service import (
    LIMIT,
    example,
    learned_model,
    new_model,
    service_of,
    serving,
    wait_until,
)

service = pytest.importorskip("lessregret.service", reason="the extra [serve] is not installed")


def rounds(folder: Path) -> int:
    return Learner.from_bytes(learned_model(folder)).tally().rounds


def test_a_locked_database_is_told_and_got_over(tmp_path: Path) -> None:
    with service_of(tmp_path) as client:
        assert client.post("/learn", example(1, 1)).status == 200
        other = sqlite3.connect(tmp_path / "state" / "log.sqlite", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        refused = client.post("/learn", example(2, 1))
        assert (refused.status, refused.headers["Retry-After"]) == (503, "5")
        assert "the log cannot be written: database is locked" in refused.json["error"]
        assert client.get("/ready").status == 503
        assert client.post("/predict", example(1)).status == 200
        other.execute("ROLLBACK")
        other.close()
        wait_until(lambda: client.get("/ready").status == 200)
        assert client.post("/learn", example(3, 1)).json["position"] == 2
    assert rounds(tmp_path) == 2


def test_a_full_disk_is_told_and_got_over(tmp_path: Path) -> None:
    application = service.app(new_model(tmp_path), state=tmp_path / "state")
    database = application.service.writer.log._database
    with serving(application) as client:
        assert client.post("/learn", example(1, 1)).status == 200
        pages = database.execute("PRAGMA page_count").fetchone()[0]
        database.execute(f"PRAGMA max_page_count = {pages}")
        body = b"1 | " + b"long_name " * 20_000
        refused = client.post("/learn", body, "text/plain")
        assert refused.status == 503
        assert "database or disk is full" in refused.json["error"]
        database.execute("PRAGMA max_page_count = 1000000")
        assert client.post("/learn", body, "text/plain").json["position"] == 2
    assert rounds(tmp_path) == 2


class BrokenDatabase:
    """A database whose commits fail as on a disk that dies."""

    in_transaction = False

    def __init__(self, database: Any) -> None:
        self._database = database

    def execute(self, query: str, *values: Any) -> Any:
        if query == "COMMIT":
            self._database.execute("ROLLBACK")
            raise sqlite3.OperationalError("disk I/O error")
        return self._database.execute(query, *values)

    def close(self) -> None:
        self._database.close()


def test_after_an_unknown_error_only_a_new_start_learns(tmp_path: Path) -> None:
    application = service.app(new_model(tmp_path), state=tmp_path / "state")
    log = application.service.writer.log
    with serving(application) as client:
        assert client.post("/learn", example(1, 1)).status == 200
        log._database = BrokenDatabase(log._database)
        assert client.post("/learn", example(2, 1)).status == 503
        again = client.post("/learn", example(2, 1))
        assert (again.status, "must be started again" in again.json["error"]) == (503, True)
        assert client.post("/predict", example(1)).status == 200
    assert rounds(tmp_path) == 1


def test_a_snapshot_that_cannot_be_written_is_told_and_loses_nothing(tmp_path: Path) -> None:
    application = service.app(new_model(tmp_path), state=tmp_path / "state", snapshot_every=5)
    writer = application.service.writer
    write = writer.snapshots.write

    def full(position: int, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    with serving(application) as client:
        writer.snapshots.write = full
        for k in range(12):
            assert client.post("/learn", example(k, 1)).status == 200
        wait_until(lambda: client.get("/ready").json.get("warnings"))
        warnings = client.get("/ready").json["warnings"]
        assert warnings == ["no snapshot: No space left on device"]
        assert client.post("/snapshot").status == 503
        writer.snapshots.write = write
    assert rounds(tmp_path) == 12


def test_a_long_queue_is_told_to_come_again(tmp_path: Path) -> None:
    application = service.app(new_model(tmp_path), state=tmp_path / "state", queue=2)
    writer = application.service.writer
    is_held, may_go = threading.Event(), threading.Event()
    learn = writer._learn

    def held(examples: Any) -> Any:
        is_held.set()
        assert may_go.wait(LIMIT)
        return learn(examples)

    writer._learn = held
    with serving(application) as client, ThreadPoolExecutor(3) as threads:
        asked = [threads.submit(client.post, "/learn", example(0, 1))]
        assert is_held.wait(LIMIT)
        asked += [threads.submit(client.post, "/learn", example(k, 1)) for k in (1, 2)]
        wait_until(lambda: len(writer._jobs) == 2)
        refused = client.post("/learn", example(3, 1))
        assert (refused.status, refused.headers["Retry-After"]) == (429, "1")
        assert client.post("/predict", example(1)).status == 200
        may_go.set()
        assert [one.result().status for one in asked] == [200] * 3
    assert rounds(tmp_path) == 3


def test_waiting_requests_share_a_commit(tmp_path: Path) -> None:
    application = service.app(new_model(tmp_path), state=tmp_path / "state")
    commits: list[int] = []
    commit = application.service.writer._commit
    application.service.writer._commit = lambda jobs: (commits.append(len(jobs)), commit(jobs))
    with serving(application) as client, ThreadPoolExecutor(16) as threads:
        asked = [threads.submit(client.post, "/learn", example(k, 1)) for k in range(100)]
        answers = [one.result() for one in asked]
    assert sorted(answer.json["position"] for answer in answers) == list(range(1, 101))
    assert sum(commits) >= 100
    assert rounds(tmp_path) == 100


def test_what_diverges_is_told_and_is_the_same_at_every_start(tmp_path: Path) -> None:
    from lessregret.learners.rules import Constant

    model = tmp_path / "model.safetensors"
    Learner("squared", Constant(rate=0.5), bits=10, scale="none").save(model)
    huge = {"features": {"a": 1e30}, "label": 1}
    with service_of(tmp_path) as client:
        statuses = [client.post("/learn", huge).status for _ in range(3)]
        assert 422 in statuses
        assert client.post("/learn", example(1, 1)).status in (200, 422)
        found = client.post("/predict", example(2)).json
    with service_of(tmp_path) as client:
        assert client.post("/predict", example(2)).json == found
