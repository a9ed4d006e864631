"""The parts of one prediction: what each feature gave to it.

    one rate     p = b + Σ_i w_i x̂_i                         part of feature i: w_i x̂_i
    mean         p = Σ_k π_k p_k                              part: Σ_k π_k c_i,k
    log odds     p = logit Σ_k π_k σ(p_k)                     part: Σ_k a_k c_i,k
                 a_k = π_k t(p_k)/t(p),  t(z) = (σ(z) − σ(b))/(z − b),  t(b) = σ'(b)

x̂ is the scaled value, b the base margin of the example, mostly 0, and c_i,k the part of feature i
in the margin p_k = b + Σ_i c_i,k of expert k. The logit of a mean is not linear in the experts, but
its split is exact: since Σ π_k = 1,

    Σ_k π_k t(p_k) (p_k − b) = Σ_k π_k (σ(p_k) − σ(b)) = σ(p) − σ(b) = t(p) (p − b),
    so b + Σ_k a_k (p_k − b) = p;
    t > 0 and π_k ≥ 0, so a_k ≥ 0: no expert counts against its own margin.

Three parts belong to no feature: the base margin, what clipping added, and the mean of
standardised labels. The parts are computed in Rust (``crates/core/src/learn/explain.rs``) by the
code that predicts, so they add up to the margin except for the rounding of float64. Explaining an
example costs about as much as predicting it one by one.

A part says what a feature gave to this prediction. It does not say what would happen if the feature
were left out: the other weights were learned beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import exp, expm1, isnan, log, log1p
from typing import Any, NamedTuple

INTERCEPT = "(intercept)"
BASE = "(base)"
CLIPPING = "(clipping)"
MEAN_LABEL = "(mean label)"

NameOf = Callable[[int], tuple[str, bool] | None]
"""The name of a slot, and whether other features share it; None if it is unknown."""


class Part(NamedTuple):
    """What one feature gave to a prediction."""

    name: str | None
    """the feature's name; None if it is unknown. "(intercept)", "(base)", "(clipping)" and
    "(mean label)" are not features"""
    slot: int | None
    """None for the base, clipping and the mean label"""
    value: float | None
    """the value as it was given"""
    scaled: float | None
    """the value after scaling; 0 if the feature does not count in this prediction"""
    weight: float | None
    """the part per unit of the scaled value: with one rate the learned weight, at rate "auto" that
    of the mixture; None if the scaled value is 0"""
    part: float
    """what was added to the margin"""
    shared: bool
    """whether another feature is known to use the same slot, so that both have one weight"""


class Explanation(NamedTuple):
    """The parts of one prediction, the largest absolute ones first. They add up to the margin."""

    margin: float
    parts: tuple[Part, ...]
    label: float | None = None
    """the label of the example; None if it has none"""
    tag: bytes = b""

    def largest(self, count: int) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
        """The first ``count`` parts, and the others."""
        return self.parts[:count], self.parts[count:]

    def named(self, name_of: NameOf) -> Explanation:
        """The explanation with names for the features that have none."""
        return self._replace(parts=tuple(_named(part, name_of) for part in self.parts))

    def as_dict(self) -> dict[str, Any]:
        """The numbers as a dict, for JSON."""
        return {
            "margin": self.margin,
            "label": self.label,
            "tag": self.tag.decode("utf-8", "replace") or None,
            "parts": [part._asdict() for part in self.parts],
        }


class Features(NamedTuple):
    """The parts of a prediction before they have names."""

    features: Iterable[tuple[int, float, float, float]]
    """slot, value as given, scaled value and part"""
    base: float
    mean_label: float | None
    clipping: float


def explanation(
    margin: float,
    found: Features,
    name_of: NameOf,
    intercept: int | None,
    label: float | None = None,
    tag: bytes = b"",
) -> Explanation:
    """The parts of a prediction with their names, in order.

    >>> found = Features([(7, 2.0, 1.0, -0.5), (9, 1.0, 1.0, 0.25)], 0.0, None, 0.0)
    >>> explained = explanation(-0.25, found, {7: ("age", False)}.get, intercept=9)
    >>> [(part.name, part.part) for part in explained.parts]
    [('age', -0.5), ('(intercept)', 0.25)]
    """
    parts = [_feature(*feature, name_of, intercept) for feature in found.features]
    if found.base:
        parts.append(_apart(BASE, found.base))
    if found.mean_label is not None:
        parts.append(_apart(MEAN_LABEL, found.mean_label))
    if found.clipping:
        parts.append(_apart(CLIPPING, found.clipping))
    parts.sort(key=lambda part: -abs(part.part))
    known = None if label is None or isnan(label) else label
    return Explanation(margin, tuple(parts), known, tag)


def _feature(
    slot: int, value: float, scaled: float, part: float, name_of: NameOf, intercept: int | None
) -> Part:
    own = (INTERCEPT, False) if slot == intercept else name_of(slot)
    name, shared = own or (None, False)
    return Part(name, slot, value, scaled, part / scaled if scaled else None, part, shared)


def _named(part: Part, name_of: NameOf) -> Part:
    if part.name is not None or part.slot is None:
        return part
    name, shared = name_of(part.slot) or (None, False)
    return part._replace(name=name, shared=shared)


def _apart(name: str, part: float) -> Part:
    return Part(name, None, None, None, None, part, False)


def both_names(first: NameOf, other: NameOf) -> NameOf:
    """The names of two records: the first one's, and a slot to which they give two is shared.

    >>> name_of = both_names({1: ("a", False)}.get, {1: ("b", False), 2: ("c", False)}.get)
    >>> name_of(1), name_of(2), name_of(3)
    (('a', True), ('c', False), None)
    """

    def name_of(slot: int) -> tuple[str, bool] | None:
        known = [each for each in (first(slot), other(slot)) if each is not None]
        if not known:
            return None
        names = {name for name, _ in known}
        return known[0][0], len(names) > 1 or any(shared for _, shared in known)

    return name_of


def log_odds_factors(
    shares: Sequence[float], margins: Sequence[float], margin: float, base: float = 0.0
) -> list[float]:
    """a_k, by which the margins of the experts beside the base add up to that of their log odds.

    >>> from math import exp, log
    >>> shares, margins = [0.25, 0.75], [2.0, -1.0]
    >>> chance = sum(p / (1 + exp(-m)) for p, m in zip(shares, margins))
    >>> margin = log(chance / (1 - chance))
    >>> factors = log_odds_factors(shares, margins, margin)
    >>> abs(sum(a * m for a, m in zip(factors, margins)) - margin) < 1e-15
    True
    """
    pairs = zip(shares, margins, strict=True)
    own = _log_steepness(margin, base)
    return [share * exp(_log_steepness(each, base) - own) for share, each in pairs]


def _log_steepness(z: float, base: float) -> float:
    """ln t(z), up to a term that depends on the base b alone.

    σ(z) − σ(b) = sinh(d/2) / (2 cosh(z/2) cosh(b/2)) with d = z − b. It is a logarithm because a
    base far from 0 takes the quotient beyond the range of floats.
    """
    distance = abs(z - base)
    slope = -expm1(-distance) / distance if distance else 1.0
    return (distance - abs(z)) / 2 + log(slope) - log1p(exp(-abs(z)))
