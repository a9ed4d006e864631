"""Bars on a terminal, which say how far a command is; redrawn twice a second, on stderr.

ReadingBar    bytes of the data, MB a second, time left, and a note
CountingBar   things of which the number is known, time left, and a note
SearchBar     how near a search is to the gap that was asked for, time so far, and a note
"""

from __future__ import annotations

import sys
from math import log
from typing import TYPE_CHECKING, Any

from lessregret.report.wording import counted

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

REFRESHES = 2
"""how often a second a bar is drawn"""


def is_live() -> bool:
    """Whether stderr is a terminal."""
    return sys.stderr.isatty()


class LiveBar:
    """A bar from 0 to ``total``; without a total it only moves."""

    def __init__(self, total: float | None) -> None:
        self._total = total
        self._rich: Progress | None = None

    def columns(self) -> list[ProgressColumn]:
        """What stands between the bar and the note."""
        raise NotImplementedError

    def __enter__(self) -> Any:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self._rich = Progress(
            BarColumn(bar_width=None),
            *self.columns(),
            TextColumn("{task.fields[note]}"),
            console=Console(stderr=True),
            transient=True,
            refresh_per_second=REFRESHES,
            expand=True,
        )
        self._rich.start()
        self._task = self._rich.add_task("", total=self._total, note="")
        return self

    def __exit__(self, *_: Any) -> None:
        if self._rich is not None:
            self._rich.stop()

    def show(self, completed: float, note: str) -> None:
        """Say how far it is; it is drawn at the next refresh."""
        if self._rich is not None:
            self._rich.update(self._task, completed=completed, note=note)


class ReadingBar(LiveBar):
    """The bytes of the data that were read; the time left only where their size is known."""

    def columns(self) -> list[ProgressColumn]:
        from rich.progress import DownloadColumn, TimeRemainingColumn, TransferSpeedColumn

        return [DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()]

    def read(self, bytes_read: int, examples: int) -> None:
        """So many bytes and examples were read so far."""
        self.show(bytes_read, counted(examples, "example"))


class CountingBar(LiveBar):
    """Things that are done one after another."""

    def columns(self) -> list[ProgressColumn]:
        from rich.progress import TimeRemainingColumn

        return [TimeRemainingColumn()]


class SearchBar(LiveBar):
    """How near a search is to its gap, on a logarithmic scale from the first gap that is told.

    Parameters
    ----------
    gap : number above 0
        The gap at which the search ends.
    """

    def __init__(self, gap: float) -> None:
        super().__init__(1.0)
        self._gap, self._first = gap, 0.0

    def columns(self) -> list[ProgressColumn]:
        from rich.progress import TimeElapsedColumn

        return [TimeElapsedColumn()]

    def near(self, gap: float, note: str) -> None:
        """The search has come to this gap."""
        self._first = max(self._first, gap)
        self.show(search_share(self._first, gap, self._gap), note)


def search_share(first: float, gap: float, asked: float) -> float:
    """How much of the way from the first gap to that asked for is done, in logarithms.

    >>> [search_share(1.0, gap, 1e-4) for gap in (1.0, 1e-2, 1e-4, 1e-9)]
    [0.0, 0.5, 1.0, 1.0]
    """
    if gap <= asked:
        return 1.0
    return log(first / gap) / log(first / asked) if first > gap else 0.0


def reading_bar(shown: bool, total_bytes: int | None) -> ReadingBar | None:
    """A bar for a command that reads and does not learn; None if stderr is no terminal."""
    return ReadingBar(total_bytes) if shown and is_live() else None
