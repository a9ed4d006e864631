"""Beyond boxes and diagonals, as laws: FTPRL-Diag on four sets, AdaGrad with a full matrix."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings

from lessregret.game.algorithms import (
    Composite,
    DiagonalFTPRL,
    FullMatrixAdaGrad,
    RuleLearner,
    Seen,
    full_matrix,
)
from lessregret.game.domains import Box, Domain, L1Ball, L2Ball, Point, Simplex
from lessregret.game.play import play
from lessregret.learners.rules import PerCoordinate
from tests.support.adversaries import (
    GENERATED,
    SLACK,
    Gradients,
    breaking_ratio,
    fraction,
    gradient_sequences,
    linear_game,
    worst_ratio,
)

SETS: dict[str, Domain] = {
    "box": Box(np.array([-1.0, 3.0, -3.0]), np.array([1.0, 3.5, 5.0])),
    "l2": L2Ball(np.array([0.5, -1.0, 0.0]), 2.0),
    "l1": L1Ball(3, 2.0),
    "simplex": Simplex(3),
}
ROUNDS = 40


class EuclideanFTPRL(DiagonalFTPRL):
    """Projects without the weights."""

    def _least(self) -> Point:
        seen = self.regulariser > 0
        least = np.divide(-self.z, self.regulariser, out=self.domain.start, where=seen)
        return self.domain.project(least)


class OriginFTPRL(DiagonalFTPRL):
    """Regularises at the origin, not at the points played."""

    def feed(self, seen: Seen) -> Point:
        self.point[seen.coordinates] = 0
        return super().feed(seen)


FTPRL_BROKEN: list[tuple[str, Callable[[], DiagonalFTPRL]]] = [
    ("box", OriginFTPRL),
    *[(name, EuclideanFTPRL) for name in ("l2", "l1", "simplex")],
    *[(name, partial(DiagonalFTPRL, strength)) for name in SETS for strength in (0.5, 8.0)],
]


def ftprl_ratio(make: Callable[[], DiagonalFTPRL], domain: Domain, gradients: Gradients) -> float:
    """Regret over √2 Σ D_i √S_i, D_i the widths of the box around the set."""
    transcript = play(make(), linear_game(domain, gradients))
    return fraction(transcript.regret(), transcript.theorem3())


def own_bound_ratio(domain: Domain, gradients: Gradients) -> float:
    """Regret over the bound for the rates used: Σ D_i²/(2η_i) + ½ Σ g²η, off the box too."""
    transcript = play(DiagonalFTPRL(), linear_game(domain, gradients))
    return fraction(transcript.regret(), transcript.bound() or 0.0)


@pytest.mark.parametrize("ratio", [partial(ftprl_ratio, DiagonalFTPRL), own_bound_ratio])
@pytest.mark.parametrize("name", SETS)
def test_ftprl_holds_on_every_set(name: str, ratio: Callable[[Domain, Gradients], float]) -> None:
    domain = SETS[name]
    assert worst_ratio(partial(ratio, domain), ROUNDS, 3, steps=60) <= SLACK


@pytest.mark.parametrize("name", SETS)
@given(gradients=gradient_sequences(3))
@settings(GENERATED, max_examples=30)
def test_ftprl_holds_for_generated_gradients(name: str, gradients: Gradients) -> None:
    assert ftprl_ratio(DiagonalFTPRL, SETS[name], gradients) <= SLACK


@pytest.mark.parametrize(("name", "make"), FTPRL_BROKEN)
def test_ftprl_nearly_right_is_caught(name: str, make: Callable[[], DiagonalFTPRL]) -> None:
    assert breaking_ratio(partial(ftprl_ratio, make, SETS[name]), 60, 3, steps=500) > 1


CUBE = Box.cube(3, -1.0, 1.0)


def trace_root(gradients: Gradients) -> float:
    """tr (Σ g g')^½"""
    return float(np.linalg.svd(gradients, compute_uv=False).sum())


def full_ratio(make: Callable[[], FullMatrixAdaGrad], gradients: Gradients) -> float:
    """Regret over √2 D tr(G^½)."""
    transcript = play(make(), linear_game(CUBE, gradients))
    return fraction(transcript.regret(), sqrt(2) * CUBE.diameter * trace_root(gradients))


def descent_ratio(make: Callable[[], FullMatrixAdaGrad], gradients: Gradients) -> float:
    """Regret over what mirror descent in the norms H_t may cost, whence the published bound.

    (1/2η) Σ |x_t − x*|² in the norm H_t − H_{t−1}, plus (η/2) Σ g'H⁺g.
    """
    algorithm = make()
    transcript = play(algorithm, linear_game(CUBE, gradients), keep_points=True)
    best, before = transcript.comparator.point, np.zeros((3, 3))
    allowed = 0.0
    for t, point in enumerate(transcript.points or [], start=1):
        norm, inverse = root_and_inverse(gradients[:t])
        allowed += (point - best) @ (norm - before) @ (point - best) / (2 * algorithm.step)
        allowed += algorithm.step / 2 * (gradients[t - 1] @ inverse @ gradients[t - 1])
        before = norm
    return fraction(transcript.regret(), allowed)


def root_and_inverse(gradients: Gradients) -> tuple[Gradients, Gradients]:
    """G^½ and its pseudo-inverse, from the singular values of the gradients."""
    _, roots, vectors = np.linalg.svd(gradients, full_matrices=False)
    kept = roots > 1e-9 * roots.max(initial=0.0)
    inverses = np.divide(1.0, roots, out=np.zeros(len(roots)), where=kept)
    return (vectors.T * roots) @ vectors, (vectors.T * inverses) @ vectors


class ClippedAdaGrad(FullMatrixAdaGrad):
    """Clips, where it should project in the norm of its matrix."""

    def feed(self, seen: Seen) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                full_matrix, "project_in_norm", lambda target, matrix, box: box.project(target)
            )
            super().feed(seen)


class StaleAdaGrad(FullMatrixAdaGrad):
    """Forgets half of the past gradients every round."""

    def feed(self, seen: Seen) -> None:
        self.outer /= 2
        super().feed(seen)


@pytest.mark.parametrize("ratio", [full_ratio, descent_ratio])
def test_full_matrix_adagrad_keeps_its_bound(ratio: Callable[..., float]) -> None:
    assert worst_ratio(partial(ratio, FullMatrixAdaGrad), 30, 3, steps=20) <= SLACK


@given(gradients=gradient_sequences(3))
@settings(GENERATED, max_examples=20)
def test_full_matrix_adagrad_keeps_its_bound_when_generated(gradients: Gradients) -> None:
    assert full_ratio(FullMatrixAdaGrad, gradients[:20]) <= SLACK


def test_full_matrix_adagrad_keeps_its_bound_at_any_scale() -> None:
    gradients = 1e-20 * np.tile([1.0, -1.0, 0.5], (50, 1))
    assert full_ratio(FullMatrixAdaGrad, gradients) <= SLACK


@pytest.mark.parametrize(
    ("ratio", "make"),
    [
        (full_ratio, StaleAdaGrad),
        (full_ratio, partial(FullMatrixAdaGrad, 2 * CUBE.diameter)),
        (full_ratio, partial(FullMatrixAdaGrad, CUBE.diameter / 8)),
        (descent_ratio, ClippedAdaGrad),
    ],
    ids=["forgetful", "rate too large", "rate too small", "clipped"],
)
def test_full_matrix_adagrad_nearly_right_is_caught(
    ratio: Callable[..., float], make: Callable[[], FullMatrixAdaGrad]
) -> None:
    assert breaking_ratio(partial(ratio, make), 30, 3, steps=300) > 1


def test_full_matrix_adagrad_is_diagonal_for_gradients_along_the_axes() -> None:
    rng = np.random.default_rng(0)
    gradients = np.zeros((200, 3))
    gradients[np.arange(200), rng.integers(3, size=200)] = rng.normal(size=200)
    full = play(FullMatrixAdaGrad(rate=0.7), linear_game(CUBE, gradients), keep_points=True)
    rule = partial(RuleLearner, PerCoordinate(rate=0.7))
    diagonal = play(Composite(rule), linear_game(CUBE, gradients), keep_points=True)
    assert np.array(full.points) == pytest.approx(np.array(diagonal.points), abs=1e-12)


def test_full_matrix_adagrad_is_not_diagonal_otherwise() -> None:
    gradients = np.random.default_rng(0).normal(size=(20, 3))
    full = play(FullMatrixAdaGrad(rate=0.7), linear_game(CUBE, gradients), keep_points=True)
    rule = partial(RuleLearner, PerCoordinate(rate=0.7))
    diagonal = play(Composite(rule), linear_game(CUBE, gradients), keep_points=True)
    assert np.abs(np.array(full.points) - np.array(diagonal.points)).max() > 0.1
