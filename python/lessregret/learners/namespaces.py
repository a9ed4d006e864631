"""Which namespaces of Vowpal Wabbit text are read, and which are crossed.

They are part of the feature space, so a model crosses the namespaces of new data as it crossed
those that it was trained on. ``docs/reference/formats.md`` says which features a cross has.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lessregret import _core
from lessregret.errors import SpecError

STAR = "*"
"""Stands between the names of a cross."""


@dataclass(frozen=True)
class Namespaces:
    """Which namespaces are read, and which are crossed.

    A name of one ASCII character stands for all namespaces that begin with it; ``" "`` is the
    default namespace. A longer name is the full name of a namespace.

    Crosses that have the same features are one, and names are put in order.

    Parameters
    ----------
    crosses : strings or sequences of names, default none
        Each cross has a feature for every combination of the features of its namespaces.
        ``"user*hour"`` and ``("user", "hour")`` cross namespaces by name, ``"ab"`` by their first
        letters, as in Vowpal Wabbit. ``":"`` stands for every namespace.
    keep, ignore : a name or several, default none
        Read only these namespaces; do not read these. Crosses see what is left.
    of : "namespaces" or "keys", default "namespaces"
        What is crossed: namespaces of text, or keys of the dicts that an estimator is fitted to.

    >>> Namespaces(crosses=["ab", "ba", "user*hour"]).crosses
    (('a', 'b'), ('user', 'hour'))
    """

    crosses: tuple[tuple[str, ...], ...] = ()
    keep: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    of: Literal["namespaces", "keys"] = "namespaces"

    def __init__(
        self,
        crosses: Sequence[str | Sequence[str]] = (),
        keep: str | Sequence[str] = (),
        ignore: str | Sequence[str] = (),
        of: Literal["namespaces", "keys"] = "namespaces",
    ) -> None:
        written = {
            "of": of,
            "keep": _names("keep", keep),
            "ignore": _names("ignore", ignore),
            "crosses": [_cross(cross) for cross in _listed("crosses", crosses)],
        }
        # The core checks the names and puts them in order.
        ordered = json.loads(_core.ordered_namespaces(json.dumps(written)))
        object.__setattr__(self, "crosses", tuple(map(tuple, ordered["crosses"])))
        object.__setattr__(self, "keep", tuple(ordered["keep"]))
        object.__setattr__(self, "ignore", tuple(ordered["ignore"]))
        object.__setattr__(self, "of", ordered["of"])

    def as_dict(self) -> dict[str, Any]:
        """The namespaces as they are written in a spec."""
        return {
            "of": self.of,
            "keep": list(self.keep),
            "ignore": list(self.ignore),
            "crosses": [list(cross) for cross in self.crosses],
        }


def namespaces_of(
    crosses: Sequence[str | Sequence[str]] | None,
    keep: str | Sequence[str] | None,
    ignore: str | Sequence[str] | None,
) -> Namespaces | None:
    """The namespaces that are asked for; None if all are to be read and none is to be crossed."""
    if not crosses and not keep and not ignore:
        return None
    return Namespaces(crosses or (), keep or (), ignore or ())


def check_same(asked: Namespaces | None, held: Namespaces | None, owner: str) -> None:
    """What a model fixes may be repeated, not changed."""
    if asked is None:
        return
    held = Namespaces() if held is None else held
    for name in "crosses", "keep", "ignore":
        wanted, has = getattr(asked, name), getattr(held, name)
        if wanted and wanted != has:
            raise SpecError(
                f"{name} is {_said(wanted)}, but {owner} was trained with {_said(has)}; leave it "
                "out, or train a new model"
            )


def _said(names: tuple[Any, ...]) -> str:
    words = [STAR.join(name) if isinstance(name, tuple) else name for name in names]
    return ", ".join(words) or "none"


def _cross(cross: str | Sequence[str]) -> list[str]:
    """``"user*hour"`` by names, ``"ab"`` by first letters."""
    if isinstance(cross, str):
        return cross.split(STAR) if STAR in cross else list(cross)
    return _names("crosses", cross)


def _names(option: str, names: str | Sequence[str]) -> list[str]:
    listed = _listed(option, [names] if isinstance(names, str) else names)
    wrong = [name for name in listed if not isinstance(name, str)]
    if wrong:
        raise SpecError(f"{option}: expected names, which are strings, found {wrong[0]!r}")
    return listed


def _listed(option: str, given: Any) -> list[Any]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise SpecError(f"{option}: expected a list, found {given!r}")
    return list(given)
