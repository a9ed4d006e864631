"""Who takes part, and the command of each: from text to a model in memory, one pass.

Nobody writes a model in the timed runs. The first run of each is not timed: it warms the file
cache, keeps its model and predicts the rows held out.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

BITS = 22
OURS = (sys.executable, "-m", "lessregret.cli")
ISOLATED = ("-E", "-s")
"""Nothing of ours, and nothing of the user's, may replace what is pinned."""
Command = list[str]


@dataclass(frozen=True)
class Contestant:
    """A program and its options."""

    key: str
    """its name on the command line"""
    title: str
    """its name in the table"""
    text: str
    """the format it reads"""
    module: str = ""
    """the script of a rival; empty for lessregret itself"""
    options: Sequence[str] = ()
    share: float = 1.0
    """how much of the file it is given; its time is scaled up accordingly"""

    @property
    def is_rival(self) -> bool:
        return self.module.startswith("benchmarks.speed.rivals.")

    def command(self, python: Path, data: Path, rows: int) -> Command:
        """What is timed."""
        if not self.module:
            return [
                *OURS,
                "train",
                str(data),
                "--bits",
                str(BITS),
                "--json",
                "--quiet",
                *self.options,
            ]
        own = [str(python), *ISOLATED] if self.is_rival else [sys.executable]
        script = [*own, "-m", self.module, str(data)]
        return [*script, "--bits", str(BITS), "--rows", str(self.given(rows)), *self.options]

    def scored(
        self, python: Path, data: Path, rows: int, held_out: Path, predictions: Path
    ) -> list[Command]:
        """The same, and then the probabilities of the rows held out."""
        command = self.command(python, data, rows)
        if self.module:
            return [[*command, "--held-out", str(held_out), "--predictions", str(predictions)]]
        model = f"{predictions}.model"
        predict = [*OURS, "predict", model, str(held_out), "--output", str(predictions)]
        return [[*command, "--model", model], predict]

    def given(self, rows: int) -> int:
        """How many rows it is given."""
        return max(1, round(self.share * rows))


def ours(text: str) -> list[Contestant]:
    """One rate, the default with its certificate and without, and reading alone."""
    read = Contestant(f"parse-{text}", "lessregret, reading only", text, "benchmarks.speed.parse")
    one, auto, bare = ("--rate", "0.1"), ("--rate", "auto"), ("--rate", "auto", "--no-certify")
    return [
        Contestant(f"one-{text}", "lessregret, rate 0.1", text, options=one),
        Contestant(f"auto-{text}", "lessregret, default", text, options=auto),
        Contestant(f"uncertified-{text}", "lessregret, default, --no-certify", text, options=bare),
        read,
    ]


def rival(key: str, title: str, text: str, *options: str, share: float = 1.0) -> Contestant:
    module = f"benchmarks.speed.rivals.{key.partition('-')[0]}"
    return Contestant(key, title, text, module, options, share)


VW = [
    rival("vw", "Vowpal Wabbit", "vw"),
    rival("vw-sgd", "Vowpal Wabbit, --sgd", "vw", "--sgd"),
]
RIVER = rival("river", "River", "vw", share=0.1)
CONTESTANTS = {
    "tfidf": [
        *ours("svmlight"),
        *ours("vw"),
        *VW,
        rival("sklearn", "scikit-learn SGD", "svmlight"),
        rival("liblinear", "LIBLINEAR, to convergence", "svmlight"),
        RIVER,
    ],
    "clicks": [
        *ours("vw"),
        *VW,
        rival("sklearn", "scikit-learn SGD, hashed", "vw"),
        rival("liblinear", "LIBLINEAR, hashed, to convergence", "vw"),
        RIVER,
    ],
    "dense": [*ours("vw"), *VW],
    "tiny": [
        *ours("vw"),
        *VW,
        rival("sklearn", "scikit-learn SGD, hashed", "vw"),
        rival("liblinear", "LIBLINEAR, hashed, to convergence", "vw"),
        rival("river", "River", "vw"),
    ],
}


def chosen(part: str, keys: Sequence[str]) -> list[Contestant]:
    """The contestants of a part by key or the key's beginning; all if no key is given."""
    return [contestant for contestant in CONTESTANTS[part] if is_meant(contestant.key, keys)]


def is_meant(key: str, keys: Sequence[str]) -> bool:
    """Whether a contestant was asked for.

    >>> is_meant("vw-sgd", ["vw"]), is_meant("vw", ["vw-sgd"]), is_meant("vw", [])
    (True, False, True)
    """
    return not keys or key in keys or key.partition("-")[0] in keys
