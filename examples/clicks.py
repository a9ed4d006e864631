"""Learn to predict clicks from a log, and see whether the probabilities can be believed.

    python examples/clicks.py

The log is simulated text of Vowpal Wabbit. ``train`` predicts each impression before it learns from
it, so the loss needs no held-out lines, and the probabilities can be set beside what came.
"""

from __future__ import annotations

import sys
from pathlib import Path

import lessregret
from lessregret.data.generate import ClickWorld, log_text
from lessregret.training.calibration import Calibration


def generated(path: Path, examples: int) -> Path:
    """A log of simulated impressions."""
    with path.open("wb") as file:
        file.writelines(log_text(ClickWorld(seed=0), examples, format="vw"))
    return path


def learned(log: Path) -> tuple[float, Calibration]:
    """The mean log loss, and the probabilities beside what came."""
    training = lessregret.train(log, record=True)
    assert training.recorder is not None
    calibration = training.recorder.calibration
    assert calibration is not None
    assert training.ledger.mean_loss is not None
    return training.ledger.mean_loss, calibration


def show(loss: float, found: Calibration) -> None:
    """The loss beside that of one probability for all, then predicted and observed shares."""
    print(f"mean log loss {loss:.4f}; one probability for all: {found.entropy:.4f}")
    print("predicted  observed  examples")
    for each in found.bins():
        print(f"{each.predicted:9.4f} {each.observed:9.4f} {each.examples:9,}")


if __name__ == "__main__":
    place = Path(sys.argv[1] if len(sys.argv) > 1 else "clicks.vw")
    show(*learned(generated(place, 20_000)))
