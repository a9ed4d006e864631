"""Why a request is not done, with the status and the words of the answer.

The words name what the client sent and never a path or a line of this program.
"""

from __future__ import annotations

from typing import Any

from lessregret.errors import InputError


class RefusedError(Exception):
    """A request that is not done. Nothing of it was learned or kept."""

    status = 400

    def __init__(self, reason: str, **details: Any) -> None:
        super().__init__(reason)
        self.reason = reason
        self.details = details

    @property
    def headers(self) -> dict[str, str]:
        """Headers of the answer."""
        return {}


class BadInputError(RefusedError):
    """The examples are wrong."""

    @classmethod
    def of(cls, error: InputError) -> BadInputError:
        """The refusal of what a reader found: its line and column count from 1."""
        place = {"line": error.line, "column": error.column}
        return cls(str(error), **{name: number for name, number in place.items() if number})


class UnauthorizedError(RefusedError):
    """There is no token, or a wrong one."""

    status = 401

    @property
    def headers(self) -> dict[str, str]:
        return {"WWW-Authenticate": "Bearer"}


class TooSlowError(RefusedError):
    """The body did not arrive in time."""

    status = 408


class TooLargeError(RefusedError):
    """The body is larger than the service takes."""

    status = 413


class UnknownMediaError(RefusedError):
    """The body is of a kind that the service or its model does not read."""

    status = 415


class NotLearnedError(RefusedError):
    """The examples are in the log, and learning stopped at one of them.

    A start stops there, too, so that the bits are the same.
    """

    status = 422


class BusyError(RefusedError):
    """Too many requests wait."""

    status = 429

    @property
    def headers(self) -> dict[str, str]:
        return {"Retry-After": "1"}


class UnavailableError(RefusedError):
    """The service cannot do it now."""

    status = 503

    @property
    def headers(self) -> dict[str, str]:
        return {"Retry-After": "5"}
