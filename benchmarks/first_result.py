"""How long it takes a newcomer from a wheel to the first picture.

    python -m benchmarks.first_result WHEEL [--repeats 3] [--write RECORD]

A fresh virtual environment without Rust on PATH, `pip install WHEEL`, `lessregret demo`. The first
run has an empty cache of pip, as a newcomer has it; in the others the network counts for nothing.
Making the environment is not counted.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import NamedTuple

SYSTEM = ("/usr/local/bin", "/usr/bin", "/bin")


class Seconds(NamedTuple):
    """Of one command: by the clock, and by the processors, whatever else they have to do."""

    wall: float
    cpu: float


class Steps(NamedTuple):
    """The steps of one newcomer."""

    install: Seconds
    demo: Seconds

    @property
    def wall(self) -> float:
        return self.install.wall + self.demo.wall


def newcomer(wheel: Path, folder: Path, cache: Path) -> Steps:
    """Install the wheel into a fresh environment, and draw the picture."""
    environment, home = folder / "env", folder / "home"
    venv.create(environment, with_pip=True)
    home.mkdir()
    path = os.pathsep.join([str(environment / "bin"), *SYSTEM])
    assert shutil.which("cargo", path=path) is None, "Rust is on PATH"
    known = {**os.environ, "PATH": path, "HOME": str(home), "PIP_CACHE_DIR": str(cache)}
    # The newcomer's Python is not the one that runs this.
    for name in ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "PIP_CONSTRAINT"):
        known.pop(name, None)
    install = timed(["pip", "install", "--quiet", str(wheel)], folder, known)
    demo = timed(["lessregret", "demo"], folder, known)
    assert (folder / "lessregret-demo.png").stat().st_size > 0
    return Steps(install, demo)


def timed(command: list[str], folder: Path, environment: dict[str, str]) -> Seconds:
    """The seconds of a command, which must succeed."""
    program = shutil.which(command[0], path=environment["PATH"])
    assert program is not None, command[0]
    started, before = time.perf_counter(), cpu_seconds()
    subprocess.run(
        [program, *command[1:]], cwd=folder, env=environment, check=True, capture_output=True
    )
    return Seconds(time.perf_counter() - started, cpu_seconds() - before)


def cpu_seconds() -> float:
    """What all processes that ended have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def record(wheel: Path, cold: Steps, warm: list[Steps]) -> str:
    """The record, as Markdown."""
    best = min(warm, key=lambda steps: steps.wall)
    rows = [("empty cache", cold), ("pip's cache, least of the others", best)]
    lines = [
        "| pip downloads | pip install, s (CPU) | lessregret demo, s (CPU) | in all, s |",
        "| --- | ---: | ---: | ---: |",
        *(
            f"| {name} | {told(steps.install)} | {told(steps.demo)} | {steps.wall:.1f} |"
            for name, steps in rows
        ),
    ]
    load = " / ".join(f"{each:.1f}" for each in os.getloadavg())
    return (
        "# From a wheel to the first picture, 2026-11-18\n\n"
        f"`python -m benchmarks.first_result {wheel.name}`, Python {sys.version.split()[0]}, "
        f"{os.cpu_count()} cores, load average afterwards {load}.\n\n" + "\n".join(lines) + "\n"
    )


def told(seconds: Seconds) -> str:
    return f"{seconds.wall:.1f} ({seconds.cpu:.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the time from a wheel to a picture.")
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--write", type=Path)
    given = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as scratch:
        cache = Path(scratch, "cache")
        for number in range(given.repeats):
            folder = Path(scratch, str(number))
            folder.mkdir()
            found.append(newcomer(given.wheel.resolve(), folder, cache))
            print(found[-1], flush=True)
    text = record(given.wheel, found[0], found[1:] or found)
    print(text)
    if given.write is not None:
        given.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
