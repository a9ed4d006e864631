"""Are the bins of equal weight, their shares exact, their intervals right?"""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binomtest

from lessregret.training.calibration import Calibration, share_interval


def filled(count: int, *, importance: float = 1.0, shift: float = 0.0) -> Calibration:
    """Labels drawn with the probabilities predicted; ``shift`` makes the margins lie."""
    rng = np.random.default_rng(5)
    margins = rng.normal(-2, 2, count)
    labels = np.where(rng.random(count) < expit(margins), 1.0, -1.0)
    found = Calibration()
    for part in np.array_split(np.arange(count), 7):
        found.add(margins[part] + shift, labels[part], np.full(len(part), importance))
    return found


def test_the_bins_hold_everything_once() -> None:
    found = filled(20_000)
    bins = found.bins()
    assert len(bins) == 20
    assert sum(b.examples for b in bins) == found.examples == 20_000
    assert all(600 < b.examples < 1500 for b in bins)
    assert [b.predicted for b in bins] == sorted(b.predicted for b in bins)
    whole = sum(b.predicted * b.examples for b in bins) / 20_000
    assert whole == pytest.approx(found.predicted, rel=1e-12)


def test_true_probabilities_lie_within_their_intervals() -> None:
    bins = filled(20_000).bins()
    assert sum(b.low <= b.predicted <= b.high for b in bins) >= 17
    lying = filled(20_000, shift=1.0).bins()
    assert sum(b.low <= b.predicted <= b.high for b in lying) <= 3


def test_importance_counts_as_copies_in_shares_and_not_in_certainty() -> None:
    once, thrice = filled(3000).bins(), filled(3000, importance=3.0).bins()
    for one, three in zip(once, thrice, strict=True):
        assert three == pytest.approx(one, rel=1e-9)


def test_importance_0_counts_for_nothing() -> None:
    found = Calibration()
    found.add(np.zeros(500), np.ones(500), np.zeros(500))
    assert (found.examples, found.bins()) == (0, [])


@pytest.mark.parametrize(("count", "bins"), [(0, 0), (99, 0), (100, 2), (400, 8)])
def test_few_examples_have_few_bins(count: int, bins: int) -> None:
    assert len(filled(count).bins()) == bins


def test_margins_beyond_the_cells_go_into_the_last() -> None:
    found = Calibration()
    found.add(np.repeat([-1e300, 1e300], 100), np.repeat([-1.0, 1.0], 100), np.ones(200))
    first, last = found.bins()
    assert (first.predicted, first.observed, last.predicted, last.observed) == (0, 0, 1, 1)
    assert found.entropy == pytest.approx(log(2))


@pytest.mark.parametrize(("ones", "count"), [(0, 10), (3, 50), (7, 7), (500, 1000)])
def test_the_interval_is_wilsons(ones: int, count: int) -> None:
    known = binomtest(ones, count).proportion_ci(method="wilson")
    assert share_interval(ones / count, count) == pytest.approx(tuple(known), abs=1e-6)
