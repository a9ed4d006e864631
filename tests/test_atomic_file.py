"""Is a file written whole or not at all?"""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from lessregret.atomic_file import write_whole


def test_a_file_is_whole_or_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "page.html"
    write_whole(place, b"first")
    assert stat.S_IMODE(place.stat().st_mode) == 0o666 & ~current_mask()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_whole(place, b"second")
    assert place.read_text() == "first"
    assert os.listdir(tmp_path) == ["page.html"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target.html", tmp_path / "link.html"
    target.write_text("old")
    link.symlink_to(target)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def current_mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
