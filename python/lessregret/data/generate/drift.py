"""Hidden weights that change over the log.

Era k begins with weights W_k, drawn for it alone. Within the era the weights turn to those of the
next: a share u of the way through they are

    cos(u π/2) W_k + sin(u π/2) W_(k+1)

so that at every moment each weight has the variance it was drawn with, and weights an era apart
have nothing in common. The intercept of an era's beginning is set for the click rate; between, it
goes along a line. `drift` is the number of eras in a million impressions; with 0 the first never
ends. Weights are constant within the 16,384 impressions that are drawn together, and any of these
needs two eras and nothing else that precedes it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lessregret.data.generate.draws import Floats, Ids, generator
from lessregret.data.generate.pages import IMPRESSIONS_PER_DRAW, draw_pages
from lessregret.data.generate.truth import Truth, candidate_margins, draw_truth

if TYPE_CHECKING:
    from lessregret.data.generate.world import ClickWorld

IMPRESSIONS_PER_UNIT = 1_000_000


@dataclass(frozen=True)
class Era:
    """The hidden weights that an era begins with, and what follows from them."""

    truth: Truth
    candidate_margins: Floats
    intercept: float


@dataclass(frozen=True)
class Moment:
    """A share `gone`, from 0 to before 1, of the way from one era's beginning to the next's."""

    before: Era
    after: Era
    gone: float

    @property
    def angle(self) -> float:
        """How far the weights have turned, from 0 to before π/2."""
        return self.gone * math.pi / 2

    @property
    def intercept(self) -> float:
        """The intercept that holds now."""
        return (1 - self.gone) * self.before.intercept + self.gone * self.after.intercept

    @property
    def truth(self) -> Truth:
        """The weights that hold now."""
        return self.before.truth.turned(self.after.truth, self.angle)

    def margins(self, queries: Ids) -> Floats:
        """The margins of the queries' candidates now; they turn as the weights do."""
        near, far = math.cos(self.angle), math.sin(self.angle)
        margins = near * self.before.candidate_margins[queries]
        return margins + far * self.after.candidate_margins[queries] if far else margins


def draw_era(world: ClickWorld, number: int) -> Era:
    """An era, from its number alone."""
    truth = draw_truth(world, number)
    margins = candidate_margins(world.market, truth)
    pages = draw_pages(world, generator(world, "calibration", number), margins.__getitem__)
    return Era(truth, margins, _intercept(pages.margins, world.click_rate))


def moment(world: ClickWorld, draw: int) -> Moment:
    """What holds while the impressions of draw number `draw` are shown."""
    eras = world.drift * draw * IMPRESSIONS_PER_DRAW / IMPRESSIONS_PER_UNIT
    number = math.floor(eras)
    before = world.era(number)
    return Moment(before, world.era(number + 1) if eras > number else before, eras - number)


def sigmoid(margins: Floats) -> Floats:
    """1 / (1 + exp(-margin)), never 0 or 1."""
    # Beyond 36 the probability rounds to 1, whose entropy is 0 times infinity.
    return np.asarray(1 / (1 + np.exp(-margins.clip(-35, 35))), dtype=np.float64)


def _intercept(margins: Floats, click_rate: float) -> float:
    """The root, by bisection, of: mean probability = click rate."""
    centre = math.log(click_rate / (1 - click_rate))
    low, high = centre - margins.max(), centre - margins.min()
    for _ in range(40):
        middle = (low + high) / 2
        too_few = sigmoid(middle + margins).mean() < click_rate
        low, high = (middle, high) if too_few else (low, middle)
    return float(low + high) / 2
