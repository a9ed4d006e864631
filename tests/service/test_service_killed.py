"""Is nothing lost and nothing learned twice when the service is killed under load?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("lessregret.service", reason="the extra [serve] is not installed")
KILLS = 10


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("rule", ["per-coordinate", "adaptive-revision"])
def test_kills_lose_nothing_and_double_nothing(tmp_path: Path, rule: str) -> None:
    root = Path(__file__).parent.parent.parent
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.killed_service", str(KILLS), "1", rule],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(root)}, capture_output=True,
        check=True, timeout=600, encoding="utf-8",
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert found["acknowledged"] > 0
    assert (found["kills"], found["lost"], found["doubled"]) == (KILLS, 0, 0)
    assert found["bits_equal"]
