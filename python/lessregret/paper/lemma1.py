"""Lemma 1: Σ x_i/√(x_1 + … + x_i) ≤ 2√(Σ x_i), tried on sequences meant to break it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lessregret.game.domains import Point
from lessregret.paper.finding import FAILS_AS_PRINTED, HOLDS, Finding, Request, bullets, table
from lessregret.paper.hill_climb import hill_climb
from lessregret.report.palette import GLOBAL, GUIDE, PER_COORDINATE, THIRD, plain
from lessregret.report.picture_file import add_legend, panels, save_picture

CLAIM = "Lemma 1: the sum behind the adaptive rates"

LENGTHS = (1, 2, 3, 5, 10, 20, 50, 100, 1_000, 10_000, 100_000, 1_000_000)
CLIMBED = (2, 3, 5, 10, 20, 50)
STEPS = 3000
SAMPLES = 200
SLACK = 1e-12

DRAWS: dict[str, Callable[[np.random.Generator, int], Point]] = {
    "exponential": lambda rng, n: rng.exponential(size=n),
    "heavy-tailed": lambda rng, n: rng.pareto(0.5, size=n),
    "ten orders of magnitude": lambda rng, n: 10 ** rng.uniform(-5, 5, size=n),
    "mostly zeros": lambda rng, n: rng.exponential(size=n) * (rng.random(n) < 0.1),
    "falling": lambda rng, n: np.sort(rng.pareto(1.0, size=n))[::-1],
    "growing": lambda rng, n: np.sort(rng.pareto(1.0, size=n)),
}


def run(request: Request, done: Callable[[str], None] = lambda what: None) -> Finding:
    """Random, constant and hill-climbed sequences."""
    rng = np.random.default_rng(request.seed)
    rows = [as_row("constant", n, ratio(np.ones(n))) for n in LENGTHS]
    rows += [as_row(kind, n, worst_drawn(kind, n, rng)) for kind in DRAWS for n in (3, 30, 1_000)]
    done("constant and random sequences")
    rows += [as_row("hill-climbed", n, climbed(n, rng)) for n in CLIMBED]
    done("hill-climbed sequences")
    rows += [as_row("worst", n, worst_ratio(n)) for n in LENGTHS]
    claims = judge(rows)
    verdict = HOLDS if all(claims.values()) else FAILS_AS_PRINTED
    return Finding(CLAIM, verdict, rows, sections(rows, claims))


def as_row(kind: str, length: int, value: float) -> dict[str, Any]:
    """One kind of sequence: the largest ratio of the two sides."""
    return {"sequence": kind, "length": length, "ratio": value}


def ratios(sequences: Point) -> Point:
    """Left side over right side of the lemma, for each row; 0/0 counts as 0."""
    sums = np.cumsum(sequences, axis=1)
    roots = np.sqrt(sums)
    terms = np.divide(sequences, roots, out=np.zeros_like(sums), where=sums > 0)
    right = 2 * roots[:, -1]
    left = terms.sum(axis=1)
    return np.asarray(np.divide(left, right, out=np.zeros_like(left), where=right > 0))


def ratio(sequence: Point) -> float:
    """The same for one sequence."""
    return float(ratios(sequence[None, :])[0])


def worst_drawn(kind: str, length: int, rng: np.random.Generator) -> float:
    """The largest ratio of many random sequences."""
    return max(ratio(DRAWS[kind](rng, length)) for _ in range(SAMPLES))


def climbed(length: int, rng: np.random.Generator) -> float:
    """The largest ratio that hill climbing finds."""
    return hill_climb(lambda rows: ratios(np.abs(rows)), np.ones(length), rng, STEPS)[1]


def worst_ratio(length: int) -> float:
    """The largest ratio of any sequence: c_n/2 with c_1 = 1, c_n = 1 + c²_{n−1}/4."""
    c = 1.0
    for _ in range(length - 1):
        c = 1 + c * c / 4
    return c / 2


def worst_sequence(length: int) -> Point:
    """The sequence that attains it: x_n is the share 1 − c²_{n−1}/4 of the sum so far."""
    sequence, total, c = [1.0], 1.0, 1.0
    for _ in range(length - 1):
        after = total / (c * c / 4)
        sequence.append(after - total)
        total, c = after, 1 + c * c / 4
    return np.array(sequence)


def judge(rows: list[dict[str, Any]]) -> dict[str, bool]:
    """What the lemma says, and how sharp it is."""
    found = {(row["sequence"], row["length"]): row["ratio"] for row in rows}
    tried = [row for row in rows if row["sequence"] != "worst"]
    return {
        "no sequence makes the left side larger": all(row["ratio"] <= 1 + SLACK for row in rows),
        "none beats the exact worst case of its length": all(
            row["ratio"] <= worst_ratio(row["length"]) + SLACK for row in tried
        ),
        "the constant 2 cannot be improved: constant sequences come as near as one likes": bool(
            found["constant", LENGTHS[-1]] > 0.999
            and sorted(constant_ratios(rows)) == constant_ratios(rows)
        ),
    }


def constant_ratios(rows: list[dict[str, Any]]) -> list[float]:
    """The ratios of constant sequences, in the order of their lengths."""
    return [row["ratio"] for row in rows if row["sequence"] == "constant"]


def sections(rows: list[dict[str, Any]], claims: dict[str, bool]) -> list[str]:
    """The page."""
    return [
        STATEMENT,
        "## What we ran",
        f"The ratio of the left side to the right one: for constant sequences of up to "
        f"{LENGTHS[-1]:,} numbers, for {SAMPLES} random sequences of each of {len(DRAWS)} kinds "
        f"(the largest ratio is shown), and for sequences that {STEPS:,} steps of hill climbing "
        "made as bad as they could. Terms 0/0 count as 0.",
        length_table(rows),
        drawn_table(rows),
        "## What came out",
        bullets(claims),
        SHARPER,
        about_limits(rows),
    ]


STATEMENT = """\
*For any non-negative numbers x_1, …, x_n,*

    Σ_i  x_i / √(x_1 + … + x_i)   ≤   2·√(x_1 + … + x_n)

The adaptive rates divide by the root of all squared gradients *so far*, because the later ones are
not known yet. The lemma, with x_t = g_t², is the price of that: the sum Σ g_t²·η_t, which would be
√(Σ g²) if the rate could use the whole sum from the start, at most doubles. All constants of
Theorems 2 and 3 come from here. A sum of 1/√x against the integral ∫ dx/√x = 2√x is the picture to
have in mind. The paper proves it by induction: with Z the whole sum and x the last number,
2√(Z − x) + x/√Z is largest at x = 0. We found nothing to correct."""

SHARPER = """\
**The exact worst case.** The induction can be made exact. Both sides scale alike, so let c_n·√Z be
the largest left side of n numbers with sum Z. If the last number is the share u of Z, the left side
is at most c_{n−1}·√(1 − u)·√Z + u·√Z, which is largest at 1 − u = c²_{n−1}/4. Hence

    c_1 = 1,    c_n = 1 + c²_{n−1}/4

and c_{n−1} < 2 gives c_n < 2: the lemma again, in one line."""


def missing(rows: list[dict[str, Any]], kind: str, power: float) -> float:
    """(1 − ratio)·n^power of the longest sequence of a kind."""
    longest = max((row for row in rows if row["sequence"] == kind), key=lambda row: row["length"])
    return float((1 - longest["ratio"]) * longest["length"] ** power)


def about_limits(rows: list[dict[str, Any]]) -> str:
    """How fast the ratios tend to 1, measured on the longest sequences."""
    found = {(row["sequence"], row["length"]): row["ratio"] for row in rows}
    away = max(abs(found["hill-climbed", n] - worst_ratio(n)) for n in CLIMBED)
    tail = worst_sequence(1_000)[[499, 999]]
    return (
        f"At n = {LENGTHS[-1]:,} the ratio c_n/2 is 1 − {missing(rows, 'worst', 1):.2f}/n, and "
        f"that of the constant sequence 1 − {missing(rows, 'constant', 0.5):.2f}/√n. "
        "The sequence that attains the worst case grows about as "
        f"n^{np.log2(tail[1] / tail[0]):.1f}. Hill climbing, which knows nothing of this, comes "
        f"within {away:.1e} of the exact numbers."
    )


def length_table(rows: list[dict[str, Any]]) -> str:
    """Ratios by length: constant, hill-climbed, worst."""
    found = {(row["sequence"], row["length"]): row["ratio"] for row in rows}
    kinds = ("constant", "hill-climbed", "worst")
    lengths = sorted({length for kind, length in found if kind in kinds})
    body = [
        [f"{length:,}", *(as_ratio(found.get((kind, length))) for kind in kinds)]
        for length in lengths
    ]
    return table(["n", "constant sequence", "hill-climbed", "exact worst case"], body)


def drawn_table(rows: list[dict[str, Any]]) -> str:
    """The largest ratios of random sequences."""
    found = {(row["sequence"], row["length"]): row["ratio"] for row in rows}
    body = [[kind, *(as_ratio(found[kind, n]) for n in (3, 30, 1_000))] for kind in DRAWS]
    return table(["random sequences", "n = 3", "n = 30", "n = 1,000"], body)


def as_ratio(value: float | None) -> str:
    """Six digits, or a dash."""
    return "–" if value is None else f"{value:.6f}"


def draw(finding: Finding, path: str) -> None:
    """Left: the ratio over n. Right: how far it stays below 1."""
    figure, (left, right) = panels(2, (11, 4.8))
    for axes, height in ((left, lambda value: value), (right, lambda value: 1 - value)):
        _draw_ratios(axes, finding.rows, height)
    left.axhline(1, color=GUIDE, lw=1)
    plain(left, "Left side of Lemma 1 over its right side")
    left.set_ylim(0, 1.08)
    add_legend(left, fontsize=9, loc="lower right")
    right.set_yscale("log")
    plain(right, "What is missing to 1")
    right.legend().remove()
    slow, fast = missing(finding.rows, "constant", 0.5), missing(finding.rows, "worst", 1)
    right.annotate(f"{slow:.2f}/√n", (10_000, slow / 100), xytext=(2, 8),
                   textcoords="offset points", fontsize=9, color=PER_COORDINATE)  # fmt: skip
    right.annotate(f"{fast:.2g}/n", (10_000, fast / 10_000), xytext=(4, 6),
                   textcoords="offset points", fontsize=9, color=GLOBAL)  # fmt: skip
    save_picture(figure, path)


def _draw_ratios(axes: Any, rows: list[dict[str, Any]], height: Callable[[float], float]) -> None:
    def points(*kinds: str) -> tuple[list[int], list[float]]:
        chosen = [row for row in rows if row["sequence"] in kinds]
        return [row["length"] for row in chosen], [height(row["ratio"]) for row in chosen]

    axes.plot(*points(*DRAWS), ".", color=GUIDE, ms=7, label="random, the largest of many")
    axes.plot(*points("constant"), "o-", color=PER_COORDINATE, ms=4, label="constant")
    axes.plot(*points("worst"), "-", color=GLOBAL, label="exact worst case")
    axes.plot(*points("hill-climbed"), "D", color=THIRD, ms=5, label="hill-climbed")
    axes.set(xscale="log", xlabel="length n")
