"""Does a model of many classes predict, learn, wait for labels and go on after a start?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lessregret import train
from lessregret.learners.learner import Learner
from tests.support.service import (
    JSON,
    NDJSON,
    TEXT,
    example,
    first_event,
    learned_model,
    new_model,
    service_of,
)

pytest.importorskip("lessregret.service", reason="the extra [serve] is not installed")


def is_answer(answer: Any, classes: list[Any]) -> bool:
    """Whether a prediction is the likeliest class of chances that add up to 1."""
    chances = answer["probabilities"]
    likeliest = classes[max(range(len(chances)), key=chances.__getitem__)]
    assert sum(chances) == pytest.approx(1)
    return bool(answer["classes"] == classes and answer["prediction"] == likeliest)


@pytest.mark.parametrize("classes", [3, "auto"])
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_numbers_as_classes(tmp_path: Path, classes: Any, loss: str) -> None:
    new_model(tmp_path, loss, classes=classes)
    direct = Learner.load(tmp_path / "model.safetensors")
    with service_of(tmp_path) as client:
        for k in range(12):
            assert client.post("/learn", example(k, k % 3 + 1)).status == 200
        lines = b"".join(json.dumps(example(k, k % 3 + 1)).encode() + b"\n" for k in range(5))
        assert client.post("/learn", lines, NDJSON).json["examples"] == 5
        assert client.post("/learn", b"1 | a\n3 | b\n", TEXT).json["examples"] == 2
        many = client.post("/predict", [example(1), example(2)]).json
        assert many["classes"] == [1, 2, 3]
        assert many["predictions"] == [2, 3]
        what = "probabilities" if loss == "logistic" else "margins"
        assert [len(row) for row in many[what]] == [3, 3]
        kept = client.post("/predict", {**example(4), "id": "a"}).json
        assert (kept["kept"], len(kept[what])) == (1, 3)
        if loss == "logistic":
            assert is_answer(kept, [1, 2, 3])
        assert client.post("/outcome", {"id": "a", "label": 2}).json["learned"] == 1
        told = first_event(client)
        assert told["window"]["examples"] == 20
        assert 0 <= told["window"]["accuracy"] <= 1
        assert told["window"]["auc"] is None
        assert client.get("/ready").json["ready"]
        assert client.get("/metrics").status == 200
    assert Learner.from_bytes(learned_model(tmp_path)).tally().rounds == 20
    assert direct.tally().rounds == 0


@pytest.mark.parametrize(
    ("body", "media"),
    [
        (example(1, 7), JSON),
        ({**example(1), "label": 1.5}, JSON),
        ({**example(1), "label": "red"}, JSON),
        ([example(1, 1), example(1, 0)], JSON),
        (b"1 | a\n7 | b\n", TEXT),
        (b"x | a\n", TEXT),
    ],
)
def test_what_is_no_class_is_refused_and_not_kept(tmp_path: Path, body: Any, media: str) -> None:
    new_model(tmp_path, classes=3)
    with service_of(tmp_path) as client:
        answer = client.post("/learn", body, media)
        assert answer.status == 400, answer.body
        assert client.post("/predict", {**example(1), "id": "a"}).json["kept"] == 1
        if media == JSON and isinstance(body, dict):
            assert client.post("/outcome", {"id": "a", "label": body["label"]}).status == 400
        assert client.get("/ready").json == {"ready": True, "position": 0}


def test_before_the_first_class_there_is_no_prediction(tmp_path: Path) -> None:
    new_model(tmp_path, classes="auto")
    with service_of(tmp_path) as client:
        answer = client.post("/predict", example(1)).json
        assert answer == {"prediction": None, "classes": [], "probabilities": []}
        told = first_event(client)
        assert told["window"]["examples"] == 0


def test_names_as_classes_of_a_table(tmp_path: Path) -> None:
    table = tmp_path / "fruit.csv"
    table.write_text(
        "size,colour,fruit\n3,red,apple\n9,yellow,melon\n1,red,cherry\n3,green,apple\n"
    )
    train(str(table), label="fruit", model=tmp_path / "model.safetensors", bits=10)
    names = ["apple", "melon", "cherry"]
    with service_of(tmp_path) as client:
        one = {"features": {"size": 1, "colour": "red"}}
        answer = client.post("/predict", one).json
        assert sorted(answer["classes"]) == sorted(names)
        assert is_answer(answer, answer["classes"])
        assert client.post("/learn", {**one, "label": "cherry"}).status == 200
        assert (
            client.post("/learn", b"size,colour,fruit\n9,green,melon\n", "text/csv").status == 200
        )
        assert client.post("/learn", {**one, "label": "plum"}).status == 400
        assert client.post("/predict", {**one, "id": "p"}).json["kept"] == 1
        assert client.post("/outcome", {"id": "p", "label": "plum"}).status == 400
        assert client.post("/outcome", {"id": "p", "label": "cherry"}).json["learned"] == 1
    assert Learner.from_bytes(learned_model(tmp_path)).tally().rounds == 7


def test_a_start_gives_the_bits_again(tmp_path: Path) -> None:
    new_model(tmp_path, classes="auto")
    with service_of(tmp_path, snapshot_every=10) as client:
        for k in range(40):
            client.post("/learn", example(k, k % 7))
    whole = learned_model(tmp_path)
    for path in (tmp_path / "state" / "snapshots").iterdir():
        path.unlink()
    assert learned_model(tmp_path) == whole
