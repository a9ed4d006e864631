"""The options that select and cross namespaces, as in Vowpal Wabbit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
LETTERS = ("quadratic", "cubic", "interactions")
"""Options whose crosses are first letters."""
NAMED = "--cross user*hour crosses namespaces by their full names"


def _letters(count: int | None) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """Check that a cross has this many first letters, or at least two."""

    def check(ctx: click.Context, option: click.Parameter, words: tuple[str, ...]) -> Any:
        for word in words:
            if "*" in word or len(word) < 2 or count not in (None, len(word)):
                expected = {2: "two", 3: "three", None: "two or more"}[count]
                hint = "; --quiet has no short form" if option.name == "quadratic" else ""
                raise click.BadParameter(
                    f"expected the first letters of {expected} namespaces, found {word!r}; {NAMED}"
                    f"{hint}",
                    ctx,
                    option,
                )
        return words

    return check


def _names(ctx: click.Context, option: click.Parameter, words: tuple[str, ...]) -> Any:
    """Check that a cross has names."""
    for word in words:
        if "*" not in word:
            raise click.BadParameter(
                f"expected names with '*' between, as in user*hour, found {word!r}; -q ab crosses "
                "by first letters",
                ctx,
                option,
            )
    return words


_OPTIONS = [
    click.option(
        "-q",
        "--quadratic",
        multiple=True,
        metavar="AB",
        callback=_letters(2),
        help="Cross the namespaces whose names begin with these two letters: add a feature for "
        "every pair of their features. ':' stands for every namespace. May be given several times. "
        "Only for Vowpal Wabbit text.",
    ),
    click.option(
        "--cubic",
        multiple=True,
        metavar="ABC",
        callback=_letters(3),
        help="Cross three namespaces by their first letters.",
    ),
    click.option(
        "--interactions",
        multiple=True,
        metavar="ABCD",
        callback=_letters(None),
        help="Cross two or more namespaces by their first letters.",
    ),
    click.option(
        "--cross",
        multiple=True,
        metavar="NAME*NAME",
        callback=_names,
        help="Cross namespaces by their full names, or columns of a table, as in user*hour.",
    ),
    click.option(
        "--keep",
        multiple=True,
        metavar="NAME",
        help="Read only this namespace: one letter stands for all namespaces that begin with it, "
        "a longer name for one. May be given several times.",
    ),
    click.option(
        "--ignore",
        multiple=True,
        metavar="NAME",
        help="Do not read this namespace, which is named as with --keep, or these columns of a "
        "table, with commas between.",
    ),
]


def namespace_options(command: Decorated) -> Decorated:
    """Add the options; their values go through :func:`with_namespaces`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def with_namespaces(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a command, with one entry ``namespaces`` in place of the six above."""
    from lessregret.learners.namespaces import namespaces_of

    rest = dict(options)
    crosses = [cross for name in (*LETTERS, "cross") for cross in rest.pop(name)]
    namespaces = namespaces_of(crosses, rest.pop("keep"), rest.pop("ignore"))
    return {**rest, "namespaces": namespaces}
