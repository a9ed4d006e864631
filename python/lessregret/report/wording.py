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
