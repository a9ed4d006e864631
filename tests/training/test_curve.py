"""Are the marks few, where they are said to be, and true?"""

from __future__ import annotations

from itertools import pairwise

from lessregret.ledger import Statement, Tally
from lessregret.training.curve import Curve, next_mark


def test_two_marks_for_each_doubling() -> None:
    marks = [0]
    while marks[-1] < 1 << 40:
        marks.append(next_mark(marks[-1]))
    assert marks[:9] == [0, 1, 2, 4, 5, 8, 11, 16, 22]
    assert len(marks) <= 80
    assert {1 << k for k in range(41)} <= set(marks)
    for below, above in pairwise(marks[1:]):
        assert below < above <= 2 * below
        assert next_mark(above - 1) == above


def test_a_round_is_marked_once() -> None:
    noted = Curve()
    for _ in range(2):
        noted.mark(Tally(rounds=4, importance=4.0, loss=2.0), 3.0, 9.0)
    [mark] = noted.marks
    assert (mark.rounds, mark.loss, mark.linear_regret, mark.bound) == (4, 2.0, 3.0, 9.0)


def test_a_mark_keeps_what_was_certified_by_then() -> None:
    noted, said = Curve(), Statement("ball", 1.5, 0.25, lost=0.5, certified=0.375)
    noted.mark(Tally(rounds=4, importance=4.0, loss=2.0), statement=said)
    noted.mark(Tally(rounds=8, importance=8.0, loss=3.0))
    assert [mark.statement for mark in noted.marks] == [said, None]


def test_a_resumed_run_is_marked_by_its_own_rounds() -> None:
    noted = Curve(Tally(rounds=1000, importance=1000.0, loss=500.0))
    assert [noted.next_mark(rounds) for rounds in (1000, 1001, 1005)] == [1001, 1002, 1008]
    noted.mark(Tally(rounds=1001, importance=1001.0, loss=500.25))
    assert noted.marks[0].loss_since == 0.25


def test_rounds_of_no_importance_have_no_loss() -> None:
    noted = Curve()
    noted.mark(Tally(rounds=1))
    assert (noted.marks[0].mean_loss, noted.marks[0].loss_since) == (None, None)
