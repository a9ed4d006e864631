"""The equations of a primal–dual step: both kinds of elimination, sparse and dense products."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import LinAlgError
from scipy.sparse import csr_array, random_array

from lessregret.regret.comparator import newton_system
from lessregret.regret.comparator.hinges import Hinges
from lessregret.regret.comparator.newton_system import NewtonSystem


def system(rows: csr_array) -> NewtonSystem:
    return NewtonSystem(Hinges(rows, np.ones(rows.shape[0]), np.ones(rows.shape[0])))


@pytest.mark.parametrize("gain", [0, 1e9], ids=["sparse", "dense"])
@pytest.mark.parametrize("shape", [(40, 7), (7, 40)], ids=["tall", "flat"])
def test_the_solution_solves_the_equations(
    shape: tuple[int, int], gain: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newton_system, "DENSE_GAIN", gain)
    monkeypatch.setattr(newton_system, "BLOCK", 30)
    rng = np.random.default_rng(2)
    rows = csr_array(random_array(shape, density=0.4, rng=rng))
    E, C = (10.0 ** rng.uniform(-3, 3, size) for size in shape[::-1])
    g, q = (rng.normal(size=size) for size in shape[::-1])
    move, shares = system(rows).factored(E, C)[1](g, q)
    assert E * move - rows.T @ shares == pytest.approx(g, abs=1e-8)
    assert rows @ move + C * shares == pytest.approx(q, abs=1e-8)


@pytest.mark.parametrize("copies", [3, 30], ids=["tall", "flat"])
def test_equal_columns_have_a_solution(copies: int) -> None:
    """Only E, next to nothing, tells them apart."""
    rng = np.random.default_rng(3)
    rows = csr_array(np.repeat(rng.normal(size=(20, 1)), copies, axis=1))
    g, q = np.zeros(copies), rng.normal(size=20)
    move, shares = system(rows).factored(np.full(copies, 1e-14), np.full(20, 1e-3))[1](g, q)
    assert rows @ move + 1e-3 * shares == pytest.approx(q, abs=1e-6)
    assert np.abs(rows.T @ shares).max() < 1e-6


def test_a_matrix_that_only_rounding_made_indefinite_has_a_factor() -> None:
    above = np.nextafter(1.0, 2.0)
    factor, lower = newton_system._ridged_factor(np.array([[1.0, above], [above, 1.0]]))
    assert lower
    assert np.isfinite(factor).all()


def test_an_indefinite_matrix_has_no_factor() -> None:
    with pytest.raises(LinAlgError):
        newton_system._ridged_factor(np.array([[1.0, 2.0], [2.0, 1.0]]))
