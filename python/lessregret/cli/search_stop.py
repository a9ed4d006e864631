"""Ctrl-C during a search for the best fixed model ends the search and tells what is certified."""

from __future__ import annotations

import signal
from collections.abc import Iterable
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from lessregret.report.wording import number

if TYPE_CHECKING:
    from lessregret.regret.measure import Measured


class SearchStop:
    """Ctrl-C after the first step of a search: it ends the search, and the next one the run.

    Before, there is nothing to report, and Ctrl-C ends the run: it may be waiting for input.
    """

    def __init__(self) -> None:
        self.asked = False
        self._before: Any = None

    def __enter__(self) -> SearchStop:
        return self

    def arm(self) -> None:
        """Let the next Ctrl-C end the search, unless the process ignores it."""
        if self._before is None and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            self._before = signal.signal(signal.SIGINT, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        signal.signal(signal.SIGINT, self._before)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            click.echo(
                "no regret is certified: the search for the best fixed model had not ended",
                err=True,
            )


def certified_so_far(gap: float, measured: Iterable[Measured]) -> str:
    """What a search that the user ended is worth, where this gap was asked for."""
    lines = [f"stopped by SIGINT; the gap asked for is {gap:.1e}"]
    return "\n".join([*lines, *(_certified(each) for each in measured)])


def _certified(measured: Measured) -> str:
    last, best = measured.last, measured.last.best
    # No loss is negative, so a lower end of 0 is known without a search.
    if best is None or best.lower <= 0:
        return (
            f"{measured.rule}: no gap is certified; that the best fixed model loses at least 0 is "
            "known without a search"
        )
    low, high = number(last.regret_low, 6), number(last.regret_high, 6)
    return f"{measured.rule}: certified at gap {best.gap:.1e}: the regret is from {low} to {high}"
