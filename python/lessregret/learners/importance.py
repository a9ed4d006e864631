"""Importance-aware updates: how far weights go when a round counts h times.

A step of h times the gradient goes on though the slope has fallen on the way. With the round's
rates η_i, weights that follow the slope move along η_i x_i, so the margin obeys

    dp/dh = −k ℓ′(p),   k = Σ_i x_i² η_i     k the response: what a unit of push does to the margin

and all of it is one number, the push u, with w_i ← clip(w_i + u η_i x_i):

    squared    u = (y − p)(1 − e^(−2hk))/k
    hinge      u = y min(h, (1 − yp)/k)          0 if yp ≥ 1
    logistic   u = y δ/k,  δ + e^m (e^δ − 1) = hk,  m = yp
    Poisson    u = −(1/k) ln(e^−a + e^p (1 − e^−a)/y),  a = yhk

Karampatziakis & Langford 2011. At fixed rates a round of importance h is h rounds of importance 1,
and no importance makes the margin go beyond the label or the kink.

The twin of ``crates/core/src/loss/push.rs``; each loss has its own push.
"""

from __future__ import annotations

from math import isfinite

from lessregret.errors import SpecError
from lessregret.learners.losses import LOSSES, Loss
from lessregret.learners.rules import Rule


def push(loss: Loss, margin: float, label: float, importance: float, response: float) -> float:
    """u, for a margin whose response is k.

    >>> squared = LOSSES["squared"]
    >>> push(squared, margin=0.0, label=3.0, importance=1e6, response=0.5)
    6.0
    >>> round(push(squared, margin=0.0, label=3.0, importance=1e-3, response=0.5), 6)
    0.005997
    """
    weight = importance * response
    # Where nothing responds there is no way to follow; it is the limit of all.
    if weight == 0:
        return -importance * loss.slope(margin, label)
    # Beyond all numbers, any push would move the margin too far.
    if not isfinite(weight):
        return 0.0
    return loss.push(margin, label, importance, response)


def default_importance_aware(loss: Loss, rule: Rule, l2: float) -> bool:
    """Whether updates are importance-aware if nothing is said: for Poisson loss at rate "auto".

    The slope of this loss grows by a factor of e with each unit of the margin. A step of rate times
    gradient that is right for small counts goes far beyond the label for large ones, and the
    gradient of the next round, which is then huge, ends the steps of a rate that divides by the
    gradients so far. A step that follows the slope does not go beyond the label. Decision 46.
    """
    is_auto = getattr(rule, "rate", None) == "auto"
    return loss.is_steep and is_auto and rule.descends and not l2


def check_importance_aware(loss: Loss, rule: Rule, l2: float) -> None:
    """Raise a :class:`SpecError` unless a learner like this can have importance-aware updates."""
    if not loss.has_push:
        raise SpecError(
            f"importance-aware updates are known for {', '.join(LOSSES)} loss, not for "
            f"{loss.name!r}; leave out importance_aware, or give the loss a push"
        )
    if not rule.descends:
        raise SpecError(
            "importance-aware updates are for rules that step by rate times gradient, and this "
            "rule does not; leave out importance_aware, or use another rule"
        )
    if l2 > 0:
        raise SpecError(
            "importance-aware updates follow the loss alone, and l2 adds a penalty to it; "
            "leave out importance_aware, or l2"
        )
