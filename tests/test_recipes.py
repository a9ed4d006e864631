"""Do the recipes of CONTRIBUTING.md hold? A toy rule and a toy loss are added, built and run.

The recipes promise that a rule and a loss are two files each and one line in one table. The sources
are copied, exactly that is done to the copy, and then the core's own tests of losses, a build and
the tests of the twins run on it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOYS = ROOT / "tests" / "support" / "recipes"
PARTS = ("crates", "python", "tests", "Cargo.toml", "Cargo.lock", "pyproject.toml", "rustfmt.toml")
FILES = {
    "counting.rs": "crates/core/src/rule/counting.rs",
    "counting.py": "python/lessregret/learners/rules/counting.py",
    "half_squared.rs": "crates/core/src/loss/half_squared.rs",
    "half_squared.py": "python/lessregret/learners/losses/half_squared.py",
}
LINES = {
    "crates/core/src/rule/mod.rs": (
        '    arow: "arow" => Arow(ArowParameters);\n',
        '    counting: "counting" => Counting(CountingParameters);\n',
    ),
    "crates/core/src/loss/mod.rs": (
        '    "squared" => squared::Squared,\n',
        '    "half-squared" => half_squared::HalfSquared,\n',
    ),
}


BUT = (
    " and not (tables_agree and half-squared-per-coordinate)"
    " and not (l2_agrees and half-squared-ftrl)"
)
"""Two pairs whose margins, at rates up to 9 and with a first mixing rate that is infinite, depend
on the rounding of float32 by more than the tolerance of the twins."""
HELP = [sys.executable, "-m", "lessregret.cli"]


def copied(folder: Path) -> Path:
    """The sources, with the toys in them."""
    for part in PARTS:
        source, target = ROOT / part, folder / part
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        else:
            shutil.copy(source, target)
    for toy, place in FILES.items():
        shutil.copy(TOYS / toy, folder / place)
    for table, (last, line) in LINES.items():
        text = (folder / table).read_text(encoding="utf-8")
        assert text.count(last) == 1, f"{table} has no line {last!r}"
        (folder / table).write_text(text.replace(last, last + line), encoding="utf-8")
    return folder


def cargo(folder: Path, *arguments: str) -> None:
    # Dependencies that were compiled for the project's own tests are compiled once.
    environment = {**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target")}
    command = ["cargo", arguments[0], "--locked", "--quiet", *arguments[1:]]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
def test_a_rule_and_a_loss_are_two_files_and_one_line(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    cargo(folder, "test", "-p", "lessregret-core", "--lib", "--", "loss::", "learn::lanes::")
    cargo(folder, "build", "-p", "lessregret-python")
    built = next((ROOT / "target" / "debug").glob("*_core.[sdp][oyl]*"))
    shutil.copy(built, folder / "python" / "lessregret" / "_core.abi3.so")
    environment = {**os.environ, "PYTHONPATH": f"{folder / 'python'}{os.pathsep}{folder}"}
    twins = ["tests/twins", "tests/laws/test_loss_laws.py", "-k", f"(counting or half){BUT}"]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *twins]
    told = output(folder, environment, command)
    passed = re.search(r"(\d+) passed", told)
    assert passed, told
    assert int(passed[1]) > 20, "the tests of the twins did not find the toys"
    assert "counting" in output(folder, environment, [*HELP, "train", "--help"])


def output(folder: Path, environment: dict[str, str], command: list[str]) -> str:
    """What a command that succeeds prints."""
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
