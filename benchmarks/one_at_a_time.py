"""Microseconds of one prediction and of one round, beside River and Vowpal Wabbit.

    python -m benchmarks.one_at_a_time [--examples 20000] [--seconds 0]

Examples are dicts of 20 features: ten numbers and ten words. River's pipeline is the usual one:
one-hot encoded words and standardised numbers, then logistic regression. Vowpal Wabbit gets the
lines of text that it reads, made before the clock starts. All learn the same examples first; they
take turns three times, and the least CPU time of the process is told.

With ``--seconds``: eight threads predict and one learns for so long; p50 and p99 of a prediction
are told, and whether each is that of a model between two rounds.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

TURNS = 3
PREDICTING = 8
ASKED = 2
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
    from lessregret import OnlineClassifier, PerCoordinate

    found: dict[str, tuple[Play, Play]] = {}
    for name, rate in (("lessregret, auto", "auto"), ("lessregret, one rate", 0.1)):
        found[name] = _ours(OnlineClassifier(rule=PerCoordinate(rate=rate)))
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
    """Print the latency of a prediction while eight threads predict and one learns.

    Every thread predicts one of two examples again and again. Afterwards a second learner learns
    the same rounds alone: all that was predicted must be what it predicts between two of them.
    """
    from lessregret import OnlineClassifier

    model = OnlineClassifier()
    began = time.perf_counter()
    latencies: list[list[float]] = [[] for _ in range(PREDICTING)]
    predicted: list[set[float]] = [set() for _ in range(PREDICTING)]
    rounds = 0
    model.learn_one(data[0][0], data[0][2])

    def predict(k: int) -> None:
        x, into, found = data[k % ASKED][0], latencies[k], predicted[k]
        while (start := time.perf_counter()) < began + seconds:
            found.add(model.predict_proba_one(x)[True])
            into.append(time.perf_counter() - start)

    def learn() -> None:
        nonlocal rounds
        while time.perf_counter() < began + seconds:
            rounds += 1
            x, _, y = data[rounds % len(data)]
            model.learn_one(x, y)

    with ThreadPoolExecutor(PREDICTING + 1) as pool:
        running = [pool.submit(predict, k) for k in range(PREDICTING)] + [pool.submit(learn)]
        for each in running:
            each.result()
    all_of = np.concatenate([np.array(each) for each in latencies]) * 1e6
    p50, p99, most = np.percentile(all_of, [50, 99, 100])
    counts = f"{len(all_of):,} predictions, {rounds:,} rounds in {seconds:.0f} s"
    print(f"\n{counts}, no exception; of a prediction")
    print(f"p50 {p50:.1f} µs, p99 {p99:.1f} µs, the longest {most / 1000:.1f} ms", flush=True)
    strange = _strange(data, rounds, predicted)
    print(f"{strange:,} predictions that no whole round explains")


def _strange(
    data: list[tuple[dict[str, Any], str, bool]], rounds: int, predicted: list[set[float]]
) -> int:
    """The number of different predictions that a learner that learns alone never makes."""
    from lessregret import OnlineClassifier

    model = OnlineClassifier()
    left = [set().union(*predicted[k::ASKED]) for k in range(ASKED)]
    for k in range(rounds + 1):
        x, _, y = data[k % len(data)]
        model.learn_one(x, y)
        for asked, values in enumerate(left):
            values.discard(model.predict_proba_one(data[asked][0])[True])
    return sum(map(len, left))


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
