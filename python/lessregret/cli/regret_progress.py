"""What a person sees while a regret is measured, on stderr.

    reading    bytes, MB a second, time left, examples; into memory, only that it reads
    learning   examples of all, time left
    searching  passes and the gap of the best fixed model, for each part of the examples

On a terminal a live bar shows the phase. On a pipe the searches print a line a second.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Protocol

import click

from lessregret.cli.live import CountingBar, LiveBar, ReadingBar, SearchBar, is_live
from lessregret.cli.search_stop import SearchStop
from lessregret.report.wording import counted

if TYPE_CHECKING:
    from lessregret.regret.comparator import BestFixed


class Asked(Protocol):
    """What the progress must know of a request."""

    @property
    def gap(self) -> float: ...
    @property
    def quiet(self) -> bool: ...
    @property
    def checkpoint(self) -> str | None: ...


class Phases:
    """One live bar after another; none unless ``live``.

    Parameters
    ----------
    live : bool
        Whether bars are drawn.
    total_bytes : int or None
        The bytes of the data; None if they are not known.
    """

    def __init__(self, live: bool, total_bytes: int | None) -> None:
        self.live, self._total = live, total_bytes
        self._phase: object = None
        self._bar: LiveBar | None = None

    def __enter__(self) -> Phases:
        return self

    def __exit__(self, *_: Any) -> None:
        self._end()

    def reads_all(self) -> None:
        """All examples are read into memory, which is one call of the core: nothing is counted."""
        if bar := self._of("reading all", lambda: CountingBar(None)):
            bar.show(0, "reading the examples into memory")

    def read(self, bytes_read: int, examples: int) -> None:
        """So many bytes and examples were read so far."""
        if bar := self._of("reading", lambda: ReadingBar(self._total)):
            bar.read(bytes_read, examples)

    def learned(self, rounds: int, total: int) -> None:
        """The rules have learned from so many of all examples."""
        if bar := self._of("learning", lambda: CountingBar(total)):
            bar.show(rounds, f"the rules learn, {rounds:,} of {counted(total, 'example')}")

    def searched(self, rounds: int, best: BestFixed, gap: float) -> None:
        """A search over so many examples has found a point; it ends at the gap."""
        if bar := self._of(rounds, lambda: SearchBar(gap)):
            bar.near(best.gap, _told(rounds, best))

    def sizes(self) -> None:
        """The best weights of some sizes are searched for."""
        if bar := self._of("sizes", lambda: CountingBar(None)):
            bar.show(0, "best fixed model of each size")

    def _of(self, phase: object, make: Any) -> Any:
        """The bar of a phase, which ends the one before."""
        if self.live and phase != self._phase:
            self._end()
            self._phase, self._bar = phase, make()
            self._bar.__enter__()
        return self._bar

    def _end(self) -> None:
        if self._bar is not None:
            self._bar.__exit__()
        self._phase = self._bar = None


class Watch:
    """Shows how a search comes on, keeps its best, and ends it when the user says so."""

    def __init__(self, request: Asked, stop: SearchStop, phases: Phases) -> None:
        self._request, self._stop, self._phases = request, stop, phases
        self._shown = 0.0

    def __call__(self, rounds: int, best: BestFixed, last: bool) -> bool:
        self._stop.arm()
        # A search over a part of the examples must not take the place of one over all of them.
        if self._request.checkpoint and last:
            best.save(self._request.checkpoint)
        self._phases.searched(rounds, best, self._request.gap)
        finished = best.gap <= self._request.gap or self._stop.asked
        # Once a second, so that a log stays short.
        is_due = finished or time.monotonic() - self._shown > 1
        if is_due and not self._request.quiet and not self._phases.live:
            self._shown = time.monotonic()
            click.echo(_told(rounds, best), err=True)
        return not self._stop.asked


def _told(rounds: int, best: BestFixed) -> str:
    told = f"best fixed model of {counted(rounds, 'example')}: {best.mean_total:.6f}"
    return f"{told}, gap {best.gap:.1e}, passes {best.passes:,}"


def make_phases(quiet: bool, total_bytes: int | None) -> Phases:
    """Bars on a terminal, unless the user wants it quiet."""
    return Phases(is_live() and not quiet, total_bytes)
