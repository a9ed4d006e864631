"""L2 in the stream: what every round adds for the weights it uses.

    f_t(x) = h [ℓ(x·θ_t, y_t) + (λ/2) Σ_i x_i²]      h the importance, i over the scope
    g_t,i  = h [ℓ′(p, y_t) θ_t,i + λ w_i]            w the weights played

The rules see the gradient of the whole f_t and know nothing of its parts, so regret, linearised
regret and bound are those of Σ f_t. The scope is ``"active"``, the coordinates of the example's
features, or ``"all"``, every coordinate that was ever touched; the second costs a walk over all
slots in every round and is for small problems and for checking.

The twin of ``crates/core/src/learn/penalty.rs``.
"""

from __future__ import annotations

from math import isinf
from typing import Any

from lessregret.errors import SpecError
from lessregret.learners.rules import Rule
from lessregret.learners.rules.limits import is_within

SCOPES = ("active", "all")
LARGEST_FLOAT32 = 3.4028234663852886e38
STRENGTH = "a number from 0 up that fits a float32"


def is_strength(l2: Any) -> bool:
    """Whether this can be λ.

    >>> is_strength(0), is_strength(0.01), is_strength(-1), is_strength(1e39), is_strength("0.1")
    (True, True, False, False, False)
    """
    return is_within(l2, None, 0) and float(l2) <= LARGEST_FLOAT32


def check_strength(l2: Any) -> None:
    """Raise a :class:`SpecError` unless this can be λ."""
    if not is_strength(l2):
        raise SpecError(f"l2 must be {STRENGTH}, found {l2!r}")


def check_scope(l2_scope: Any) -> None:
    """Raise a :class:`SpecError` unless this is one of the scopes."""
    if l2_scope not in SCOPES:
        expected = " or ".join(map(repr, SCOPES))
        raise SpecError(f"l2_scope must be {expected}, found {l2_scope!r}")


def check_penalty(rule: Rule, l2: Any, l2_scope: Any) -> None:
    """Raise a :class:`SpecError` unless a learner with this rule can have this L2."""
    check_strength(l2)
    check_scope(l2_scope)
    if l2 > 0 and isinf(rule.width):
        raise SpecError(
            "l2 is for rules that follow the gradient on a box, and this rule does not; "
            "leave out l2, or use another rule"
        )
