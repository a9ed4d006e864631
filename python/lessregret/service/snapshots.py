"""Snapshots: model files that name the position of the log that they contain.

    snapshots/000000000012345-9f86d081884c7d65.safetensors    position, start of its SHA-256

They are written beside, flushed and renamed, and the folder is flushed (``AtomicFile``). The name
holds the digest, so that a torn file is known by itself; the one before it is then used. Two are
kept, and a start needs one.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import NamedTuple

from lessregret import _core
from lessregret.errors import ModelFileError
from lessregret.learners.learner import Learner

KEPT = 2
NAME = re.compile(r"(\d{15})-([0-9a-f]{16})\.safetensors")


class Snapshot(NamedTuple):
    """A file with the learner as it was at a position of the log."""

    position: int
    digest: str
    path: Path

    def content(self) -> bytes | None:
        """The bytes of the file; None if it is not whole."""
        try:
            content = self.path.read_bytes()
        except OSError:
            return None
        return content if digest_of(content) == self.digest else None


def digest_of(content: bytes) -> str:
    """What names a model: the start of its SHA-256."""
    return hashlib.sha256(content).hexdigest()[:16]


class Snapshots:
    """The folder of snapshots."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.torn: list[str] = []
        """names of files that were found not to be whole"""
        folder.mkdir(exist_ok=True)
        # What a killed service was writing.
        for partial in folder.glob(".*.partial"):
            partial.unlink(missing_ok=True)

    def all(self) -> list[Snapshot]:
        """The snapshots by their names, the newest first."""
        named = [(NAME.fullmatch(path.name), path) for path in self.folder.iterdir()]
        found = [Snapshot(int(name[1]), name[2], path) for name, path in named if name]
        return sorted(found, reverse=True)

    def newest(self) -> tuple[Snapshot, Learner] | None:
        """The newest whole snapshot and its learner; None if there is none."""
        for snapshot in self.all():
            content = snapshot.content()
            try:
                if content is not None:
                    return snapshot, Learner.from_bytes(content)
            except ModelFileError:
                pass
            self.torn.append(snapshot.path.name)
        return None

    def write(self, position: int, content: bytes) -> Snapshot:
        """Write a snapshot, and remove those that are too old."""
        digest = digest_of(content)
        path = self.folder / f"{position:015}-{digest}.safetensors"
        file = _core.AtomicFile(path)
        try:
            file.write(content)
            file.finish()
        except BaseException:
            file.discard()
            raise
        self._remove_old(position)
        return Snapshot(position, digest, path)

    def _remove_old(self, newest: int) -> None:
        """Keep the newest two positions. Torn files that claim a later one go, too."""
        older = [one for one in self.all() if one.position != newest]
        whole = [one for one in older if one.position < newest and one.path.name not in self.torn]
        for snapshot in older:
            if snapshot not in whole[: KEPT - 1]:
                snapshot.path.unlink(missing_ok=True)

    def oldest_position(self) -> int:
        """The position that the log is needed from."""
        return min((snapshot.position for snapshot in self.all()), default=0)
