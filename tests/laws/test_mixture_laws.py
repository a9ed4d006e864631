"""What mixing costs: L_mix ≤ min L_k + cost, at every round of every sequence."""

from __future__ import annotations

from collections.abc import Callable
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lessregret.learners.losses import LOSSES, Loss
from lessregret.learners.mixture import EXPERTS, Mixture
from tests.support.pairs import ONE_OF_EACH
from tests.support.slow import slow

K = EXPERTS
ROUNDS = 600
LNK = log(EXPERTS)
Sequence = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
"""Margins by round and lane, labels, importances."""


def drawn(seed: int) -> Sequence:
    rng = np.random.default_rng(seed)
    margins = rng.normal(size=(ROUNDS, K)) * 2.0 ** np.arange(-3, K - 3)
    return margins, np.sign(rng.normal(size=ROUNDS)), rng.random(ROUNDS)


def alternating() -> Sequence:
    margins, _, _ = drawn(1)
    return np.abs(margins), np.resize([1.0, -1.0], ROUNDS), np.ones(ROUNDS)


def flipped() -> Sequence:
    """Each lane as sure as it can be of what is true in the first half only."""
    labels = np.where(np.arange(ROUNDS) < ROUNDS / 2, 1.0, -1.0)
    return np.outer(np.ones(ROUNDS), np.arange(K) - 2.0), labels, np.ones(ROUNDS)


def one_diverges() -> Sequence:
    """The best lane so far ends up at the far end of its box, wrong."""
    margins, labels, _ = drawn(2)
    margins[:, 3] = labels * 5
    margins[100:, 3] = -1e5 * labels[100:]
    return margins, labels, np.ones(ROUNDS)


def growing() -> Sequence:
    """Numbers for labels, each further out than all before, and importances that rise."""
    margins, _, _ = drawn(3)
    return (
        margins,
        np.linspace(0.1, 30, ROUNDS) * np.resize([1, -1], ROUNDS),
        np.linspace(0, 9, 600),
    )


SEQUENCES = [lambda: drawn(0), alternating, flipped, one_diverges]
IDS = ["random", "alternating", "flipped", "one diverges"]


def play(
    loss: Loss, sequence: Sequence, fixed_share: float = 0.0
) -> tuple[Mixture, float, NDArray[np.float64]]:
    """The law at every round; the mixture, its loss and those of the clipped experts."""
    mixture, own = Mixture(loss, fixed_share=fixed_share), 0.0
    experts, clipped = np.zeros(K), np.zeros(K)
    for margins, label, h in zip(*(part.tolist() for part in sequence), strict=True):
        own += h * loss.value(mixture.margin(margins), label)
        experts += [h * loss.value(margin, label) for margin in margins]
        clipped += [h * loss.value(mixture._clip(margin), label) for margin in margins]
        mixture.absorb(margins, label, h)
        rounding = 1e-9 * (1 + max(experts))
        assert own <= min(clipped) + mixture.cost - mixture.clipping + rounding
        assert own <= min(experts) + mixture.cost + rounding
    if fixed_share == 0:
        np.testing.assert_allclose(mixture.losses, clipped)
    return mixture, own, clipped


@pytest.mark.parametrize("make", SEQUENCES, ids=IDS)
def test_log_loss_costs_at_most_ln_9(make: Callable[[], Sequence]) -> None:
    mixture, own, lanes = play(LOSSES["logistic"], make())
    assert mixture.cost <= LNK + 1e-9
    assert own <= min(lanes) + LNK + 1e-9
    assert sum(mixture.shares()) == pytest.approx(1)


@pytest.mark.parametrize("make", [*SEQUENCES, growing], ids=[*IDS, "growing"])
@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_other_losses_cost_what_is_told(loss: str, make: Callable[[], Sequence]) -> None:
    mixture, _, _ = play(LOSSES[loss], make())
    if loss == "hinge":
        assert mixture.cost == pytest.approx(2 * mixture.surplus)


def test_clipping_costs_nothing_while_labels_stay_in_their_range() -> None:
    margins, labels, h = drawn(9)
    labels[:2] = -1, 1
    margins[:2] = -1
    mixture, _, _ = play(LOSSES["squared"], (margins, labels, h))
    assert mixture.clipping == 0


def test_log_loss_with_importances_above_1() -> None:
    """Counted h times it is 1/h-mixable: ln K is multiplied, and the rise itself is paid for."""
    margins, _, _ = drawn(4)
    labels = np.sign(drawn(5)[0][:, 0])
    mixture, _, _ = play(LOSSES["logistic"], (margins, labels, np.full(ROUNDS, 3.0)))
    assert mixture.rate == 1 / 3
    assert mixture.cost <= 3 * LNK + 3 * np.abs(margins[0]).max()


def test_squared_loss_in_a_known_range() -> None:
    """Once both ends were met, all the rest costs at most ln K/η = 2 (B − A)² ln K."""
    margins, labels, h = drawn(6)
    labels[:2] = -1, 1
    h[:2] = 1e-9
    mixture, _, _ = play(LOSSES["squared"], (margins, labels, h))
    assert mixture.labels == (-1, 1)
    assert mixture.cost <= 8 * LNK + 1e-6


def test_hinge_loss_costs_a_root() -> None:
    """Theorem of the source: at most √(Σ s² ln K) + S (4/3 ln K + 2), s the range of a round."""
    sequence = drawn(7)
    mixture, _, _ = play(LOSSES["hinge"], sequence)
    margins, labels, h = sequence
    losses = h[:, None] * np.maximum(0, 1 - labels[:, None] * margins)
    ranges = losses.max(axis=1) - losses.min(axis=1)
    limit = np.sqrt((ranges**2).sum() * LNK) + ranges.max() * (4 / 3 * LNK + 2)
    assert mixture.cost <= limit


rounds = st.lists(
    st.tuples(
        st.lists(st.floats(-1e3, 1e3), min_size=K, max_size=K),
        st.sampled_from([-1.0, 1.0]),
        st.sampled_from([0.0, 0.5, 1.0, 20.0]),
    ),
    min_size=1,
    max_size=25,
)


@given(
    rounds=rounds,
    loss=st.sampled_from(ONE_OF_EACH),
    fixed_share=st.sampled_from([0.0, 0.0, 5e-324, 1e-3, 0.5, 0.999]),
)
@settings(max_examples=300, deadline=None)
def test_no_sequence_costs_more(
    rounds: list[tuple[list[float], float, float]], loss: str, fixed_share: float
) -> None:
    margins, labels, importances = (np.array(part) for part in zip(*rounds, strict=True))
    play(LOSSES[loss], (margins, labels, importances), fixed_share)


def taking_turns() -> Sequence:
    """Each lane in its turn is right and sure, and all others are wrong."""
    margins, labels, _ = drawn(8)
    margins = -np.abs(margins) * labels[:, None]
    turn = np.arange(ROUNDS) * K // ROUNDS
    margins[np.arange(ROUNDS), turn] = 6 * labels
    return margins, labels, np.ones(ROUNDS)


SHARED = [*SEQUENCES, growing, taking_turns]
SHARED_IDS = [*IDS, "growing", "taking turns"]


@pytest.mark.parametrize("make", SHARED, ids=SHARED_IDS)
@pytest.mark.parametrize("loss", ONE_OF_EACH)
@pytest.mark.parametrize("fixed_share", [slow(1e-6), 0.01, 0.5])
def test_a_fixed_share_costs_what_is_told(
    loss: str, make: Callable[[], Sequence], fixed_share: float
) -> None:
    """Every round at most ln 1/(1 − a + a/K)/η more, and shares are never below a/K."""
    sequence = make()
    if loss == "logistic":
        sequence = sequence[0], np.sign(sequence[1]), sequence[2]
    mixture, _, _ = play(LOSSES[loss], sequence, fixed_share)
    assert sum(mixture.shares()) == pytest.approx(1)
    most = -ROUNDS * log(1 - fixed_share * (1 - 1 / K)) / mixture.rate
    assert 0 <= mixture.sharing <= most * (1 + 1e-9)
    # A rate that has fallen since brings the shares nearer to one another, never the reverse.
    assert min(mixture.shares()) >= fixed_share / K * (1 - 1e-9)


@pytest.mark.parametrize("name", ONE_OF_EACH)
@pytest.mark.parametrize("fixed_share", [0.01, 0.1])
def test_lanes_that_take_turns_are_followed(name: str, fixed_share: float) -> None:
    """Within the told cost and ln(K/a)/η for each change of lane, of what those in turn lose.

    That is less than any one of them loses, which the mixture without a fixed share does not reach.
    """
    loss, mixture, own, turns = LOSSES[name], Mixture(LOSSES[name]), 0.0, 0.0
    mixture.fixed_share = fixed_share
    margins, labels, importances = taking_turns()
    for row, label in zip(margins.tolist(), labels.tolist(), strict=True):
        own += loss.value(mixture.margin(row), label)
        turns += min(loss.value(mixture._clip(margin), label) for margin in row)
        mixture.absorb(row, label, 1.0)
        changes = (K - 1) * log(K / fixed_share) / mixture.rate
        assert own <= turns + mixture.cost + changes + 1e-9 * (1 + own)
    _, plain, lanes = play(loss, (margins, labels, importances))
    assert own < min(lanes) < plain
