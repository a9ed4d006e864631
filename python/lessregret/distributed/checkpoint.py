"""The model after the last sync of a run, with the plan that it belongs to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lessregret.data.output import write_file
from lessregret.errors import SpecError
from lessregret.learners.learner import Learner


class Checkpoint:
    """A folder with the plan of a run, and the model after its last sync.

    Parameters
    ----------
    folder : path
        The folder; it is made if it is not there.
    plan : dict
        What a run must have in common with the one that it goes on from.
    """

    def __init__(self, folder: Path, plan: Mapping[str, Any]) -> None:
        self._folder = folder
        self._plan = json.dumps(plan).encode()

    def load(self, start: Learner) -> tuple[int, Learner]:
        """How many syncs are done, and the model after them."""
        self._folder.mkdir(parents=True, exist_ok=True)
        plan = self._folder / "plan.json"
        if not plan.exists():
            write_file(plan, self._plan)
        if plan.read_bytes() != self._plan:
            raise SpecError(
                f"{self._folder} is the checkpoint of a run with other files or settings; give "
                "them again, or another folder"
            )
        return last_model(self._folder) or (0, start)

    def save(self, number: int, learner: Learner) -> None:
        """Keep the model after a sync, and only then forget the one before."""
        save_model(self._folder, number, learner)


def last_model(folder: Path) -> tuple[int, Learner] | None:
    """The number of the last model that was kept in a folder, and the model; None without one."""
    numbers = [int(path.stem) for path in folder.glob("*.model")]
    return (max(numbers), Learner.load(_path(folder, max(numbers)))) if numbers else None


def save_model(folder: Path, number: int, learner: Learner) -> None:
    """Keep a model with its number, and only then forget those before it."""
    learner.save(_path(folder, number))
    for path in folder.glob("*.model"):
        if int(path.stem) < number:
            path.unlink(missing_ok=True)


def _path(folder: Path, number: int) -> Path:
    return folder / f"{number}.model"
