"""Instructions for each feature, counted by callgrind: the same on a busy machine.

Every kernel runs with two numbers of repetitions; the difference is the kernel's alone.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from benchmarks.speed.programs import CannotMeasureError, compiler, program
from benchmarks.speed.settings import Settings
from benchmarks.speed.table import table

KERNELS = {
    "parse-svmlight": "reading svmlight text, 75 values a line",
    "parse-vw": "reading Vowpal Wabbit text, 75 values a line",
    "parse-vw-tokens": "reading Vowpal Wabbit text, 20 tokens a line",
    "learn-one": "learning, one rate",
    "learn-eight": "learning, eight rates mixed",
    "predict-one": "predicting, one rate",
    "predict-eight": "predicting, eight rates mixed",
}
FEW, MANY = 1, 3


def measure(_: Settings) -> str:
    """The table of all kernels."""
    if shutil.which("valgrind") is None:
        raise CannotMeasureError("there is no valgrind to count with")
    rows = [[title, f"{instructions_a_feature(name):.1f}"] for name, title in KERNELS.items()]
    note = (
        f"Counted by callgrind on seeded data, compiled by {compiler()}. What is done once a line, "
        "a call or a chunk is shared among its features."
    )
    counted = table(["kernel", "instructions a feature"], rows)
    return f"## instructions\n\n{note}\n\n{counted}"


def instructions_a_feature(kernel: str) -> float:
    (few, features), (many, _) = count(kernel, FEW), count(kernel, MANY)
    return (many - few) / ((MANY - FEW) * features)


def count(kernel: str, repeats: int) -> tuple[int, int]:
    """The instructions of a whole run, and the features of one repetition."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind.out"
        counting = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
        command = [*counting, str(program("kernels")), kernel, str(repeats)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return total(out.read_text()), int(done.stdout)


def total(report: str) -> int:
    """The sum that callgrind writes at the end.

    >>> total("fn=(1) main\\n3 5\\nsummary: 12345\\n")
    12345
    """
    found = re.search(r"^(?:summary|totals):\s*(\d+)", report, re.MULTILINE)
    if found is None:
        raise CannotMeasureError("callgrind wrote no sum")
    return int(found[1])
