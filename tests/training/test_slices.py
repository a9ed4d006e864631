"""Are the right slices called the largest and the worst?"""

from __future__ import annotations

from lessregret.training.scores import MetricSums
from lessregret.training.slices import LEAST_COUNT, slicing_of


def sums(examples: int, loss: float) -> MetricSums:
    """Rounds with as many positives as negatives, whose best constant loses ln 2 each."""
    return MetricSums(examples, float(examples), loss=loss * examples)


def test_slices_are_sorted_by_size_and_by_what_the_features_help() -> None:
    found = [
        (b"small", sums(LEAST_COUNT - 1, 9.0)),
        (b"bad", sums(60, 0.9)),
        (b"good", sums(90, 0.1)),
    ]
    slicing = slicing_of("logistic", "kind", found, MetricSums())
    assert [slice_.value for slice_ in slicing.largest(2)] == ["good", "bad"]
    assert [slice_.value for slice_ in slicing.worst(5)] == ["bad", "good"]


def test_text_that_is_not_utf_8_is_told() -> None:
    slicing = slicing_of("hinge", "kind", [(b"\xff", sums(1, 1.0))], MetricSums())
    assert slicing.slices[0].value == "\N{REPLACEMENT CHARACTER}"
