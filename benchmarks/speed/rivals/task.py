"""What every rival is asked: read, learn, and predict what is held out if there is something."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from os import times
from time import perf_counter


@dataclass
class Task:
    """The request, and the clock: it starts when the imports are done."""

    data: str
    bits: int
    rows: int
    held_out: str | None
    predictions: str | None
    options: str
    begin: float = field(default_factory=perf_counter)
    begin_user: float = field(default_factory=lambda: times().user)

    def learned(self, **more: float) -> None:
        """Say how long the work took without the start, which is not scaled up."""
        work = {"work": perf_counter() - self.begin, "work_user": times().user - self.begin_user}
        print(json.dumps({**work, **more}))

    def predict(self, probabilities: Iterable[float]) -> None:
        """Write the probabilities of label 1."""
        assert self.predictions is not None
        with open(self.predictions, "w", encoding="ascii") as file:
            file.writelines(f"{probability:.9g}\n" for probability in probabilities)


def task() -> Task:
    """The request on the command line; options that are not known are the rival's own."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("data")
    parser.add_argument("--bits", type=int, required=True)
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--held-out")
    parser.add_argument("--predictions")
    known, own = parser.parse_known_args()
    return Task(**vars(known), options=" ".join(own))
