"""Margins as what people want to read: probabilities, scores, values."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from lessregret.learners.losses import loss_named

Link = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def link(loss: str, output: str = "auto") -> Link:
    """What turns margins into predictions.

    ``"auto"`` is the probability of the label 1 for logistic loss, the expected count for Poisson
    loss, the margin for hinge, the value itself for squared; ``"label"`` is the sign of the margin,
    1 or -1.
    """
    if output == "label":
        return lambda margins: np.where(margins > 0, 1.0, -1.0)
    if output == "probability" or (output == "auto" and loss_named(loss).link == "probability"):
        from scipy.special import expit

        return lambda margins: np.asarray(expit(margins), dtype=np.float64)
    return loss_named(loss).predictions if output == "auto" else lambda margins: margins


def as_names(margins: NDArray[np.float64], classes: tuple[str | None, str]) -> Iterator[str]:
    """The name of the predicted class a line; a class of all other labels is 'not' the positive."""
    negative, positive = classes
    negative = f"not {positive}" if negative is None else negative
    return (f"{positive if margin > 0 else negative}\n" for margin in margins.tolist())


def as_lines(numbers: NDArray[np.float64]) -> Iterator[str]:
    """One number a line, six significant digits."""
    return (f"{value:.6g}\n" for value in numbers.tolist())
