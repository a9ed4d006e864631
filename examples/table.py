"""Predict a price from an ordinary table, with numbers, categories and empty cells.

    python examples/table.py

Nothing is prepared: what the columns are is inferred from the file, numbers are standardised as
they come, and an empty cell is a feature of its own. The model file holds all of that, so that new
rows are read as those of the training were.
"""

from __future__ import annotations

import csv
import random
import sys
from math import sqrt
from pathlib import Path

import lessregret

CITIES = {"Aarhus": 40, "Bergen": 90, "Turku": 10}


def written(path: Path, rows: int, seed: int = 0) -> Path:
    """A CSV file of made-up homes; the year is missing in a row of ten."""
    rng = random.Random(seed)
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["city", "rooms", "size", "built", "price"])
        for _ in range(rows):
            city, rooms = rng.choice(list(CITIES)), rng.randint(1, 6)
            size, year = 20 * rooms + rng.gauss(20, 8), rng.randint(1900, 2020)
            price = 100 + CITIES[city] + 2 * size + (year - 1900) / 2 + rng.gauss(0, 20)
            built = "" if rng.random() < 0.1 else year
            table.writerow([city, rooms, f"{size:.1f}", built, f"{price:.0f}"])
    return path


def learned(path: Path) -> lessregret.Training:
    """A regression, since the labels are numbers; each row is predicted before it is learned."""
    return lessregret.train(path, label="price", model=path.with_suffix(".safetensors"))


if __name__ == "__main__":
    place = Path(sys.argv[1] if len(sys.argv) > 1 else "homes.csv")
    loss = learned(written(place, 3000)).ledger.mean_loss
    assert loss is not None
    print(f"prices of unseen homes were wrong by {sqrt(loss):.1f}, root mean square")
