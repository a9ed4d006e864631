"""The largest weights of a learner, by name where it knows names."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lessregret.learners.explanation import INTERCEPT
from lessregret.learners.learner import Learner


class NamedWeight(NamedTuple):
    """A weight, whose it is, and whether another feature shares its slot."""

    slot: int
    weight: float
    name: str | None
    """None where the learner keeps no names"""
    collided: bool | None


def largest_weights(learner: Learner, count: int, *, intercept: bool = True) -> list[NamedWeight]:
    """The ``count`` weights furthest from 0, the intercept's among them or not.

    Of many classes the name of a weight ends with that of its class: ``age [setosa]``.
    """
    slots, weights = learner.weights()
    if not intercept and learner.spec["intercept"]:
        kept = slots != learner.slots - 1
        slots, weights = slots[kept], weights[kept]
    names = learner.class_names
    order = np.argsort(-np.abs(weights), axis=None, kind="stable")[:count]
    if names is None:
        return [_named(learner, int(slots[k]), float(weights[k])) for k in order]
    found = []
    for slot, c in (divmod(int(k), len(names)) for k in order):
        weight = _named(learner, int(slots[slot]), float(weights[slot, c]))
        found.append(weight._replace(name=f"{weight.name or weight.slot} [{names[c]}]"))
    return found


def _named(learner: Learner, slot: int, weight: float) -> NamedWeight:
    if learner.spec["intercept"] and slot == learner.slots - 1:
        return NamedWeight(slot, weight, INTERCEPT, False)
    name, collided = learner.name(slot) or (None, None)
    return NamedWeight(slot, weight, name, collided)
