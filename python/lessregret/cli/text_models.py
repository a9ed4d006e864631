"""Models that read text: what ``predict`` and ``explain`` ask of a model file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lessregret.errors import SpecError

if TYPE_CHECKING:
    from lessregret.learners.learner import Learner


def check_reads_text(learner: Learner, model: str, act: str) -> None:
    """Raise a :class:`SpecError` if the features of the model are the columns of a matrix."""
    if "bits" not in learner.spec["table"]:
        raise SpecError(
            f"{model}: the model was trained on the columns of a matrix, and text has named "
            f"features; {act} in Python with what trained it. Models of 'train', and of "
            "estimators fitted to dicts, can be used here"
        )
