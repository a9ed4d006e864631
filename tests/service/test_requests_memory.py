"""Is the memory of a service bounded, whatever is sent to it?"""

from __future__ import annotations

import contextlib
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


def flood(client: Client, at_once: int) -> set[int]:
    """Every hostile request, so many at once; the status codes."""
    requests = [(path, body, media) for _, path, body, media in BODIES] * 5
    requests += [(path, *large) for large in LARGE for path in ("/predict", "/learn")] * 3
    requests += [("/predict", b'{"features": {"u%d": 1}, "id": "%d"}' % (k, k), JSON)
                 for k in range(200)]  # fmt: skip

    def ask(request: tuple[str, bytes, str]) -> int:
        # A service that refuses a large body closes the connection while it is sent.
        with contextlib.suppress(OSError):
            return client.post(*request).status
        return 0

    with ThreadPoolExecutor(at_once) as pool:
        return set(pool.map(ask, requests))


def test_memory_is_bounded_under_hostile_load(service: tuple[Client, int]) -> None:
    client, process = service
    statuses, now = set(), []
    # One at a time: with many at once the memory in use differs by 60 MB, by which requests met.
    # The statistics of the last requests and examples are full after eight rounds.
    for _ in range(14):
        statuses |= flood(client, 1)
        now.append(memory(process, "VmRSS"))
    statuses |= set().union(*(flood(client, 16) for _ in range(3)))
    most = memory(process, "VmHWM")
    print("one at a time", *(f"{megabytes:.0f} MB" for megabytes in now), f"at most {most:.0f} MB")
    assert not [status for status in statuses if status >= 500 and status != 503]
    assert now[-1] < now[9] + 16
    assert most < 512
    assert client.post("/predict", {"features": {"a": 1}}).status == 200
