"""Is the readable code what the publications say? PA, CW, AROW and FTRL-Proximal."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from lessregret.learners.learner import Learner
from lessregret.learners.readable import ReadableLearner
from lessregret.learners.rules import (
    CW,
    PA,
    PA1,
    PA2,
    Arow,
    CWStdev,
    ExampleStats,
    Ftrl,
    PerCoordinate,
    Rule,
    Step,
)
from lessregret.learners.rules.confidence_weighted import Slot
from tests.support.rows import learn_rows, predict_rows
from tests.support.streams import as_csr, random_rounds

COLUMNS = 12
LABELS = st.sampled_from([-1.0, 1.0])
VALUES = st.floats(0.05, 20)
MARGINS = st.floats(-5, 5)


def test_pa_meets_the_margin_after_every_update() -> None:
    learner = ReadableLearner("hinge", PA(), scale="none")
    updates = 0
    for each in random_rounds(1, 500, COLUMNS):
        before = learner.play(*each)
        after = each.label * learner.margin(each.slots, each.values)
        if before.loss > 0 and each.importance > 0:
            assert after == pytest.approx(1, abs=1e-12)
            updates += 1
        else:
            assert after == each.label * before.margin
    assert updates > 100


def test_pa_meets_the_margin_with_an_intercept() -> None:
    """|x|² must count the intercept, else the update overshoots."""
    learner = Learner("hinge", PA(), columns=2, intercept=True, scale="none")
    learn_rows(learner, [0, 2], [0, 1], [3.0, 4.0], [1])
    assert predict_rows(learner, [0, 2], [0, 1], [3.0, 4.0]) == pytest.approx(1, rel=1e-6)


def test_pa_regression_ends_at_epsilon() -> None:
    learner = ReadableLearner("squared", PA(epsilon=0.25), scale="none")
    for each in random_rounds(2, 200, COLUMNS, regression=True):
        outcome = learner.play(*each)
        error = abs(each.label - learner.margin(each.slots, each.values))
        if each.importance > 0 and abs(each.label - outcome.margin) > 0.25:
            assert error == pytest.approx(0.25, abs=1e-9)


@pytest.mark.parametrize("rule", [PA1(aggressiveness=0.5), PA2(aggressiveness=0.5)], ids=repr)
def test_the_cautious_variants_are_pa_in_the_limit(rule: PA1 | PA2) -> None:
    stats = ExampleStats(1, False, 1.0, -0.3, 1.0, -1.0, square_norm=2.0)
    bold = replace(rule, aggressiveness=1e12)
    assert bold.size(1.3, stats) == pytest.approx(PA().size(1.3, stats))
    assert rule.size(1.3, stats) < PA().size(1.3, stats)


def test_pa_ii_minimises_its_objective() -> None:
    """½|Δw|² + C L², with Δw = τ y x: the closed form against a search."""
    for square_norm, missing, c in [(2.0, 1.3, 0.5), (0.1, 0.2, 3.0), (9.0, 4.0, 0.05)]:

        def objective(
            tau: float, n: float = square_norm, m: float = missing, c: float = c
        ) -> float:
            return tau**2 * n / 2 + c * max(0.0, m - tau * n) ** 2

        found = minimize_scalar(objective, bounds=(0, 100), method="bounded").x
        stats = ExampleStats(1, False, 1.0, 1 - missing, 1.0, -1.0, square_norm=square_norm)
        assert PA2(aggressiveness=c).size(missing, stats) == pytest.approx(found, abs=1e-4)


@pytest.mark.parametrize("rule", [CW(), CW(confidence=0.3, variance=2), CWStdev(),
                                  CWStdev(confidence=2.5, variance=0.1)], ids=repr)  # fmt: skip
@given(value=VALUES, mean=MARGINS, precision=st.floats(0, 50), label=LABELS)
def test_cw_meets_its_constraint_with_equality(
    rule: CW | CWStdev, value: float, mean: float, precision: float, label: float
) -> None:
    """With one active feature: y μx = φV (variance) or φ√V (stdev) after an update."""
    slot = Slot(mean, precision)
    stats = ExampleStats(1, False, label, mean * value, 1.0, 0.0, value**2)
    rule.look(slot, value, stats)
    _, step = rule.step(None, stats)
    after, _ = rule.absorb(slot, value, 0.0, step)
    margin, variance = label * after[0] * value, rule.variance_of(Slot(*after)) * value**2
    needed = rule.confidence * (variance if isinstance(rule, CW) else sqrt(variance))
    if step.rate == 0:
        assert margin >= needed - 1e-9
    else:
        assert margin == pytest.approx(needed, rel=1e-6, abs=1e-9)


@given(value=VALUES, mean=MARGINS, precision=st.floats(0, 50), label=LABELS)
def test_the_two_forms_of_arow_agree_for_one_feature(
    value: float, mean: float, precision: float, label: float
) -> None:
    slot = Slot(mean, precision)
    after = []
    for rule in (Arow(form="covariance"), Arow(form="precision")):
        stats = ExampleStats(1, False, label, mean * value, 1.0, 0.0, value**2)
        rule.look(slot, value, stats)
        _, step = rule.step(None, stats)
        after.append(rule.absorb(slot, value, 0.0, step)[0])
    assert after[0] == pytest.approx(after[1], rel=1e-9)


@given(values=st.lists(VALUES, min_size=1, max_size=4), margin=st.floats(-3, 0.99))
def test_arow_in_covariance_form_is_the_published_update(
    values: list[float], margin: float
) -> None:
    """σ² ← σ² − βσ⁴x², though the slot keeps the precision."""
    rule = Arow()
    slots = [Slot(0.0, k / 3) for k in range(len(values))]
    stats = ExampleStats(1, False, 1.0, margin, 1.0, 0.0, 0.0)
    for slot, value in zip(slots, values, strict=True):
        rule.look(slot, value, stats)
    _, step = rule.step(None, stats)
    beta = 1 / (stats.variance + 1)
    for slot, value in zip(slots, values, strict=True):
        before = rule.variance_of(slot)
        after, _ = rule.absorb(slot, value, 0.0, step)
        published = before - beta * before**2 * value**2
        assert rule.variance_of(Slot(*after)) == pytest.approx(published, rel=1e-9)
        assert after[0] == pytest.approx((1 - margin) * beta * before * value)


@pytest.mark.parametrize("form", ["covariance", "precision"])
def test_arow_variance_stays_positive_over_a_million_updates_in_float32(form: str) -> None:
    """Labels that contradict each other make every round an update."""
    rounds = 1_000_000
    learner = Learner("hinge", Arow(form=form), columns=2, intercept=False, scale="none")
    indptr = np.arange(rounds + 1)
    rng = np.random.default_rng(4)
    values = np.where(rng.random(rounds) < 0.01, 1e3, 1.0)
    labels = np.where(np.arange(rounds) % 2, 1.0, -1.0)
    learn_rows(learner, indptr, np.zeros(rounds, dtype=int), values, labels)
    precision = float(_field(learner, "precision")[0])
    assert np.isfinite(precision)
    assert 0 < 1 / (1 + precision) < 1
    assert abs(learner.weight(0)) < 10


def test_ftrl_without_regularisers_is_per_coordinate_descent() -> None:
    """λ = β = 0, a box too wide to bind: the notes' identity, to rounding."""
    ftrl = ReadableLearner("logistic", Ftrl(rate=0.3, offset=0, radius=1e6), scale="none")
    descent = ReadableLearner("logistic", PerCoordinate(rate=0.3, radius=1e6), scale="none")
    for each in random_rounds(3, 500, COLUMNS):
        assert ftrl.play(*each).margin == pytest.approx(descent.play(*each).margin, abs=1e-11)


@pytest.mark.parametrize(
    "rule",
    [
        Ftrl(rate=0.1, l1=0.7, l2=0.2),
        Ftrl(rate=1, offset=0.1, box=(-0.5, 0.25)),
        Ftrl(rate=0.1, l1=0.1, box=(0.2, 1)),
    ],
    ids=repr,
)
def test_ftrl_plays_the_minimum_of_its_objective(rule: Ftrl) -> None:
    """G·w + ½Σσ(w − w_s)² + ½(offset/rate)w² + λ₁|w| + ½λ₂w² over the box, by search."""
    rng = np.random.default_rng(5)
    slot, played, sigmas, total = rule.empty, [], [], 0.0
    for _ in range(30):
        weight, gradient = rule.weight(slot, 1.0), float(rng.normal())
        before = slot.n
        slot, _ = rule.absorb(slot, 1.0, gradient, Step())
        played.append(weight)
        sigmas.append((sqrt(slot.n) - sqrt(before)) / rule.rate)
        total += gradient
        objective = _proximal(rule, total, played, sigmas)
        found = minimize_scalar(objective, bounds=(rule.low, rule.high), method="bounded",
                                options={"xatol": 1e-9}).x  # fmt: skip
        assert objective(rule.weight(slot, 1.0)) <= objective(found) + 1e-9


def _proximal(rule: Ftrl, total: float, played: list[float], sigmas: list[float]):
    def objective(w: float) -> float:
        near = sum(s * (w - p) ** 2 for s, p in zip(sigmas, played, strict=True)) / 2
        start = (rule.offset / rule.rate + rule.l2) * w**2 / 2 + rule.l1 * abs(w)
        return total * w + near + start

    return objective


def test_l1_makes_weights_exactly_zero_and_the_file_does_not_store_them(tmp_path) -> None:
    from safetensors.numpy import load_file

    rounds = list(random_rounds(8, 300, 40))
    learner = Learner("logistic", Ftrl(rate=0.1, l1=4), columns=40, intercept=False, scale="none")
    learn_rows(learner, *as_csr(rounds))
    slots, weights = learner.weights()
    zeros = int((weights == 0).sum())
    assert 0 < zeros < len(weights)
    learner.save(tmp_path / "whole.safetensors")
    learner.save(tmp_path / "slim.safetensors", slim=True)
    whole = load_file(tmp_path / "whole.safetensors")
    slim = load_file(tmp_path / "slim.safetensors")
    kept = slots[weights != 0]
    for stored, names in ((whole, ("weight_slot", "weight")), (slim, ("slot", "weight"))):
        assert stored[names[0]].tolist() == kept.tolist()
        assert stored[names[1]].tolist() == weights[weights != 0].tolist()
    assert sorted(slim) == ["slot", "weight"]
    assert len(whole["z"]) == len(slots)


@given(pairs=st.lists(st.tuples(VALUES, LABELS), min_size=2, max_size=40))
def test_confidence_never_falls(pairs: list[tuple[float, float]]) -> None:
    rules: list[Rule] = [CW(), CWStdev(), Arow(), Arow(form="precision")]
    for rule in rules:
        learner = ReadableLearner("hinge", rule, scale="none")
        seen = []
        for value, label in pairs:
            learner.play([0], [value], label)
            seen.append(learner.slot(0).precision)
        assert all(later >= earlier for earlier, later in pairwise(seen))


def _field(learner: Learner, name: str) -> np.ndarray:
    from safetensors.numpy import load

    return load(learner.to_bytes())[name]
