"""Signals that end a run: SIGINT (Ctrl-C), SIGTERM and SIGHUP.

They raise an exception, so that the run is unwound and its temporary files are removed. Then the
process ends by the same signal: a shell shows 130, 143 or 129, and a loop of the shell ends, too.

An exception can get lost. Python drops it in a finaliser or a weak reference's callback, and an
import may turn it into an error of its own or end in a panic of an extension module. So a signal
that comes during an import, and one whose exception was dropped, is raised again a little later.

A training on input without an end is over when a signal says so. There the first signal stops the
reading: the block under way is finished, the model is saved, and then the process ends by the
signal. A second signal raises the exception.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
RECEIVED: list[signal.Signals] = []
"""The signals that the process got."""
FIRST_CODE = 128
"""A shell shows this plus the number of the signal as the exit code."""
READING: list[Callable[[], None]] = []
"""What stops the reading, while the first signal is to do no more."""
AGAIN_AFTER = 0.05
"""Seconds until a signal is raised again, if it came during an import or was dropped."""


def raise_at_signals() -> None:
    """Raise a KeyboardInterrupt at every signal that ends a run, unless it is ignored.

    ``nohup`` ignores SIGHUP, and the shell of a script ignores SIGINT for a job in the background.
    """
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, lambda _, frame: _stop(RECEIVED[-1], frame))
        sys.unraisablehook = _raise_again


@contextmanager
def finishing_at_signals() -> Iterator[Callable[[Callable[[], None]], None]]:
    """Within this block the first signal stops the reading.

    The block is given a function that notes what stops it. After the block and what is to be saved
    call :func:`end_by_signal`.
    """

    def note(stop: Callable[[], None]) -> None:
        READING[:] = [stop]

    try:
        yield note
    finally:
        READING.clear()


def end_by_signal() -> None:
    """End the run if a signal came while it was to be finished first."""
    if RECEIVED:
        raise KeyboardInterrupt


def _stop(number: int, frame: FrameType | None) -> None:
    RECEIVED.append(signal.Signals(number))
    if READING:
        READING.pop()()
        return
    if _is_importing(frame) and hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, AGAIN_AFTER)
    else:
        raise KeyboardInterrupt


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _raise_again(dropped: sys.UnraisableHookArgs) -> None:
    if RECEIVED and isinstance(dropped.exc_value, KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, AGAIN_AFTER)
    else:
        sys.__unraisablehook__(dropped)


def raise_waiting() -> None:
    """Raise the signal that is still to be raised again, at the end of a run that was quicker."""
    if hasattr(signal, "setitimer") and signal.setitimer(signal.ITIMER_REAL, 0)[0] > 0:
        raise KeyboardInterrupt


def signal_of(error: BaseException) -> signal.Signals | None:
    """The signal that ended a run with this error; None if no signal did.

    An extension module that is being imported turns the interrupt into an error of its own.
    """
    if RECEIVED:
        return RECEIVED[-1]
    # Without a handler of ours, Python's own raises the interrupt of SIGINT.
    return signal.SIGINT if isinstance(error, KeyboardInterrupt) else None


def die_of(code: int) -> None:
    """End the process by the signal of an exit code; return if there is none.

    It also returns in the first process of a container, which no signal of its own ends.
    """
    if code - FIRST_CODE in SIGNALS:
        signal.signal(code - FIRST_CODE, signal.SIG_DFL)
        signal.raise_signal(code - FIRST_CODE)
