"""The exceptions of this package. Their messages say what to change.

    LessRegretError
    ├── InputError(ValueError)      the data: file, line, column, found, expected
    ├── SpecError(ValueError)       the request: unknown rule, parameter out of range
    │   └── OutOfMemoryError(MemoryError)   a table larger than the memory
    ├── ModelFileError              not a model file, wrong version, damaged
    ├── MergeError                  learners that cannot be merged
    └── DivergedError               a margin or gradient too large: round, slot

The Rust core raises these classes, too; it looks them up here by name.
"""

from __future__ import annotations


class LessRegretError(Exception):
    """The base class of all errors that this package raises on purpose."""


class InputError(LessRegretError, ValueError):
    """The data are wrong. The message says where, what was found and what was expected.

    ``line`` and ``column`` count from 1. They are 0 if the error has no line or column, for example
    if a file cannot be opened.

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
    """The request is wrong: an unknown rule, a parameter out of range, conflicting options."""


class OutOfMemoryError(SpecError, MemoryError):
    """A table needs more memory than there is. Nothing was changed: the call can be made again."""


class ModelFileError(LessRegretError):
    """The file is not a model file, has another version, or is damaged."""

    def __init__(self, file: str, reason: str) -> None:
        self.file = file
        self.reason = reason
        super().__init__(f"{file}: {reason}")

    def __reduce__(self) -> tuple[type[ModelFileError], tuple[str, str]]:
        return type(self), (self.file, self.reason)


class MergeError(LessRegretError):
    """The learners cannot be merged: their rules, losses or sizes differ."""


class DivergedError(LessRegretError):
    """A margin or gradient is too large for the arithmetic. The round changed no weights."""

    def __init__(self, round: int, slot: int, what: str) -> None:
        self.round = round
        self.slot = slot
        self.what = what
        super().__init__(
            f"round {round}: {what}; feature in slot {slot} contributed most. "
            "Scale the features (scale 'standard' does), or use a smaller rate or radius"
        )

    def __reduce__(self) -> tuple[type[DivergedError], tuple[int, int, str]]:
        return type(self), (self.round, self.slot, self.what)
