"""Does the service do what its OpenAPI document says, whatever is sent?"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.service import service_of

pytest.importorskip("lessregret.service", reason="the extra [serve] is not installed")
CHECKS = ",".join(["not_a_server_error", "status_code_conformance", "response_schema_conformance"])


@pytest.mark.slow
def test_schemathesis_finds_nothing(tmp_path: Path) -> None:
    beside = Path(sys.executable).parent / "schemathesis"
    program = str(beside) if beside.exists() else shutil.which("schemathesis")
    if program is None:
        pytest.skip("schemathesis is not installed")
    with service_of(tmp_path, timeout=3.0) as client:
        done = subprocess.run(
            [
                program, "run", f"http://127.0.0.1:{client.port}/openapi.json", "--checks", CHECKS,
                "--max-examples", "30", "--exclude-path", "/snapshot", "--seed", "1",
            ],
            cwd=tmp_path, capture_output=True, check=False, timeout=600, encoding="utf-8",
        )  # fmt: skip
    assert done.returncode == 0, done.stdout
