"""Can the pictures be read: are all names inside, apart from each other and beside their lines?"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from lessregret.ledger import Certificate, Ledger, Norms, SlotSummary, Statement, Tally
from lessregret.regret.best_of_size import BestOfSize
from lessregret.report.certified_pictures import (
    Lines,
    certified_over_rounds,
    certified_over_sizes,
    certified_shapes,
    reach,
)
from lessregret.report.chart import Chart
from lessregret.training.curve import CurvePoint

DRAWN = np.random.default_rng(4)


def ledger(sums: Any, weights: Any, offset: float = 34.0) -> Ledger:
    """100 rounds with a mean loss of 0.33."""
    certificate = Certificate(offset, Norms.of(sums), Norms.of(weights), 0.5, 0.2)
    summary = SlotSummary(spread=None, floor=None, theorem=None, touched=len(sums))
    tally = Tally(rounds=100, importance=100.0, loss=33.0)
    return Ledger(tally, summary, True, 0, certificate)


LEDGERS = {
    "one weight": ledger([2.0], [1.5]),
    "two weights": ledger([2.0, 1.0], [1.5, -1.0]),
    "a hundred": ledger(DRAWN.normal(size=100), DRAWN.normal(size=100) / 3),
    "many": ledger(DRAWN.normal(size=10000) / 99, DRAWN.normal(size=10000) / 9),
    "the learned size is beyond": ledger([20.0, 3.0], [6.0, 7.0]),
    "settled": ledger([1e-4, 2e-4], [1.0, 2.0]),
    "no gradient sums": ledger([0.0], [1.0]),
}


PLOT = 300
"""the width of the plot on a phone, in pixels; the least that names must fit in"""
LETTER, TALL = 8.5, 16
"""the size of a letter, in pixels, rather too large"""


def frames(chart: Chart) -> list[tuple[float, float, float, float]]:
    """Where the names on curves stand: left, top, right, bottom in pixels of a narrow plot."""
    found = []
    for line in chart.lines:
        if line.named_at is not None:
            x = PLOT * chart.across.place(line.named_at[0])
            y = chart.height * (1 - chart.up.place(line.named_at[1]))
            wide = LETTER * len(line.name)
            left = x if x < 0.12 * PLOT else x - wide if x > 0.88 * PLOT else x - wide / 2
            found.append((left, y - TALL / 2, left + wide, y + TALL / 2))
    return found


@pytest.mark.parametrize("name", LEDGERS)
@pytest.mark.parametrize("constant", [None, 0.334, 0.5], ids=["none", "close", "above"])
def test_the_names_are_inside_and_apart(name: str, constant: float | None) -> None:
    chart = certified_over_sizes(LEDGERS[name], Lines(0.33, constant), "mean loss", "about")
    assert [line.name for line in chart.lines] == ["every |w| ≤ r", "‖w‖ ≤ r", "Σ|w| ≤ r"]
    levels = ["this run", *(["best constant prediction"] if constant else [])]
    assert [level.name for level in chart.levels] == levels
    named = frames(chart)
    assert len(named) == 3
    for left, top, right, bottom in named:
        assert -25 <= left < right <= PLOT + 25, "beside the plot there are as many pixels"
        assert 0 <= top < bottom <= chart.height
    for first, second in combinations(named, 2):
        beside = first[2] <= second[0] or second[2] <= first[0]
        assert beside or first[3] <= second[1] or second[3] <= first[1]


def test_a_curve_is_what_is_certified_and_its_dot_is_at_the_learned_size() -> None:
    run = LEDGERS["a hundred"]
    chart = certified_over_sizes(run, Lines(0.33), "mean loss", "about")
    assert run.certificate is not None
    for shape, line, dot in zip(("box", "ball", "l1"), chart.lines, chart.dots, strict=True):
        radii, heights = zip(*line.points, strict=True)
        assert heights == pytest.approx(run.certified(np.array(radii), shape))
        size = run.certificate.size(shape)
        assert dot.at == (size, run.certified(size, shape))
        assert dot.colour == line.colour


def test_nothing_is_certified_from_its_reach_on() -> None:
    run = LEDGERS["two weights"]
    for shape in ("box", "ball", "l1"):
        end = reach(run, shape)
        assert run.certified(0.99 * end, shape) > 0
        assert run.certified(1.01 * end, shape) == 0
    assert reach(LEDGERS["no gradient sums"], "box") == float("inf")
    assert reach(ledger([0.0], [1.0], offset=0.0), "box") == 0


def test_shapes_count_from_a_tenth_of_the_learned_size_on() -> None:
    assert certified_shapes(LEDGERS["two weights"]) == ["box", "ball", "l1"]
    assert certified_shapes(ledger([34.0], [9.9])) == ["box", "ball", "l1"]
    assert certified_shapes(ledger([34.0], [10.1])) == []
    assert certified_shapes(ledger([34.0], [0.0])) == []


def test_a_constant_that_would_flatten_the_rest_is_left_out() -> None:
    chart = certified_over_sizes(LEDGERS["one weight"], Lines(0.33, 0.9), "mean loss", "about")
    assert not [level for level in chart.levels if "constant" in level.name]
    assert chart.up.high < 0.4


def test_the_best_of_a_size_can_be_added() -> None:
    best = [BestOfSize("ball", 0.01, 0.6), BestOfSize("l1", 1000.0, 0.1)]
    lines = Lines(0.33, None, best)
    chart = certified_over_sizes(LEDGERS["one weight"], lines, "mean loss", "about")
    circles = [dot for dot in chart.dots if dot.hollow]
    assert [dot.at for dot in circles] == [(0.01, 0.6), (1000.0, 0.1)]
    assert chart.across.low <= 0.01 < 1000 <= chart.across.high
    assert chart.up.high > 0.6


def mark(rounds: int, lost: float, certified: float) -> CurvePoint:
    said = Statement("ball", 1.0, 0.0, lost, certified)
    return CurvePoint(rounds, float(rounds), lost * rounds, lost, lost, None, None, said)


@pytest.mark.parametrize("apart", [0.1, 0.001])
def test_the_loss_and_what_is_certified_of_it_over_the_late_rounds(apart: float) -> None:
    marks = [mark(2**k, 0.4, 0.4 - apart if k > 8 else 0.0) for k in range(13)]
    chart = certified_over_rounds(marks, "mean loss", "about")
    lost, certified = chart.lines
    assert (lost.name, certified.name) == ("lost", "certified")
    assert [at for at, _ in lost.points] == [2**k for k in range(4, 13)]
    assert (lost.points[-1][1], certified.points[-1][1]) == (0.4, 0.4 - apart)
    [band] = chart.bands
    assert band.points[-1] == (4096, 0.4 - apart, 0.4)


def test_two_marks_are_enough() -> None:
    chart = certified_over_rounds([mark(64, 0.5, 0.45), mark(100, 0.4, 0.35)], "loss", "about")
    assert [line.points for line in chart.lines] == [
        [(64, 0.5), (100, 0.4)],
        [(64, 0.45), (100, 0.35)],
    ]
