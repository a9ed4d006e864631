"""Numbers and counts as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lessregret.ledger import HALF, STANDARDISED_LABELS

if TYPE_CHECKING:
    from lessregret.ledger import Ledger, Statement


def number(value: float | None, digits: int) -> str:
    """A number for people: a few digits, a dash where there is none.

    >>> number(1234.5678, 2), number(2.5e7, 2), number(None, 2)
    ('1,234.57', '2.5e+07', '–')
    """
    if value is None:
        return "–"
    return f"{value:,.{digits}f}" if abs(value) < 1e6 else f"{value:.4g}"


def weight_text(weight: float) -> str:
    """A weight with about six digits, since the unit of its feature may be any.

    >>> weight_text(-155162.92), weight_text(0.25), weight_text(5.125e-08), weight_text(0.0)
    ('-155163', '0.250000', '5.125e-08', '0.000000')
    """
    plain = weight == 0 or 1e-3 <= abs(weight) < 1e4
    return f"{weight:.6f}" if plain else f"{weight:.6g}"


def counted(count: int, thing: str) -> str:
    """A count with its noun, singular or plural.

    >>> counted(1, "example"), counted(1200, "example")
    ('1 example', '1,200 examples')
    """
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def unit_of(ledger: Ledger) -> str:
    """What the means of a run are taken over, in words."""
    plain = ledger.tally.importance == ledger.rounds
    return "per example" if plain else "per unit of importance"


def certified_in_words(ledger: Ledger) -> str:
    """What the run certifies of fixed weights as large as its own, in one sentence.

    >>> from lessregret.ledger import Certificate, Ledger, Norms, SlotSummary, Tally
    >>> def run(loss, offset):
    ...     certificate = Certificate(offset, Norms.of([3.0, 4.0]), Norms.of([0.6, 0.8]))
    ...     summary = SlotSummary(spread=None, floor=None, theorem=None, touched=2)
    ...     tally = Tally(rounds=100, importance=100.0, loss=loss)
    ...     return certified_in_words(Ledger(tally, summary, True, 0, certificate))
    >>> run(loss=33.0, offset=35.0)[:84]
    'no fixed weights with ‖w‖ ≤ 1.00 lose less than 0.300000: at most 9.1 % left to gain'
    >>> run(loss=8.0, offset=8.5)
    'open: fixed weights with ‖w‖ ≤ 1.00 might lose less than half of what the run lost'
    """
    said = ledger.statement
    if said is None:
        return "nothing, since the sums of the certificate were not kept"
    if not said.speaks:
        return f"open: fixed weights {_sizes(said)} might {_lose(ledger)} {_half(ledger)}"
    unit = f" {ledger.units}" if ledger.game == STANDARDISED_LABELS else ""
    least, left = f"{number(said.certified, 6)}{unit}", f"{100 * said.left:.1f} %"
    told = f"no fixed weights {_sizes(said)} {_lose(ledger)} {least}: at most {left} left to gain"
    return f"{told}; larger weights are not covered"


def _sizes(said: Statement) -> str:
    limit = f" and |intercept| ≤ {said.intercept:,.2f}" if said.intercept else ""
    return f"with ‖w‖ ≤ {said.radius:,.2f}{limit}"


def _lose(ledger: Ledger) -> str:
    return "have a loss and penalty below" if ledger.tally.penalty else "lose less than"


def _half(ledger: Ledger) -> str:
    touched, rounds = ledger.summary.touched, ledger.rounds
    of_it = "half of that of the run" if ledger.tally.penalty else "half of what the run lost"
    if touched < rounds:
        return of_it
    examples = counted(rounds, "example")
    return f"{of_it}; with {touched:,} slots for {examples} they can often fit all labels"


def left_in_words(said: Statement | None) -> str:
    """The part of the loss that stays open, for a table; a dash if the run does not certify it.

    >>> from lessregret.ledger import Statement
    >>> left_in_words(Statement("ball", 5.0, 1.0, lost=0.4, certified=0.3))
    '25.0 %'
    >>> left_in_words(Statement("ball", 5.0, 1.0, lost=0.4, certified=0.1)), left_in_words(None)
    ('open', '–')
    """
    return part_in_words(None if said is None else said.left)


def part_in_words(left: float | None) -> str:
    """A part of the loss that stays open, for a table; a dash if it is not known.

    >>> part_in_words(0.071), part_in_words(0.9), part_in_words(None)
    ('7.1 %', 'open', '–')
    """
    if left is None:
        return "–"
    return f"{100 * left:.1f} %" if left <= HALF else "open"
