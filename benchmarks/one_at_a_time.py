"""Microseconds of one prediction and of one round, beside River and Vowpal Wabbit.

    python -m benchmarks.one_at_a_time [--examples 20000] [--seconds 0]

Examples are dicts of 20 features: ten numbers and ten words. River's pipeline is the usual one:
one-hot encoded words and standardised numbers, then logistic regression. Vowpal Wabbit gets the
lines of text that it reads, made before the clock starts. All learn the same examples first; they
take turns three times, and the least CPU time of the process is told.

With ``--seconds``: eight threads predict and one learns for so long, and p50 and p99 of a
prediction are told.
"""

from __future__ import annotations

import argparse
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

TURNS = 3
Play = Callable[[dict[str, Any], str, bool], object]


def examples(count: int) -> list[tuple[dict[str, Any], str, bool]]:
    """Dicts, their lines of text and labels."""
    chance, made = random.Random(1), []
    for _ in range(count):
        numbers = {f"n{k}": round(chance.random(), 4) for k in range(10)}
        words = {f"c{k}": f"w{chance.randrange(100)}" for k in range(10)}
        text = " ".join(
            [f"{k}:{v}" for k, v in numbers.items()] + [f"{k}={v}" for k, v in words.items()]
        )
        label = numbers["n0"] + (words["c0"] < "w5") > chance.random() * 2
        made.append(({**numbers, **words}, f"| {text}", label))
    return made


def contestants() -> dict[str, tuple[Play, Play]]:
    """What predicts one example, and what learns one."""
    from lessregret.estimators import OnlineClassifier

    found: dict[str, tuple[Play, Play]] = {}
    for name, rate in (("lessregret, auto", "auto"), ("lessregret, one rate", 0.1)):
        found[name] = _ours(OnlineClassifier(rate=rate))
    found["River"] = _river()
    try:
        found["Vowpal Wabbit"] = _vowpal_wabbit()
    except ImportError:
        print("Vowpal Wabbit is not installed")
    return found


def _ours(model: Any) -> tuple[Play, Play]:
    return lambda x, _, __: model.predict_one(x), lambda x, _, y: model.learn_one(x, y)


def _river() -> tuple[Play, Play]:
    from river import compose, linear_model, preprocessing

    words = compose.SelectType(str) | preprocessing.OneHotEncoder()
    numbers = compose.SelectType(int, float) | preprocessing.StandardScaler()
    model = (words + numbers) | linear_model.LogisticRegression()
    return lambda x, _, __: model.predict_one(x), lambda x, _, y: model.learn_one(x, y)


def _vowpal_wabbit() -> tuple[Play, Play]:
    from vowpalwabbit import Workspace

    model = Workspace("--loss_function logistic --quiet -b 22")
    labels = {True: "1 ", False: "-1 "}
    return (
        lambda _, text, __: model.predict(text),
        lambda _, text, y: model.learn(labels[y] + text),
    )


def microseconds(play: Play, data: list[tuple[dict[str, Any], str, bool]]) -> float:
    """CPU time of one call."""
    started = time.process_time()
    for x, text, y in data:
        play(x, text, y)
    return (time.process_time() - started) / len(data) * 1e6


def table(data: list[tuple[dict[str, Any], str, bool]]) -> None:
    """Print the microseconds of all."""
    players = contestants()
    for _, learn in players.values():
        microseconds(learn, data)
    found: dict[str, list[tuple[float, float]]] = {}
    for _ in range(TURNS):
        for name, (predict, learn) in players.items():
            taken = microseconds(predict, data), microseconds(learn, data)
            found.setdefault(name, []).append(taken)
    print("| | predict, µs | learn, µs |\n| --- | ---: | ---: |")
    for name, taken in found.items():
        predict, learn = (min(column) for column in zip(*taken, strict=True))
        print(f"| {name} | {predict:.1f} | {learn:.1f} |")


def threads(data: list[tuple[dict[str, Any], str, bool]], seconds: float) -> None:
    """Print the latency of a prediction while eight threads predict and one learns."""
    from lessregret.estimators import OnlineClassifier

    model = OnlineClassifier()
    for x, _, y in data[:1000]:
        model.learn_one(x, y)
    until = time.perf_counter() + seconds
    latencies: list[list[float]] = [[] for _ in range(8)]
    learned = [0]

    def predict(into: list[float], start: int) -> None:
        k = start
        while time.perf_counter() < until:
            began = time.perf_counter()
            model.predict_one(data[k % len(data)][0])
            into.append(time.perf_counter() - began)
            k += 1

    def learn() -> None:
        while time.perf_counter() < until:
            x, _, y = data[learned[0] % len(data)]
            model.learn_one(x, y)
            learned[0] += 1

    running = [
        threading.Thread(target=predict, args=(into, 1000 * k)) for k, into in enumerate(latencies)
    ]
    running.append(threading.Thread(target=learn))
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    all_of = np.concatenate([np.array(each) for each in latencies]) * 1e6
    p50, p99, most = np.percentile(all_of, [50, 99, 100])
    print(
        f"\n{len(all_of):,} predictions, {learned[0]:,} rounds in {seconds:.0f} s; of a prediction"
    )
    print(f"p50 {p50:.1f} µs, p99 {p99:.1f} µs, the longest {most / 1000:.1f} ms")


def main() -> None:
    """Measure, and print the tables of a record."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--examples", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=0.0)
    given = parser.parse_args()
    data = examples(given.examples)
    table(data)
    if given.seconds:
        threads(data, given.seconds)


if __name__ == "__main__":
    main()
