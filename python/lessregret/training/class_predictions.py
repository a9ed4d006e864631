"""Margins of many classes as what people want to read: classes, probabilities, losses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from lessregret.learners.losses import loss_named

Floats = NDArray[np.float64]


def probabilities(margins: Floats) -> Floats:
    """softmax of every row: the probabilities of the classes under multinomial loss."""
    from scipy.special import softmax

    return np.asarray(softmax(margins, axis=1), dtype=np.float64)


def class_lines(margins: Floats, names: Sequence[str], output: str) -> Iterator[str]:
    """A line for each example: the likeliest class, or a number for each class.

    >>> list(class_lines(np.array([[0.0, -1.0]]), ["a", "b"], "label"))
    ['a\\n']
    """
    if output in ("auto", "label"):
        return (f"{names[place]}\n" for place in margins.argmax(1).tolist())
    numbers = probabilities(margins) if output == "probability" else margins
    return (" ".join(f"{number:.6g}" for number in row) + "\n" for row in numbers.tolist())


def class_losses(loss: str, margins: Floats, places: NDArray[np.intp]) -> Floats:
    """The loss of every row, whose label is the class in this place.

    >>> class_losses("logistic", np.zeros((1, 4)), np.array([2])).round(4).tolist()
    [1.3863]
    """
    rows = np.arange(len(margins))
    if loss_named(loss).link == "probability":
        from scipy.special import logsumexp

        return np.asarray(logsumexp(margins, axis=1) - margins[rows, places], dtype=np.float64)
    value = loss_named(loss).value
    labels = np.where(np.arange(margins.shape[1]) == places[:, np.newaxis], 1.0, -1.0)
    pairs = zip(margins.tolist(), labels.tolist(), strict=True)
    return np.array([sum(map(value, p, y)) for p, y in pairs])


def places_of(labels: NDArray[np.floating], codes: Sequence[int]) -> NDArray[np.intp] | None:
    """The places of labels among the classes; None if a label is missing or not known.

    >>> places_of(np.array([7.0, 3.0]), [3, 7]).tolist()
    [1, 0]
    """
    known = {float(code): place for place, code in enumerate(codes)}
    places = [known.get(label, -1) for label in labels.tolist()]
    return None if -1 in places else np.array(places, dtype=np.intp)
