"""Workers and merges: pieces are all lines, and every way to run a pass gives the same bits."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from lessregret import InputError, Learner, LessRegretError, SpecError
from lessregret.data.generate import ClickWorld, log_text
from lessregret.distributed import ByteRange, cut, train, train_interval
from lessregret.distributed.local import in_process, in_processes
from lessregret.distributed.pieces import Piece
from lessregret.distributed.run import Plan, run

LINES = [f"{1 if k % 3 else -1} | a{k % 7} b{k % 11}:{k % 5}.5 c\n" for k in range(400)]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.vw"
    path.write_text("".join(LINES))
    return path


def start() -> Learner:
    return Learner("logistic", bits=10)


def test_pieces_are_all_lines_once(log: Path) -> None:
    content = log.read_bytes()
    for count in (1, 3, 64, 5000):
        pieces = [piece for piece in cut([log], count) if isinstance(piece, ByteRange)]
        parts = [content[piece.start : piece.stop] for piece in pieces]
        assert b"".join(parts) == content
        assert all(part.endswith(b"\n") for part in parts)
    log.write_text("".join(LINES) + "1 | without_an_end")
    assert cut([log], 3)[-1].stop == log.stat().st_size  # type: ignore[union-attr]


def test_an_interval_is_what_a_learner_does_with_these_lines(log: Path, tmp_path: Path) -> None:
    pieces, learner = cut([log], 5), start().to_bytes()
    for piece in pieces:
        learner = train_interval(learner, piece)
    whole = train_interval(start().to_bytes(), cut([log], 1)[0])
    assert learner == whole
    packed = tmp_path / "log.vw.xz"
    import lzma

    packed.write_bytes(lzma.compress(log.read_bytes()))
    assert train_interval(start().to_bytes(), cut([packed], 9)[0]) == whole


def test_a_bad_line_is_told_with_its_piece(log: Path) -> None:
    log.write_text("".join(LINES) + "1 | a:x\n")
    with pytest.raises(InputError, match=r"log.vw from byte \d+:\d+:\d+: expected a number"):
        train([log], start=start(), workers=2, syncs=4, engine=in_process)


def test_one_worker_is_one_learner(log: Path) -> None:
    alone = train_interval(start().to_bytes(), cut([log], 1)[0])
    assert train([log], start=start(), workers=1, syncs=7, engine=in_process).to_bytes() == alone


def test_processes_give_the_same_bits(log: Path) -> None:
    run = partial(train, [log], start=start(), workers=2, syncs=2)
    assert run(engine=in_processes).to_bytes() == run(engine=in_process).to_bytes()


class StoppedError(Exception):
    """The run was stopped."""


@pytest.mark.parametrize("after", [1, 2, 3, 4, 5])
def test_a_stopped_run_goes_on_to_the_same_bits(log: Path, tmp_path: Path, after: int) -> None:
    run = partial(train, [log], start=start(), workers=3, syncs=5, engine=in_process)
    folder, told = tmp_path / "kept", []

    def stop(line: str) -> None:
        told.append(line)
        if len(told) == after:
            raise StoppedError

    with pytest.raises(StoppedError):
        run(checkpoint=folder, progress=stop)
    assert [path.name for path in folder.glob("*.model")] == [f"{after}.model"]
    assert run(checkpoint=folder).to_bytes() == run().to_bytes()
    with pytest.raises(SpecError, match="run with other files or settings"):
        train([log], start=start(), workers=2, syncs=5, checkpoint=folder, engine=in_process)


def killed_once(mark: Path, model: bytes, piece: Piece) -> bytes:
    """An interval whose process is killed when it runs for the first time."""
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return train_interval(model, piece)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_killed_worker_changes_no_bit(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = partial(train, [log], start=start(), workers=2, syncs=1)
    mark = tmp_path / "killed"
    with monkeypatch.context() as patch:
        patch.setattr("lessregret.distributed.local.train_interval", partial(killed_once, mark))
        disturbed = run(engine=in_processes)
    assert mark.exists()
    assert disturbed.to_bytes() == run(engine=in_process).to_bytes()


def never(_: bytes, __: Piece) -> bytes:
    """An interval that does not end."""
    time.sleep(3600)
    return b""


def test_a_wait_ends_and_says_what_is_missing(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lessregret.distributed.local.train_interval", never)
    engine = partial(in_processes, timeout=5)
    with pytest.raises(LessRegretError, match=r"interval in 5 s; 2 of 2 are missing; raise"):
        train([log], start=start(), workers=2, syncs=1, engine=engine)


def test_bad_requests_are_refused(log: Path) -> None:
    def never(_: bytes, __: Sequence[Piece]) -> list[bytes]:
        raise AssertionError

    with pytest.raises(SpecError, match="workers must be 1 or more, found 0"):
        train([log], start=start(), workers=0, engine=never)
    with pytest.raises(SpecError, match="number of pieces must be 1 or more"):
        cut([log], 0)


def test_the_last_merge_takes_no_lift_of_the_fixed_share_for_evidence(tmp_path: Path) -> None:
    path = tmp_path / "clicks.vw"
    path.write_bytes(b"".join(log_text(ClickWorld(), 4000)))
    plan = Plan(cut([path], 64), 8, in_process)
    lanes = run(plan, Learner(bits=16)).ledger().lanes
    # The lane has 0.99 of the shares in the shards; a product of their moves leaves it 0.64 or so.
    assert max(lane.share for lane in lanes) > 0.95


def test_many_classes_are_learned_by_workers(tmp_path: Path) -> None:
    path, table = tmp_path / "log.vw", tmp_path / "log.csv"
    rows = [(k % 7 % 5 if k > 20 else k % 2, k % 7, k % 11) for k in range(400)]
    path.write_text("".join(f"{y} | a{a} b{b}\n" for y, a, b in rows))
    table.write_text("y,a,b\n" + "".join(f"{'uvwxy'[y]},{a},{b}\n" for y, a, b in rows))
    by_workers = partial(train, [path], classes="auto", engine=in_process)
    alone = train_interval(Learner(bits=22, classes="auto").to_bytes(), cut([path], 1)[0])
    assert by_workers(workers=1, syncs=5).to_bytes() == alone
    learner = by_workers(workers=3, syncs=5)
    assert sorted(learner.classes or ()) == [0, 1, 2, 3, 4]
    assert learner.tally().rounds == 400
    named = train([table], label="y", columns={"category": ["a", "b"]}, engine=in_process)
    assert sorted(named.class_names or ()) == list("uvwxy")
    declared = by_workers(classes=range(5), workers=2, syncs=3)
    assert declared.classes == [0, 1, 2, 3, 4]
    with pytest.raises(SpecError, match="the start says what the classes are"):
        by_workers(start=learner)
