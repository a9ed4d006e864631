"""Files that are missing, torn, damaged, in use or of another model: is each told clearly?"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from lessregret.errors import LessRegretError, SpecError
from lessregret.learners.learner import Learner
from tests.support.service import example, learned_model, new_model, service_of, wait_until

app = pytest.importorskip("lessregret.service", reason="the extra [serve] is not installed").app


def learn_some(folder: Path, count: int = 30, **settings: object) -> bytes:
    """Learn with many snapshots; the model at the end."""
    with service_of(folder, **settings) as client:
        for k in range(count):
            client.post("/learn", example(k, 1 if k % 3 else -1))
    return learned_model(folder)


def snapshots(folder: Path) -> list[Path]:
    return sorted((folder / "state" / "snapshots").glob("*.safetensors"))


def test_a_torn_snapshot_falls_back_to_the_one_before(tmp_path: Path) -> None:
    whole = learn_some(tmp_path, snapshot_every=10)
    newest = snapshots(tmp_path)[-1]
    newest.write_bytes(newest.read_bytes()[:-100])
    with service_of(tmp_path) as client:
        ready = client.get("/ready").json
        assert ready["ready"]
        assert "a snapshot was torn" in ready["warnings"][0]
    assert learned_model(tmp_path) == whole


def test_without_any_snapshot_the_model_and_the_log_are_enough(tmp_path: Path) -> None:
    whole = learn_some(tmp_path, snapshot_every=1000)
    for path in snapshots(tmp_path):
        path.unlink()
    assert learned_model(tmp_path) == whole


def test_old_log_is_forgotten_but_never_what_a_snapshot_needs(tmp_path: Path) -> None:
    whole = learn_some(tmp_path, 60, snapshot_every=10, keep=0)
    database = sqlite3.connect(tmp_path / "state" / "log.sqlite")
    first = database.execute("SELECT min(position) FROM log").fetchone()[0]
    database.close()
    oldest = int(snapshots(tmp_path)[0].name[:15])
    assert 1 < first <= oldest + 1
    snapshots(tmp_path)[-1].unlink()
    assert learned_model(tmp_path) == whole


def test_a_gap_in_the_log_is_not_passed_over(tmp_path: Path) -> None:
    learn_some(tmp_path, snapshot_every=1000)
    for path in snapshots(tmp_path)[1:]:
        path.unlink()
    database = sqlite3.connect(tmp_path / "state" / "log.sqlite")
    database.execute("DELETE FROM log WHERE position = 7")
    database.commit()
    database.close()
    service = app(tmp_path / "model.safetensors", state=tmp_path / "state").service
    wait_until(lambda: service.writer.failed)
    assert "expected the sound entry 7, found entry 8" in service.readiness()["reason"]
    service.close()


def test_a_damaged_body_in_the_log_is_told(tmp_path: Path) -> None:
    learn_some(tmp_path, snapshot_every=1000)
    for path in snapshots(tmp_path)[1:]:
        path.unlink()
    database = sqlite3.connect(tmp_path / "state" / "log.sqlite")
    database.execute("UPDATE log SET body = body || ' ' WHERE position = 3")
    database.commit()
    database.close()
    service = app(tmp_path / "model.safetensors", state=tmp_path / "state").service
    wait_until(lambda: service.writer.failed)
    assert "expected the sound entry 3, found damage" in service.readiness()["reason"]
    service.close()


def test_a_damaged_database_is_told(tmp_path: Path) -> None:
    new_model(tmp_path)
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "log.sqlite").write_bytes(b"no database at all" * 100)
    with pytest.raises(LessRegretError, match="file is not a database; restore the state folder"):
        app(tmp_path / "model.safetensors", state=tmp_path / "state")


def test_a_database_of_another_program_is_told(tmp_path: Path) -> None:
    new_model(tmp_path)
    (tmp_path / "state").mkdir()
    database = sqlite3.connect(tmp_path / "state" / "log.sqlite")
    database.execute("CREATE TABLE other (a)")
    database.close()
    with pytest.raises(LessRegretError, match="expected a log of version 1, found 0"):
        app(tmp_path / "model.safetensors", state=tmp_path / "state")


def test_two_services_cannot_use_one_folder(tmp_path: Path) -> None:
    with service_of(tmp_path), pytest.raises(SpecError, match="another service uses this state"):
        app(tmp_path / "model.safetensors", state=tmp_path / "state")


def test_the_state_of_another_model_is_refused(tmp_path: Path) -> None:
    learn_some(tmp_path, 3)
    new_model(tmp_path, bits=11)
    with pytest.raises(SpecError, match="began with another model"):
        app(tmp_path / "model.safetensors", state=tmp_path / "state")


@pytest.mark.parametrize("kind", ["slim", "columns", "missing"])
def test_models_that_cannot_be_served(tmp_path: Path, kind: str) -> None:
    model = tmp_path / "model.safetensors"
    if kind != "missing":
        table = {"columns": 3} if kind == "columns" else {"bits": 10}
        Learner("logistic", **table).save(model, slim=kind == "slim")  # type: ignore[arg-type]
    told = {"slim": "a slim model", "columns": "columns of a matrix", "missing": "no such model"}
    with pytest.raises(SpecError, match=told[kind]):
        app(model, state=tmp_path / "state")


def test_positions_are_not_used_again_after_a_power_cut_took_the_log(tmp_path: Path) -> None:
    """At durability normal a snapshot may know more of the log than the log itself."""
    whole = Learner.from_bytes(learn_some(tmp_path, 30, snapshot_every=10))
    database = sqlite3.connect(tmp_path / "state" / "log.sqlite")
    database.execute("DELETE FROM log WHERE position > 25")
    database.commit()
    database.close()
    with service_of(tmp_path, snapshot_every=1000) as client:
        assert client.post("/learn", example(99, 1)).json["position"] == 31
    whole.learn_one(example(99)["features"], 1)
    assert learned_model(tmp_path) == whole.to_bytes()
