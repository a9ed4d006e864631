"""The folder of a service: its log, its snapshots, and a lock so that one process uses it.

DIR/lock  DIR/log.sqlite  DIR/snapshots/  DIR/tokens.json
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from pathlib import Path
from typing import IO

from lessregret import _core
from lessregret.errors import SpecError
from lessregret.learners.learner import Learner
from lessregret.service.clock import Clock
from lessregret.service.log import RESTORE, Log, LogError, told
from lessregret.service.settings import Settings
from lessregret.service.snapshots import Snapshots, digest_of
from lessregret.service.writer import Watch, Writer

ORIGIN = "origin"


class State:
    """The folder, open and locked, with the writer that owns it."""

    def __init__(self, folder: Path, model: Path, settings: Settings, watch: Watch) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = _locked(folder)
        try:
            self.writer = self._opened(model, settings, watch)
        except BaseException:
            self._lock.close()
            raise

    def _opened(self, model: Path, settings: Settings, watch: Watch) -> Writer:
        log = Log(self.folder / "log.sqlite", settings.durability)
        try:
            snapshots = Snapshots(self.folder / "snapshots")
            learner, position = _start(log, snapshots, model)
            settings.check_for(learner.space.labels)
            clock = Clock(log.newest_time())
            return Writer(learner, position, log, snapshots, settings, clock, watch)
        except sqlite3.Error as error:
            log.close()
            raise LogError(f"{log.name}: {told(error)}; {RESTORE}") from error
        except BaseException:
            log.close()
            raise

    def close(self) -> None:
        """End the writer and give the folder free."""
        self.writer.close()
        self._lock.close()


def _start(log: Log, snapshots: Snapshots, model: Path) -> tuple[Learner, int]:
    """The learner that the log goes on from, and its position."""
    content = model.read_bytes()
    _check_origin(log, digest_of(content), model)
    found = snapshots.newest()
    if found is not None:
        return found[1], found[0].position
    learner = Learner.load(model)
    check_servable(learner, model)
    snapshots.write(0, content)
    log.note(ORIGIN, digest_of(content))
    return learner, 0


def check_servable(learner: Learner, model: Path) -> None:
    """Raise a :class:`SpecError` for a model that cannot learn from requests."""
    if "bits" not in learner.spec["table"]:
        raise SpecError(
            f"{model}: the model was trained on the columns of a matrix, and requests have named "
            "features; serve a model of 'train', or of an estimator fitted to dicts"
        )
    if json.loads(_core.read_model_header(model)).get("slim"):
        raise SpecError(f"{model}: a slim model cannot learn; serve a whole one")


def _check_origin(log: Log, digest: str, model: Path) -> None:
    """The state of one model must not go on from another one."""
    origin = log.about(ORIGIN)
    if origin not in (None, digest):
        raise SpecError(
            f"{model}: the state folder began with another model; give the file that it began "
            "with, or a new folder to begin with this model"
        )


def _locked(folder: Path) -> IO[bytes]:
    """A lock that ends with the process, however that ends."""
    file = open(folder / "lock", "ab")  # noqa: SIM115
    try:
        _lock(file)
    except OSError:
        file.close()
        raise SpecError(
            f"{folder}: another service uses this state folder; stop it first"
        ) from None
    return file


def _lock(file: IO[bytes]) -> None:
    if sys.platform == "win32":
        import msvcrt

        os.lseek(file.fileno(), 0, os.SEEK_SET)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
