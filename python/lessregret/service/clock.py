"""The time of a service, which never goes back.

Inside a process it advances with the monotonic clock, whatever is done to the clock of the system.
A start takes the system's time or the latest time in the log, whichever is later. If the system's
clock was put back in between, labels are waited for longer, by as much, and none is given up early.
"""

from __future__ import annotations

import time
from collections.abc import Callable


class Clock:
    """Seconds since 1970.

    >>> clock = Clock(latest=1000.0, wall=lambda: 900.0, monotonic=lambda: 5.0)
    >>> clock.now(), clock.behind
    (1000.0, 100.0)
    """

    def __init__(
        self,
        latest: float = 0.0,
        wall: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._monotonic = monotonic
        start = wall()
        self.behind = max(0.0, latest - start)
        """seconds by which the system's clock was behind the log at the start"""
        self._base = max(start, latest) - monotonic()

    def now(self) -> float:
        """The time now."""
        return self._base + self._monotonic()
