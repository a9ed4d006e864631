"""Counts and quantiles of `benchmarks.counts`: does Poisson loss pay, do quantiles cover?"""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import counts
from benchmarks.counts import Stream, coverage, deviance, progressive
from lessregret.data.datasets import DataHome


def needs_bicycles() -> None:
    if not (DataHome.default().folder / "tables" / "bike-hours.csv.xz").is_file():
        pytest.skip("needs data: tables/bike-hours.csv.xz is not in the data home")


def beside_squared(stream: Stream) -> tuple[float, float]:
    """The deviances of Poisson loss and of squared loss."""
    labels = stream.labels
    # A prediction of 0 has an infinite deviance, so those of squared loss are raised.
    squared = np.maximum(progressive(stream, "squared"), max(labels.min(), 1e-3))
    return deviance(labels, progressive(stream, "poisson")), deviance(labels, squared)


@pytest.mark.parametrize("seed", [7, 8])
def test_made_up_counts_lose_less_with_poisson_loss(seed: int) -> None:
    for stream in counts.made_up_counts(seed):
        ours, squared = beside_squared(stream)
        assert ours < squared, stream.name


def test_bicycles_lose_less_with_poisson_loss() -> None:
    needs_bicycles()
    for stream in counts.real_counts():
        ours, squared = beside_squared(stream)
        assert ours < squared, stream.name


def test_a_quantile_is_above_its_part_of_the_labels() -> None:
    for stream in counts.made_up_numbers(seed=7):
        assert 0.88 <= coverage(stream) <= 0.92, stream.name


def test_a_quantile_of_bicycles_is_above_its_part_of_the_labels() -> None:
    needs_bicycles()
    for stream in counts.real_counts():
        assert 0.88 <= coverage(stream) <= 0.92, stream.name


def test_river_is_run_at_its_settings() -> None:
    pytest.importorskip("river", reason="River is not installed")
    stream = next(counts.made_up_counts(1))
    theirs, setting = counts.river(stream._replace(frame=stream.frame[:500]))
    assert 0 < theirs < np.inf
    assert setting.startswith(("SGD", "Adam"))
