"""The command line, run in this process or in one of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from lessregret.cli import run

COMMAND = (sys.executable, "-m", "lessregret.cli")
ENVIRONMENT = {**os.environ, "PYTHONWARNINGS": "error", "COLUMNS": "80"}


class Done(NamedTuple):
    """What a run left."""

    code: int
    stdout: str
    stderr: str


class CommandLine:
    """Runs commands in a folder of its own."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capture = capture

    def __call__(self, *arguments: str) -> Done:
        """Run in this process."""
        self._capture.readouterr()
        code = run(arguments)
        return Done(code, *self._capture.readouterr())

    def apart(
        self,
        *arguments: str,
        stdin: bytes = b"",
        code: str | None = None,
        env: dict[str, str] | None = None,
    ) -> Done:
        """Run in a process of its own; ``code`` is Python to run in place of the command."""
        command = COMMAND if code is None else (sys.executable, "-c", code)
        done = subprocess.run(
            [*command, *arguments], input=stdin, cwd=self.folder, capture_output=True,
            check=False, timeout=120, env={**ENVIRONMENT, **(env or {})},
        )  # fmt: skip
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def write(self, name: str, content: bytes | str) -> str:
        """Put a file into the folder; its name."""
        content = content if isinstance(content, bytes) else content.encode()
        self.folder.joinpath(name).write_bytes(content)
        return name

    def read(self, name: str) -> bytes:
        """A file of the folder."""
        return self.folder.joinpath(name).read_bytes()
