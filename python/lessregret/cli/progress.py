"""What a person sees while a run goes on, on stderr; it never changes what the run computes.

On a pipe: a growing table, a row at every power of two. On a terminal: a live bar, redrawn twice a
second, with the part of the data that was read, megabytes a second, the time left, the examples and
the loss of the last second.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

import click

from lessregret.ledger import Ledger, Tally
from lessregret.report.wording import counted, left_in_words, number

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

REFRESHES = 2
"""how often a second the bar is drawn"""
HEADER = ("rounds", "loss so far", "loss since", "at most left")


class Progress(Protocol):
    """Something that is told how a run goes."""

    def __enter__(self) -> Progress: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
    def advance(self, bytes_read: int, tally: Tally) -> None: ...
    def checkpoint(self, tally: Tally, ledger: Callable[[], Ledger]) -> None:
        """The ledger walks over the slots: it is asked for only where it is shown."""
        ...


def make_progress(quiet: bool, total_bytes: int | None, before: Tally) -> Progress:
    """A bar on a terminal, a table on a pipe, nothing if asked to be quiet.

    ``before`` is what earlier runs had added up, where this one goes on from a model.
    """
    if quiet:
        return Silence()
    return Bar(total_bytes) if sys.stderr.isatty() else Table(before)


class Silence:
    """No progress."""

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def advance(self, bytes_read: int, tally: Tally) -> None:
        pass

    def checkpoint(self, tally: Tally, ledger: Callable[[], Ledger]) -> None:
        pass


class Table(Silence):
    """A row for each checkpoint: loss so far, loss since the row before, what is left of it.

    What is left is the part of the loss that fixed weights as large as the learned ones could save
    at most, as far as the run can certify it.
    """

    def __init__(self, before: Tally) -> None:
        self._before = before

    def __enter__(self) -> Progress:
        click.echo("".join(f"{title:>14}" for title in HEADER), err=True)
        return self

    def checkpoint(self, tally: Tally, ledger: Callable[[], Ledger]) -> None:
        if tally.rounds == self._before.rounds:
            return
        known = ledger()
        losses = (number(loss, 5) for loss in since(known, self._before))
        row = (f"{tally.rounds:,}", *losses, left_in_words(known.statement))
        click.echo("".join(f"{cell:>14}" for cell in row), err=True)
        self._before = tally


class Recent:
    """The mean loss of the last second, or of the blocks since the one before it.

    Parameters
    ----------
    clock : function
        The time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._met: deque[tuple[float, Tally]] = deque()

    def loss(self, tally: Tally) -> float | None:
        """Note where the run stands; None if no importance was added in the last second."""
        now = self._clock()
        self._met.append((now, tally))
        while len(self._met) > 2 and self._met[1][0] <= now - 1.0:
            self._met.popleft()
        before = self._met[0][1]
        importance = tally.importance - before.importance
        return (tally.loss - before.loss) / importance if importance > 0 else None


class Bar(Silence):
    """A live bar: bytes, speed, time left, and the examples with the loss of the last second.

    Parameters
    ----------
    total_bytes : int or None
        The bytes to read; None if they are not known, and with them the time left.
    """

    def __init__(self, total_bytes: int | None) -> None:
        self._total = total_bytes
        self._rich: RichProgress | None = None
        self._recent = Recent()

    def __enter__(self) -> Progress:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )

        columns = (
            BarColumn(bar_width=None),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
        )
        self._rich = Progress(
            *columns,
            console=Console(stderr=True),
            transient=True,
            refresh_per_second=REFRESHES,
            expand=True,
        )
        self._rich.start()
        self._task = self._rich.add_task("read", total=self._total, note="")
        return self

    def __exit__(self, *_: Any) -> None:
        if self._rich is not None:
            self._rich.stop()

    def advance(self, bytes_read: int, tally: Tally) -> None:
        recent = self._recent.loss(tally)
        loss = "" if recent is None else f", loss {number(recent, 5)}"
        self.show(bytes_read, f"{counted(tally.rounds, 'example')}{loss}")

    def show(self, bytes_read: int, note: str) -> None:
        """Say how much was read; it is drawn at the next refresh."""
        if self._rich is not None:
            self._rich.update(self._task, completed=bytes_read, note=note)


def reading_bar(shown: bool, total_bytes: int | None) -> Bar | None:
    """A bar for a command that reads and does not learn; None if stderr is no terminal."""
    return Bar(total_bytes) if shown and sys.stderr.isatty() else None


def since(ledger: Ledger, before: Tally) -> tuple[float | None, float | None]:
    """Loss so far, and loss since an earlier moment."""
    importance = ledger.tally.importance - before.importance
    recent = (ledger.tally.loss - before.loss) / importance if importance > 0 else None
    return ledger.mean_loss, recent
