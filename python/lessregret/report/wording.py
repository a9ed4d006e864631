"""Numbers and counts as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lessregret.ledger import Ledger


def number(value: float | None, digits: int) -> str:
    """A number for people: a few digits, a dash where there is none.

    >>> number(1234.5678, 2), number(2.5e7, 2), number(None, 2)
    ('1,234.57', '2.5e+07', '–')
    """
    if value is None:
        return "–"
    return f"{value:,.{digits}f}" if abs(value) < 1e6 else f"{value:.4g}"


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
