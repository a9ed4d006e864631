"""Predictions for bodies of requests, by whichever learner there is now."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from lessregret import _core
from lessregret.errors import InputError
from lessregret.learners.learner import Learner
from lessregret.service.bodies import JSON, NDJSON, Bodies, margins
from lessregret.service.json_examples import BODY, Example, KeptExample, KeptRow
from lessregret.service.many_classes import Class, classes_of
from lessregret.service.refusals import BadInputError
from lessregret.training.predictions import link

if TYPE_CHECKING:
    from numpy.typing import NDArray

ID_LENGTH = 256


class Predicted(NamedTuple):
    """Predictions, and the examples that are to wait for their labels."""

    numbers: Sequence[float | Class | None]
    """a number for each example; of many classes the likeliest"""
    is_many: bool
    to_keep: list[tuple[str, bytes]]
    about: dict[str, Any]
    """what is answered beside the predictions"""


class Predictor(ABC):
    """Reads bodies for one feature space and predicts their examples."""

    def __init__(self, learner: Learner, bodies: Bodies) -> None:
        self.bodies = bodies
        self.predicted = 0
        """examples predicted since the start"""
        self._classes = classes_of(learner)
        self._learns_late = learner._core.learns_late
        self._link = link(learner.spec["loss"])

    @property
    @abstractmethod
    def learner(self) -> Learner:
        """The learner as it is now."""

    @abstractmethod
    def _check_read(self) -> None:
        """Raise a refusal if there is no learner to predict with yet."""

    def predict(self, media: str, body: bytes) -> Predicted:
        """Predict all examples of a body."""
        self._check_read()
        try:
            return self._predicted(media, body)
        except InputError as error:
            raise BadInputError.of(error) from None

    def _predicted(self, media: str, body: bytes) -> Predicted:
        if media not in (JSON, NDJSON):
            return self._of_examples(self.bodies.unlabelled(media, body), True)
        plain = self.bodies.plain(media, body, False)
        if plain is not None:
            return self._of_examples(*plain)
        examples, is_many = self.bodies.decoded(media, body)
        if self._learns_late and any(each.id is not None for each in examples):
            return self._played(examples, is_many)
        to_keep = [(checked_id(each.id), _kept(each)) for each in examples if each.id is not None]
        if self._classes is not None:
            found = self._of_examples(self.bodies.of_json(examples, False), is_many)
            return found._replace(to_keep=to_keep)
        return Predicted(self._numbers(self._margins(examples)), is_many, to_keep, {})

    def _of_examples(self, examples: _core.Examples, is_many: bool) -> Predicted:
        outcomes = self.learner._core.predict(examples)
        if self._classes is None:
            return Predicted(self._numbers(outcomes.margins), is_many, [], {})
        self.predicted += len(outcomes)
        codes = (self.learner.classes or [])[: outcomes.classes or 0]
        rows = outcomes.margins if codes else np.zeros(len(outcomes))
        classes, about = self._classes.answer(rows, codes)
        if not is_many:
            about = {k: each[0] if k != "classes" else each for k, each in about.items()}
        return Predicted(classes, is_many, [], about)

    def _played(self, examples: list[Any], is_many: bool) -> Predicted:
        """Predict, and keep what learning from the margins that are answered will need."""
        found = self.learner._core.play_late(self.bodies.of_json(examples, False))
        pairs = zip(examples, found, strict=True)
        to_keep = [
            (checked_id(each.id), _kept(each, played))
            for each, (_, played) in pairs
            if each.id is not None
        ]
        numbers = self._numbers(np.array([margin for margin, _ in found], np.float64))
        return Predicted(numbers, is_many, to_keep, {})

    def _margins(self, examples: list[Any]) -> NDArray[np.float64]:
        """The margins; a dict goes to the core as it is, which needs no array for one example."""
        if self.bodies.is_plain:
            predict_one = self.learner._core.predict_one
            found = [predict_one(example.features) for example in examples]
            if None not in found:
                return np.array(found, np.float64)
        return margins(self.learner, self.bodies.of_json(examples, False))

    def _numbers(self, found: NDArray[np.float64]) -> list[float]:
        self.predicted += len(found)
        numbers: list[float] = self._link(found).tolist()
        return numbers


def checked_id(id: str) -> str:
    """The id, if it has a fitting length."""
    if not 0 < len(id) <= ID_LENGTH:
        found = f"{len(id)} characters"
        raise InputError(f"{BODY}.id", 0, 0, found, f"an id of 1 to {ID_LENGTH} characters")
    return id


def _kept(example: Any, played: bytes | None = None) -> bytes:
    if example.label is not None:
        expected = "no label beside an id; send it to /outcome later"
        raise InputError(f"{BODY}.label", 0, 0, repr(example.label)[:80], expected)
    kind = KeptExample if isinstance(example, Example) else KeptRow
    return msgspec.json.encode(kind(example.features, None, example.importance, None, played))
