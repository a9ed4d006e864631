"""The settings of a service, with their limits."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from lessregret.errors import SpecError

DURABILITIES = ("full", "normal")
ABSENT = ("negative", "drop")
DAY = 86_400.0
MIB = 1 << 20
LIMITS: dict[str, tuple[float, float]] = {
    "snapshot_every": (1, 1e12),
    "keep": (0, 1e10),
    "wait": (0.001, 1e10),
    "queue": (1, 1e6),
    "most_body": (1, 1 << 31),
    "most_batch": (1, 1e8),
    "most_waiting": (1, 1e10),
    "most_header": (256, 1 << 24),
    "timeout": (0.001, 1e6),
    "window": (2, 1e7),
}
"""The least and the largest value of each number."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a service may be told; every number has the limits of ``LIMITS``.

    >>> Settings(durability="normal").snapshot_every
    100000
    """

    durability: str = "full"
    """``"full"``: what is acknowledged survives a power cut. ``"normal"``: it survives a kill of
    the process; a power cut may take the last moments, and the log stays whole."""
    snapshot_every: int = 100_000
    """examples between two snapshots, so the largest number that a start learns once more"""
    keep: float = 7 * DAY
    """seconds for which the log, keys of requests and the fates of ids are kept"""
    wait: float = 1800.0
    """seconds for which a prediction with an id waits for its label"""
    absent: str | None = None
    """what becomes of a prediction whose label never came: ``"negative"``, learned as such, or
    ``"drop"``. The default is negative for a classifier and drop for a regression."""
    queue: int = 1024
    """requests that may wait for the writer; more are told to come again (429)"""
    most_body: int = 16 * MIB
    """bytes of a body"""
    most_batch: int = 100_000
    """examples of a body"""
    most_waiting: int = 1_000_000
    """predictions that may wait for their label at a time"""
    most_header: int = 32 * 1024
    """bytes of the headers of a request"""
    timeout: float = 30.0
    """seconds for a request to arrive, and for its answer"""
    window: int = 10_000
    """examples that the window of the live page looks back on"""

    def __post_init__(self) -> None:
        _check_word("durability", self.durability, DURABILITIES)
        _check_word("absent", self.absent or "drop", ABSENT)
        for field in fields(self):
            if field.name in LIMITS:
                _check_number(field.name, getattr(self, field.name))

    def drops_absent(self, labels: str) -> bool:
        """Whether an absent label is dropped, for a model of such labels."""
        return (self.absent or ("negative" if labels == "binary" else "drop")) == "drop"

    def check_for(self, labels: str) -> None:
        """Raise a :class:`SpecError` if a model of such labels has no negative one."""
        if labels != "binary" and not self.drops_absent(labels):
            raise SpecError("an absent label can be negative only for a classifier; use 'drop'")


def _check_word(name: str, found: Any, words: tuple[str, ...]) -> None:
    if found not in words:
        raise SpecError(f"{name} must be {' or '.join(map(repr, words))}, found {found!r}")


def _check_number(name: str, found: Any) -> None:
    least, most = LIMITS[name]
    is_number = isinstance(found, int | float) and not isinstance(found, bool)
    if not (is_number and least <= found <= most):
        raise SpecError(f"{name} must be a number from {least:g} to {most:g}, found {found!r}")
