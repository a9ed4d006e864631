"""A limit on how long a request may wait.

``asyncio.timeout`` came with Python 3.11, and anyio's ``fail_after`` takes 10 µs, a third of the
time of a small prediction.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any


class Deadline:
    """Raises a TimeoutError inside the block if it is not left in time."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._expired = False

    def __enter__(self) -> None:
        loop = asyncio.get_running_loop()
        self._task: Any = asyncio.current_task()
        self._timer = loop.call_later(self._seconds, self._expire)

    def _expire(self) -> None:
        self._expired = True
        self._task.cancel()

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        self._timer.cancel()
        if not self._expired:
            return
        if hasattr(self._task, "uncancel"):  # Python 3.11 counts cancellations.
            self._task.uncancel()
        if kind is asyncio.CancelledError:
            raise TimeoutError
