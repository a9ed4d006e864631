"""scikit-learn: its readers, then one epoch of SGDClassifier with its defaults, rows in order."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import SGDClassifier

from benchmarks.speed.rivals.matrices import matrices
from benchmarks.speed.rivals.task import task


def main() -> None:
    """Learn block by block; then, if asked, predict."""
    asked = task()
    model = SGDClassifier(loss="log_loss", shuffle=False)
    for X, y in matrices(asked.data, asked.bits, np.float32):
        model.partial_fit(X, y, classes=[-1, 1])
    asked.learned()
    if asked.held_out:
        blocks = matrices(asked.held_out, asked.bits, np.float32)
        asked.predict(p for X, _ in blocks for p in model.predict_proba(X)[:, 1])


if __name__ == "__main__":
    main()
