"""The default learner without one of its parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from lessregret import Learner, PerCoordinate
from lessregret.learners.labels import LabelsAsGiven
from lessregret.learners.mixture import Mixture
from lessregret.learners.readable import ReadableLearner
from lessregret.learners.scale import Seen
from lessregret.learners.standard import StandardScales
from lessregret.ledger import Tally

BITS = 22
INTERCEPT = 0
Play = tuple[list[int], list[float], float]
"""Slots, values and label of a row."""
ONE_RATE = PerCoordinate(rate=0.1, offset=0.3)

SWITCHED: dict[str, dict[str, Any]] = {
    "default": {},
    "scale cap": {"scale": "cap"},
    "scale none": {"scale": "none"},
    "fixed share 0": {"fixed_share": 0.0},
    "one rate": {"rule": ONE_RATE},
}
LOSES: dict[str, dict[str, Any]] = {
    "default": {},
    "scale cap": {"scale": "cap"},
    "one rate": {"rule": ONE_RATE},
}
"""What the default is compared with where it may lose."""


def loss_of(is_regression: bool) -> str:
    return "squared" if is_regression else "logistic"


def learner_of(is_regression: bool, options: dict[str, Any]) -> Learner:
    """The product with these options."""
    return Learner(loss_of(is_regression), bits=BITS, **options)


class WithoutCoin(PerCoordinate):
    """Eight rates and no coin, as the rules other than per-coordinate have."""

    coin_lane = False


class WithoutStack(ReadableLearner):
    """The ninth expert repeats the first lane."""

    def _stacked(self, margins: list[float], base: float) -> list[float]:
        return [*margins, margins[0]]


class RangeMixture(Mixture):
    """The rate of the mixture is that of exp-concavity alone."""

    @property
    def _rate_of_gap(self) -> float:
        return 0.0


class PlainIntercept(StandardScales):
    """The value of the intercept is 1."""

    def _scaled(self, slots: Sequence[int], values: Sequence[float], level: float) -> Seen:
        return super()._scaled(slots, values, level=1.0)


def default(is_regression: bool) -> ReadableLearner:
    rule = PerCoordinate(rate="auto")
    return ReadableLearner(loss_of(is_regression), rule, intercept=INTERCEPT)


def no_coin(is_regression: bool) -> ReadableLearner:
    rule = WithoutCoin(rate="auto")
    return ReadableLearner(loss_of(is_regression), rule, intercept=INTERCEPT)


def no_stack(is_regression: bool) -> ReadableLearner:
    rule = PerCoordinate(rate="auto")
    return WithoutStack(loss_of(is_regression), rule, intercept=INTERCEPT)


def plain_intercept(is_regression: bool) -> ReadableLearner:
    learner = default(is_regression)
    for lane in learner.lanes:
        lane.scales = PlainIntercept(INTERCEPT, unit=lane.rule.unit_values)
    learner.scales = learner.lanes[0].scales
    return learner


def labels_as_given(is_regression: bool) -> ReadableLearner:
    learner = default(is_regression)
    learner.labels, learner.tally = LabelsAsGiven(), Tally()
    return learner


def no_adahedge(is_regression: bool) -> ReadableLearner:
    learner = default(is_regression)
    learner.mixture = RangeMixture(learner.loss, fixed_share=learner.mixture.fixed_share)
    return learner


class Part(NamedTuple):
    """A part that is left out of the readable learner."""

    learner: Callable[[bool], ReadableLearner]
    for_classes: bool = True
    """whether it also plays a part in classification"""


READABLE = {
    "default": Part(default),
    "no coin": Part(no_coin),
    "no stack": Part(no_stack),
    "intercept 1": Part(plain_intercept),
    "labels as given": Part(labels_as_given, for_classes=False),
    "no AdaHedge": Part(no_adahedge, for_classes=False),
}
