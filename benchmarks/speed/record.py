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
Each contestant is a process of its own, from text to a model in memory; start-up counts. They
take turns within each repetition. *Least* and *median* are of the wall time; user CPU and peak
memory are medians. *Times ours* is the median over that of lessregret at rate 0.1 on the same
text. *Held-out* figures are of the same lines for all, after the one pass; *progressive loss* is
the mean over predictions made before each line was learned, where the program tells it. The files
are in the page cache. A star marks times scaled up from a part of the lines (start-up is not
scaled); the held-out figures of such a row are after that part alone. LIBLINEAR goes over the
data many times. The rivals run with their defaults, but for logistic loss, 2^22 slots where they
hash, and rows in the order of the file."""


ALONE = ("growth", "random-access", "instructions")
"""The parts without rivals."""


def document(
    parts: Sequence[str], command: str, loads: Sequence[float], sections: Sequence[str]
) -> str:
    """The whole record of these parts, each with its section."""
    name = f"Speed: {parts[0]}" if len(parts) == 1 else "Speed"
    rivals = any(part not in ALONE for part in parts)
    about = (
        f"`{command}`\non {machine.describe()}.\nLoad average before and after: "
        f"{', '.join(f'{load:.1f}' for load in loads)}.\nlessregret at {revision()}"
    )
    about += f"; {rivals_environment.versions()}." if rivals else "."
    reading = [READING] if rivals else []
    return "\n\n".join([f"# {name}, {date.today()}", about, *reading, *sections]) + "\n"


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
