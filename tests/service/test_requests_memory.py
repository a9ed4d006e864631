"""Is the memory of a service bounded, whatever is sent to it?"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.command_line import COMMAND, ENVIRONMENT
from tests.support.hostile_bodies import BODIES
from tests.support.service import JSON, NDJSON, TEXT, Client, new_model, wait_until

MEGABYTE = 1 << 20
MOST_BODY = 4 * MEGABYTE
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the memory is read from /proc"),
]
LARGE = [
    (b"[" * MOST_BODY, JSON),
    (b'{"features": {"a": 1}}\n' * (MOST_BODY // 24), NDJSON),
    (b'{"features": {' + b'"a": 1, ' * (MOST_BODY // 9), JSON),
    (b'{"features": {"' + b"a" * (MOST_BODY - 100) + b'": 1}}', JSON),
    (b"1 | " + b"a " * (MOST_BODY // 2 - 10), TEXT),
    (b"\xff" * MOST_BODY, JSON),
    (b"x" * (MOST_BODY + 1), JSON),
]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[tuple[Client, int]]:
    """A service in a process of its own, and the process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = ["serve", str(new_model(tmp_path)), "--state", str(tmp_path / "state")]
    limits = ["--port", str(port), "--most-body", str(MOST_BODY // MEGABYTE), "--timeout", "5s"]
    environment = {**ENVIRONMENT, "PYTHONWARNINGS": "ignore"}
    process = subprocess.Popen(
        [*COMMAND, *arguments, *limits], env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    client = Client(port)

    def is_ready() -> bool:
        with contextlib.suppress(OSError):
            return client.get("/ready").status == 200
        return False

    try:
        wait_until(is_ready)
        yield client, process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)


def memory(process: int, kind: str) -> float:
    """Megabytes of a process: VmRSS now, VmHWM at most so far."""
    found = re.search(rf"{kind}:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def flood(client: Client) -> set[int]:
    """Every hostile request, many at a time; the status codes."""
    requests = [(path, body, media) for _, path, body, media in BODIES] * 5
    requests += [(path, *large) for large in LARGE for path in ("/predict", "/learn")] * 3
    requests += [("/predict", b'{"features": {"u%d": 1}, "id": "%d"}' % (k, k), JSON)
                 for k in range(200)]  # fmt: skip

    def ask(request: tuple[str, bytes, str]) -> int:
        # A service that refuses a large body closes the connection while it is sent.
        with contextlib.suppress(OSError):
            return client.post(*request).status
        return 0

    with ThreadPoolExecutor(16) as pool:
        return set(pool.map(ask, requests))


def test_memory_is_bounded_under_hostile_load(service: tuple[Client, int]) -> None:
    client, process = service
    statuses = flood(client)
    after_one = memory(process, "VmRSS")
    for _ in range(4):
        statuses |= flood(client)
    after_all, most = memory(process, "VmRSS"), memory(process, "VmHWM")
    print(f"RSS after one flood {after_one:.0f} MB, after five {after_all:.0f}, at most {most:.0f}")
    assert not [status for status in statuses if status >= 500 and status != 503]
    assert after_all < after_one + 64
    assert client.post("/predict", {"features": {"a": 1}}).status == 200
    assert os.path.exists(f"/proc/{process}")
