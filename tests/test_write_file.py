"""Is a file written whole or not at all?"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from lessregret._core import write_file
from tests.support.command_line import ENVIRONMENT

ON_A_SMALL_DISK = """
import resource, sys
from lessregret._core import write_file
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
write_file(sys.argv[1], b"second" * 1000)
"""


def test_a_file_is_whole_or_as_it_was(tmp_path: Path) -> None:
    place = tmp_path / "page.html"
    write_file(place, b"first")
    assert stat.S_IMODE(place.stat().st_mode) == 0o666 & ~current_mask()
    done = subprocess.run(
        [sys.executable, "-c", ON_A_SMALL_DISK, str(place)],
        env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    told = done.stderr.splitlines()[-1]
    assert told.startswith("OSError: [Errno 27] cannot be written: File too large")
    assert str(place) in told
    assert place.read_text() == "first"
    assert os.listdir(tmp_path) == ["page.html"]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_file(tmp_path / "no" / "page.html", b"first")
    assert os.listdir(tmp_path) == []


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target.html", tmp_path / "link.html"
    target.write_text("old")
    link.symlink_to(target)
    write_file(link, b"new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def current_mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
