"""What kills leave of a service, and how long a start takes with a long log.

    python -m benchmarks.service_kills [--kills 1000] [--examples 1000000]

The kills are those of ``tests/support/killed_service.py``. The long log holds examples of 20
features, all behind the newest snapshot: once as Vowpal Wabbit text, 1,000 a request, and once as
JSON, one a request.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.service import bodies, ours


def killed(kills: int) -> Any:
    """The counts of so many kills."""
    root = Path(__file__).parent.parent
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "tests.support.killed_service", str(kills), "7"],
            cwd=folder, env={**os.environ, "PYTHONPATH": str(root)}, capture_output=True,
            check=True, encoding="utf-8",
        )  # fmt: skip
    return json.loads(done.stdout)


def restart(examples: int, request: str) -> tuple[float, float]:
    """Wall and CPU seconds from the start of a service until it is ready."""
    _, media, body, batch = bodies()[request]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first = ours(folder, "normal")
        log = first.service.writer.log
        first.close()
        _fill(folder / "normal" / "log.sqlite", media, body, batch, examples // batch)
        assert log.last == 0
        wall, processor = time.monotonic(), time.process_time()
        service = ours(folder, "normal").service
        while not service.writer.replayed_all:
            time.sleep(0.005)
        found = time.monotonic() - wall, time.process_time() - processor
        service.close()
    return found


def _fill(path: Path, media: str, body: bytes, batch: int, entries: int) -> None:
    from lessregret.service.log import Log

    log = Log(path, "normal")
    with log.transaction():
        for _ in range(entries):
            log.append(time.time(), media, batch, body, None)
    log.close()


def main() -> None:
    """Measure, and print what a record holds."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--examples", type=int, default=1_000_000)
    given = parser.parse_args()
    for request in ("learn, 1,000 as text", "learn, one"):
        wall, processor = restart(given.examples, request)
        what = f"start with {given.examples:,} examples ({request})"
        print(f"{what}: {wall:.1f} s, CPU {processor:.1f} s", flush=True)
    if given.kills:
        print(json.dumps(killed(given.kills)))


if __name__ == "__main__":
    main()
