"""A page as a browser shows it, where there is one."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def browser_or_skip() -> str:
    """A browser on PATH; without one the test is skipped."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("no Chromium or Chrome on PATH")
    return browser


def browsed(browser: str, folder: Path, name: str) -> tuple[str, list[str]]:
    """What the browser made of the page, and the lines of its console."""
    done = subprocess.run(
        [
            browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
            f"--user-data-dir={folder / 'browser'}", "--enable-logging=stderr", "--v=0",
            "--proxy-server=127.0.0.1:9", "--host-resolver-rules=MAP * ~NOTFOUND",
            (folder / name).as_uri(),
        ],
        capture_output=True, check=True, timeout=60, encoding="utf-8",
    )  # fmt: skip
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]
