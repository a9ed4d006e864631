"""The dated record of the ablation: its words and its tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import date
from typing import NamedTuple

from benchmarks.ablation_parts import LOSES

BASE = "default"
TEXT = """\
# {date}: what each part of the default learner is worth

Every number but those under *default* is a loss over that of the default: above 1, the part helps.
The default's own is the mean log loss, or the squared error over the variance of the labels. One
pass, every row predicted before it is learned. Differences below 1 % are no evidence. No time is
measured, so the machine does not matter. Sets with the ending `-shuffled` are shuffled once (seed
0), and so is `20news-comp`; the others are in the order of their source. `spambase` is sorted by
label there.

## Parts with a switch

The product, on all rows. *one rate* is the rule per-coordinate at rate 0.1 with the offset 0.3 of
the default's lanes. With *scale cap* and *scale none* the labels of regressions are not
standardised either.

{switched}

## Parts without a switch

The readable learner on the first {limits.readable_rows:,} rows, over the readable default on the
same rows. *no coin*: eight rates 0.0125 · 2.5^k in place of seven rates and the coin. *no stack*:
the ninth expert repeats the first lane. *intercept 1*: its value is 1, not √(1 + d). *labels as
given*: values are standardised, labels are not. *no AdaHedge*: the rate of the mixture is
1/(2(B − A)²) alone. The last two are for squared loss only. Sets with long rows are in this table
only if `--only` names them, because it takes minutes.

{readable}

## Tiny sets

The product on the first {limits.tiny_rows} rows alone.

{tiny}

## A label outlier

The label of row {limits.outlier_row:,} (of the middle row, if there are fewer) is multiplied by
{limits.outlier_times:,}. Each number is the loss on the rows after it, over that of the same
learner without the outlier.

{outlier}
"""


class Limits(NamedTuple):
    """Which rows are looked at, and the outlier."""

    readable_rows: int
    tiny_rows: int
    outlier_row: int
    outlier_times: int


class Found(NamedTuple):
    """Of one set: the loss of each variant; None where a variant has nothing to leave out."""

    name: str
    is_regression: bool
    rows: int
    losses: dict[str, float | None]

    def over(self, variant: str, base: str) -> float | None:
        """The loss of a variant over that of another."""
        loss, least = self.losses[variant], self.losses[base]
        return None if loss is None or least is None else loss / least


def record(
    limits: Limits,
    switched: Sequence[Found],
    readable: Sequence[Found],
    tiny: Sequence[Found],
    outlier: Sequence[Found],
) -> str:
    """The document."""
    return TEXT.format(
        date=date.today(),
        limits=limits,
        switched=table(switched),
        readable=table(readable),
        tiny=table(tiny),
        outlier=outlier_table(outlier),
    )


def table(found: Sequence[Found]) -> str:
    """A row for each set, and the geometric means by kind."""
    variants = [variant for variant in found[0].losses if variant != BASE]
    lines = [f"| data | rows | {BASE} | {' | '.join(variants)} |", _rule(len(variants) + 2)]
    for each in found:
        cells = [cell(each.over(variant, BASE)) for variant in variants]
        loss = f"{each.losses[BASE]:.4f}"
        lines.append(f"| {each.name} | {each.rows:,} | {loss} | {' | '.join(cells)} |")
    for kind, is_regression in (("classification", False), ("regression", True)):
        chosen = [each for each in found if each.is_regression == is_regression]
        means = [cell(mean(each.over(variant, BASE) for each in chosen)) for variant in variants]
        lines.append(f"| *mean, {kind}* | | | {' | '.join(means)} |")
    return "\n".join(lines)


def outlier_table(found: Sequence[Found]) -> str:
    """A row for each regression: how many times the loss is with the outlier."""
    lines = [f"| data | rows | {' | '.join(LOSES)} |", _rule(len(LOSES) + 1)]
    for each in found:
        cells = [cell(each.over(f"{variant}, outlier", variant)) for variant in LOSES]
        lines.append(f"| {each.name} | {each.rows:,} | {' | '.join(cells)} |")
    return "\n".join(lines)


def mean(ratios: Iterable[float | None]) -> float | None:
    """The geometric mean of those that are there.

    >>> mean([2.0, None, 8.0])
    4.0
    """
    logs = [math.log(ratio) for ratio in ratios if ratio]
    return math.exp(sum(logs) / len(logs)) if logs else None


def cell(ratio: float | None) -> str:
    """A ratio with three digits behind the point, large ones with fewer.

    >>> cell(1.0171), cell(137.22), cell(2.5e7), cell(None)
    ('1.017', '137', '2.5e+07', '–')
    """
    if ratio is None:
        return "–"
    if ratio >= 100_000:
        return f"{ratio:.1e}"
    return f"{ratio:.3f}" if ratio < 10 else f"{ratio:,.0f}"


def _rule(numbers: int) -> str:
    return "| --- |" + " ---: |" * numbers
