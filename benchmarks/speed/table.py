"""Markdown tables: the first columns are words, the others numbers."""

from __future__ import annotations

from collections.abc import Sequence


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> str:
    """A table whose first ``words`` columns stand left, the others right.

    >>> print(table(["who", "s"], [["a", "1.0"]]))
    | who | s |
    | --- | ---: |
    | a | 1.0 |
    """
    rule = ["---"] * words + ["---:"] * (len(headings) - words)
    return "\n".join(f"| {' | '.join(row)} |" for row in [headings, rule, *rows])


def seconds(number: float) -> str:
    """Three digits, as no repetition agrees in more.

    >>> seconds(0.1234), seconds(12.34), seconds(234.5)
    ('0.123', '12.3', '234')
    """
    digits = 3 if number < 1 else 2 if number < 10 else 1 if number < 100 else 0
    return f"{number:.{digits}f}"


def megabytes(number: float) -> str:
    """Millions of bytes.

    >>> megabytes(1_234_567_890)
    '1,235'
    """
    return f"{number / 1e6:,.0f}"


def loss(number: float | None) -> str:
    """Four decimals; a dash where there is none."""
    return "–" if number is None else f"{number:.4f}"


def share(number: float) -> str:
    return f"{number:.2%}"
