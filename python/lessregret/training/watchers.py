"""Who is told how a run goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from lessregret.ledger import Ledger, Tally


class Watcher(Protocol):
    """An object that is called with the progress of a run."""

    def advance(self, bytes_read: int, tally: Tally) -> None:
        """Called after each block with the sums and the bytes read so far, before decompression."""
        ...

    def checkpoint(self, tally: Tally, ledger: Callable[[], Ledger]) -> None:
        """Called at powers of two, or at every ``progress_every`` examples, and at the end.

        ``ledger()`` takes time.
        """
        ...


class _Lines:
    """Tells a function of a run, in lines of text."""

    def __init__(self, tell: Callable[[str], object]) -> None:
        self._tell, self._told = tell, 0

    def advance(self, bytes_read: int, tally: Tally) -> None:
        pass

    def checkpoint(self, tally: Tally, ledger: Callable[[], Ledger]) -> None:
        if tally.rounds == self._told:
            return
        self._told = tally.rounds
        examples = "1 example" if tally.rounds == 1 else f"{tally.rounds:,} examples"
        loss = f", mean loss {tally.loss / tally.importance:.4f}" if tally.importance else ""
        self._tell(examples + loss)


class _Nobody:
    """For a run that nobody is told of."""

    def advance(self, bytes_read: int, tally: Tally) -> None:
        pass

    def checkpoint(self, tally: Tally, ledger: Callable[[], Ledger]) -> None:
        pass


def watcher_of(progress: Callable[[str], object] | Watcher | None) -> Watcher:
    """What is told of a run: a function, in lines of text, or an object, or nobody."""
    if progress is None:
        return _Nobody()
    return _Lines(progress) if callable(progress) else progress
