"""Is the fast code the readable code where labels come late?"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import pytest

from lessregret import Learner, Rows, _core
from lessregret.data.examples import Examples
from lessregret.errors import SpecError
from lessregret.learners.delayed import DelayedLearner
from lessregret.learners.rules import Rule, parse_rule, rule_named
from tests.support.pairs import EVERY_RULE
from tests.support.streams import Round, as_csr, random_rounds

COLUMNS = 40
ROUNDS = 600
RTOL = 1e-5


def one(learner: Learner, each: Round) -> _core.Examples:
    """The examples of one round."""
    return Examples.collect(Rows(*as_csr([each]), space=learner)).core


def late_rule(rate: Any = 0.3) -> Rule:
    return rule_named("adaptive-revision", rate=rate, radius=2.0)


def late_learner(loss: str = "logistic", rate: Any = 0.3, **options: Any) -> Learner:
    return Learner(
        loss, late_rule(rate), columns=COLUMNS, **{"scale": "none", "intercept": False, **options}
    )


@pytest.mark.parametrize("delay", [0, 1, 30, 200])
@pytest.mark.parametrize("rate", [0.3, "theory"])
@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared"])
def test_late_labels_agree(loss: str, rate: Any, delay: int) -> None:
    fast = late_learner(loss, rate, certify=True)
    slow = DelayedLearner(late_rule(rate), loss)
    margins, readable = [], []
    waiting: deque[Any] = deque()
    for each in random_rounds(11, ROUNDS, COLUMNS, regression=loss == "squared"):
        example = one(fast, each)
        [(margin, kept)] = fast._core.play_late(example)
        played = slow.play(each.slots, each.values)
        margins.append(margin)
        readable.append(played.margin)
        waiting.append((example, kept, played, each))
        if len(waiting) > delay:
            example, kept, played, each = waiting.popleft()
            assert fast._core.learn_late(example, [kept]).margins.tolist() == [margins[-1 - delay]]
            slow.absorb(played, each.label, each.importance)
    scale = np.abs(readable).max()
    np.testing.assert_allclose(margins, readable, rtol=RTOL, atol=RTOL * scale)
    weights = [slow.rule.weight(slow.slots.get(k, slow.rule.empty), 1.0) for k in range(COLUMNS)]
    np.testing.assert_allclose([fast.weight(k) for k in range(COLUMNS)], weights, atol=1e-5 * scale)


@pytest.mark.parametrize("scale", ["none", "cap", "full"])
def test_a_late_round_without_delay_is_a_round_to_the_bit(scale: str) -> None:
    """And ``adaptive-revision`` is ``per-coordinate``.

    Not with the standard scale: there a round counts the values of its example before it plays, and
    a prediction does not.
    """
    options: dict[str, Any] = {"scale": scale, "intercept": True, "certify": True}
    late, direct = late_learner(**options), late_learner(**options)
    plain = Learner(
        "logistic", rule_named("per-coordinate", rate=0.3, radius=2.0), columns=COLUMNS, **options
    )
    for each in random_rounds(12, ROUNDS, COLUMNS):
        [(margin, kept)] = late._core.play_late(one(late, each))
        late._core.learn_late(one(late, each), [kept])
        rows = Rows(*as_csr([each]), space=direct)
        assert [margin] == direct.learn(rows).margins.tolist() == plain.learn(rows).margins.tolist()
    for other in (direct, plain):
        assert [late.weight(k) for k in range(COLUMNS)] == [other.weight(k) for k in range(COLUMNS)]
    sums, expected = (learner._core.gradient_sums() for learner in (late, direct))
    assert sums is not None
    assert expected is not None
    np.testing.assert_array_equal(sums[1], expected[1])
    assert late.ledger().total == direct.ledger().total
    assert late.ledger().bound is None
    assert direct.ledger().bound is not None


def test_a_model_file_goes_on_with_late_labels() -> None:
    learner = late_learner(scale="standard", intercept=True)
    rounds = list(random_rounds(13, 60, COLUMNS))
    kept = [learner._core.play_late(one(learner, each))[0][1] for each in rounds]
    for k in range(30):
        learner._core.learn_late(one(learner, rounds[k]), [kept[k]])
    again = Learner.from_bytes(learner.to_bytes())
    for k in range(30, 60):
        learner._core.learn_late(one(learner, rounds[k]), [kept[k]])
        again._core.learn_late(one(again, rounds[k]), [kept[k]])
    assert again.to_bytes() == learner.to_bytes()


def test_what_cannot_learn_late_says_so() -> None:
    [each] = random_rounds(14, 1, COLUMNS)
    refused = [
        Learner("logistic", parse_rule(rule), columns=COLUMNS)
        for rule in EVERY_RULE
        if rule != "adaptive-revision"
    ]
    refused += [late_learner(l2=0.1), late_learner(importance_aware=True)]
    refused += [late_learner("squared", scale="standard")]
    for learner in refused:
        assert not learner._core.learns_late
        with pytest.raises(SpecError, match="does not learn from old predictions"):
            learner._core.play_late(one(learner, each))
        with pytest.raises(SpecError, match="does not learn from old predictions"):
            learner._core.learn_late(one(learner, each), [bytes(8)])


def test_bytes_of_something_else_are_refused() -> None:
    learner = late_learner()
    [each] = random_rounds(15, 1, COLUMNS)
    example = one(learner, each)
    [(_, kept)] = learner._core.play_late(example)
    larger = Learner("logistic", late_rule(), columns=2 * COLUMNS, scale="none")
    [(_, foreign)] = larger._core.play_late(
        one(larger, each._replace(slots=[COLUMNS + 20], values=[1.0]))
    )
    for played, message in [
        ([], "expected 1 played examples, found 0"),
        ([kept, kept], "expected 1 played examples, found 2"),
        ([kept[:-1]], "expected the bytes of a played example"),
        ([foreign], "slots that this model does not have"),
    ]:
        with pytest.raises(SpecError, match=message):
            learner._core.learn_late(example, played)
    assert learner.ledger().rounds == 0
