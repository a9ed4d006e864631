"""Does memory stay bounded, however long the text is?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import IO

import numpy as np
import pytest

from tests.support.command_line import ENVIRONMENT

MEGABYTE = 1_000_000
LIMIT = 150 * MEGABYTE
SLOT = 64
BLOCK_LINES = 40_000

# The peak is asked of the process itself: what wait4 gives counts its parent before the exec, too.
TRAIN_AND_TELL = """
import re, sys
from pathlib import Path
from lessregret.cli import run
code = run(["train", "-", "--quiet", *sys.argv[1:]])
print(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
sys.exit(code)
"""

linux = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="needs /proc, as on Linux"
)
slow = pytest.mark.skipif(
    not os.environ.get("LESSREGRET_SLOW"), reason="a gigabyte of text; set LESSREGRET_SLOW=1"
)


def block_of_lines() -> bytes:
    """Some megabytes of text whose features fill half a million slots."""
    rng = np.random.default_rng(3)
    words = rng.integers(0, 2**19, size=(BLOCK_LINES, 14))
    labels = rng.choice([-1, 1], size=BLOCK_LINES)
    rows = zip(labels.tolist(), words.tolist(), strict=True)
    lines = (f"{y} 't{y} |w {' '.join(f'w{i}' for i in row)} |p p:0.5\n" for y, row in rows)
    return "".join(lines).encode()


def feed(pipe: IO[bytes], block: bytes, total: int) -> None:
    with pipe:
        for _ in range(-(-total // len(block))):
            pipe.write(block)


def peak_of_training(text_bytes: int, *options: str) -> int:
    """The largest memory of a run over so much text, in bytes."""
    process = subprocess.Popen(
        [sys.executable, "-c", TRAIN_AND_TELL, *options],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    feeder = Thread(target=feed, args=(process.stdin, block_of_lines(), text_bytes))
    feeder.start()
    with process.stdout:
        told = process.stdout.read()
    feeder.join()
    assert process.wait() == 0
    return 1024 * int(told)


@linux
@pytest.mark.parametrize("bits", [18, 22])
@pytest.mark.parametrize("megabytes", [100, pytest.param(1000, marks=slow)], ids=["100 MB", "1 GB"])
def test_a_long_stream_needs_little_memory(tmp_path: Path, bits: int, megabytes: int) -> None:
    model = tmp_path / "m"
    options = ("--bits", str(bits), "--model", str(model))
    peak = peak_of_training(megabytes * MEGABYTE, *options)
    print(f"{megabytes} MB of text, {bits} bits: peak {peak / MEGABYTE:.0f} MB, "
          f"model {model.stat().st_size / MEGABYTE:.1f} MB")  # fmt: skip
    assert peak < LIMIT + SLOT * 2**bits


@linux
def test_long_tags_and_long_lines_need_little_memory(tmp_path: Path) -> None:
    """Few features and much text: chunks are bounded by their tags, too."""
    long = tmp_path / "long.vw"
    tag = b"x" * (MEGABYTE // 2)
    long.write_bytes(b"1 '" + tag + b" |a b\n")
    process = subprocess.run(
        [sys.executable, "-c", TRAIN_AND_TELL, "--bits", "10"],
        input=long.read_bytes() * 400, stdout=subprocess.PIPE, env=ENVIRONMENT, check=True,
    )  # fmt: skip
    assert 1024 * int(process.stdout) < LIMIT
