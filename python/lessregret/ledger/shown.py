"""A ledger in one line, for ``repr``, and as a small table, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lessregret.ledger.ledger import Ledger


def in_one_line(ledger: Ledger) -> str:
    """The numbers that people look at first.

    >>> from lessregret.ledger import Ledger, SlotSummary, Tally
    >>> tally = Tally(rounds=4, importance=4.0, loss=2.0, mistakes=1.0)
    >>> in_one_line(Ledger(tally, SlotSummary(None, None, None, touched=2), True))
    '<Ledger: 4 examples, mean loss 0.5, mistakes 25.00 %>'
    """
    count = "1 example" if ledger.rounds == 1 else f"{ledger.rounds:,} examples"
    parts = [count, *(f"{name} {told}" for name, told in _scores(ledger)), *_left(ledger)]
    return f"<Ledger: {', '.join(parts)}>"


def as_table(ledger: Ledger) -> str:
    """The numbers of a ledger as HTML, with those of the lanes folded away."""
    rows = [("examples", f"{ledger.rounds:,}"), *_scores(ledger), *_more(ledger)]
    if not ledger.lanes:
        return _table(rows)
    lanes = [("lane", "share", "mean loss")]
    lanes += [(lane.name, f"{lane.share:.4f}", _mean(ledger, lane.loss)) for lane in ledger.lanes]
    if ledger.stack is not None:
        stack = ledger.stack
        lanes.append(("stack", f"{stack.share:.4f}", _mean(ledger, stack.loss)))
    folded = f"<details><summary>{len(ledger.lanes)} lanes</summary>{_table(lanes)}</details>"
    return f"<div>{_table(rows)}{folded}</div>"


def _scores(ledger: Ledger) -> list[tuple[str, str]]:
    told = []
    if ledger.mean_loss is not None:
        told.append(("mean loss", _number(ledger.mean_loss)))
    if ledger.tally.penalty:
        told.append(("mean penalty", _mean(ledger, ledger.tally.penalty)))
    if ledger.mistake_rate is not None:
        told.append(("mistakes", f"{100 * ledger.mistake_rate:.2f} %"))
    return told


def _left(ledger: Ledger) -> list[str]:
    said = ledger.statement
    if said is None or not said.speaks:
        return []
    return [f"fixed weights of its size save at most {100 * said.left:.1f} %"]


def _more(ledger: Ledger) -> list[tuple[str, str]]:
    """What is certified and proved, where it says something, and what was skipped."""
    told = [("certified", left) for left in _left(ledger)]
    if ledger.bound is not None and ledger.bound < ledger.total:
        told.append(("regret a round, proved", f"at most {_mean(ledger, ledger.bound)}"))
    told.append(("slots touched", f"{ledger.summary.touched:,}"))
    if ledger.skipped:
        told.append(("bad lines skipped", f"{ledger.skipped:,}"))
    return told


def _mean(ledger: Ledger, total: float) -> str:
    mean = ledger.mean(total)
    return "–" if mean is None else _number(mean)


def _number(value: float) -> str:
    return f"{value:.6g}"


def _table(rows: Iterable[Sequence[str]]) -> str:
    lines = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"
