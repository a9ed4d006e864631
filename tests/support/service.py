"""A service that runs in this process, and a client for it."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytest.importorskip("starlette", reason="the extra [serve] is not installed")
pytest.importorskip("uvicorn", reason="the extra [serve] is not installed")
pytest.importorskip("msgspec", reason="the extra [serve] is not installed")
pytest.importorskip("prometheus_client", reason="the extra [serve] is not installed")

from lessregret.learners.learner import Learner
from lessregret.service.application import Application, app
from lessregret.service.server import bound, server

LIMIT = 60.0
"""seconds after which a condition that is waited for has failed"""
JSON, NDJSON, TEXT = "application/json", "application/x-ndjson", "text/plain"


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class Client:
    """Asks a service; every request has a connection of its own."""

    def __init__(self, port: int) -> None:
        self.port = port

    def ask(
        self, method: str, path: str, body: Any = b"", media: str = JSON, **headers: str
    ) -> Answer:
        """Send a request; what is not bytes becomes JSON."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request(method, path, content, {"Content-Type": media, **given})
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def post(self, path: str, body: Any = b"", media: str = JSON, **headers: str) -> Answer:
        """POST."""
        return self.ask("POST", path, body, media, **headers)

    def get(self, path: str, **headers: str) -> Answer:
        """GET."""
        return self.ask("GET", path, **headers)


def new_model(folder: Path, loss: str = "logistic", **options: Any) -> Path:
    """An untrained model."""
    path = folder / "model.safetensors"
    Learner(loss, **{"bits": 10, **options}).save(path)
    return path


@contextmanager
def serving(application: Application) -> Iterator[Client]:
    """A server with this application, in a thread."""
    listener = bound("127.0.0.1", 0)
    running = server(application, application.service.settings)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        wait_until(lambda: running.started)
        client = Client(listener.getsockname()[1])
        writer = getattr(application.service, "writer", None)
        wait_until(lambda: writer is None or writer.replayed_all)
        yield client
    finally:
        running.should_exit = True
        thread.join(LIMIT)
        listener.close()


@contextmanager
def service_of(folder: Path, model: Path | None = None, **settings: Any) -> Iterator[Client]:
    """A service with a state folder in ``folder``."""
    if model is None:
        model = folder / "model.safetensors"
        if not model.exists():
            new_model(folder)
    with serving(app(model, state=folder / "state", **settings)) as client:
        yield client


def wait_until(holds: Any) -> None:
    """Wait for a condition."""
    end = time.monotonic() + LIMIT
    while not holds():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


def example(number: int, label: int | None = None) -> dict[str, Any]:
    """The features of a made-up example; any two numbers differ."""
    features = {"n": number % 7 + 0.5, "user": f"u{number % 11}", f"k{number % 5}": 1}
    return {"features": features} if label is None else {"features": features, "label": label}


def learned_model(folder: Path) -> bytes:
    """The model that a service in ``folder`` would go on from, with all of its log learned."""
    service = app(folder / "model.safetensors", state=folder / "state").service
    wait_until(lambda: service.writer.replayed_all)
    content = service.learner.to_bytes()
    service.close()
    return content


def first_event(client: Client) -> dict[str, Any]:
    """What the live page is told first."""
    connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=LIMIT)
    try:
        connection.request("GET", "/events")
        response = connection.getresponse()
        assert response.headers["Content-Type"].startswith("text/event-stream")
        told: dict[str, Any] = json.loads(response.readline().removeprefix(b"data: "))
        return told
    finally:
        connection.close()
