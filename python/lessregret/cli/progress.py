"""What a person sees while a run goes on, on stderr; it never changes what the run computes.

On a pipe: a growing table, a row at every power of two. On a terminal: a live bar.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

import click

from lessregret.ledger import Ledger, Tally
from lessregret.report.wording import left_in_words, number

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

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
    def advance(self, bytes_read: int) -> None: ...
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

    def advance(self, bytes_read: int) -> None:
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


class Bar(Silence):
    """A live bar with the rounds and the loss so far."""

    def __init__(self, total_bytes: int | None) -> None:
        self._total = total_bytes
        self._rich: RichProgress | None = None

    def __enter__(self) -> Progress:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

        note = TextColumn("{task.fields[note]}")
        columns = BarColumn(), DownloadColumn(), TimeElapsedColumn(), note
        self._rich = Progress(*columns, console=Console(stderr=True), transient=True)
        self._rich.start()
        self._task = self._rich.add_task("train", total=self._total, note="")
        return self

    def __exit__(self, *_: Any) -> None:
        if self._rich is not None:
            self._rich.stop()

    def advance(self, bytes_read: int) -> None:
        if self._rich is not None:
            self._rich.update(self._task, completed=bytes_read)

    def checkpoint(self, tally: Tally, ledger: Callable[[], Ledger]) -> None:
        if self._rich is not None:
            mean = tally.loss / tally.importance if tally.importance else None
            note = f"{tally.rounds:,} rounds, loss {number(mean, 5)}"
            self._rich.update(self._task, note=note)


def since(ledger: Ledger, before: Tally) -> tuple[float | None, float | None]:
    """Loss so far, and loss since an earlier moment."""
    importance = ledger.tally.importance - before.importance
    recent = (ledger.tally.loss - before.loss) / importance if importance > 0 else None
    return ledger.mean_loss, recent
