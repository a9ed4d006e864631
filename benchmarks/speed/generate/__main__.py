"""``python -m benchmarks.speed.generate SET PART ROWS STEM``: write one part of one set.

The files are STEM.svmlight, STEM.vw and, for arrays, STEM.npz. Each is whole when it has its name.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from benchmarks.speed.generate import clicks, dense, tfidf, tiny


def write_tfidf(part: int, rows: int, stem: str) -> None:
    """Both formats at once: the rows are what takes the time."""
    write_lines([f"{stem}.svmlight", f"{stem}.vw"], tfidf.svmlight_and_vw(part, rows))


def write_clicks(part: int, rows: int, stem: str) -> None:
    write_lines([f"{stem}.vw"], ((text,) for text in clicks.vw(part, rows)))


def write_tiny(part: int, rows: int, stem: str) -> None:
    write_lines([f"{stem}.vw"], ((text,) for text in tiny.vw(part, rows)))


def write_dense(part: int, rows: int, stem: str) -> None:
    write_lines([f"{stem}.vw"], ((text,) for text in dense.vw(part, rows)))


def write_arrays(part: int, rows: int, stem: str) -> None:
    unfinished = f"{stem}.unfinished.npz"
    found = tfidf.arrays(part, rows)
    np.savez(unfinished, columns=found["columns"], values=found["values"], labels=found["labels"])
    os.replace(unfinished, f"{stem}.npz")


def write_lines(files: Sequence[str], texts: Iterable[Sequence[bytes]]) -> None:
    """One file for each format."""
    with ExitStack() as stack:
        pairs = [(f"{file}.unfinished", file) for file in files]
        opened = [stack.enter_context(open(unfinished, "wb")) for unfinished, _ in pairs]
        for block in texts:
            for file, text in zip(opened, block, strict=True):
                file.write(text)
    for unfinished, finished in pairs:
        os.replace(unfinished, finished)


WRITERS: dict[str, Callable[[int, int, str], None]] = {
    "tfidf": write_tfidf,
    "clicks": write_clicks,
    "tiny": write_tiny,
    "dense": write_dense,
    "memory": write_arrays,
}


def main() -> None:
    """Write what was asked for."""
    name, part, rows, stem = sys.argv[1:]
    Path(stem).parent.mkdir(parents=True, exist_ok=True)
    WRITERS[name](int(part), int(rows), stem)


if __name__ == "__main__":
    main()
