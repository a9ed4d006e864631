"""What a user says of the columns of a table: by options, by arguments, or in a TOML file.

What is not said is inferred from the first rows (:mod:`lessregret.data.tables`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from lessregret.errors import InputError, SpecError
from lessregret.learners.schema import MISSING

SINGLE = ("label", "weight", "base", "tag", "positive", "delimiter")
"""choices that are one word; the others are lists of words"""


@dataclass(frozen=True)
class ColumnChoices:
    """What is said of the columns of a table. Everything may be left out.

    Parameters
    ----------
    label, weight, base, tag : names of columns
        The column to predict, the importance of a row, its base margin (a score of another model,
        added to the margin), and a name of the row that is written beside its prediction.
    number, category, text, time, ignore : lists of names of columns
        Columns whose kind is not to be inferred. ``"body:2"`` in ``text`` also makes features of
        the pairs of words that follow each other.
    positive : str
        The label that is the positive class; every other label is then negative.
    missing : list of strings
        How a missing cell is spelled. None means the usual spellings.
    cross : list of strings like ``"user*hour"``
        Columns whose features are multiplied.
    header : list of strings
        The names of the columns of a file that has no header line. An empty list names them c1,
        c2, …. None means that the first line is the header.
    delimiter : one character
        What separates cells. None means that it is inferred.

    >>> ColumnChoices(label="clicked", number=("age",)).label
    'clicked'
    """

    label: str | None = None
    weight: str | None = None
    base: str | None = None
    tag: str | None = None
    number: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    time: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    positive: str | None = None
    missing: tuple[str, ...] | None = None
    cross: tuple[str, ...] = ()
    header: tuple[str, ...] | None = None
    delimiter: str | None = None

    @property
    def spellings(self) -> tuple[str, ...]:
        """How a missing cell is spelled."""
        return MISSING if self.missing is None else self.missing

    @property
    def crosses(self) -> tuple[tuple[str, ...], ...]:
        """The names of the columns of every cross."""
        return tuple(tuple(cross.split("*")) for cross in self.cross)

    @property
    def are_made(self) -> bool:
        """Whether anything was said."""
        return self != ColumnChoices()

    def over(self, others: ColumnChoices) -> ColumnChoices:
        """These choices, and the others where these say nothing."""
        said = {name: value for name, value in vars(self).items() if value not in (None, ())}
        return replace(others, **said)

    @classmethod
    def of(cls, document: Mapping[str, Any], place: str = "columns") -> ColumnChoices:
        """The choices in a dict; ``place`` is named in errors."""
        known = [choice.name for choice in fields(cls)]
        for name in document:
            if name not in known:
                expected = ", ".join(known)
                raise SpecError(f"{place}: expected some of {expected}; found {name!r}")
        return cls(**{name: _checked(place, name, value) for name, value in document.items()})

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> ColumnChoices:
        """The choices in a TOML file, whose keys are the parameters of this class."""
        # Here, because every command imports this file and few read TOML.
        if sys.version_info >= (3, 11):
            import tomllib
        else:
            import tomli as tomllib

        try:
            with open(path, "rb") as file:
                return cls.of(tomllib.load(file), os.fspath(path))
        except tomllib.TOMLDecodeError as error:
            raise InputError(os.fspath(path), 0, 0, str(error), "a TOML file") from None
        except OSError as error:
            found = error.strerror or str(error)
            raise InputError(os.fspath(path), 0, 0, found, "a file that can be read") from None


def _checked(place: str, name: str, value: Any) -> Any:
    if name in SINGLE:
        if isinstance(value, str):
            return value
        raise SpecError(f"{place}: {name} must be a string, found {value!r}")
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    if is_list and all(isinstance(word, str) for word in value):
        return tuple(value)
    raise SpecError(f"{place}: {name} must be a list of strings, found {value!r}")
