"""Where the data sets are, and how they come there."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.speed.process import ROOT

ROWS = {
    "tfidf": 400_000,
    "clicks": 1_000_000,
    "dense": 1_000_000,
    "tiny": 2_000,
    "memory": 400_000,
}
HELD_OUT = {
    "tfidf": 20_000,
    "clicks": 50_000,
    "dense": 50_000,
    "tiny": 1_000,
    "memory": 20_000,
}
TEXTS = {
    "tfidf": ("svmlight", "vw"),
    "clicks": ("vw",),
    "dense": ("vw",),
    "tiny": ("vw",),
    "memory": ("npz",),
}
LEAST_ROWS = 200


@dataclass(frozen=True)
class Cache:
    """A folder with data sets of one scale; each part is written once."""

    folder: Path
    scale: float = 1.0

    def rows(self, name: str) -> int:
        """The rows of a set; tiny is tiny at any scale."""
        scale = 1.0 if name == "tiny" else self.scale
        return max(LEAST_ROWS, round(scale * ROWS[name]))

    def held_out_rows(self, name: str) -> int:
        """Less at a smaller scale, not more at a larger."""
        scale = 1.0 if name == "tiny" else min(self.scale, 1.0)
        return max(LEAST_ROWS, round(scale * HELD_OUT[name]))

    def file(self, name: str, text: str, part: int = 1) -> Path:
        """A part of a set in one format; part 0 is held out."""
        rows = self.rows(name) if part else self.held_out_rows(name)
        stem = self.folder / f"{name}-part{part}-{rows}"
        file = Path(f"{stem}.{text}")
        if not file.exists():
            write(name, part, rows, stem)
        return file

    def prepare(self, name: str) -> None:
        """Write what a measurement of this set reads."""
        for text in TEXTS[name]:
            self.file(name, text)
            self.file(name, text, part=0)


def write(name: str, part: int, rows: int, stem: Path) -> None:
    """Let another process generate: numpy here would count as every contestant's memory."""
    print(f"writing {stem.name}", file=sys.stderr, flush=True)
    generate = [sys.executable, "-m", "benchmarks.speed.generate"]
    command = [*generate, name, str(part), str(rows), str(stem)]
    subprocess.run(command, check=True, cwd=ROOT)


def default_folder() -> Path:
    """The user's cache folder, as the XDG base directories have it."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "lessregret-benchmarks"


def check_folder(folder: Path) -> Path:
    """Refuse to write hundreds of megabytes into the repository."""
    folder = folder.resolve()
    if folder == ROOT or ROOT in folder.parents:
        raise SystemExit(f"--cache: expected a folder outside the repository, found {folder}")
    return folder
