"""scikit-learn and River on arrays: ``NAME ROWS.npz HELD-OUT.npz``."""

from __future__ import annotations

import sys
from itertools import islice
from typing import Any

from benchmarks.speed.arrays import Rows, first, load, tell

RIVER_SHARE = 100
"""River is given one row in so many: dicts of all would fill the memory."""


def sklearn(rows: Rows, held_out: Rows) -> None:
    from sklearn.linear_model import SGDClassifier

    model = SGDClassifier(loss="log_loss", shuffle=False)
    SGDClassifier(loss="log_loss", shuffle=False).partial_fit(*first(rows), classes=[-1, 1])
    tell(
        lambda: model.partial_fit(*rows, classes=[-1, 1]),
        lambda: model.predict_proba(held_out[0])[:, 1],
        held_out[1],
        1.0,
    )


def river(rows: Rows, held_out: Rows) -> None:
    from river.linear_model import LogisticRegression

    model = LogisticRegression()
    given = max(1, len(rows[1]) // RIVER_SHARE)
    some, others = dicts(rows, given), dicts(held_out, len(held_out[1]))

    def learn() -> None:
        for x, y in some:
            model.learn_one(x, y)

    def predict() -> list[float]:
        return [model.predict_proba_one(x)[True] for x, _ in others]

    tell(learn, predict, held_out[1], len(rows[1]) / given)


def dicts(rows: Rows, count: int) -> list[tuple[dict[int, float], bool]]:
    """The first rows as River takes them."""
    X, y = rows
    pairs: Any = zip(X, y, strict=True)
    return [
        (dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)), bool(label > 0))
        for row, label in islice(pairs, count)
    ]


if __name__ == "__main__":
    {"sklearn": sklearn, "river": river}[sys.argv[1]](load(sys.argv[2]), load(sys.argv[3]))
