"""A table of mixed columns: ours, nothing set, against the usual pipelines of others.

    python -m benchmarks.mixed_table [--rows 50000] [--seeds 3] [--write RECORD.md]

The table is made up: numbers in raw units with heavy tails, categories with commas and quotes in
their names, a rare category, dates, and missing cells. Ours reads the CSV file once, in its order.
scikit-learn's LogisticRegression is trained to convergence on the output of a ColumnTransformer
(StandardScaler after an imputer, OneHotEncoder). River learns in one pass, in the same order. The
score is on the rows after those that were learned.
"""

from __future__ import annotations

import argparse
import csv
import io
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

HELD_OUT = 10_000
NUMBERS = ("age", "income", "visits")
CATEGORIES = ("city", "job", "device")
TIMES = ("signed_up",)
LABEL = "bought"


class Score(NamedTuple):
    """How well the rows held out were predicted."""

    auc: float
    log_loss: float


def table(rows: int, seed: int) -> list[dict[str, Any]]:
    """Rows with a label that depends on every column."""
    draw = np.random.default_rng(seed)
    cities = [f'City {k}, "{chr(65 + k % 26)}"' for k in range(200)]
    jobs = ["clerk", "nurse", "driver", "teacher", "engineer, chief", 'so-called "expert"', "none"]
    devices = ["phone", "tablet", "desktop", "tv"]
    effects = {name: draw.normal(0, 0.8, 300) for name in (*CATEGORIES, "hour", "weekday")}
    start, made = datetime(2025, 1, 1), []
    for _ in range(rows):
        age, income = int(draw.integers(18, 90)), float(np.round(draw.lognormal(10.3, 0.6), 2))
        visits = int(draw.geometric(0.2))
        city, job, device = _rank(draw, 200), _rank(draw, 7), _rank(draw, 4)
        when = start + timedelta(minutes=int(draw.integers(0, 525_600)))
        margin = (
            -1.2
            + 0.03 * (age - 50)
            + 0.8 * (np.log(income) - 10.3)
            + 0.1 * min(visits, 12)
            + effects["city"][city]
            + effects["job"][job]
            + effects["device"][device]
            + 0.5 * effects["hour"][when.hour]
            + 0.5 * effects["weekday"][when.weekday()]
        )
        row: dict[str, Any] = {
            "age": age,
            "income": income,
            "visits": visits,
            "city": cities[city],
            "job": jobs[job],
            "device": devices[device],
            "signed_up": when.isoformat(sep=" "),
            LABEL: "yes" if draw.random() < 1 / (1 + np.exp(-margin)) else "no",
        }
        for name in ("age", "income", "city"):
            if draw.random() < 0.03:
                row[name] = ""
        made.append(row)
    return made


def _rank(draw: np.random.Generator, many: int) -> int:
    """A category, the first ones more often."""
    return int(many * draw.random() ** 2)


def as_csv(rows: list[dict[str, Any]]) -> str:
    """The rows as a CSV file with a header."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def lessregret(train: list[dict[str, Any]], test: list[dict[str, Any]]) -> NDArray[np.float64]:
    """Our command line, nothing set but the label."""
    ours = [sys.executable, "-m", "lessregret.cli"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "train.csv").write_text(as_csv(train))
        (folder / "test.csv").write_text(as_csv(test))
        learn = ["train", "train.csv", "--label", LABEL, "--model", "model", "--quiet"]
        predict = ["predict", "model", "test.csv", "--output", "predictions"]
        for command in (learn, predict):
            subprocess.run([*ours, *command], cwd=folder, check=True)
        return np.loadtxt(folder / "predictions")


def scikit_learn(train: list[dict[str, Any]], test: list[dict[str, Any]]) -> NDArray[np.float64]:
    """LogisticRegression, to convergence, after a ColumnTransformer."""
    import pandas as pd
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    one_hot = OneHotEncoder(handle_unknown="ignore")
    columns = [("numbers", numbers, list(NUMBERS)), ("words", one_hot, [*CATEGORIES, *PARTS])]
    model = make_pipeline(ColumnTransformer(columns), LogisticRegression(max_iter=5000, tol=1e-8))
    frames = [_with_parts(pd.DataFrame(rows)) for rows in (train, test)]
    model.fit(frames[0], frames[0][LABEL])
    chances: NDArray[np.float64] = model.predict_proba(frames[1])[:, 1]
    return chances


PARTS = ("hour", "weekday", "month")


def _with_parts(frame: Any) -> Any:
    import pandas as pd

    times = pd.to_datetime(frame[TIMES[0]])
    for name in NUMBERS:
        frame[name] = pd.to_numeric(frame[name])
    parts = {"hour": times.dt.hour, "weekday": times.dt.day_of_week, "month": times.dt.month}
    return frame.assign(**parts)


def river(train: list[dict[str, Any]], test: list[dict[str, Any]]) -> NDArray[np.float64]:
    """River's usual pipeline: scaled numbers and one-hot words before LogisticRegression."""
    from river import compose, linear_model, preprocessing, stats

    numbers = (
        compose.Select(*NUMBERS)
        | preprocessing.StatImputer(*((name, stats.Mean()) for name in NUMBERS))
        | preprocessing.StandardScaler()
    )
    words = compose.Select(*CATEGORIES, *PARTS) | preprocessing.OneHotEncoder()
    model = (numbers + words) | linear_model.LogisticRegression()
    for x, y in _as_dicts(train):
        model.learn_one(x, y)
    return np.array([model.predict_proba_one(x).get(True, 0.5) for x, _ in _as_dicts(test)])


def _as_dicts(rows: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], bool]]:
    for row in rows:
        when = datetime.fromisoformat(row["signed_up"])
        x = {name: row[name] or None for name in (*NUMBERS, *CATEGORIES)}
        x |= {"hour": when.hour, "weekday": when.weekday(), "month": when.month}
        yield x, row[LABEL] == "yes"


CONTESTANTS: dict[str, Callable[..., NDArray[np.float64]]] = {
    "lessregret": lessregret,
    "scikit-learn, to convergence": scikit_learn,
    "River": river,
}


def score(chances: NDArray[np.float64], rows: list[dict[str, Any]]) -> Score:
    """AUC and log loss."""
    from sklearn.metrics import log_loss, roc_auc_score

    labels = [row[LABEL] == "yes" for row in rows]
    return Score(roc_auc_score(labels, chances), log_loss(labels, chances))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mixed_table")
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--write", type=Path, help="write the table as a dated record")
    arguments = parser.parse_args()
    lines = ["| seed | learner | AUC | log loss |", "| --- | --- | --- | --- |"]
    for seed in range(arguments.seeds):
        rows = table(arguments.rows + HELD_OUT, seed)
        train, test = rows[: arguments.rows], rows[arguments.rows :]
        for name, run in CONTESTANTS.items():
            found = score(run(train, test), test)
            lines.append(f"| {seed} | {name} | {found.auc:.4f} | {found.log_loss:.4f} |")
            print(lines[-1], flush=True)
    if arguments.write:
        what = f"{arguments.rows:,} rows to learn from, the next {HELD_OUT:,} to predict."
        text = f"# A table of mixed columns, {date.today()}\n\n{what}\n\n" + "\n".join(lines) + "\n"
        arguments.write.write_text(text)


if __name__ == "__main__":
    main()
