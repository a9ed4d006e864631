"""``train`` by several workers: the model of ``distributed.train``, and what is refused."""

from __future__ import annotations

import pytest

from lessregret import Learner
from lessregret.distributed import in_process, train
from tests.support.command_line import CommandLine

LINES = "".join(f"{1 if k % 3 else -1} | a{k % 7} b{k % 11}\n" for k in range(300))


def test_workers_write_the_model_of_the_api(lessregret: CommandLine) -> None:
    (lessregret.folder / "log.vw").write_text(LINES)
    run = lessregret("train", "log.vw", "--workers", "2", "--every", "100", "--model", "m")
    assert run.code == 0
    assert "sync 3 of 3, 300 examples" in run.stderr
    start = Learner("logistic", bits=22)
    log = lessregret.folder / "log.vw"
    expected = train(log, start=start, workers=2, every=100, engine=in_process)
    assert (lessregret.folder / "m").read_bytes() == expected.to_bytes()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--syncs", "3"], "--syncs is about workers"),
        (["--workers", "2", "--syncs", "3", "--every", "9"], "give one of them"),
        (["--workers", "2", "--names"], "--names is for one learner"),
        (["--workers", "2", "--predictions", "p"], "--predictions is for one learner"),
    ],
)
def test_what_does_not_go_together_is_refused(
    lessregret: CommandLine, options: list[str], told: str
) -> None:
    (lessregret.folder / "log.vw").write_text(LINES)
    run = lessregret("train", "log.vw", *options)
    assert run.code == 2
    assert told in run.stderr
