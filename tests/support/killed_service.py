"""Kills ``lessregret serve`` with SIGKILL under load and looks at what is left.

Run as a module in a folder of its own: ``python -m tests.support.killed_service KILLS SEED
[RULE]``.
Prints its counts as JSON. Threads send examples, predictions with ids and their labels, all the
time; each request has a number of its own as a feature and, for ``/learn``, a key. A request that
got no answer is sent again with its key. At the end the log is read:

- every acknowledged example must be there (lost), and none twice (doubled);
- the model of the service must have the bits of a new learner that learns the log once.

Each service is a fork of this process, which has imported all, so that kills do not all hit the
start of Python.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import sqlite3
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from lessregret.learners.learner import Learner
from lessregret.learners.rules import parse_rule
from lessregret.service.application import app
from lessregret.service.bodies import Bodies
from lessregret.service.server import bound, server
from lessregret.service.settings import Settings

MODEL, STATE, LOAD = Path("model.safetensors"), Path("state"), Path("load.json")
THREADS = 4
SETTINGS: dict[str, Any] = {"snapshot_every": 200}


def start_service(listener: Any) -> int:
    """The process of a service on a socket that stays open while services come and go."""
    child = os.fork()
    if child:
        return child
    try:
        application = app(MODEL, state=STATE, **SETTINGS)
        server(application, Settings(**SETTINGS)).run(sockets=[listener])
    finally:
        os._exit(99)


class Load:
    """Clients that ask until they are stopped, and what was acknowledged to them."""

    def __init__(self, port: int, seed: int) -> None:
        self.port = port
        self.learned: set[int] = set()
        self.waiting: set[int] = set()
        self.settled: set[int] = set()
        self.answers = self.silent = 0
        self.stopped = threading.Event()
        self._lock = threading.Lock()
        self._next = 0
        self._threads = [
            threading.Thread(target=self._run, args=(random.Random(seed + k),))
            for k in range(THREADS)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        self.stopped.set()
        for thread in self._threads:
            thread.join()

    def _numbers(self, count: int) -> list[int]:
        with self._lock:
            self._next += count
            return list(range(self._next - count, self._next))

    def _run(self, chance: random.Random) -> None:
        while not self.stopped.is_set():
            kind = chance.choice(["learn", "learn", "many", "predict", "outcome"])
            getattr(self, f"_{kind}")(chance)

    def _learn(self, chance: random.Random, count: int = 1) -> None:
        numbers = self._numbers(count)
        lines = b"".join(b"%d | n%d user=u%d\n" % (1 - 2 * (n % 2), n, n % 50) for n in numbers)
        headers = {"Content-Type": "text/plain", "Idempotency-Key": f"k{numbers[0]}"}
        if self._ask_until_answered("/learn", lines, headers) == 200:
            with self._lock:
                self.learned.update(numbers)

    def _many(self, chance: random.Random) -> None:
        self._learn(chance, chance.randrange(2, 40))

    def _predict(self, chance: random.Random) -> None:
        [number] = self._numbers(1)
        features = {f"n{number}": 1, "user": f"u{number % 50}"}
        body = json.dumps({"features": features, "id": str(number)}).encode()
        if self._ask("/predict", body, {}) == 200:
            with self._lock:
                self.waiting.add(number)

    def _outcome(self, chance: random.Random) -> None:
        with self._lock:
            known = list(self.waiting)
            if not known:
                return
            number = chance.choice(known)
            self.waiting.discard(number)
        body = json.dumps({"id": str(number), "label": 1}).encode()
        if self._ask_until_answered("/outcome", body, {}) == 200:
            with self._lock:
                self.settled.add(number)

    def _ask_until_answered(self, path: str, body: bytes, headers: dict[str, str]) -> int | None:
        while not self.stopped.is_set():
            status = self._ask(path, body, headers)
            if status in (200, 400):
                return status
            time.sleep(0.002)
        return None

    def _ask(self, path: str, body: bytes, headers: dict[str, str]) -> int | None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("POST", path, body, {"Content-Type": "application/json", **headers})
            status = connection.getresponse().status
            self.answers += 1
            return status
        except (OSError, http.client.HTTPException):
            self.silent += 1
            return None
        finally:
            connection.close()


def start_load(port: int, seed: int, stop: tuple[int, int]) -> int:
    """A process of its own for the clients, because a process with threads should not fork."""
    child = os.fork()
    if child:
        return child
    try:
        os.close(stop[1])
        load = Load(port, seed)
        load.start()
        os.read(stop[0], 1)
        load.join()
        counts = {name: sorted(getattr(load, name)) for name in ("learned", "waiting", "settled")}
        LOAD.write_text(json.dumps({**counts, "answers": load.answers, "silent": load.silent}))
    finally:
        os._exit(0)


def is_ready(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1)
    try:
        connection.request("GET", "/ready")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def kill_often(kills: int, seed: int, listener: Any) -> list[float]:
    """Start and kill; seconds from each start until the service was ready, or was killed."""
    chance = random.Random(seed)
    starts: list[float] = []
    for _ in range(kills):
        started = time.monotonic()
        child = start_service(listener)
        until = started + chance.uniform(0.0, 0.6)
        while time.monotonic() < until:
            if is_ready(listener.getsockname()[1]):
                starts.append(time.monotonic() - started)
                break
            time.sleep(0.005)
        time.sleep(chance.uniform(0.0, 0.25))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return starts


def logged() -> tuple[Counter[int], bytes]:
    """The number of times that each example stands in the log, and the model that learns it."""
    database = sqlite3.connect(STATE / "log.sqlite")
    learner = Learner.load(MODEL)
    bodies = Bodies(learner.space, 1_000_000)
    found: Counter[int] = Counter()
    rows = database.execute("SELECT media, body FROM log ORDER BY position")
    for media, body in rows:
        examples, played = bodies.entry(media, body)
        if played is None:
            learner._core.learn(examples)
        else:
            learner._core.learn_late(examples, played)
        found.update(_numbers_in(media, body))
    database.close()
    return found, learner.to_bytes()


def _numbers_in(media: str, body: bytes) -> list[int]:
    if media == "text/plain":
        return [int(line.split()[2][1:]) for line in body.splitlines()]
    names = [name for line in body.splitlines() for name in json.loads(line)["features"]]
    return [int(name[1:]) for name in names if name != "user"]


def main(kills: int, seed: int, rule: str = "per-coordinate") -> dict[str, Any]:
    """Kill, start a last time, stop, and count."""
    Learner("logistic", parse_rule(rule), bits=14).save(MODEL)
    listener = bound("127.0.0.1", 0)
    stop = os.pipe()
    clients = start_load(listener.getsockname()[1], seed, stop)
    starts = kill_often(kills, seed, listener)
    os.close(stop[1])
    os.waitpid(clients, 0)
    listener.close()
    load = json.loads(LOAD.read_text())
    service = app(MODEL, state=STATE, **SETTINGS).service
    while not service.writer.replayed_all:
        time.sleep(0.01)
    kept = {int(id) for id in _waiting()}
    content = service.learner.to_bytes()
    service.close()
    found, replayed = logged()
    acknowledged, waiting = {*load["learned"], *load["settled"]}, set(load["waiting"])
    return {
        "kills": kills,
        "answers": load["answers"],
        "silent": load["silent"],
        "acknowledged": len(acknowledged) + len(waiting),
        "lost": len(acknowledged - found.keys()) + len(waiting - kept - found.keys()),
        "doubled": sum(count > 1 for count in found.values()),
        "bits_equal": content == replayed,
        "ready": len(starts),
        "slowest_start": round(max(starts, default=0.0), 3),
    }


def _waiting() -> list[str]:
    database = sqlite3.connect(STATE / "log.sqlite")
    ids = [row[0] for row in database.execute("SELECT id FROM waiting")]
    database.close()
    return ids


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])))
