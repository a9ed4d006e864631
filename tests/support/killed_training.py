"""Kills ``lessregret train --model`` at random moments and looks at what it leaves.

Run as a module in a folder of its own: ``python -m tests.support.killed_training KILLS``. Prints
its counts as JSON. Each training is a fork of this process, which has imported the command line, so
that the kills do not all hit the start of Python.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from math import inf
from pathlib import Path

from lessregret.cli import main

FEATURES = 60_000
BITS = "18"
MODEL = Path("model.safetensors")
AIMED = 0.9
"""The part of the shortest save in which the aimed kills come: later ones would find it ended."""
LEFT_THERE = 3
"""Temporary files of killed runs that stay, to see whether they hinder the next run."""


def write_data() -> list[Path]:
    """Two files, whose models differ and have the same size."""
    files = [Path("first.vw"), Path("second.vw")]
    for label, file in zip((-1, 1), files, strict=True):
        names = " ".join(f"f{feature}" for feature in range(FEATURES))
        file.write_text(f"{label} |{names}\n{-label} |{names}\n1 |{names}\n")
    return files


def start_training(data: Path) -> int:
    """The process of a training."""
    child = os.fork()
    if child:
        return child
    try:
        main(["train", str(data), "--model", str(MODEL), "--bits", BITS, "--quiet"])
    except SystemExit as leaving:
        os._exit(int(leaving.code or 0))
    finally:
        os._exit(99)


def is_over(child: int) -> bool:
    """Whether a process has ended; it stays to be waited for."""
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None


def partial_files() -> set[Path]:
    # Not Path.glob, which takes as long as a part of the save that it is to see.
    return {Path(name) for name in os.listdir() if name.endswith(".partial")}


def is_saving(known: set[Path]) -> bool:
    """Whether there are bytes in a temporary file that was not there before."""
    return any(size_of(path) for path in partial_files() - known)


def size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def wait_until(holds: Callable[[], bool], child: int) -> None:
    while not holds() and not is_over(child):
        time.sleep(0.0002)


def sleep_or_end(seconds: float, child: int) -> float:
    """Wait; the time after which the process was seen to have ended, or infinity."""
    started = time.perf_counter()
    while (passed := time.perf_counter() - started) < seconds:
        if is_over(child):
            return passed
        time.sleep(min(0.0002, seconds - passed))
    return inf


def references(files: list[Path]) -> tuple[list[bytes], float, float]:
    """The model of each file, and the shortest times of a training and of its save."""
    contents, runs, saves = [], [], []
    for data in [*files, *files, *files]:
        started = time.perf_counter()
        child = start_training(data)
        wait_until(lambda: is_saving(set()), child)
        saving = time.perf_counter()
        assert os.waitpid(child, 0)[1] == 0
        ended = time.perf_counter()
        runs.append(ended - started)
        saves.append(ended - saving)
        contents.append(MODEL.read_bytes())
    assert contents[:2] == contents[2:4] == contents[4:]
    return contents[:2], min(runs), min(saves)


def kill_trainings(kills: int) -> dict[str, float]:
    """Every other kill comes at a moment of the whole run, the others at one of its save."""
    files = write_data()
    contents, run, save = references(files)
    counts = dict.fromkeys(("kills", "alive", "saving", "old", "new"), 0)
    moments = random.Random(20100722)
    for kill in range(kills):
        known, before, new = partial_files(), MODEL.read_bytes(), contents[kill % 4 // 2]
        child = start_training(files[kill % 4 // 2])
        if kill % 2:
            wait_until(lambda known=known: is_saving(known), child)  # type: ignore[misc]
        lasted = sleep_or_end(moments.uniform(0, AIMED * save if kill % 2 else run), child)
        # The machine may have become faster since the times were taken: later kills come earlier.
        if kill % 2:
            save = min(save, lasted)
        else:
            run = min(run, lasted)
        os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
        left, found = partial_files() - known, MODEL.read_bytes()
        assert found in (before, new), f"kill {kill}: neither model, {len(found)} bytes"
        assert os.WIFSIGNALED(status) or (status, found) == (0, new), f"kill {kill}: {status}"
        counts["kills"] += 1
        counts["alive"] += os.WIFSIGNALED(status)
        counts["saving"] += bool(left)
        counts["new" if found == new != before else "old"] += 1
        for path in sorted(partial_files())[LEFT_THERE:]:
            path.unlink()
    return {**counts, "bytes": len(contents[0]), "run": round(run, 4), "save": round(save, 4)}


if __name__ == "__main__":
    print(json.dumps(kill_trainings(int(sys.argv[1]))))
