"""Learning and predicting from arrays: no text, no start-up, only the calls themselves.

The rows are those of ``tfidf``, as a CSR matrix of float32 with int32 indices, loaded before the
clock starts. Every contestant is a process that times its own calls, after one on a few rows.
"""

from __future__ import annotations

import sys

from benchmarks.speed.contestants import ISOLATED, is_meant
from benchmarks.speed.rounds import Standing, take_turns
from benchmarks.speed.settings import Settings
from benchmarks.speed.table import loss, seconds, share, table

OURS = "benchmarks.speed.in_memory_ours"
RIVALS = "benchmarks.speed.rivals.in_memory"
CONTESTANTS = {
    "estimator-one": ("OnlineClassifier, rate 0.1", OURS),
    "estimator-auto": ("OnlineClassifier, eight rates mixed", OURS),
    "learner-one": ("Learner.learn, rate 0.1", OURS),
    "learner-auto": ("Learner.learn, eight rates mixed", OURS),
    "sklearn": ("scikit-learn SGD", RIVALS),
    "river": ("River\\*", RIVALS),
}
HEADINGS = [
    "contestant", "learn: least, s", "median, s", "predict: least, s", "median, s",
    "held-out loss", "held-out error",
]  # fmt: skip


def measure(settings: Settings) -> str:
    """The table of learning from arrays."""
    keys = [key for key in CONTESTANTS if is_meant(key, settings.contestants)]
    commands = {key: command(key, settings) for key in keys}
    # The first run of each is not counted: it brings the files into memory.
    take_turns(commands, 1)
    standings = take_turns(commands, settings.repeats)
    done = [key for key in keys if standings[key].failure is None]
    rows = [row(CONTESTANTS[key][0], standings[key]) for key in done]
    left_out = [
        f"Left out: {CONTESTANTS[key][0]}: {standings[key].failure}."
        for key in keys
        if key not in done
    ]
    count = settings.cache.rows("memory")
    heading = (
        f"## memory\n\n{count:,} rows of `tfidf` in memory, the calls alone. A star: scaled up "
    )
    heading += "from one row in a hundred, and its held-out figures are after those."
    return "\n\n".join([heading, table(HEADINGS, rows), *left_out])


def command(key: str, settings: Settings) -> list[str]:
    module = CONTESTANTS[key][1]
    rival = module == RIVALS
    python = [str(settings.rivals_python()), *ISOLATED] if rival else [sys.executable]
    files = [str(settings.cache.file("memory", "npz", part)) for part in (1, 0)]
    return [*python, "-m", module, key, *files]


def row(title: str, standing: Standing) -> list[str]:
    said = standing.runs[0].said
    times = [*least_and_median("learn", standing), *least_and_median("predict", standing)]
    return [title, *times, loss(said["loss"]), share(said["error"])]


def least_and_median(call: str, standing: Standing) -> list[str]:
    """The seconds of one call, as each process timed it."""
    figures = (standing.least, standing.median)
    return [seconds(figure(lambda run: float(run.said[call]))) for figure in figures]
