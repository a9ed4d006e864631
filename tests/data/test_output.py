"""Is a file written whole or not at all?"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lessregret.data.output import is_direct, open_text_output, write_file
from tests.support.command_line import ENVIRONMENT

ON_A_SMALL_DISK = """
import resource, sys
from lessregret.data.output import write_file
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


def test_the_permissions_of_the_old_file_are_kept(tmp_path: Path) -> None:
    place = tmp_path / "page.html"
    for mode in (0o600, 0o640, 0o666):
        place.write_text("old")
        place.chmod(mode)
        write_file(place, b"new")
        assert (place.read_text(), stat.S_IMODE(place.stat().st_mode)) == ("new", mode)


def test_a_dangling_link_gets_its_target(tmp_path: Path) -> None:
    link = tmp_path / "link.html"
    link.symlink_to("target.html")
    write_file(link, b"new")
    assert link.is_symlink()
    assert (tmp_path / "target.html").read_text() == "new"


def test_an_error_in_the_block_leaves_the_old_file(tmp_path: Path) -> None:
    place = tmp_path / "p.txt"
    place.write_text("old")

    def fail_half_way() -> None:
        with open_text_output(place) as file:
            file.write("new" * 100_000)
            assert len(os.listdir(tmp_path)) == 2
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    assert place.read_text() == "old"
    assert os.listdir(tmp_path) == ["p.txt"]


def test_a_pipe_is_written_directly(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(pipe.read_bytes)
        with open_text_output(pipe) as file:
            file.write("é\n" * 3)
        assert read.result().decode() == "é\n" * 3
    assert os.listdir(tmp_path) == ["pipe"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_an_error_of_a_device_names_it() -> None:
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        write_file("/dev/full", b"new")


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="needs /dev/stdout")
def test_standard_output_by_name_is_written_directly_even_where_it_is_a_file(
    tmp_path: Path,
) -> None:
    """A rename would cut off whoever else writes there, such as the rest of a script."""
    (tmp_path / "link").symlink_to("/dev/stdout")
    for path in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", tmp_path / "link"):
        assert is_direct(path), path
    assert not is_direct(tmp_path / "new")
    assert not is_direct("/dev/shm/new")
    out = tmp_path / "out"
    code = "from lessregret.data.output import write_file; write_file('/dev/stdout', b'one ')"
    with out.open("wb") as file:
        before = os.fstat(file.fileno()).st_ino
        subprocess.run([sys.executable, "-c", code], stdout=file, env=ENVIRONMENT, check=True)
    assert out.read_bytes() == b"one "
    assert out.stat().st_ino == before


def current_mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
