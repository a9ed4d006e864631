"""The live page: does it show what the service does, in a real browser?"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.browser import browser_or_skip
from tests.support.service import Client, example, first_event, service_of

pytest.importorskip("lessregret.service", reason="the extra [serve] is not installed")


def learn_batches(client: Client) -> None:
    for start in range(0, 400, 100):
        batch = [example(k, 1 if k % 3 else -1) for k in range(start, start + 100)]
        assert client.post("/learn", batch).status == 200


def test_events_tell_what_the_service_does(tmp_path: Path) -> None:
    with service_of(tmp_path) as client:
        learn_batches(client)
        client.post("/predict", {**example(1), "id": "a"})
        told = first_event(client)
    assert (told["rounds"], told["waiting"], told["ready"]) == (400, 1, True)
    assert told["window"]["examples"] == 400
    assert 0 < told["window"]["auc"] <= 1
    assert sum(point[2] for point in told["curve"]) == 400
    assert len(told["lanes"]) == 8
    assert sum(lane["share"] for lane in told["lanes"]) + told["stack"] == pytest.approx(1)
    assert 0 <= told["certificate"]["certified"] <= told["certificate"]["lost"]
    assert {"/learn", "/predict"} <= told["latency"].keys()


@pytest.mark.slow
def test_the_page_shows_the_events_in_a_browser(tmp_path: Path) -> None:
    browser = browser_or_skip()
    with service_of(tmp_path) as client:
        learn_batches(client)
        for seconds in (3, 10, 30, 60):
            page = shown(browser, tmp_path, client.port, seconds)
            if 'data-rounds="400"' in page:
                break
    assert 'id="rounds">400<' in page
    assert 'id="state" class="good">learning<' in page
    assert "No fixed weights of the learned size lose less than" in page
    assert "rate 0.3375" in page


def shown(browser: str, folder: Path, port: int, seconds: int) -> str:
    """The page after some seconds. It never ends to load, because events do not end."""
    done = subprocess.run(
        [
            browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
            f"--user-data-dir={folder / 'browser'}", f"--timeout={seconds * 1000}",
            f"http://127.0.0.1:{port}/",
        ],
        capture_output=True, check=True, timeout=seconds + 60, encoding="utf-8",
    )  # fmt: skip
    return done.stdout
