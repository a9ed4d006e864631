"""The names of losses and rules as types, by which a type checker finds a name that is wrong.

    OnlineClassifier(loss="log_loss")     mypy: ... expected "Literal['logistic', ...]"

A test holds them to the names of the core. At run time :func:`unknown` suggests the right name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

ClassLoss: TypeAlias = Literal["logistic", "hinge", "squared-hinge"]
"""The losses of two or more classes."""
NumberLoss: TypeAlias = Literal["squared", "poisson", "absolute"] | str
"""The losses of numbers. Some have a parameter, as in "quantile:0.9", which no literal can tell."""
RuleName: TypeAlias = Literal[
    "constant",
    "inverse-sqrt",
    "global",
    "per-coordinate",
    "adaptive-revision",
    "ftrl",
    "coin",
    "pa",
    "pa-i",
    "pa-ii",
    "cw",
    "cw-stdev",
    "arow",
]

LOSSES_ELSEWHERE = {
    "log": "logistic",
    "log_loss": "logistic",
    "logloss": "logistic",
    "cross_entropy": "logistic",
    "binary_crossentropy": "logistic",
    "deviance": "logistic",
    "squared_error": "squared",
    "squared_loss": "squared",
    "mean_squared_error": "squared",
    "mse": "squared",
    "l2": "squared",
    "absolute_error": "absolute",
    "mean_absolute_error": "absolute",
    "mae": "absolute",
    "l1": "absolute",
    "pinball": "quantile:0.9",
    "epsilon_insensitive": "absolute",
}
"""What losses of other libraries are called here."""
RULES_ELSEWHERE = {
    "sgd": "constant",
    "invscaling": "inverse-sqrt",
    "adagrad": "per-coordinate",
    "adaptive": "per-coordinate",
    "ftrl-proximal": "ftrl",
    "ftrlproximal": "ftrl",
    "passive-aggressive": "pa",
    "pa1": "pa-i",
    "pa2": "pa-ii",
    "scw": "cw",
}
"""What rules of other libraries are called here."""


def unknown(
    kind: str, plural: str, found: str, known: Iterable[str], elsewhere: Mapping[str, str]
) -> str:
    """The message about an unknown name, with the one that was probably meant.

    >>> unknown("loss", "losses", "log_loss", ["logistic", "hinge"], LOSSES_ELSEWHERE)
    "unknown loss 'log_loss'; did you mean 'logistic'? The losses are logistic, hinge"
    """
    names = list(known)
    meant, listed = suggestion(found, names, elsewhere), f"{plural} are {', '.join(names)}"
    the = "the" if meant is None else f"did you mean {meant!r}? The"
    return f"unknown {kind} {found!r}; {the} {listed}"


def suggestion(found: str, known: Iterable[str], elsewhere: Mapping[str, str]) -> str | None:
    """The known name that was probably meant; None if there is none like it.

    >>> suggestion("ftlr", ["ftrl", "coin"], RULES_ELSEWHERE)
    'ftrl'
    """
    # Imported for an error only: the command line starts without it.
    from difflib import get_close_matches

    names = list(known)
    word = found.strip().lower()
    meant = elsewhere.get(word.replace("-", "_"), elsewhere.get(word.replace("_", "-")))
    if meant in names:
        return meant
    return next(iter(get_close_matches(word, names, n=1)), None)
