"""Does a replica follow, and go on when what it follows is away?"""

from __future__ import annotations

from pathlib import Path

import pytest

from lessregret.errors import SpecError
from tests.support.service import example, new_model, service_of, serving, wait_until

replica = pytest.importorskip("lessregret.service.replica", reason="[serve] is not installed")


def following(model: Path, url: str, token: str | None = None) -> object:
    from lessregret.service.application import Application
    from lessregret.service.requests import Guard
    from lessregret.service.settings import Settings
    from lessregret.service.tokens import Tokens

    service = replica.Replica(model, url, Settings(), token, poll=0.02)
    return Application(service, Guard(Settings(), Tokens()))


def test_a_replica_takes_new_snapshots_and_outlives_what_it_follows(tmp_path: Path) -> None:
    model = new_model(tmp_path)
    with service_of(tmp_path) as leader:
        application = following(model, f"http://127.0.0.1:{leader.port}/")
        with serving(application) as client:  # type: ignore[arg-type]
            assert client.post("/predict", example(1)).json == {"prediction": 0.5}
            leader.post("/learn", [example(k, 1) for k in range(20)])
            told = leader.post("/predict", example(1)).json
            leader.post("/snapshot")
            wait_until(lambda: client.get("/ready").json["position"] == 1)
            assert client.post("/predict", example(1)).json == told
            for path, body in (("/learn", example(1, 1)), ("/outcome", {"id": "a", "label": 1})):
                answer = client.post(path, body)
                assert (answer.status, "read-only" in answer.json["error"]) == (405, True)
            assert client.post("/predict", {**example(1), "id": "a"}).status == 405
            application.service._url = "http://127.0.0.1:9"  # type: ignore[attr-defined]
            wait_until(lambda: "warnings" in client.get("/ready").json)
            assert client.post("/predict", example(1)).json == told
            assert "lessregret_following 0.0" in client.get("/metrics").body.decode()


def test_a_model_of_another_space_is_not_taken(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    model = new_model(other, bits=11)
    with service_of(tmp_path) as leader:
        application = following(model, f"http://127.0.0.1:{leader.port}")
        with serving(application) as client:  # type: ignore[arg-type]
            wait_until(lambda: "warnings" in client.get("/ready").json)
            assert "another feature space" in client.get("/ready").json["warnings"][0]


def test_only_addresses_of_the_web_are_followed(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="expected an address such as"):
        following(new_model(tmp_path), "file:///etc/passwd")
