"""Intervals that are killed once, for the tests of engines; workers import this module."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

from lessregret.distributed import train_interval

LONGEST = 300.0
"""seconds that an interval waits to be killed with its node"""


def killed_once(mark: Path, model: bytes, piece: Any) -> bytes:
    """An interval whose process is killed at the end of its first run, before it returns."""
    learned = train_interval(model, piece)
    if _is_first(mark):
        os.kill(os.getpid(), signal.SIGKILL)
    return learned


def held_once(mark: Path, head: str, model: bytes, piece: Any) -> bytes:
    """An interval that waits, in its first run off the head, for its node to be removed."""
    import ray

    node = ray.get_runtime_context().get_node_id()
    if node != head and _is_first(mark):
        mark.with_suffix(".node").write_text(node)
        time.sleep(LONGEST)
        raise AssertionError("the node was not removed")
    return train_interval(model, piece)


def node_of(mark: Path) -> str:
    """The node that an interval waits on, once one does."""
    written = mark.with_suffix(".node")
    until = time.monotonic() + LONGEST
    while not (written.exists() and written.read_text()):
        if time.monotonic() > until:
            raise AssertionError("no interval came to a node that can be removed")
        time.sleep(0.05)
    return written.read_text()


def _is_first(mark: Path) -> bool:
    """Whether nobody was here before: only one of many can create the file."""
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True
