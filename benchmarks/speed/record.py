"""The dated record of a session."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from benchmarks.speed import machine, rivals_environment
from benchmarks.speed.process import ROOT

RECORDS = ROOT / "benchmarks" / "records"
READING = """\
Each contestant is a process of its own; start-up counts. They take turns within each repetition. *Least* and
*median* are of the wall time; user CPU and peak memory are medians. *Times ours* is the median over that of
the first row. *Held-out* figures are of the same lines for all, after the one pass; *progressive loss* is that of
predictions made before each line was learned, where the program tells it. The files are in the page cache. Nobody
writes a model in the timed runs. A star marks times scaled up from a part of the lines (the start-up is not
scaled); such a row's held-out figures are after that part alone. LIBLINEAR goes over the data many times.
scikit-learn, River and Vowpal Wabbit run with their defaults, `-b 22` or 2^22 hashed columns aside."""


def document(title: str, command: str, loads: Sequence[float], sections: Sequence[str]) -> str:
    """The whole record."""
    about = (
        f"`{command}` on {machine.describe()}. Load average before and after: "
        f"{', '.join(f'{load:.1f}' for load in loads)}. lessregret at {revision()}; "
        f"{rivals_environment.versions()}."
    )
    return "\n\n".join([f"# {title}, {date.today()}", about, READING, *sections]) + "\n"


def write(parts: Sequence[str], text: str) -> Path:
    """Put the record beside the others, named by its date and what it holds."""
    name = parts[0] if len(parts) == 1 else "speed"
    file = RECORDS / f"{date.today()}-{name}.md"
    file.write_text(text, encoding="utf-8")
    return file


def revision() -> str:
    """The commit, with a plus if files were changed since."""
    git = ["git", "describe", "--always", "--dirty=+"]
    done = subprocess.run(git, cwd=ROOT, check=False, capture_output=True, text=True)
    return done.stdout.strip() or "an unknown commit"
