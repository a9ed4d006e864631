"""Models of many classes: what their labels may be, and what their predictions look like.

A label is a class by its name, where the model has names, or by its whole number. A prediction is
the likeliest class, with the number of every class: its probability, or its margin for hinge loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessregret import _core
from lessregret.errors import InputError
from lessregret.learners.learner import Learner
from lessregret.learners.losses import loss_named
from lessregret.service.json_examples import BODY
from lessregret.training.class_predictions import probabilities

Class = int | str


class ManyClasses:
    """The classes of a model; :func:`classes_of` makes one."""

    def __init__(self, learner: Learner) -> None:
        classes, schema = learner.spec["classes"], learner.space.schema
        self._names: Sequence[str] = () if schema is None else schema.names
        self._declared = None if classes["auto"] else frozenset(classes["known"])
        self._has_chances = loss_named(learner.spec["loss"]).link == "probability"

    def code(self, label: Any) -> float | None:
        """The number of a class; None if the label is no class of this model."""
        if isinstance(label, str):
            return float(self._names.index(label)) if label in self._names else None
        if label is None or float(label) != int(label):
            return None
        return float(label) if self._declared is None or label in self._declared else None

    @property
    def expected(self) -> str:
        """What a label is expected to be."""
        if self._names:
            return f"a class: {', '.join(map(repr, self._names[:10]))}"
        if self._declared is None:
            return "a whole number, the code of a class"
        return f"one of the {len(self._declared)} classes that were declared"

    def check(self, learner: Learner, examples: _core.Examples) -> None:
        """Raise an :class:`InputError` for the first label that the learner would refuse."""
        if self._declared is None:
            return
        labels = learner._core.predict(examples).labels
        strange = np.flatnonzero(~np.isin(labels, list(self._declared)))
        if len(strange):
            place = f"{BODY}[{strange[0]}].label"
            raise InputError(place, 0, 0, f"{labels[strange[0]]:g}", self.expected)

    def name(self, code: int) -> Class:
        """A class as it is answered: its name, or its number where it has none."""
        return self._names[code] if 0 <= code < len(self._names) else code

    def answer(
        self, margins: NDArray[np.float64], codes: Sequence[int]
    ) -> tuple[list[Class | None], dict[str, Any]]:
        """The likeliest class of each row, and the numbers of all classes."""
        classes = [self.name(code) for code in codes]
        rows = margins.reshape(-1, len(codes)) if codes else np.zeros((len(margins), 0))
        found: list[Class | None] = (
            [classes[place] for place in rows.argmax(1).tolist()] if codes else [None] * len(rows)
        )
        numbers = probabilities(rows) if self._has_chances and codes else rows
        what = "probabilities" if self._has_chances else "margins"
        return found, {"classes": classes, what: numbers.tolist()}


def classes_of(learner: Learner) -> ManyClasses | None:
    """The classes of a model; None if it has two, or learns numbers."""
    return None if learner.classes is None else ManyClasses(learner)


def hits(outcomes: _core.Outcomes, codes: Sequence[int]) -> NDArray[np.float64]:
    """1 for each example whose likeliest class was its label, else 0."""
    count = outcomes.classes or 0
    if count == 0:
        return np.zeros(len(outcomes))
    likeliest = np.array(codes)[outcomes.margins.reshape(-1, count).argmax(1)]
    return np.asarray(likeliest == outcomes.labels, np.float64)
