"""Sixty requests that nobody should send: no 5xx but 503, nothing learned, and it goes on."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.hostile_bodies import BODIES
from tests.support.service import (
    LIMIT,
    Client,
    example,
    new_model,
    service_of,
    serving,
)

service = pytest.importorskip("lessregret.service", reason="the extra [serve] is not installed")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with service_of(tmp_path_factory.mktemp("hostile"), most_body=150_000) as client:
        yield client


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, Any]]:
    """A service that waits for half a second, which honest clients of a busy machine may miss."""
    folder = tmp_path_factory.mktemp("impatient")
    application = service.app(new_model(folder), state=folder / "state", timeout=0.5)
    with serving(application) as client:
        yield client, application.service


def position(client: Client) -> int:
    found: int = client.get("/ready").json["position"]
    return found


@pytest.mark.parametrize(("path", "body", "media"), [row[1:] for row in BODIES],
                         ids=[row[0] for row in BODIES])  # fmt: skip
def test_bodies(client: Client, path: str, body: bytes, media: str) -> None:
    before = position(client)
    answer = client.post(path, body, media)
    assert answer.status in (400, 413, 415)
    assert answer.json["error"]
    assert "Traceback" not in answer.json["error"]
    assert ".py" not in answer.json["error"]
    assert position(client) == before


def raw(client: Client, sent: bytes) -> bytes:
    """What comes back for these very bytes."""
    with socket.create_connection(("127.0.0.1", client.port), timeout=LIMIT) as connection:
        connection.sendall(sent)
        found = b""
        try:
            while piece := connection.recv(65536):
                found += piece
        except ConnectionResetError:
            pass
    return found


POST = b"POST /learn HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
REQUESTS = {
    "no HTTP": b"hello\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "two lengths": POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    "length and chunks": POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "negative length": POST + b"Content-Length: -1\r\n\r\n",
    "endless header": b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 100_000,
    "many headers": b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20_000,
    "a slow header": b"GET / HTTP/1.1\r\nHost: a",
    "a slow body": POST + b"Content-Length: 50\r\n\r\n{",
    "a huge length": POST + b"Content-Length: 99999999999\r\n\r\n{",
    "packed": POST + b"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
    "endless chunks": POST
    + b"Transfer-Encoding: chunked\r\n\r\n"
    + b"8000\r\n"
    + b"x" * 32768
    + b"\r\n",
    "a path upwards": b"GET /../../etc/passwd HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    "a smuggled header": b"GET /health HTTP/1.1\r\nHost: a\r\nX: a\x00b\r\n\r\n",
}


@pytest.mark.parametrize("sent", REQUESTS.values(), ids=REQUESTS.keys())
def test_raw_requests_end(impatient: tuple[Client, Any], sent: bytes) -> None:
    """Each connection ends, with a refusal or without an answer, and nothing is learned."""
    client, asked = impatient
    status = raw(client, sent)[:12]
    assert status == b"" or status[9:10] == b"4", status
    assert asked.writer.position == 0


def test_a_flood_of_connections_is_bounded_and_passes(client: Client) -> None:
    connections = [
        http.client.HTTPConnection("127.0.0.1", client.port, timeout=LIMIT) for _ in range(200)
    ]
    for connection in connections:
        connection.connect()
    for connection in connections:
        connection.close()
    assert client.post("/predict", example(1)).status == 200


def test_afterwards_it_still_learns(client: Client) -> None:
    assert client.post("/learn", example(1, 1)).status == 200
