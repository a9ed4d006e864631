"""Labels that come later, never or twice, and clocks that go back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lessregret.learners.learner import Learner
from tests.support.service import (
    NDJSON,
    Client,
    example,
    learned_model,
    new_model,
    service_of,
    serving,
    wait_until,
)

service = pytest.importorskip("lessregret.service", reason="the extra [serve] is not installed")
clock = pytest.importorskip("lessregret.service.clock", reason="[serve] is not installed")


class Time:
    """A clock that a test sets."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def timed(folder: Path, time: Time, **settings: Any) -> Any:
    """A service whose clock is ``time``."""
    application = service.app(folder / "model.safetensors", state=folder / "state", **settings)
    writer = application.service.writer
    latest = writer.log.newest_time() if writer.log.last or writer.log.waiting else 0.0
    writer.clock = clock.Clock(latest, wall=time, monotonic=time)
    return application


def predict(client: Client, number: int) -> None:
    assert client.post("/predict", {**example(number), "id": f"i{number}"}).json["kept"] == 1


def outcome(client: Client, *ids: str) -> list[str]:
    labels = [{"id": id, "label": 1} for id in ids]
    results: list[str] = client.post("/outcome", labels).json["results"]
    return results


def test_labels_late_double_and_unknown_are_answered_and_counted(tmp_path: Path) -> None:
    new_model(tmp_path)
    time = Time(1e9)
    with serving(timed(tmp_path, time, wait=100.0)) as client:
        for number in (1, 2, 3):
            predict(client, number)
        repeated = client.post("/predict", {**example(1), "id": "i1"}).json
        assert (repeated["kept"], repeated["repeated"]) == (0, 1)
        assert outcome(client, "i1", "i1", "i9") == ["learned", "double", "unknown"]
        time.now += 101
        wait_until(lambda: "lessregret_absent_labels 2.0" in client.get("/metrics").body.decode())
        assert outcome(client, "i2", "i1") == ["late", "double"]
        measures = client.get("/metrics").body.decode()
        for result, count in {"learned": 1, "double": 2, "unknown": 1, "late": 1}.items():
            assert f'lessregret_outcomes_total{{result="{result}"}} {count}.0' in measures
    learner = Learner.load(tmp_path / "model.safetensors")
    for number, label in ((1, 1), (2, -1), (3, -1)):
        learner.learn_one(example(number)["features"], label)
    assert learned_model(tmp_path) == learner.to_bytes()


def test_absent_labels_can_be_dropped(tmp_path: Path) -> None:
    new_model(tmp_path)
    time = Time(1e9)
    with serving(timed(tmp_path, time, wait=100.0, absent="drop")) as client:
        predict(client, 1)
        time.now += 101
        wait_until(lambda: "lessregret_absent_labels 1.0" in client.get("/metrics").body.decode())
        assert outcome(client, "i1") == ["late"]
    assert Learner.from_bytes(learned_model(tmp_path)).tally().rounds == 0


def test_what_waits_survives_a_stop(tmp_path: Path) -> None:
    new_model(tmp_path)
    with service_of(tmp_path) as client:
        predict(client, 1)
    with service_of(tmp_path) as client:
        assert outcome(client, "i1") == ["learned"]
        assert outcome(client, "i1") == ["double"]


def test_a_clock_that_goes_back_gives_no_label_up_early(tmp_path: Path) -> None:
    new_model(tmp_path)
    with serving(timed(tmp_path, Time(1e9), wait=100.0)) as client:
        predict(client, 1)
    time = Time(1e9 - 5000)
    with serving(timed(tmp_path, time, wait=100.0)) as client:
        assert "behind the log by 5,000 s" in client.get("/ready").json["warnings"][0]
        time.now += 99
        predict(client, 2)
        assert outcome(client, "i1") == ["learned"]
        time.now += 101
        wait_until(lambda: "lessregret_absent_labels 1.0" in client.get("/metrics").body.decode())


@pytest.mark.parametrize(
    "bad",
    [
        {"id": "i1", "label": "maybe"}, {"id": "", "label": 1}, {"id": "i1"},
        {"id": "i1", "label": None}, {"id": 3, "label": 1},
    ],
)  # fmt: skip
def test_a_wrong_label_is_told_and_the_prediction_waits_on(tmp_path: Path, bad: Any) -> None:
    with service_of(tmp_path) as client:
        predict(client, 1)
        assert client.post("/outcome", bad).status == 400
        lines = json.dumps({"id": "i1", "label": 1}).encode()
        assert client.post("/outcome", lines, NDJSON).json["results"] == ["learned"]


def test_a_regression_has_no_negative_label(tmp_path: Path) -> None:
    model = new_model(tmp_path, "squared")
    with pytest.raises(ValueError, match="negative only for a classifier"):
        service.app(model, state=tmp_path / "state", absent="negative")
