"""Is the readable code the mathematics? Slopes are finite differences; kinks are pinned."""

from __future__ import annotations

from math import exp, inf, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessregret.learners.losses import LOSSES, Hinge, Logistic, Loss, Squared

MARGINS = st.floats(-30, 30)
STEP = 1e-6


def label_of(loss: Loss, sign: float) -> float:
    """A label of the loss: ±1, or a count for counts."""
    return 3.5 + 3.5 * sign if loss.labels == "count" else sign


@pytest.mark.parametrize("name", LOSSES)
@given(margin=MARGINS, label=st.sampled_from([-1.0, 1.0]))
def test_slope_is_the_finite_difference(name: str, margin: float, label: float) -> None:
    loss = LOSSES[name]
    label = label_of(loss, label)
    # Hinge has its kink where the margin is the label, too: at a margin of 1 for the label 1.
    if loss.has_kink and abs(margin - label) < 2 * STEP:
        return
    # Where the second derivative jumps, as that of squared hinge does at ±1, the difference is off
    # by half a step times the jump.
    corner = STEP if abs(abs(margin) - 1) < 2 * STEP else 0.0
    difference = loss.value(margin + STEP, label) - loss.value(margin - STEP, label)
    slope = loss.slope(margin, label)
    # Values of large losses have fewer digits after the point.
    rounding = 1e-15 * loss.value(margin, label) / STEP
    assert difference / (2 * STEP) == pytest.approx(slope, rel=1e-6, abs=1e-7 + corner + rounding)


@pytest.mark.parametrize("name", LOSSES)
@given(margin=MARGINS, other=MARGINS, label=st.sampled_from([-1.0, 1.0]))
def test_every_slope_is_a_subgradient(name: str, margin: float, other: float, label: float) -> None:
    loss = LOSSES[name]
    label = label_of(loss, label)
    line = loss.value(margin, label) + loss.slope(margin, label) * (other - margin)
    assert loss.value(other, label) >= line - 1e-9 * (1 + abs(line))


@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_hinge_at_its_kink(label: float) -> None:
    just_inside = (1 - 2**-53) * label
    assert Hinge().slope(label, label) == 0
    assert Hinge().value(label, label) == 0
    assert Hinge().slope(just_inside, label) == -label
    assert Hinge().slope(2 * label, label) == 0


def test_logistic_far_out() -> None:
    assert Logistic().value(1000, -1) == 1000
    assert Logistic().value(1000, 1) == exp(-1000) == 0
    assert Logistic().slope(-1000, 1) == -1
    assert Logistic().slope(1000, 1) == 0
    assert Logistic().value(0, 1) == log(2)


def test_a_margin_of_zero_is_a_mistake() -> None:
    assert Hinge().is_mistake(0, 1)
    assert Logistic().is_mistake(0, -1)
    assert not Hinge().is_mistake(1e-300, 1)
    assert not Squared().is_mistake(-1, 1)
    assert Squared().value(inf, 0) == inf
