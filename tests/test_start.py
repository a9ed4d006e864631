"""What a command need not wait for."""

from __future__ import annotations

from tests.command_line import CommandLine

LIST_MODULES = """
import sys
from lessregret.cli import run
code = run(sys.argv[1:])
print(*sorted({name.partition(".")[0] for name in sys.modules}))
sys.exit(code)
"""


def test_training_does_not_import_what_takes_longer_than_a_small_file(
    lessregret: CommandLine,
) -> None:
    data = lessregret.write("few.vw", b"1 |a b\n-1 |a c\n")
    done = lessregret.apart("train", data, "--quiet", "--model", "m", code=LIST_MODULES)
    assert done.code == 0
    assert "lessregret" in done.stdout.split()
    assert not {"numpy", "scipy", "sklearn", "rich", "matplotlib"} & set(done.stdout.split())
