"""Do tokens open what they are for, and nothing else?"""

from __future__ import annotations

from pathlib import Path

import pytest

from lessregret.errors import SpecError
from tests.support.service import example, new_model, service_of

tokens = pytest.importorskip("lessregret.service.tokens", reason="[serve] is not installed")
RIGHTS = {"predict": {"/predict"}, "learn": {"/learn", "/outcome"}, "admin": {"/snapshot"}}


def test_each_token_opens_what_it_is_for(tmp_path: Path) -> None:
    new_model(tmp_path)
    path = tmp_path / "state" / "tokens.json"
    path.parent.mkdir()
    given = {right: tokens.Tokens.load(path).new(right, path) for right in RIGHTS}
    assert not any(token in path.read_text() for token in given.values())
    bodies = {
        "/predict": example(1), "/learn": example(1, 1),
        "/outcome": {"id": "a", "label": 1}, "/snapshot": b"",
    }  # fmt: skip
    with service_of(tmp_path) as client:
        for right, token in given.items():
            opened = {
                path
                for path, body in bodies.items()
                if client.post(path, body, Authorization=f"Bearer {token}").status == 200
            }
            assert opened == (set(bodies) if right == "admin" else RIGHTS[right])
        for path, body in bodies.items():
            answer = client.post(path, body)
            assert (answer.status, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
            assert client.post(path, body, Authorization="Bearer lrg_x").status == 401
        assert [client.get(path).status for path in ("/model", "/metrics")] == [401, 401]
        assert [client.get(path).status for path in ("/health", "/ready", "/docs")] == [200] * 3


def test_a_damaged_file_of_tokens_opens_nothing(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    path.write_text('["predict"]')
    with pytest.raises(SpecError, match="expected tokens"):
        tokens.Tokens.load(path)


def test_pages_of_other_sites_may_not_ask_without_a_token(tmp_path: Path) -> None:
    with service_of(tmp_path) as client:
        foreign = client.post("/learn", example(1, 1), Origin="http://evil.example")
        assert foreign.status == 403
        own = f"http://127.0.0.1:{client.port}"
        assert client.post("/learn", example(1, 1), Origin=own).status == 200
