"""What a run certifies of fixed weights, beside what the best of them really lose.

    python -m benchmarks.certificates --data DIR [--only a9a,books] [--write RECORD.md]

Every data set is learned once with default settings. Then the best fixed weights are searched for,
in the box, the ball and the L1 ball of ten radii around the size of the learned weights, on the
values and labels as the learner scaled them, the intercept held to its learned size. What a search
finds is never below the true least loss, so a certified loss above it would show a mistake.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from benchmarks.quality.sets import DataSet, data_sets
from lessregret import Learner, open_examples
from lessregret.data.datasets import DataHome
from lessregret.ledger import SHAPES, Ledger, Shape
from lessregret.regret.best_of_size import Found, Value, least_loss, sized_set
from lessregret.report.wording import left_in_words

Vector = NDArray[np.float64]
BITS = 22
RADII = np.geomspace(0.1, 3.0, 10)
"""in sizes of the learned weights"""
STEPS = 100
"""of the search for the best fixed weights; each lowers or keeps what was found"""


@dataclass(frozen=True)
class Game:
    """The rounds of a run as the learner played them."""

    values: csr_array
    """without the intercept"""
    levels: Vector
    """the value of the intercept in every round"""
    labels: Vector
    is_regression: bool

    def at(self, point: Vector) -> Value:
        """The loss of a point, the intercept's weight last, and its gradient."""
        margins = self.values @ point[:-1] + point[-1] * self.levels
        slopes, total = self.slopes(margins), self.total(margins)
        return Value(total, total, np.append(self.values.T @ slopes, self.levels @ slopes))

    def total(self, margins: Vector) -> float:
        """Σ loss."""
        if self.is_regression:
            return float(((margins - self.labels) ** 2).sum())
        return float(np.logaddexp(0, -self.labels * margins).sum())

    def slopes(self, margins: Vector) -> Vector:
        """∂loss/∂margin."""
        if self.is_regression:
            return 2 * (margins - self.labels)
        return -self.labels / (1 + np.exp(np.clip(self.labels * margins, -700, 700)))


@dataclass(frozen=True)
class Row:
    """What a run certifies, and what is true."""

    name: str
    ledger: Ledger
    best: float
    """the mean loss of the best weights found in the ball of the learned size"""
    violations: int
    """of thirty sets: those whose certified loss is above that of a point in them"""


def measure(name: str, data: DataSet, steps: int = STEPS) -> Row:
    """Learn from a data set, and search for the best fixed weights of many sizes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.vw"
        file.write_bytes(b"".join(data.lines()))
        ledger = ledger_of(file, data.is_regression)
        game = game_of(file, data.is_regression)
    count, best, violations = len(game.labels), np.inf, 0
    assert ledger.certificate is not None
    limit = abs(ledger.certificate.intercept_weight)
    columns = game.values.shape[1]
    zero = Found(np.zeros(columns + 1), game.total(np.zeros(count)))
    found, intercept = dict.fromkeys(SHAPES, zero), np.arange(columns + 1) == columns
    for shape, radius in sets(ledger):
        # The radii of a shape ascend, so what was found before is in the set, too.
        feasible = sized_set(shape, radius, intercept, limit)
        found[shape] = least_loss(game, feasible, found[shape], steps=steps)
        # What is certified was summed in another order than what the point loses.
        violations += ledger.certificate.least(radius, shape) > found[shape].loss * (1 + 1e-9)
        if shape == "ball" and np.isclose(radius, ledger.certificate.size("ball")):
            best = found[shape].loss / count
    return Row(name, ledger, best, violations)


def ledger_of(file: Path, is_regression: bool) -> Ledger:
    """The ledger of a run over a file with default settings."""
    learner = Learner("squared" if is_regression else "logistic", bits=BITS)
    learner.learn(open_examples([file], learner))
    return learner.ledger()


def sets(ledger: Ledger) -> Iterator[tuple[Shape, float]]:
    """The sets that are tried: ten radii of every shape, the ball's learned size among them."""
    assert ledger.certificate is not None
    for shape in SHAPES:
        size = ledger.certificate.size(shape)
        factors = sorted([*RADII[1:], 1.0]) if shape == "ball" else RADII
        yield from ((shape, float(factor * size)) for factor in factors)


def game_of(file: Path, is_regression: bool) -> Game:
    """The rounds as the default learner plays them."""
    loss = "squared" if is_regression else "logistic"
    unscaled = Learner(loss, bits=BITS, scale="none")
    stream = open_examples([file], unscaled, scale="standard")
    slots, values, starts, labels = [], [], [0], []
    for example in stream:
        slots.append(example.slots)
        values.append(example.values)
        starts.append(starts[-1] + len(example.slots))
        labels.append(example.label)
    used, columns = np.unique(np.concatenate(slots), return_inverse=True)
    matrix = csr_array(
        (np.concatenate(values).astype(float), columns, starts), shape=(len(labels), len(used))
    )
    return Game(matrix, levels_of(file), np.array(labels, float), is_regression)


def levels_of(file: Path) -> Vector:
    """The value of the intercept in every round: √(1 + d), d the features in every example so far.

    Examples that are read for something else than a learner have no intercept.
    """
    always: set[bytes] | None = None
    levels = []
    for line in file.read_bytes().splitlines():
        if always is None:
            always = features_of(line)
            levels.append(1.0)
            continue
        if always:
            always &= features_of(line)
        levels.append((1.0 + len(always)) ** 0.5)
    return np.array(levels)


def features_of(line: bytes) -> set[bytes]:
    """The names of the features of a line of Vowpal Wabbit text."""
    names = set()
    for part in line.split(b"|")[1:]:
        space, *features = part.split(b" ")
        names |= {space + b"^" + feature.split(b":")[0] for feature in features if feature.strip()}
    return names


def as_table(rows: list[Row]) -> str:
    """What is certified and what is true, a line for each set."""
    lines = [
        "| data | examples | slots | lost | certified | best found | at most left | really left |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        said = row.ledger.statement
        assert said is not None
        cells = [
            row.name,
            f"{row.ledger.rounds:,}",
            f"{row.ledger.summary.touched:,}",
            f"{said.lost:.4f}",
            f"{said.certified:.4f}" if said.speaks else "open",
            f"{row.best:.4f}" if said.speaks else "–",
            left_in_words(said),
            f"{100 * (said.lost - row.best) / said.lost:.1f} %" if said.speaks else "–",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Run what was asked for and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.certificates")
    parser.add_argument("--data", type=Path, help="the data home")
    parser.add_argument("--only", help="names of data sets, with commas between")
    parser.add_argument("--write", type=Path, help="write the table as a dated record")
    arguments = parser.parse_args()
    found = data_sets(DataHome(arguments.data) if arguments.data else DataHome.default())
    chosen = arguments.only.split(",") if arguments.only else list(found)
    if unknown := [name for name in chosen if name not in found]:
        parser.error(f"no data set {', '.join(unknown)}; there are {', '.join(found)}")
    rows = []
    for name in chosen:
        rows.append(measure(name, found[name]))
        print(as_table(rows[-1:]).splitlines()[-1], rows[-1].violations, "violations", flush=True)
    tried = len(rows) * len(SHAPES) * len(RADII)
    wrong = sum(row.violations for row in rows)
    sentence = f"Certified losses above that of a point of their set: {wrong} of {tried:,}."
    print(as_table(rows), sentence, sep="\n\n")
    if arguments.write:
        title = f"# What is certified, and what is true, {date.today()}"
        arguments.write.write_text(f"{title}\n\n{as_table(rows)}\n\n{sentence}\n")


if __name__ == "__main__":
    main()
