"""Does a model that learns from old predictions learn from those that the service answered?"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from lessregret import train
from lessregret.learners.learner import Learner
from lessregret.learners.rules import rule_named
from tests.support.service import Client, example, learned_model, new_model, service_of, wait_until

pytest.importorskip("lessregret.service", reason="the extra [serve] is not installed")
from lessregret.service.bodies import JSON, LATE, Bodies

RULE = rule_named("adaptive-revision", rate=0.3)
COUNT = 40


def late_model(folder: Path, **options: Any) -> Path:
    return new_model(folder, rule=RULE, certify=True, **options)


def predict(client: Client, number: int) -> float:
    answer = client.post("/predict", {**example(number), "id": str(number)})
    assert answer.status == 200, answer.body
    assert answer.json["kept"] == 1
    return float(answer.json["prediction"])


def settle(client: Client, number: int) -> None:
    answer = client.post("/outcome", {"id": str(number), "label": number % 3 == 0})
    assert answer.json["results"] == ["learned"], answer.body


def test_late_labels_are_learned_at_the_margins_that_were_answered(tmp_path: Path) -> None:
    """The same plays and labels, given to the core alone, lead to the same bits."""
    late_model(tmp_path)
    learner = Learner.load(tmp_path / "model.safetensors")
    bodies = Bodies(learner.space, 100)
    kept: dict[int, bytes] = {}
    with service_of(tmp_path) as client:
        for k in range(COUNT):
            [one], _ = bodies.decoded(JSON, client_body(k))
            [(margin, kept[k])] = learner._core.play_late(bodies.of_json([one], False))
            assert predict(client, k) == pytest.approx(1 / (1 + 2.718281828459045**-margin))
            if k >= 15:
                settle(client, k - 15)
                one.label = (k - 15) % 3 == 0
                learn_late(learner, bodies, k - 15, kept)
            if k % 4 == 0:
                client.post("/learn", example(100 + k, 1))
                learner._core.learn(bodies.examples(JSON, client_body(100 + k, 1)))
    assert learned_model(tmp_path) == learner.to_bytes()
    assert learner.ledger().bound is None
    certificate = learner.ledger().certificate
    assert certificate is not None


def client_body(number: int, label: int | None = None) -> bytes:
    return json.dumps(example(number, label)).encode()


def learn_late(learner: Learner, bodies: Bodies, number: int, kept: dict[int, bytes]) -> None:
    [one], _ = bodies.decoded(JSON, client_body(number, number % 3 == 0))
    learner._core.learn_late(bodies.of_json([one], True), [kept[number]])


def test_a_start_learns_late_labels_again_to_the_bit(tmp_path: Path) -> None:
    late_model(tmp_path)
    with service_of(tmp_path, snapshot_every=17) as client:
        for k in range(COUNT):
            predict(client, k)
        for k in range(0, COUNT, 2):
            settle(client, k)
    whole = learned_model(tmp_path)
    for path in (tmp_path / "state" / "snapshots").iterdir():
        path.unlink()
    assert learned_model(tmp_path) == whole
    database = sqlite3.connect(tmp_path / "state" / "log.sqlite")
    media = database.execute("SELECT DISTINCT media FROM log").fetchall()
    database.close()
    assert media == [(LATE,)]


def test_what_waited_too_long_is_negative_at_the_margin_that_was_answered(tmp_path: Path) -> None:
    late_model(tmp_path)
    with service_of(tmp_path, wait=0.05) as client:
        for k in range(COUNT):
            predict(client, k)
        wait_until(lambda: b"\nlessregret_waiting_labels 0.0\n" in client.get("/metrics").body)
    learner = Learner.from_bytes(learned_model(tmp_path))
    assert learner.ledger().rounds == COUNT


def test_a_batch_of_ids_and_what_waited_without_a_play(tmp_path: Path) -> None:
    """Rows of a service whose version or model did not keep plays are played now."""
    late_model(tmp_path)
    with service_of(tmp_path) as client:
        many = [{**example(k), "id": str(k)} for k in range(5)]
        answer = client.post("/predict", [*many, example(9)]).json
        assert (len(answer["predictions"]), answer["kept"]) == (6, 5)
    database = sqlite3.connect(tmp_path / "state" / "log.sqlite")
    row = database.execute("SELECT example FROM waiting WHERE id = '1'").fetchone()[0]
    without = {name: value for name, value in json.loads(row).items() if name != "played"}
    database.execute(
        "UPDATE waiting SET example = ? WHERE id = '1'", (json.dumps(without).encode(),)
    )
    database.commit()
    database.close()
    with service_of(tmp_path) as client:
        labels = [{"id": str(k), "label": 1} for k in range(5)]
        assert client.post("/outcome", labels).json["learned"] == 5
    assert Learner.from_bytes(learned_model(tmp_path)).ledger().rounds == 5


def test_nobody_can_send_what_was_played(tmp_path: Path) -> None:
    late_model(tmp_path)
    with service_of(tmp_path) as client:
        forged = {**example(1, 1), "played": "AAAA"}
        assert client.post("/learn", forged).status == 400
        assert client.post("/predict", forged).status == 400
        assert client.post("/learn", forged, media=LATE).status == 415


def test_tables_learn_late(tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text("age,city,bought\n31,Rome,no\n,Oslo,yes\n58,Rome,no\n")
    train(str(table), label="bought", model=tmp_path / "model.safetensors", bits=10, rule=RULE)
    with service_of(tmp_path) as client:
        for k in range(6):
            one = {"features": {"age": k, "city": f"c{k % 2}"}, "id": str(k)}
            assert client.post("/predict", one).status == 200
        for k in range(6):
            settled = client.post("/outcome", {"id": str(k), "label": "yes" if k % 2 else "no"})
            assert settled.json["results"] == ["learned"], settled.body
    assert Learner.from_bytes(learned_model(tmp_path)).ledger().rounds == 9
