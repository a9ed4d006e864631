"""How full a hash table is, and how many features share a slot with another one.

n features with random hashes touch about m(1 − (1 − 1/m)^n) of m slots. So of t touched slots

    n     = ln(1 − t/m) / ln(1 − 1/m)      how many features were met
    share = 1 − (1 − 1/m)^(n−1)            the part of them whose slot has another feature, too

Features that share a slot have one weight. If the model keeps names, c slots of the t are known to
have more than one feature: there are at least t + c features, and at least 2c of them share. Both
are exact unless three features share a slot, and in tables that are not nearly full few do.

The hash of a name that is a number is that number, as in Vowpal Wabbit. Such features do not touch
slots at random: numbers up to the size of the table never collide. So the estimate holds only where
the touched slots lie as random ones would. Of random slots, a part p = t/m touched, about mp² are
followed by a touched one, with a variance of about mp²(1 − p)². If there are more of them, by more
than five standard deviations, names are numbers and nothing is estimated.

Cost: one pass over the touched slots.
"""

from __future__ import annotations

from math import expm1, log1p, sqrt
from typing import TYPE_CHECKING, NamedTuple

from lessregret._core import MAX_BITS

if TYPE_CHECKING:
    from lessregret.learners.learner import Learner

MOST_SHARED = 0.05
"""The share of features from which on a larger table is advised."""
DEVIATIONS = 5.0


class Fill(NamedTuple):
    """The touched slots of a hash table, and the features in them."""

    slots: int
    """the number of slots for features, 2^bits"""
    touched: int
    features: float | None
    """how many features were met; None if that is not known"""
    shared: float | None
    """the part of the features that share a slot with another one; None if it is not known"""
    by_names: bool
    """whether names tell it; otherwise it is estimated from the touched slots"""

    @property
    def enough_bits(self) -> int | None:
        """The least bits for which less than 5 % share a slot; None if there is no need."""
        if self.shared is None or self.features is None or self.shared <= MOST_SHARED:
            return None
        enough = (b for b in range(1, MAX_BITS + 1) if share(2**b, self.features) < MOST_SHARED)
        bits = next(enough, None)
        # A table that has so many bits already had bad luck, and a larger one is no cure.
        return bits if bits is not None and 2**bits > self.slots else None


def features_met(slots: int, touched: int) -> float:
    """About how many features have touched so many slots.

    A table without a free slot tells only that there were at least about m ln 2m.

    >>> round(features_met(1 << 18, 10_000)), round(features_met(8, 8), 1)
    (10196, 20.8)
    """
    if slots == 1:
        return float(touched)
    return log1p(-min(float(touched), slots - 0.5) / slots) / log1p(-1 / slots)


def share(slots: int, features: float) -> float:
    """The part of the features that is expected to share a slot.

    >>> round(share(1 << 18, 10_000), 3), share(8, 1), share(8, 0)
    (0.037, 0.0, 0.0)
    """
    if features <= 1:
        return 0.0
    if slots == 1:
        return 1.0
    return -expm1((features - 1) * log1p(-1 / slots))


def estimated_fill(slots: int, touched: int, names: tuple[int, int] | None) -> Fill:
    """The fill of a table of which is known how many slots have a name, and how many several.

    >>> estimated_fill(1024, 100, names=(100, 5)).shared
    0.09523809523809523
    >>> fill = estimated_fill(1 << 10, 100, names=None)
    >>> round(fill.shared, 3), fill.enough_bits
    (0.097, 11)
    """
    estimate = features_met(slots, touched)
    if names is None:
        return Fill(slots, touched, estimate, share(slots, estimate), by_names=False)
    named, several = names
    features = named + several
    shared = 2 * several / features if features else 0.0
    # In a full table many slots have three features and more, which names do not tell.
    return Fill(slots, touched, max(features, estimate) if several else features, shared, True)


def fill_of(learner: Learner) -> Fill | None:
    """The fill of a learner's hash table; None if it has columns instead.

    >>> from lessregret.learners.learner import Learner
    >>> fill_of(Learner(bits=10))
    Fill(slots=1024, touched=0, features=0.0, shared=0.0, by_names=False)
    """
    bits = learner.spec["table"].get("bits")
    if bits is None:
        return None
    touched, adjacent, names = learner.fill()
    fill = estimated_fill(2**bits, touched, names)
    if names is None and not lie_at_random(2**bits, touched, adjacent):
        return fill._replace(features=None, shared=None)
    return fill


def lie_at_random(slots: int, touched: int, adjacent: int) -> bool:
    """Whether touched slots lie as those of random hashes do; see above.

    >>> lie_at_random(1 << 18, 10_000, adjacent=380), lie_at_random(1 << 18, 10_000, 9_999)
    (True, False)
    """
    p = touched / slots
    deviation = sqrt(slots) * p * (1 - p)
    # Of a few features two may be neighbours by chance.
    return adjacent - slots * p * p <= max(1.0, DEVIATIONS * deviation)
