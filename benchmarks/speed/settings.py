"""What was asked for."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.speed import rivals_environment
from benchmarks.speed.contestants import Contestant
from benchmarks.speed.data import Cache


@dataclass(frozen=True)
class Settings:
    """The same for all parts of one session."""

    cache: Cache
    repeats: int
    contestants: Sequence[str] = ()

    def python(self, contestant: Contestant) -> Path:
        """The interpreter of a contestant."""
        return self.rivals_python() if contestant.is_rival else Path(sys.executable)

    def rivals_python(self) -> Path:
        """The rivals' interpreter; their environment is made when it is first needed."""
        return rivals_environment.python(self.cache.folder)
