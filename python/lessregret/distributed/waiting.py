"""Waits that end: calls of libraries that would wait for ever, given a limit."""

from __future__ import annotations

from collections.abc import Callable
from queue import Empty, Queue
from threading import Thread
from typing import TypeVar

from lessregret.errors import LessRegretError

T = TypeVar("T")


def within(seconds: float, call: Callable[[], T], missing: Callable[[], str]) -> T:
    """What a call returns or raises; a LessRegretError if it does neither in this time.

    The call runs in a thread of its own. A thread cannot be stopped: if the time is over, it is
    left behind and does not keep the process alive. ``missing`` says what is waited for.

    >>> within(1.0, lambda: 7, lambda: "nothing is missing")
    7
    """
    answers: Queue[tuple[T | None, BaseException | None]] = Queue()

    def run() -> None:
        try:
            answers.put((call(), None))
        except BaseException as error:
            answers.put((None, error))

    Thread(target=run, daemon=True).start()
    try:
        answer, error = answers.get(timeout=seconds)
    except Empty:
        raise LessRegretError(missing()) from None
    if error is not None:
        raise error
    return answer  # type: ignore[return-value]
