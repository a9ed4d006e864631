"""What a person sees while a run goes on, on stderr; it never changes what the run computes.

On a pipe: a growing table, a row at every power of two, or at every N examples with ``-P N``. On a
terminal: a live bar, redrawn twice a second, with the part of the data that was read, megabytes a
second, the time left, the examples and the loss of the last second.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Any, Protocol

import click

from lessregret.cli.live import ReadingBar, is_live
from lessregret.ledger import Ledger, Tally
from lessregret.report.wording import counted, left_in_words, number

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


def make_progress(
    quiet: bool, total_bytes: int | None, before: Tally, every: int | None = None
) -> Progress:
    """A bar on a terminal, a table on a pipe, nothing if asked to be quiet.

    ``before`` is what earlier runs had added up, where this one goes on from a model. Whoever asks
    for a line at ``every`` so many examples gets the table on a terminal, too.
    """
    if quiet:
        return Silence()
    return Bar(total_bytes) if is_live() and every is None else Table(before)


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
        self._bar = ReadingBar(total_bytes)
        self._recent = Recent()

    def __enter__(self) -> Progress:
        self._bar.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._bar.__exit__(*error)

    def advance(self, bytes_read: int, tally: Tally) -> None:
        recent = self._recent.loss(tally)
        loss = "" if recent is None else f", loss {number(recent, 5)}"
        self._bar.show(bytes_read, f"{counted(tally.rounds, 'example')}{loss}")


class ReadingLines:
    """A line at every so many examples, for a command that reads and does not learn.

    Parameters
    ----------
    every : int
        The number of examples between two lines.
    clock : function
        The time in seconds.
    """

    def __init__(self, every: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._every, self._clock, self._next = every, clock, every

    def __enter__(self) -> ReadingLines:
        self._started = self._clock()
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def limit(self, examples: int, block: int) -> int:
        """How many examples to read at once, so that a block ends where a line is due."""
        return min(block, self._next - examples)

    def read(self, bytes_read: int, examples: int) -> None:
        """So many bytes and examples were read so far."""
        if examples < self._next:
            return
        self._next = examples + self._every
        seconds = max(self._clock() - self._started, 1e-9)
        told = f"{counted(examples, 'example')}, {round(examples / seconds):,} a second"
        megabytes = f", {bytes_read / seconds / 1e6:.1f} MB/s" if bytes_read else ""
        click.echo(told + megabytes, err=True)


def since(ledger: Ledger, before: Tally) -> tuple[float | None, float | None]:
    """Loss so far, and loss since an earlier moment."""
    importance = ledger.tally.importance - before.importance
    recent = (ledger.tally.loss - before.loss) / importance if importance > 0 else None
    return ledger.mean_loss, recent
