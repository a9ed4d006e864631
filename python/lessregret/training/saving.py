"""Saving a model while its training goes on.

By examples: the run saves between two blocks. By time: a thread saves, also while the run waits for
input. A learner may be saved by one thread while another one learns; the file has the model after
some whole round.
"""

from __future__ import annotations

import os
import re
import sys
from threading import Event, Thread
from types import TracebackType
from typing import NamedTuple

from lessregret.errors import SpecError
from lessregret.learners.learner import Learner

NEVER = 1 << 62
UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


class SaveInterval(NamedTuple):
    """How often a model is saved: by examples or by seconds, the other is None."""

    examples: int | None = None
    seconds: float | None = None

    @classmethod
    def parse(cls, text: int | str) -> SaveInterval:
        """The interval as users write it.

        >>> SaveInterval.parse(10000), SaveInterval.parse("5m")
        (SaveInterval(examples=10000, seconds=None), SaveInterval(examples=None, seconds=300.0))
        """
        found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([smh]?)", str(text))
        number, unit = found.groups() if found else ("0", "")
        if float(number) > 0 and unit:
            return cls(seconds=float(number) * UNITS[unit])
        if number.isdecimal() and int(number) > 0:
            return cls(examples=int(number))
        raise SpecError(
            "save_every: expected a number of examples, such as 10000, or a time, such as 60s, 5m "
            f"or 1h, found {text!r}"
        )


class Saver:
    """Saves a learner every so often, for the time of a ``with`` block.

    Parameters
    ----------
    learner : Learner
    model : name of a file, optional
    slim : bool
    interval : SaveInterval, optional
        Without it nothing is saved.
    """

    def __init__(
        self,
        learner: Learner,
        model: str | os.PathLike[str] | None,
        slim: bool,
        interval: SaveInterval | None,
    ) -> None:
        self._learner, self._model, self._slim = learner, model, slim
        self._interval = interval or SaveInterval()
        self._saved = learner.tally().rounds
        self._over = Event()
        self._thread: Thread | None = None

    def next_save(self, rounds: int) -> int:
        """The round after which :meth:`save` is to be called."""
        every = self._interval.examples
        return NEVER if every is None else (rounds // every + 1) * every

    def save(self) -> None:
        """Save the model, if it has learned since the last time.

        A disk that is full now may not be at the end, so that an error does not end the run.
        """
        rounds = self._learner.tally().rounds
        if self._model is None or rounds == self._saved:
            return
        try:
            self._learner.save(self._model, slim=self._slim)
            self._saved = rounds
        except OSError as error:
            print(f"lessregret: warning: the model was not saved: {error}", file=sys.stderr)

    def __enter__(self) -> Saver:
        if self._interval.seconds is not None:
            self._thread = Thread(target=self._save_by_time, name="lessregret saver", daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _save_by_time(self) -> None:
        while not self._over.wait(self._interval.seconds):
            self.save()
