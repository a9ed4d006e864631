"""The Rust programs of ``crates/core/examples``, built once a session."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path

from benchmarks.speed.process import ROOT


class CannotMeasureError(Exception):
    """Something that this machine does not have."""


@cache
def program(name: str) -> Path:
    """A program as it would be released."""
    if shutil.which("cargo") is None:
        raise CannotMeasureError("there is no cargo to build the program with")
    build = ["cargo", "build", "--release", "--locked", "-p", "lessregret-core", "--example", name]
    subprocess.run(build, cwd=ROOT, check=True)
    metadata = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
    told = subprocess.run(metadata, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return target_folder(told) / "release" / "examples" / name


def compiler() -> str:
    """The compiler and its version, as in ``rustc 1.88.0``: another one counts otherwise."""
    asked = subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True)
    return " ".join(asked.stdout.split()[:2])


def target_folder(metadata: str) -> Path:
    """Where cargo builds, which is not always in the repository."""
    return Path(json.loads(metadata)["target_directory"])
