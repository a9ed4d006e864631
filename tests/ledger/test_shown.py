"""A ledger in one line and as a table."""

from __future__ import annotations

import re

import numpy as np

from lessregret import PA, OnlineClassifier, OnlineRegressor, PerCoordinate
from lessregret.ledger import Ledger, SlotSummary, Tally

DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(300, 3))
Y = (X[:, 0] + DRAW.normal(size=300) > 0).astype(int)


def test_one_line_has_loss_mistakes_and_what_is_certified() -> None:
    line = repr(OnlineClassifier().fit(X, Y).ledger_)
    pattern = (
        r"<Ledger: 300 examples, mean loss 0\.\d+, mistakes \d+\.\d\d %, "
        r"fixed weights of its size save at most \d+\.\d %>"
    )
    assert re.fullmatch(pattern, line)
    assert len(line) < 130
    assert "mistakes" not in repr(OnlineRegressor().fit(X, Y).ledger_)


def test_an_empty_ledger_can_be_shown() -> None:
    empty = Ledger(Tally(), SlotSummary(None, None, None, touched=0), True)
    assert repr(empty) == "<Ledger: 0 examples>"
    assert "<td>examples</td><td>0</td>" in empty._repr_html_()


def test_the_table_has_the_lanes_and_the_stack_folded_away() -> None:
    page = OnlineClassifier().fit(X, Y).ledger_._repr_html_()
    assert page.count("<table>") == page.count("</table>") == 2
    assert page.count("<tr>") == page.count("</tr>")
    for name in ("mean loss", "mistakes", "certified", "slots touched", "rate 0.1125", "stack"):
        assert f"<td>{name}</td>" in page
    assert "<details>" not in OnlineClassifier(rule=PA()).fit(X, Y).ledger_._repr_html_()


def test_the_table_tells_a_bound_only_where_it_says_something() -> None:
    tally = Tally(rounds=100, importance=100.0, loss=50.0, energy=5.0)
    summary = SlotSummary(spread=5.0, floor=None, theorem=None, touched=2)
    assert "at most 0.1" in Ledger(tally, summary, True)._repr_html_()
    loose = summary._replace(spread=500.0)
    assert "proved" not in Ledger(tally, loose, True)._repr_html_()


def test_penalties_and_skipped_lines_are_told() -> None:
    ledger = OnlineClassifier(rule=PerCoordinate(rate=0.5), l2=0.1).fit(X, Y).ledger_
    assert "mean penalty" in repr(ledger)
    tally = Tally(rounds=1, importance=1.0, loss=0.5)
    skipped = Ledger(tally, SlotSummary(None, None, None, touched=2), False, skipped=3)
    assert "<td>bad lines skipped</td><td>3</td>" in skipped._repr_html_()
    assert repr(skipped) == "<Ledger: 1 example, mean loss 0.5>"
