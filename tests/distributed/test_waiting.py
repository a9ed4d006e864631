"""Waits end, and their errors say what is missing; a cluster without CPUs is made up."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lessregret import Learner, LessRegretError
from lessregret.distributed import OnRay, train
from lessregret.distributed.waiting import within


def test_a_call_that_ends_in_time_returns_or_raises() -> None:
    def wrong() -> int:
        raise KeyError("seven")

    assert within(60, lambda: 7, lambda: "") == 7
    with pytest.raises(KeyError, match="seven"):
        within(60, wrong, lambda: "")


def test_a_call_that_does_not_end_is_an_error() -> None:
    with pytest.raises(LessRegretError, match="a node is missing"):
        within(0.01, lambda: time.sleep(30), lambda: "a node is missing")


def without_cpus() -> Any:
    """What Ray answers on a cluster whose nodes have no CPUs: no task ever ends."""
    cancelled: list[Any] = []
    return SimpleNamespace(
        exceptions=SimpleNamespace(RayError=OSError),
        remote=lambda **_: lambda _: SimpleNamespace(remote=lambda *_: object()),
        is_initialized=lambda: True,
        put=lambda model: model,
        wait=lambda tasks, **_: ([], tasks),
        cancel=lambda task, **_: cancelled.append(task),
        cancelled=cancelled,
        nodes=lambda: [{"Alive": True}, {"Alive": False}, {"Alive": True}],
        cluster_resources=lambda: {"memory": 1e9},
        available_resources=dict,
    )


def test_a_cluster_without_cpus_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ray = without_cpus()
    monkeypatch.setitem(sys.modules, "ray", ray)
    log = tmp_path / "log.vw"
    log.write_text("1 | a\n-1 | b\n" * 50)
    with pytest.raises(
        LessRegretError,
        match=r"no interval in 2 s; 3 of 3 are missing, and each needs 1 CPU\. The cluster has 2 "
        r"nodes with 0 CPUs, of which 0 are free; start a node with CPUs",
    ):
        train([log], start=Learner(bits=8), workers=3, syncs=2, engine=OnRay(timeout=2))
    assert len(ray.cancelled) == 3
