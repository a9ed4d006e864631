"""Counts and quantiles: Poisson loss beside squared loss and River; what quantile:0.9 covers.

    python -m benchmarks.counts [--write RECORD.md]

The deviance of a prediction q of a count y is 2 (y ln(y/q) − y + q). It is progressive: each row is
predicted before it is learned. bike-hours is the table of the data home, without the columns
"casual" and "registered", which add up to the label; it is read in its order, with its columns as
inferred or with the hour as a category. The other counts are made up. Ours has nothing set.
Predictions of squared loss are raised to the smallest count where they are below it, which for
bike-hours is 1: at 0 the deviance of a positive count is infinite.

River is its linear model with Poisson loss on one-hot categories and standardised numbers. It is
run at eight settings, and the one with the least deviance is shown. It needs River.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import lessregret
from lessregret.data.datasets.home import DataHome

LABEL = "y"
LEVEL = 0.9
ROWS = 20_000
Floats = NDArray[np.float64]


class Stream(NamedTuple):
    """Rows to be learned in their order."""

    name: str
    frame: pd.DataFrame
    categories: tuple[str, ...] = ()

    @property
    def labels(self) -> Floats:
        """The labels of the rows."""
        return self.frame[LABEL].to_numpy(float)


def deviance(labels: Floats, predictions: Floats) -> float:
    """The mean deviance."""
    logs = np.log(np.where(labels > 0, labels, 1) / predictions)
    return float(np.mean(2 * (labels * logs - labels + predictions)))


def progressive(stream: Stream, loss: str) -> Floats:
    """The predictions of ours, each made before its row was learned."""
    written = io.StringIO()
    choices = {"label": LABEL, "category": stream.categories}
    lessregret.train(stream.frame, columns=choices, loss=loss, bits=18, predictions=written)
    return np.array([float(line.split()[0]) for line in written.getvalue().splitlines()])


def bike_hours() -> pd.DataFrame:
    """The table, with the label called y."""
    table = pd.read_csv(DataHome.default().folder / "tables" / "bike-hours.csv.xz")
    return table.drop(columns=["casual", "registered"]).rename(columns={"cnt": LABEL})


def real_counts() -> Iterator[Stream]:
    """The hours of the year, with columns as inferred and with one that is said."""
    table = bike_hours()
    yield Stream("bike-hours, as inferred", table)
    yield Stream("bike-hours, --category hr", table, ("hr",))


def made_up_counts(seed: int) -> Iterator[Stream]:
    """Counts with a known mean, of several kinds."""
    draw = np.random.default_rng(seed)
    numbers = draw.normal(size=(ROWS, 8))
    of_numbers = numbers @ draw.normal(0, 0.4, 8)
    named = pd.DataFrame(numbers, columns=[f"x{k}" for k in range(8)])
    yield _drawn("numbers", named, of_numbers + 1, draw)
    spread = np.log(draw.gamma(1, 1, ROWS))
    yield _drawn("numbers, overdispersed", named, of_numbers + 1 + spread, draw)
    yield _drawn("numbers, mostly zeros", named, of_numbers - 4, draw)
    tails = draw.standard_t(3, size=(ROWS, 6))
    margins = np.clip(tails @ draw.normal(0, 0.3, 6), -6, 6)
    heavy = pd.DataFrame(tails, columns=[f"x{k}" for k in range(6)])
    yield _drawn("numbers, heavy tails", heavy, margins, draw)
    places = draw.zipf(1.5, size=(ROWS, 5)).clip(max=200)
    effects = draw.normal(0, 0.5, (5, 201))
    of_names = sum(effects[k][places[:, k]] for k in range(5))
    words = pd.DataFrame({f"c{k}": [f"v{v}" for v in places[:, k]] for k in range(5)})
    yield _drawn("categories, rare", words, of_names - 2, draw)
    yield _drawn("categories, large", words, of_names + 6, draw)
    time = np.arange(ROWS)
    drift = np.cumsum(draw.normal(0, 0.01, ROWS))
    hours = pd.DataFrame({"hour": [f"h{t % 24}" for t in time], "time": time.astype(float)})
    yield _drawn("season and trend", hours, 2 + np.sin(time * np.pi / 12) + drift, draw)


def _drawn(name: str, features: pd.DataFrame, margins: Any, draw: np.random.Generator) -> Stream:
    return Stream(name, features.assign(**{LABEL: draw.poisson(np.exp(margins)).astype(float)}))


def made_up_numbers(seed: int) -> Iterator[Stream]:
    """Numbers with noise of several kinds, for quantiles."""
    draw = np.random.default_rng(seed)
    numbers = draw.normal(size=(ROWS, 8))
    named = pd.DataFrame(numbers, columns=[f"x{k}" for k in range(8)])
    centre = numbers @ draw.normal(size=8)
    yield Stream("normal noise", named.assign(y=centre + draw.normal(size=ROWS)))
    yield Stream("skewed noise", named.assign(y=centre + draw.exponential(3, ROWS)))
    wide = draw.normal(size=ROWS) * np.exp(numbers[:, 0])
    yield Stream("noise that grows", named.assign(y=centre + wide))
    yield Stream("heavy tails", named.assign(y=centre + draw.standard_t(2, ROWS)))
    drift = np.linspace(0, 10, ROWS)
    yield Stream("a level that drifts", named.assign(y=centre + drift + draw.normal(size=ROWS)))


def coverage(stream: Stream) -> float:
    """The part of the labels of the second half that are below the predictions."""
    half = len(stream.frame) // 2
    predictions = progressive(stream, f"quantile:{LEVEL}")[half:]
    return float(np.mean(stream.labels[half:] < predictions))


def river(stream: Stream) -> tuple[float, str]:
    """The least deviance of River's linear model with Poisson loss, and its setting."""
    from river import optim

    settings = {f"SGD {rate}": (optim.SGD, rate) for rate in (0.00003, 0.0001, 0.0003, 0.001)}
    settings |= {f"Adam {rate}": (optim.Adam, rate) for rate in (0.001, 0.003, 0.01, 0.03)}
    rows = stream.frame.drop(columns=LABEL).to_dict("records")
    for column in stream.categories:
        for row in rows:
            row[column] = str(row[column])
    found = [(_of_river(rows, stream.labels, *setting), name) for name, setting in settings.items()]
    return min(found)


def _of_river(rows: list[dict[str, Any]], labels: Floats, kind: Any, rate: float) -> float:
    from river import compose, linear_model, optim, preprocessing

    numbers = compose.SelectType(int, float) | preprocessing.StandardScaler()
    words = compose.SelectType(str) | preprocessing.OneHotEncoder()
    # The intercept starts at the level of the first labels. Its default rate, 0.01, is too large
    # for counts of some hundreds.
    learner = linear_model.LinearRegression(
        kind(rate),
        optim.losses.Poisson(),
        intercept_init=float(np.log(labels[:100].mean())),
        intercept_lr=min(rate, 0.0003),
    )
    model = (numbers + words) | learner
    predictions = []
    try:
        for row, label in zip(rows, labels.tolist(), strict=True):
            predictions.append(model.predict_one(row))
            model.learn_one(row, label)
    except OverflowError:
        return float("inf")
    # A prediction beyond all counts is one of a model that diverged; it is charged as it is.
    return deviance(labels, np.maximum(np.array(predictions), 1e-9))


def report(seeds: int) -> str:
    """The tables, as Markdown."""
    lines = [
        "| counts | Poisson | squared, raised | River (its best of eight) |",
        "|" + " --- |" * 4,
    ]
    streams = [*real_counts(), *(s for seed in range(seeds) for s in made_up_counts(seed))]
    for stream in streams:
        labels = stream.labels
        squared = np.maximum(progressive(stream, "squared"), max(labels.min(), 1e-3))
        ours = deviance(labels, progressive(stream, "poisson"))
        theirs, setting = river(stream)
        told = f"{ours:.3f} | {deviance(labels, squared):.3f} | {theirs:.3f} ({setting})"
        lines.append(f"| {stream.name} | {told} |")
    lines += ["", "| numbers | below quantile:0.9, second half |", "| --- | --- |"]
    quantiles = [*real_counts(), *(s for seed in range(seeds) for s in made_up_numbers(seed))]
    lines += [f"| {stream.name} | {coverage(stream):.2%} |" for stream in quantiles]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--write", type=Path)
    asked = parser.parse_args()
    tables = report(asked.seeds)
    print(tables)
    if asked.write:
        asked.write.write_text(tables + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
