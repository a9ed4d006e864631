"""Is the model file whole whatever happens while it is written?"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lessregret import Learner, ModelFileError
from tests.support.command_line import ENVIRONMENT
from tests.support.model_files import two_states

ROOT = Path(__file__).parents[1]
WITH_TESTS = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
"""PYTHONPATH of a process that imports from ``tests`` too."""
KILLS = 50
RANDOM = "0123456789abcdef"

SAVE_AND_BE_KILLED = """
import os, random, signal, sys, time
from pathlib import Path
from tests.support.model_files import two_states

path, kills = Path(sys.argv[1]), int(sys.argv[2])
states = two_states()
contents = [state.to_bytes() for state in states]
states[0].save(path)
started = time.perf_counter()
states[1].save(path)
once = time.perf_counter() - started
moments = random.Random(20100722)

def save_for_ever():
    while True:
        for state in states:
            state.save(path)

for kill in range(kills):
    child = os.fork()
    if child == 0:
        save_for_ever()
    time.sleep(moments.uniform(0, 4 * once))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), f"the child left by itself: {status}"
    found = path.read_bytes()
    assert found in contents, f"after kill {kill} the file is neither state: {len(found)} bytes"
print(kills, len(contents[0]), f"{once:.4f}")
"""


def partial_files(folder: Path) -> list[Path]:
    return sorted(folder.glob(".*.partial"))


def test_a_killed_save_leaves_the_old_model_or_the_new(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    # Threads of numpy's would not live through a fork.
    environment = {**ENVIRONMENT, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": WITH_TESTS}
    done = subprocess.run(
        [sys.executable, "-c", SAVE_AND_BE_KILLED, str(path), str(KILLS)],
        env=environment, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    kills, size, _ = done.stdout.split()
    assert int(kills) == KILLS
    assert int(size) > 3_000_000
    left = partial_files(tmp_path)
    assert left, "no kill came in the middle of a save"
    assert {path, *left} == set(tmp_path.iterdir())
    Learner.load(path)


def test_what_killed_runs_left_is_removed_an_hour_later(tmp_path: Path) -> None:
    path = tmp_path / "m"
    long_ago, lately = time.time() - 7200, time.time() - 600
    for name, written in [
        (f".m.{RANDOM}.partial", long_ago), (f".m.{RANDOM[::-1]}.partial", lately),
        (f".other.{RANDOM}.partial", long_ago), (f".m.1.{RANDOM}.partial", long_ago),
        (".m.bak", long_ago),
    ]:  # fmt: skip
        tmp_path.joinpath(name).write_bytes(b"half")
        os.utime(tmp_path / name, (written, written))
    Learner(bits=4).save(path)
    left = {f".m.{RANDOM[::-1]}.partial", f".other.{RANDOM}.partial", f".m.1.{RANDOM}.partial"}
    left |= {".m.bak", "m"}
    assert {file.name for file in tmp_path.iterdir()} == left


def test_saves_to_one_path_at_once_do_not_mix(tmp_path: Path) -> None:
    states = two_states()
    contents = [state.to_bytes() for state in states]
    path = tmp_path / "m"

    def save(state: Learner) -> None:
        for _ in range(5):
            state.save(path)
            assert path.read_bytes() in contents

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(save, states))
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_leaves_the_old_model_and_no_rubbish(tmp_path: Path) -> None:
    path = tmp_path / "m"
    Learner(bits=4).save(path)
    before = path.read_bytes()
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "from tests.support.model_files import two_states\n"
        "two_states()[0].save(sys.argv[1])"
    )
    environment = {**ENVIRONMENT, "PYTHONPATH": WITH_TESTS}
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        env=environment, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    told = f"ModelFileError: {path}: cannot be written: File too large (os error 27)"
    assert done.stderr.splitlines()[-1].endswith(told)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_links_are_written_through(tmp_path: Path) -> None:
    folder = tmp_path / "versions"
    folder.mkdir()
    link, file = tmp_path / "latest", folder / "7"
    file.write_bytes(b"")
    link.symlink_to(file)
    learner = Learner(bits=4)
    learner.save(link)
    assert link.is_symlink()
    assert file.read_bytes() == learner.to_bytes()


def test_only_files_are_written(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, told in [
        (pipe, "it is not a file"),
        (tmp_path, "it is not a file"),
        (tmp_path / "no" / "m", "No such file or directory (os error 2)"),
    ]:
        with pytest.raises(ModelFileError) as caught:
            Learner(bits=4).save(path)
        assert str(caught.value) == f"{path}: cannot be written: {told}"
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]
