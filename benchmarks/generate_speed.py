"""How fast click logs are made: impressions a second, by world and by what is made of them.

    python benchmarks/generate_speed.py

prints a Markdown table. Seconds are of processor time, because the machine may be shared; nothing
here uses more than one core. Worlds are built before the clock starts; how long that takes stands
in the last column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from statistics import median
from time import process_time
from typing import Any

from lessregret.data.examples import Rows
from lessregret.data.generate import FORMATS, ClickWorld, impressions, log_text, phrase_world, rows
from lessregret.learners.learner import Learner

EXAMPLES = 500_000
REPEATS = 5

WORLDS = {
    "default": ClickWorld(),
    "auto insurance": phrase_world("auto insurance"),
    "shoe": phrase_world("shoe"),
    "default, drift 2": ClickWorld(drift=2.0),
}


def learned(world: ClickWorld, examples: int) -> Iterable[Any]:
    """Rows, and what a learner with a rate for each coordinate makes of them."""
    learner = Learner("logistic", columns=world.columns)
    space = learner.space
    return (learner.learn(Rows.from_csr(X, y, space=space)) for X, y in rows(world, examples))


def text(format: str) -> Callable[[ClickWorld, int], Iterable[Any]]:
    return lambda world, examples: log_text(world, examples, format=format)


MAKERS: dict[str, Callable[[ClickWorld, int], Iterable[Any]]] = {
    "blocks": impressions,
    **{f"{format} text": text(format) for format in FORMATS},
    "rows": rows,
    "rows, learned": learned,
}


def seconds(make: Callable[[ClickWorld, int], Iterable[Any]], world: ClickWorld, n: int) -> float:
    """The processor time that n impressions take."""
    begin = process_time()
    for _ in make(world, n):
        pass
    return process_time() - begin


def main() -> None:
    """Make, time, print."""
    print("| world | what | most, /s | median, /s | building, s |")
    print("| --- | --- | ---: | ---: | ---: |")
    for name, world in WORLDS.items():
        for what, make in MAKERS.items():
            fresh = replace(world)
            building = seconds(make, fresh, 1)
            rates = [EXAMPLES / seconds(make, fresh, EXAMPLES) for _ in range(REPEATS)]
            figures = f"{max(rates):,.0f} | {median(rates):,.0f} | {building:.2f}"
            print(f"| {name} | {what} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
