"""How many requests and examples a second does a service answer, beside one of River's?

    python -m benchmarks.service [--seconds 3] [--clients 8]

Both are Starlette applications under uvicorn with httptools and uvloop, on loopback, in a process
of their own; the clients are a third process, so that all share the cores of the machine. Both have
learned 1,000 examples before. They take turns, three times, and the median is told. Examples have
20 features, half of them words. River's pipeline is the usual one: one-hot encoded words and
standardised numbers, then logistic regression.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROUNDS = 3
BATCH = 1000
BITS = 18


def example(chance: random.Random) -> dict[str, Any]:
    """Ten numbers and ten words."""
    numbers = {f"n{k}": round(chance.random(), 4) for k in range(10)}
    return {**numbers, **{f"c{k}": f"w{chance.randrange(100)}" for k in range(10)}}


def bodies() -> dict[str, tuple[str, str, bytes, int]]:
    """What is asked: path, media type, body and its examples."""
    chance = random.Random(1)
    one = {"features": example(chance)}
    many = [{"features": example(chance)} for _ in range(BATCH)]
    labelled = [{**each, "label": chance.choice((1, -1))} for each in many]
    ndjson, text = "application/x-ndjson", "text/plain"
    return {
        "predict, one": ("/predict", "application/json", json.dumps(one).encode(), 1),
        "predict, 1,000 as NDJSON": ("/predict", ndjson, lines(many), BATCH),
        "predict, 1,000 as text": ("/predict", text, vw(many), BATCH),
        "learn, one": ("/learn", "application/json", json.dumps(labelled[0]).encode(), 1),
        "learn, 1,000 as NDJSON": ("/learn", ndjson, lines(labelled), BATCH),
        "learn, 1,000 as text": ("/learn", text, vw(labelled), BATCH),
    }


def lines(examples: list[dict[str, Any]]) -> bytes:
    """One JSON object a line."""
    return b"".join(json.dumps(each).encode() + b"\n" for each in examples)


def vw(examples: list[dict[str, Any]]) -> bytes:
    """The same as Vowpal Wabbit text."""
    texts = []
    for each in examples:
        pairs = each["features"].items()
        words = (f"{k}={v}" if isinstance(v, str) else f"{k}:{v}" for k, v in pairs)
        texts.append(f"{each.get('label', '')} | {' '.join(words)}\n")
    return "".join(texts).encode()


def ours(folder: Path, durability: str) -> Any:
    """The service of this package."""
    from lessregret.learners.learner import Learner
    from lessregret.service import app

    model = folder / "model.safetensors"
    Learner("logistic", bits=BITS).save(model)
    return app(model, state=folder / durability, durability=durability)


def rivers() -> Any:
    """A service around River, which keeps nothing on disk."""
    from river import compose, linear_model, preprocessing
    from starlette.applications import Starlette
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    words = compose.SelectType(str) | preprocessing.OneHotEncoder()
    numbers = compose.SelectType(int, float) | preprocessing.StandardScaler()
    model = (words + numbers) | linear_model.LogisticRegression()

    async def examples(request: Any) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (await request.body()).splitlines()]

    async def predict(request: Any) -> JSONResponse:
        found = [model.predict_proba_one(e["features"])[True] for e in await examples(request)]
        return JSONResponse({"predictions": found})

    async def learn(request: Any) -> JSONResponse:
        given = await examples(request)
        for each in given:
            model.learn_one(each["features"], each["label"] == 1)
        return JSONResponse({"examples": len(given)})

    routes = [
        Route("/predict", predict, methods=["POST"]),
        Route("/learn", learn, methods=["POST"]),
    ]
    return Starlette(routes=routes)


def start(application: Any) -> tuple[int, int]:
    """A process that serves; its id and its port."""
    import uvicorn

    from lessregret.service.application import Application
    from lessregret.service.server import bound, server

    listener = bound("127.0.0.1", 0)
    port = listener.getsockname()[1]
    child = os.fork()
    if child == 0:
        try:
            made = application()
            if isinstance(made, Application):
                served = server(made, made.service.settings)
            else:
                config = uvicorn.Config(made, access_log=False, log_level="error", http="httptools")
                served = uvicorn.Server(config)
            served.run(sockets=[listener])
        finally:
            os._exit(0)
    listener.close()
    return child, port


async def client(
    port: int, request: bytes, until: float, latencies: list[float], statuses: set[int]
) -> None:
    """Ask again and again on one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    is_first = True
    while is_first or time.perf_counter() < until:
        is_first = False
        started = time.perf_counter()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        statuses.add(int(head.split()[1]))
        latencies.append(time.perf_counter() - started)
    writer.close()


async def load(port: int, asked: tuple[str, str, bytes, int], seconds: float, clients: int) -> Any:
    """Examples a second, and the latencies."""
    path, media, body, count = asked
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {media}\r\n"
    request = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
    latencies: list[float] = []
    statuses: set[int] = set()
    started = time.perf_counter()
    until = started + seconds
    asking = (client(port, request, until, latencies, statuses) for _ in range(clients))
    await asyncio.gather(*asking)
    assert statuses == {200}, statuses
    return len(latencies) * count / (time.perf_counter() - started), latencies


def main() -> None:
    """Measure, and print the tables of a record."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--clients", type=int, default=8)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        services = {
            "lessregret": start(lambda: ours(folder, "full")),
            "River": start(rivers),
        }
        time.sleep(5)
        try:
            for _, port in services.values():
                asyncio.run(load(port, bodies()["learn, 1,000 as NDJSON"], 0.0, 1))
            measure(services, given.seconds, given.clients)
        finally:
            for child, _ in services.values():
                os.kill(child, signal.SIGTERM)
                os.waitpid(child, 0)


def measure(services: dict[str, tuple[int, int]], seconds: float, clients: int) -> None:
    """Print a row for each request and service."""
    print("| request | service | examples/s | p50, ms | p99, ms | times River |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for name, asked in bodies().items():
        found: dict[str, list[tuple[float, list[float]]]] = {}
        for _ in range(ROUNDS):
            for service, (_, port) in services.items():
                if service == "River" and asked[1] == "text/plain":
                    continue
                result = asyncio.run(load(port, asked, seconds, clients))
                found.setdefault(service, []).append(result)
        rates = {service: statistics.median(r[0] for r in runs) for service, runs in found.items()}
        for service, runs in found.items():
            times = sorted(each for _, latencies in runs for each in latencies)
            p50, p99 = (times[int(len(times) * q)] * 1000 for q in (0.5, 0.99))
            ratio = f"{rates[service] / rates['River']:.1f}" if "River" in rates else "–"
            print(
                f"| {name} | {service} | {rates[service]:,.0f} | {p50:.2f} | {p99:.2f} | {ratio} |"
            )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
