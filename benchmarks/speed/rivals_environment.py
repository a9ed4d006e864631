"""The rivals' own environment: pinned, in the cache folder, apart from ours."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

REQUIREMENTS = Path(__file__).with_name("rivals.txt")
BUILT = "liblinear-official"
"""Has no wheels: it is compiled on the spot, and left out where that fails."""


def python(cache: Path) -> Path:
    """The interpreter of the environment, which is made unless it is there with these pins."""
    folder = cache / "rivals"
    pins, done = REQUIREMENTS.read_text(), folder / "pins.txt"
    if not (done.exists() and done.read_text() == pins):
        print("making the rivals' environment", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        install(folder / "bin" / "python", pins)
        done.write_text(pins)
    return folder / "bin" / "python"


def install(interpreter: Path, pins: str) -> None:
    """Install all pins, or all but the one that needs a compiler."""
    if pip(interpreter, pins):
        return
    print(f"{BUILT} could not be installed (see above); it is left out", file=sys.stderr)
    without = "".join(line for line in pins.splitlines(True) if not line.startswith(BUILT))
    if not pip(interpreter, without):
        raise SystemExit("the rivals could not be installed; see pip's words above")


def pip(interpreter: Path, pins: str) -> bool:
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(pins)
        file.flush()
        command = [
            str(interpreter),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "-r",
            file.name,
        ]
        return subprocess.run(command, check=False, stdout=sys.stderr).returncode == 0


def versions() -> str:
    """The rivals and their versions, for a record."""
    named = ("vowpalwabbit", "scikit-learn", "liblinear-official", "river", "numpy", "scipy")
    lines = REQUIREMENTS.read_text().splitlines()
    pins = dict(line.split("==") for line in lines if "==" in line)
    return ", ".join(f"{name} {pins[name]}" for name in named)
