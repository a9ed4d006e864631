"""Is the part of the features that share a slot the one that random hashes give?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lessregret import Learner, open_examples
from lessregret._core import hash_features
from lessregret.learners.fill import (
    MOST_SHARED,
    Fill,
    estimated_fill,
    features_met,
    fill_of,
    lie_at_random,
    share,
)


def learned(tmp_path: Path, features: list[str], bits: int, *, names: bool = False) -> Learner:
    """A learner that has met these features, ten an example."""
    file = tmp_path / "features.vw"
    rows = [features[start : start + 10] for start in range(0, len(features), 10)]
    file.write_text("".join(f"{1 - 2 * (k % 2)} | {' '.join(row)}\n" for k, row in enumerate(rows)))
    # The standard scale leaves out the features of the first example, until one lacks them.
    learner = Learner(bits=bits, scale="none")
    stream = open_examples([file], learner, names=names)
    learner.learn(stream)
    learner.keep_names(stream)
    return learner


def sharing(features: list[str], bits: int) -> float:
    """The part of the features that share a slot, counted."""
    _, counts = np.unique(hash_features(features, bits), return_counts=True)
    return float(counts[counts > 1].sum() / len(features))


WORDS = [f"w{k}" for k in range(2000)]


@pytest.mark.parametrize("bits", [11, 14, 17])
def test_the_estimate_is_near_what_is_counted(tmp_path: Path, bits: int) -> None:
    fill = fill_of(learned(tmp_path, WORDS, bits))
    assert fill is not None
    assert fill.features == pytest.approx(len(WORDS), rel=0.05)
    assert fill.shared == pytest.approx(sharing(WORDS, bits), abs=0.03)
    assert not fill.by_names


def test_names_tell_what_is_counted(tmp_path: Path) -> None:
    fill = fill_of(learned(tmp_path, WORDS, 15, names=True))
    assert fill is not None
    assert fill.by_names
    assert fill.shared == pytest.approx(sharing(WORDS, 15), abs=0.002)


def test_the_advised_bits_are_the_least_that_help(tmp_path: Path) -> None:
    fill = fill_of(learned(tmp_path, WORDS, 11))
    assert fill is not None
    assert fill.enough_bits == 16
    assert fill.features is not None
    assert share(2**16, fill.features) < MOST_SHARED <= share(2**15, fill.features)
    assert sharing(WORDS, 16) < 0.05


def test_numbers_as_names_do_not_collide_and_nothing_is_estimated(tmp_path: Path) -> None:
    fill = fill_of(learned(tmp_path, [str(k) for k in range(1500)], 11))
    assert fill == Fill(2048, 1500, None, None, by_names=False)
    assert fill.enough_bits is None


def test_columns_have_no_fill() -> None:
    assert fill_of(Learner(columns=3)) is None


def test_random_slots_are_seen_as_random() -> None:
    rng = np.random.default_rng(3)
    for part in (0.001, 0.05, 0.5, 0.95, 1.0):
        for _ in range(50):
            touched = np.sort(rng.choice(1 << 12, int(part * (1 << 12)), replace=False))
            adjacent = int((np.diff(touched) == 1).sum())
            assert lie_at_random(1 << 12, len(touched), adjacent)


def test_a_full_table_and_an_empty_one() -> None:
    assert features_met(1024, 0) == 0.0
    full = estimated_fill(1024, 1024, None)
    assert full.shared == pytest.approx(1.0, abs=0.001)
    assert full.enough_bits is not None
    assert estimated_fill(2, 1, None).enough_bits is None
