"""Importance-aware updates: how far weights go when a round counts h times.

A step of h times the gradient goes on though the slope has fallen on the way. With the round's
rates η_i, weights that follow the slope move along η_i x_i, so the margin obeys

    dp/dh = −k ℓ′(p),   k = Σ_i x_i² η_i     k the response: what a unit of push does to the margin

and all of it is one number, the push u, with w_i ← clip(w_i + u η_i x_i):

    squared    u = (y − p)(1 − e^(−2hk))/k
    hinge      u = y min(h, (1 − yp)/k)          0 if yp ≥ 1
    logistic   u = y δ/k,  δ + e^m (e^δ − 1) = hk,  m = yp

Karampatziakis & Langford 2011. At fixed rates a round of importance h is h rounds of importance 1,
and no importance makes the margin go beyond the label or the kink.

The twin of ``crates/core/src/importance.rs``.
"""

from __future__ import annotations

from math import exp, expm1, log, log1p

from lessregret.errors import SpecError
from lessregret.learners.losses import LOSSES, Loss
from lessregret.learners.rules import Rule

SURE = 700.0
"""Beyond this e^m has no number, and what is left of the loss moves nothing."""


def push(loss: Loss, margin: float, label: float, importance: float, response: float) -> float:
    """u, for a margin whose response is k.

    >>> squared = LOSSES["squared"]
    >>> push(squared, margin=0.0, label=3.0, importance=1e6, response=0.5)
    6.0
    >>> round(push(squared, margin=0.0, label=3.0, importance=1e-3, response=0.5), 6)
    0.005997
    """
    weight = importance * response
    # Where nothing responds there is no way to follow; it is the limit of all three.
    if weight == 0:
        return -importance * loss.slope(margin, label)
    if loss.name == "squared":
        return (margin - label) * expm1(-2 * weight) / response
    if loss.name == "hinge":
        return label * min(importance, max(0.0, 1 - label * margin) / response)
    return label * _rise(label * margin, weight) / response


def check_importance_aware(loss: Loss, rule: Rule, l2: float) -> None:
    """Raise a :class:`SpecError` unless a learner like this can have importance-aware updates."""
    if type(LOSSES.get(loss.name)) is not type(loss):
        raise SpecError(
            f"importance-aware updates are known for {', '.join(LOSSES)} loss, not for "
            f"{loss.name!r}; leave out importance_aware, or use one of these"
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


def _rise(m: float, weight: float) -> float:
    """δ with δ + e^m (e^δ − 1) = weight: how far a margin of the right sign rises.

    Newton from above on a convex function, so every step is down to the root and none beyond it.
    In this form nothing cancels, be δ small or e^m.
    """
    if m > SURE:
        return 0.0
    # Above the root, since e^δ − 1 ≥ δ.
    delta = weight / (1 + exp(m))
    if delta > 1:
        # So is this, since the second part is not more than the whole; and e^(m + δ) fits.
        delta = min(delta, _softplus(log(weight) - m))
    while True:
        peak = exp(m + delta)
        step = (delta - peak * expm1(-delta) - weight) / (1 + peak)
        delta -= step
        # Quadratic: the next step would be below the last digit.
        if step <= 1e-9 * delta:
            return delta


def _softplus(z: float) -> float:
    return max(z, 0.0) + log1p(exp(-abs(z)))
