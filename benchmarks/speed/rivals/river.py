"""River: logistic regression with its defaults, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from river.linear_model import LogisticRegression

from benchmarks.speed.rivals.task import task
from benchmarks.speed.rivals.vw_text import features, tokens


def examples(file: str) -> Iterator[tuple[dict[str, float], bool]]:
    """Each line as River takes it."""
    with open(file, encoding="ascii") as lines:
        for line in lines:
            named = features(line) if ":" in line else ((token, 1.0) for token in tokens(line))
            yield dict(named), line.startswith("1")


def main() -> None:
    """Learn the first rows; then, if asked, predict."""
    asked = task()
    model = LogisticRegression()
    for x, y in islice(examples(asked.data), asked.rows):
        model.learn_one(x, y)
    asked.learned()
    if asked.held_out:
        asked.predict(model.predict_proba_one(x)[True] for x, _ in examples(asked.held_out))


if __name__ == "__main__":
    main()
