"""The parts of a prediction add up to it, for every rule, loss and scale; the readable learner has
the same parts.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lessregret import Learner, ReadableLearner, Rows
from lessregret.learners.explanation import CLIPPING, INTERCEPT, MEAN_LABEL, Explanation
from lessregret.learners.losses import LOSSES
from lessregret.learners.rules import RULES, PerCoordinate, Rule
from lessregret.learners.scale import SCALES
from tests.support.pairs import ONE_OF_EACH
from tests.support.rows import READABLE, learn_rows, predict_rows
from tests.support.streams import Round, as_csr, random_rounds

COLUMNS = 40
ROUNDING = 1e-13
"""of the sum of the absolute parts; there are at most nine of them, and eight lanes in each"""


def rounds_of(loss: str, count: int = 60, mean: float = 50.0, spread: float = 5.0) -> list[Round]:
    """Rounds with a column that is in every example, by default with a mean far from 0."""
    regression = not LOSSES[loss].is_classification
    rounds = list(random_rounds(7, count, COLUMNS - 1, regression=regression))
    wide = np.random.default_rng(8).normal(mean, spread, count).astype(np.float32).tolist()
    return [
        r._replace(slots=[*r.slots, COLUMNS - 1], values=[*r.values, x])
        for r, x in zip(rounds, wide, strict=True)
    ]


def assert_adds_up(explained: Explanation, margin: float) -> None:
    parts = [part.part for part in explained.parts]
    size = sum(map(abs, parts)) + abs(margin)
    assert explained.margin == margin
    assert abs(sum(parts) - margin) <= ROUNDING * size
    assert parts == sorted(parts, key=lambda part: -abs(part))
    for part in explained.parts:
        if part.weight is not None and part.scaled is not None:
            assert part.weight * part.scaled == pytest.approx(part.part, rel=1e-12)


CASES = [
    (rule(), loss, scale)
    for rule in RULES.values()
    for loss in ONE_OF_EACH
    for scale in SCALES
    if rule.regresses or LOSSES[loss].is_classification
]
CASES += [(PerCoordinate(rate=0.3), loss, "standard") for loss in ONE_OF_EACH]


@pytest.mark.parametrize(("rule", "loss", "scale"), CASES, ids=str)
def test_parts_add_up(rule: Rule, loss: str, scale: str, tmp_path: Path) -> None:
    rounds = rounds_of(loss)
    learner = Learner(loss, rule, columns=COLUMNS, scale=scale)
    indptr, indices, values, _labels, _importances = as_csr(rounds)
    rows = Rows(indptr, indices, values, space=learner)
    # Before the first round, after it, and after many.
    for start, end in ((0, 0), (0, 1), (1, len(rounds))):
        if end:
            learn_rows(learner, *as_csr(rounds[start:end]))
        margins = predict_rows(learner, indptr, indices, values)
        for explained, margin in zip(learner.explain(rows), margins.tolist(), strict=True):
            assert_adds_up(explained, margin)
    learner.save(tmp_path / "slim", slim=True)
    slim = Learner.load(tmp_path / "slim")
    margins = predict_rows(slim, indptr, indices, values)
    for explained, margin in zip(slim.explain(rows), margins.tolist(), strict=True):
        assert_adds_up(explained, margin)


@pytest.mark.parametrize("l2", [0.0, 0.01])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("loss", ONE_OF_EACH)
@pytest.mark.parametrize("rule", [PerCoordinate(), PerCoordinate(rate=0.3)], ids=str)
def test_the_readable_learner_has_the_same_parts(
    rule: Rule, loss: str, scale: str, l2: float
) -> None:
    # Unscaled values near 50 give some lanes margins of hundreds and shares of nearly 0. A part is
    # a sum of their products, which rounding of weights changes by more than the margin.
    rounds = rounds_of(loss, mean=0.0, spread=1.0) if scale == "none" else rounds_of(loss)
    readable = ReadableLearner(loss, rule, intercept=COLUMNS, scale=scale, l2=l2)
    learner = Learner(loss, rule, columns=COLUMNS, scale=scale, l2=l2)
    indptr, indices, values, labels, importances = as_csr(rounds)
    for each in (readable, learner):
        learn_rows(each, indptr, indices, values, labels, importances)
    ours = learner.explain(Rows(indptr, indices, values, space=learner))
    theirs = readable.explain(Rows(indptr, indices, values, space=READABLE))
    for own, other in zip(ours, theirs, strict=True):
        expected = {(part.name, part.slot): part for part in other.parts}
        size = sum(abs(part.part) for part in other.parts) + 1.0
        assert abs(sum(part.part for part in other.parts) - other.margin) <= 1e-12 * size
        for part in own.parts:
            twin = expected.pop((part.name, part.slot), None)
            # What only one of them clips is a difference of rounding.
            assert abs(part.part - (twin.part if twin else 0.0)) <= 1e-4 * size
            assert part.value == (twin.value if twin else None)
        assert all(abs(left.part) <= 1e-4 * size for left in expected.values())


def test_margins_beyond_30_have_a_part_of_their_own() -> None:
    learner = Learner("logistic", PerCoordinate(), columns=1, scale="none")
    ones, ends = np.zeros(400, int), np.arange(401)
    learn_rows(learner, ends, ones, np.ones(400), np.ones(400))
    [explained] = learner.explain(Rows([0, 1], [0], [500.0], space=learner))
    clipping = [part for part in explained.parts if part.name == CLIPPING]
    assert len(clipping) == 1
    assert clipping[0].part < 0
    assert clipping[0].slot is None
    assert_adds_up(explained, explained.margin)
    [near] = learner.explain(Rows([0, 1], [0], [1.0], space=learner))
    assert {part.name for part in near.parts} == {INTERCEPT, None}


def test_predictions_stay_within_the_labels_and_say_so() -> None:
    learner = Learner("squared", columns=1)
    x = np.linspace(-1, 1, 200)
    learn_rows(learner, np.arange(201), np.zeros(200, int), x, 100 + 10 * x)
    [explained] = learner.explain(Rows([0, 1], [0], [3.0], space=learner))
    parts = {part.name: part.part for part in explained.parts}
    assert parts[MEAN_LABEL] == pytest.approx(100.0)
    assert explained.margin <= 110.0
    assert parts[CLIPPING] < 0
    assert_adds_up(explained, explained.margin)
