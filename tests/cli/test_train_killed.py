"""Is the model file whole whenever ``train --model`` is killed?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.command_line import ENVIRONMENT

ROOT = Path(__file__).parents[2]
KILLS, LEAST_ALIVE, LEAST_SAVING = 500, 400, 50


@pytest.mark.slow
def test_a_killed_training_leaves_the_old_model_or_the_new(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    python_path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.killed_training", str(KILLS)], cwd=tmp_path,
        env={**ENVIRONMENT, "PYTHONPATH": python_path}, capture_output=True, text=True,
        check=False, timeout=600,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    counts = json.loads(done.stdout)
    for name, count in counts.items():
        record_property(name, count)
    print(f"killed trainings: {counts}")
    assert counts["kills"] == KILLS
    assert counts["alive"] >= LEAST_ALIVE, counts
    assert counts["saving"] >= LEAST_SAVING, counts
    assert counts["old"] > 0, counts
