"""The losses of rounds: gradients, curvatures, kinks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lessregret.game.domains import Point
from lessregret.game.losses import Absolute, Linear, Quadratic, RoundLoss, linear, logistic_loss

STEP = 1e-6
SMOOTH: dict[str, RoundLoss] = {
    "quadratic": Quadratic(
        [0, 2, 5], curvature=[1.0, 0.0, 3.0], centre=[1.0, 0.0, -2.0], slope=[0.5, -1.0, 0.0],
        constant=7.0,
    ),
    "alike in all coordinates": Quadratic([1, 2, 3], curvature=2.0, centre=0.5, slope=-1),
    "linear": linear([0, 1, 4], [3.0, -1.0, 0.0]),
    "logistic, +1": logistic_loss([0, 1, 2], [1.0, -2.0, 0.1], 1.0),
    "logistic, -1": logistic_loss([0, 1, 2], [1.0, -2.0, 0.1], -1.0),
}  # fmt: skip
EVERY = {**SMOOTH, "absolute": Absolute(3, centre=0.25, scale=2.0)}
points = arrays(np.float64, 3, elements=st.floats(-5, 5))


@pytest.mark.parametrize("name", SMOOTH)
@given(at=points)
def test_gradients_are_finite_differences(name: str, at: Point) -> None:
    loss = SMOOTH[name]
    for i, axis in enumerate(STEP * np.eye(3)):
        difference = (loss.value(at + axis) - loss.value(at - axis)) / (2 * STEP)
        assert difference == pytest.approx(loss.gradient(at)[i], rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("name", EVERY)
@given(at=points, other=points)
def test_the_minorant_is_below(name: str, at: Point, other: Point) -> None:
    """f(y) ≥ f(x) + g·(y − x) + Σ H_i/2 (y_i − x_i)²."""
    loss = EVERY[name]
    at, other = at[: len(loss.coordinates)], other[: len(loss.coordinates)]
    move = other - at
    minorant = loss.value(at) + loss.gradient(at) @ move + loss.curvature @ move**2 / 2
    assert loss.value(other) >= minorant - 1e-9 * (1 + abs(minorant))


def test_the_curvature_of_a_quadratic_is_all_of_it() -> None:
    loss = SMOOTH["quadratic"]
    at, other = np.zeros(3), np.array([1.0, 2.0, -1.0])
    minorant = loss.value(at) + loss.gradient(at) @ other + loss.curvature @ other**2 / 2
    assert loss.value(other) == pytest.approx(minorant)


def test_absolute_at_its_kink() -> None:
    """Slope −G at the centre itself: +1 only where x is above, as in the bad family."""
    loss = Absolute(0, centre=0.25, scale=2.0)
    assert loss.value(np.array([0.25])) == 0
    assert loss.gradient(np.array([0.25])).tolist() == [-2]
    assert loss.gradient(np.array([np.nextafter(0.25, 1)])).tolist() == [2]
    assert loss.gradient(np.array([np.nextafter(0.25, 0)])).tolist() == [-2]
    assert loss.value(np.array([1.25])) == 2


def test_a_linear_loss_is_a_quadratic_without_curvature() -> None:
    at = np.array([0.3, -0.7])
    short, long = linear([1, 4], [2.0, -1.0]), Quadratic([1, 4], slope=[2.0, -1.0])
    assert isinstance(short, Linear)
    assert short.value(at) == long.value(at)
    assert short.gradient(at).tolist() == long.gradient(at).tolist()
    assert not short.curvature.any()


def test_one_number_stands_for_all_coordinates() -> None:
    loss = linear([0, 1, 2], -1)
    assert loss.slope.tolist() == [-1, -1, -1]
    with pytest.raises(ValueError, match="read-only"):
        loss.slope[0] = 5


def test_parts_must_fit_the_coordinates() -> None:
    with pytest.raises(ValueError, match="broadcast"):
        Quadratic([0, 1], curvature=[1.0, 2.0, 3.0])


def test_a_loss_may_look_at_nothing() -> None:
    loss = linear([], [])
    assert loss.value(np.zeros(0)) == 0
    assert loss.gradient(np.zeros(0)).shape == (0,)


@pytest.mark.parametrize("margin", [800.0, -800.0])
def test_logistic_far_out(margin: float) -> None:
    loss = logistic_loss([0], [1.0], 1.0)
    assert loss.value(np.array([margin])) == max(0.0, -margin)
    assert loss.gradient(np.array([margin])).tolist() == [-1.0 if margin < 0 else 0.0]
