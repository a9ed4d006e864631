"""Can the pictures be read: are all names inside, apart from each other and beside their lines?"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from lessregret.ledger import Certificate, Ledger, Norms, SlotSummary, Statement, Tally
from lessregret.regret.best_of_size import BestOfSize
from lessregret.report.certified_pictures import (
    Lines,
    certified_over_rounds,
    certified_over_sizes,
    certified_shapes,
    reach,
)
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


def shown(figure: Any) -> tuple[Any, dict[str, Any]]:
    """The frame of a drawn figure and those of its names, by their text."""
    FigureCanvasAgg(figure).draw()
    [axes] = figure.axes
    frames = {text.get_text(): text.get_window_extent() for text in axes.texts}
    return figure.bbox, frames


@pytest.mark.parametrize("name", LEDGERS)
@pytest.mark.parametrize("constant", [None, 0.334, 0.5], ids=["none", "close", "above"])
def test_the_names_are_inside_and_apart(name: str, constant: float | None) -> None:
    figure = certified_over_sizes(LEDGERS[name], Lines(0.33, constant), "mean loss")
    page, frames = shown(figure)
    expected = {"every |w| ≤ r", "‖w‖ ≤ r", "Σ|w| ≤ r", "this run: 0.33"}
    if constant is not None:
        expected.add(f"best constant prediction: {constant:g}")
    assert set(frames) == expected
    for frame in frames.values():
        assert page.x0 <= frame.x0 < frame.x1 <= page.x1 + 1
        assert page.y0 <= frame.y0 < frame.y1 <= page.y1 + 1
    for (_, first), (_, second) in combinations(frames.items(), 2):
        assert not first.overlaps(second)


def test_a_curve_is_what_is_certified_and_its_dot_is_at_the_learned_size() -> None:
    run = LEDGERS["a hundred"]
    [axes] = certified_over_sizes(run, Lines(0.33), "mean loss").axes
    curves = [line for line in axes.lines if len(line.get_xdata()) > 2]
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    assert run.certificate is not None
    for shape, curve, dot in zip(("box", "ball", "l1"), curves, dots, strict=True):
        radii, heights = curve.get_data()
        assert heights == pytest.approx(run.certified(radii, shape))
        size = run.certificate.size(shape)
        assert (dot.get_xdata()[0], dot.get_ydata()[0]) == (size, run.certified(size, shape))


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
    figure = certified_over_sizes(LEDGERS["one weight"], Lines(0.33, 0.9), "mean loss")
    assert not [name for name in shown(figure)[1] if "constant" in name]
    assert figure.axes[0].get_ylim()[1] < 0.4


def test_the_best_of_a_size_can_be_added() -> None:
    best = [BestOfSize("ball", 0.01, 0.6), BestOfSize("l1", 1000.0, 0.1)]
    [axes] = certified_over_sizes(LEDGERS["one weight"], Lines(0.33, None, best), "mean loss").axes
    diamonds = [line for line in axes.lines if line.get_marker() == "D"]
    assert [(d.get_xdata()[0], d.get_ydata()[0]) for d in diamonds] == [(0.01, 0.6), (1000.0, 0.1)]
    first, last = axes.get_xlim()
    assert first <= 0.01 < 1000 <= last
    assert axes.get_ylim()[1] > 0.6


def mark(rounds: int, lost: float, certified: float) -> CurvePoint:
    said = Statement("ball", 1.0, 0.0, lost, certified)
    return CurvePoint(rounds, float(rounds), lost * rounds, lost, lost, None, None, said)


@pytest.mark.parametrize("apart", [0.1, 0.001])
def test_the_loss_and_what_is_certified_of_it_over_the_late_rounds(apart: float) -> None:
    marks = [mark(2**k, 0.4, 0.4 - apart if k > 8 else 0.0) for k in range(13)]
    figure = certified_over_rounds(marks, "mean loss")
    page, frames = shown(figure)
    assert set(frames) == {"lost\n0.4", f"certified\n{0.4 - apart:.4g}", "open"}
    for frame in frames.values():
        assert page.x0 <= frame.x0 < frame.x1 <= page.x1 + 1
    for first, second in combinations(frames.values(), 2):
        assert not first.overlaps(second)
    assert list(figure.axes[0].lines[0].get_xdata()) == [2**k for k in range(4, 13)]


def test_two_marks_are_enough_and_no_room_needs_no_name() -> None:
    figure = certified_over_rounds([mark(64, 0.5, 0.45), mark(100, 0.4, 0.35)], "mean loss")
    assert "open" not in shown(figure)[1]
