"""Is the window about the last tenth of a run, and is what it certifies true of these rounds?"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from lessregret import Learner, PerCoordinate
from lessregret.data.examples import Rows
from lessregret.ledger import Certificate, Norms, Statement
from lessregret.training.window import Window, WindowMarks, window_finding

COLUMNS = 3
DRAWN = np.random.default_rng(5)
X = DRAWN.normal(size=(4000, COLUMNS)).astype(np.float32)
NOISE = DRAWN.logistic(size=4000)
TRUTH = np.array([1.0, -2.0, 0.5])
STEADY = np.where(X @ TRUTH + NOISE > 0, 1.0, -1.0)
TURNED = np.concatenate([STEADY[:3550], -STEADY[3550:]])
"""labels that turn round for the window: the older mark of 4,000 rounds is at 3,444"""


def rows(learner: Learner, labels: np.ndarray, start: int, end: int, **more: Any) -> Rows:
    starts = np.arange(end - start + 1) * COLUMNS
    columns = np.tile(np.arange(COLUMNS), end - start)
    values = X[start:end].ravel()
    return Rows(starts, columns, values, labels=labels[start:end], space=learner, **more)


def ended(labels: np.ndarray, rounds: int = 4000, learner: Learner | None = None) -> Window | None:
    """A run in blocks that end at the marks, as those of a recorder do."""
    learner = learner or Learner("logistic", columns=COLUMNS, intercept=False)
    before = learner.tally().rounds
    marks, done = WindowMarks(before), before
    while done < before + rounds:
        end = min(marks.next_mark(done), before + rounds)
        learner.learn(rows(learner, labels, done - before, end - before))
        marks.note(learner)
        done = end
    return marks.window(learner, learner.ledger())


def test_eight_marks_for_each_doubling() -> None:
    kept, marks = WindowMarks(), [0]
    while marks[-1] < 1 << 40:
        marks.append(kept.next_mark(marks[-1]))
    assert {1 << k for k in range(9, 41)} <= set(marks)
    assert len(marks) == 2 + 8 * 31
    assert all(1.08 < above / below < 1.1 for below, above in pairwise(marks[1:]))


@pytest.mark.parametrize("rounds", [1000, 1023, 1024, 1025, 1500, 2047, 3000, 4000])
def test_the_window_is_about_the_last_tenth(rounds: int) -> None:
    window = ended(STEADY, rounds)
    assert window is not None
    assert 0.08 < window.rounds / rounds < 0.17


@pytest.mark.parametrize("rule", [PerCoordinate(), PerCoordinate(rate=0.1)], ids=["auto", "0.1"])
@pytest.mark.parametrize("labels", [STEADY, TURNED], ids=["steady", "turned"])
def test_no_weights_of_the_learned_size_lose_less_on_these_rounds(
    rule: PerCoordinate, labels: np.ndarray
) -> None:
    learner = Learner(
        "logistic", rule, columns=COLUMNS, intercept=False, certify=True, scale="none"
    )
    window = ended(labels, learner=learner)
    assert window is not None
    said, last = window.statement, slice(4000 - window.rounds, 4000)

    def loss(u: np.ndarray) -> float:
        return float(np.logaddexp(0, -labels[last] * (X[last].astype(float) @ u)).mean())

    inside = {"type": "ineq", "fun": lambda u: said.radius**2 - u @ u}
    best = minimize(loss, np.full(COLUMNS, 1e-3), constraints=[inside], method="SLSQP")
    assert best.success
    assert 0.1 < said.certified <= best.fun
    assert said.certified < said.lost


def test_the_loss_of_the_window_is_that_of_its_rounds() -> None:
    learner = Learner("logistic", columns=COLUMNS, intercept=False)
    window = ended(STEADY, learner=learner)
    again = Learner("logistic", columns=COLUMNS, intercept=False)
    assert window is not None
    again.learn(rows(again, STEADY, 0, 4000 - window.rounds))
    lost = learner.tally().loss - again.tally().loss
    assert window.statement.lost == pytest.approx(lost / window.rounds, rel=1e-12)
    assert window.statement.radius == window.run.radius


def test_a_resumed_run_has_a_window_of_its_own_rounds() -> None:
    learner = Learner("logistic", columns=COLUMNS, intercept=False)
    learner.learn(rows(learner, STEADY, 0, 1000))
    window = ended(STEADY, 2000, learner)
    assert window is not None
    assert 0.08 < window.rounds / 2000 < 0.17


def test_runs_without_a_window() -> None:
    assert ended(STEADY, 999) is None
    uncertified = Learner("logistic", columns=COLUMNS, intercept=False, certify=False)
    assert ended(STEADY, learner=uncertified) is None
    weightless = Learner("logistic", columns=COLUMNS, intercept=False)
    marks = WindowMarks()
    for start, end in pairwise([0, 861, 939, 1024, 1100]):
        importances = np.full(end - start, 1.0 if end <= 939 else 0.0)
        weightless.learn(rows(weightless, STEADY, start, end, importances=importances))
        marks.note(weightless)
    assert marks.window(weightless, weightless.ledger()) is None


def test_labels_that_turn_round_stand_out_and_others_do_not() -> None:
    steady, turned = ended(STEADY), ended(TURNED)
    assert steady is not None
    assert turned is not None
    assert (steady.stands_out, turned.stands_out) == (False, True)
    assert window_finding({}, steady) is None


def outstanding() -> Window:
    run = Statement("ball", 1.0, 0.0, lost=0.5, certified=0.48)
    return Window(400, run._replace(certified=0.3), run, open=80.0, open_of_run=72.0)


def test_what_does_not_stand_out() -> None:
    window = outstanding()
    assert window.stands_out
    assert not window._replace(open=72.0).stands_out
    little = window.statement._replace(certified=0.46)
    assert not window._replace(statement=little).stands_out
    silent = window.run._replace(certified=0.2)
    assert not window._replace(run=silent).stands_out


def test_what_is_open_beyond_the_loss_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lower bound below 0 certifies no more than 0, but what is open goes on."""
    certificate = Certificate(-3.0, Norms.of([3.0, -4.0]), Norms.of([30.0, 40.0]), 2.0, -0.5)
    monkeypatch.setattr(Learner, "certificate_since", lambda *_: certificate)
    learner = Learner("logistic", columns=COLUMNS)
    window = ended(STEADY, learner=learner)
    assert window is not None
    assert window.statement.certified == 0
    lost = window.statement.lost * window.rounds
    assert window.open == pytest.approx(lost + 3.0 + 5.0 * 50.0 + 2.0 * 0.5)


@pytest.mark.parametrize(
    ("rate", "share", "shell", "python"),
    [
        ("auto", 0.0001, "--fixed-share 0.001", "fixed_share=0.001"),
        ("auto", 0.0, "--fixed-share 0.001", "fixed_share=0.001"),
        ("auto", 0.05, "--fixed-share 0.1", "fixed_share=0.1"),
        (0.1, 0.0, "--rule per-coordinate, which mixes", "rule=PerCoordinate(), which mixes"),
    ],
)
def test_the_finding_claims_no_more_than_is_open_and_has_a_cure(
    rate: float | str, share: float, shell: str, python: str
) -> None:
    finding = window_finding({"rule": {"rate": rate}, "fixed_share": share}, outstanding())
    assert finding is not None
    assert finding.found == (
        "on the last 400 examples alone more loss is open than on all of them: fixed weights for "
        "these examples may lose much less than the run did, a sign that the data changed"
    )
    assert f"; try {shell}" in finding.in_shell
    assert f"; try {python}" in finding.in_python
    assert finding.in_shell.endswith(", or train on the recent examples alone")
