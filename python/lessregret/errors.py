"""What can go wrong, as exceptions whose text a user can act on.

    LessRegretError
    ├── InputError(ValueError)      the data: file, line, column, found, expected
    ├── SpecError(ValueError)       the request: unknown rule, parameter out of range
    ├── ModelFileError              not ours, wrong version, damaged
    ├── MergeError                  learners that cannot be one
    └── DivergedError               a margin or gradient too large: round, slot

The Rust core raises these same classes; it looks them up here by name.
"""

from __future__ import annotations


class LessRegretError(Exception):
    """Any error this package raises on purpose."""


class InputError(LessRegretError, ValueError):
    """The data are wrong: where, what was found, what would have been right.

    ``line`` and ``column`` count from 1; 0 means that the trouble has none, as for a file that
    cannot be opened.

    >>> str(InputError("train.vw", 17, 23, "'abc'", "a number after ':'"))
    "train.vw:17:23: expected a number after ':', found 'abc'"
    """

    def __init__(self, file: str, line: int, column: int, found: str, expected: str) -> None:
        self.file = file
        self.line = line
        self.column = column
        self.found = found
        self.expected = expected
        place = ":".join([file, *(str(number) for number in (line, column) if number > 0)])
        super().__init__(f"{place}: expected {expected}, found {found}")

    def __reduce__(self) -> tuple[type[InputError], tuple[str, int, int, str, str]]:
        return type(self), (self.file, self.line, self.column, self.found, self.expected)


class SpecError(LessRegretError, ValueError):
    """The request is wrong: an unknown rule, a parameter out of range, options that clash."""


class ModelFileError(LessRegretError):
    """A model file that is not ours, of another version, or damaged."""

    def __init__(self, file: str, reason: str) -> None:
        self.file = file
        self.reason = reason
        super().__init__(f"{file}: {reason}")

    def __reduce__(self) -> tuple[type[ModelFileError], tuple[str, str]]:
        return type(self), (self.file, self.reason)


class MergeError(LessRegretError):
    """Learners that cannot become one: other rules, other losses, other sizes."""


class DivergedError(LessRegretError):
    """A margin or gradient too large for the arithmetic; nothing of that round was learned."""

    def __init__(self, round: int, slot: int, what: str) -> None:
        self.round = round
        self.slot = slot
        self.what = what
        super().__init__(
            f"round {round}: {what}; feature in slot {slot} contributed most. "
            "Scale the features (scale 'cap' does), or use a smaller rate or radius"
        )

    def __reduce__(self) -> tuple[type[DivergedError], tuple[int, int, str]]:
        return type(self), (self.round, self.slot, self.what)
