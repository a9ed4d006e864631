"""§2.2: in one dimension a fixed rate is too large for one problem or too small for another.

Both problems are played at rates from far below the paper's range to far above it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np

from lessregret.game.algorithms import ConstantRate, Descent
from lessregret.game.domains import interval
from lessregret.game.losses import Smooth
from lessregret.game.play import Problem, play
from lessregret.game.problems import Climbing, Oscillating, Recorded
from lessregret.paper.finding import (
    FAILS_AS_PRINTED,
    HOLDS,
    Finding,
    Request,
    bullets,
    holds_as_corrected,
    table,
)
from lessregret.report.palette import FOURTH, GLOBAL, GRID, GUIDE, INK, PER_COORDINATE, plain
from lessregret.report.picture_file import add_legend, columns, panels, save_picture

CLAIM = "§2.2: tradeoffs in one dimension"

ROUNDS = 1000
"""T; even, so that the oscillation ends with a full swing"""
SLOPE = 3.0
"""G"""
WIDTH = 2.0
"""D"""
EPSILON = WIDTH / (4 * ROUNDS)
"""ε < Gη for every rate of the paper's range"""
LEAST, LARGEST = WIDTH / (2 * ROUNDS * SLOPE), WIDTH / SLOPE
"""the paper's range of rates: D/(2TG) ≤ η ≤ D/G (erratum E19)"""
BEST = WIDTH / (SLOPE * sqrt(ROUNDS))
"""η = D/(G√T), which minimises the upper bound"""
BEYOND = 8
"""how far outside the range rates are tried as well"""
SLACK = 1e-9

AS_PRINTED = "“for any choice of η” the lower bound holds, outside D/(2TG) ≤ η ≤ D/G as well"


def run(request: Request, done: Callable[[str], None] = lambda what: None) -> Finding:
    """Play both problems at every rate."""
    rates = np.sort([*np.geomspace(LEAST / BEYOND, LARGEST * BEYOND, 43), LEAST, BEST, LARGEST])
    rows = [run_rate(float(rate)) for rate in rates]
    done("both problems at every rate")
    claims = judge(rows)
    return Finding(CLAIM, verdict(claims), rows, sections(rows, claims))


def run_rate(rate: float) -> dict[str, Any]:
    """The regret of one fixed rate on both problems, beside the paper's formulas."""
    return {
        "rate": rate,
        "in_range": LEAST * (1 - SLACK) <= rate <= LARGEST * (1 + SLACK),
        "oscillating": regret(rate, Oscillating(ROUNDS, EPSILON, SLOPE, WIDTH)),
        "oscillating_formula": SLOPE**2 * rate * ROUNDS / 2,
        "climbing": regret(rate, Climbing(ROUNDS, SLOPE, WIDTH)),
        "climbing_formula": WIDTH**2 / (4 * rate),
        "upper_bound": WIDTH**2 / (2 * rate) + SLOPE**2 * rate * ROUNDS / 2,
    }


def regret(rate: float, problem: Problem) -> float:
    """The regret of gradient descent with a fixed rate."""
    return play(Descent(ConstantRate(rate)), problem).regret()


def stuck_regret() -> float:
    """The oscillating problem at Gη = ε where the slope in the kink itself is taken to be 0."""
    kink = Smooth(
        [0], lambda x: SLOPE * abs(x[0] - EPSILON), lambda x: SLOPE * np.sign(x - EPSILON)
    )
    problem = Recorded(interval(0.0, WIDTH), [kink] * ROUNDS)
    transcript = play(Descent(ConstantRate(EPSILON / SLOPE)), problem)
    return transcript.regret_against(np.array([EPSILON]))


def worst(row: dict[str, Any]) -> float:
    """The regret on the worse of the two problems."""
    return float(max(row["oscillating"], row["climbing"]))


def lower_bound_holds(row: dict[str, Any]) -> bool:
    """max{D²/(4η), G²ηT/2} ≤ the regret on the worse problem."""
    lower = max(row["oscillating_formula"], row["climbing_formula"])
    return bool(lower <= worst(row) * (1 + SLACK))


def judge(rows: list[dict[str, Any]]) -> dict[str, bool]:
    """What §2.2 says, statement by statement."""
    inside = [row for row in rows if row["in_range"]]
    exact = [abs(row["oscillating"] / row["oscillating_formula"] - 1) <= SLACK for row in inside]
    climbs = [row["climbing"] >= row["climbing_formula"] * (1 - SLACK) for row in inside]
    best = min(rows, key=lambda row: abs(row["rate"] - BEST))
    return {
        "the oscillating problem costs exactly G²ηT/2": all(exact),
        "the climbing problem costs at least D²/(4η)": all(climbs),
        "no problem costs more than D²/(2η) + G²ηT/2, at any rate": all(
            worst(row) <= row["upper_bound"] * (1 + SLACK) for row in rows
        ),
        "η = D/(G√T) is within 2√2 of the rate that is best for the worse of the two problems":
            worst(best) <= 2 * sqrt(2) * min(worst(row) for row in rows),
        AS_PRINTED: all(lower_bound_holds(row) for row in rows),
    }  # fmt: skip


def verdict(claims: dict[str, bool]) -> str:
    """Holds within the range; as printed only if the lower bound needed no range."""
    if not all(held for claim, held in claims.items() if claim != AS_PRINTED):
        return FAILS_AS_PRINTED
    return HOLDS if claims[AS_PRINTED] else holds_as_corrected("E19")


def sections(rows: list[dict[str, Any]], claims: dict[str, bool]) -> list[str]:
    """The page."""
    best = min(rows, key=lambda row: abs(row["rate"] - BEST))
    shown = [row for row in rows[::4] if row is not best] + [best]
    shown.sort(key=lambda row: row["rate"])
    return [
        STATEMENT,
        "## What we ran",
        f"Both problems with G = {SLOPE:g}, D = {WIDTH:g}, T = {ROUNDS} and ε = D/(4T), played by "
        f"gradient descent from x₁ = 0 at {len(rows)} fixed rates, from {BEYOND} times below the "
        "paper's range to "
        f"{BEYOND} times above it. Regret is measured against the best fixed point: ε for the "
        "first problem, D for the second.",
        as_table(shown),
        "## What came out",
        bullets(claims),
        about_best(rows, best),
        ERRATA.format(stuck=stuck_regret(), formula=ROUNDS / 2 * SLOPE * EPSILON),
    ]


STATEMENT = """\
Gradient descent with a fixed rate η on [0, D], with slopes of size G, can go wrong in two ways.

*Too large.* With f_t(x) = G·|x − ε| for a small ε, the play jumps over ε for ever: 0, Gη, 0, Gη, …
Two rounds cost G·Gη together, so the regret is G²ηT/2.

*Too small.* With f_t(x) = −G·x the best point is D, but the play climbs by Gη a round and stays
below D/2 for D/(2Gη) rounds, each of which costs at least GD/2: regret at least D²/(4η).

So for every η one of the two problems is bad, while Zinkevich's bound says no problem is worse:

    max{ D²/(4η), G²ηT/2 }  ≤  Regret  ≤  D²/(2η) + G²ηT/2

The upper bound is least at η = D/(G√T), where it is GD√T. The best rate is proportional to D/G.
Coordinates with different D and G want different rates: this is the paper's reason for giving each
coordinate its own."""

ERRATA = """\
**Errata.** The two-sided inequality is printed “for any choice of η”, but its derivation assumes
ε < Gη ≤ D and D/(2Gη) ≤ T (E19). Outside that range it is false: for η > D/G the play is cut off at
D and the oscillating problem costs GDT/2 at most, however large η is (E4); for η < D/(4TG) the
formula D²/(4η) exceeds GDT, all that there is to lose. The recommended D/(G√T) lies
inside. E4 also warns of Gη ≤ ε. There the regret depends on which subgradient is taken in the kink:
with slope 0 at x = ε the rate η = ε/G steps onto ε and stays, and the regret is {stuck:g} where the
formula says {formula:g}. With slope −G there, as here, the formula survives as a lower bound. For
odd T the last half swing is missing and the regret is G²η(T − 1)/2 + Gε."""


def about_best(rows: list[dict[str, Any]], best: dict[str, Any]) -> str:
    """How the recommended rate compares with the best of the grid."""
    least = min(rows, key=worst)
    unit = SLOPE * WIDTH * sqrt(ROUNDS)
    return (
        f"At the recommended η = D/(G√T) = {best['rate']:.4f} the worse problem costs "
        f"{worst(best):.1f} = {worst(best) / unit:.3f}·GD√T. That is "
        f"{worst(best) / best['upper_bound']:.2f} of what the upper bound allows "
        f"({best['upper_bound']:.1f}). No rate tried does better than {worst(least):.1f} (at η = "
        f"{least['rate']:.4f}). The paper's lower bound, at its own best rate, is GD√T/√8 = "
        f"{unit / sqrt(8):.1f}; it is loose because a climb costs D²/(2η), twice what it counts."
    )


def as_table(rows: list[dict[str, Any]]) -> str:
    """Rates down, regrets and formulas across."""
    heading = [
        "η",
        "in range",
        "oscillating",
        "G²ηT/2",
        "climbing",
        "D²/(4η)",
        "upper bound",
    ]
    numbers = (
        "oscillating",
        "oscillating_formula",
        "climbing",
        "climbing_formula",
        "upper_bound",
    )
    body = [
        [f"{row['rate']:.3g}", "yes" if row["in_range"] else "no"]
        + [f"{row[name]:,.1f}" for name in numbers]
        for row in rows
    ]
    return table(heading, body)


def draw(finding: Finding, path: str) -> None:
    """Both regrets and their maximum over η, between the paper's lower and upper bounds."""
    figure, [axes] = panels(1, (8.4, 5.2))
    rates = [row["rate"] for row in finding.rows]
    axes.axvspan(LEAST, LARGEST, color=GRID, zorder=0)
    axes.plot(rates, [worst(row) for row in finding.rows], color=INK, lw=5, alpha=0.18,
              label="the worse of the two", solid_capstyle="round")  # fmt: skip
    axes.plot(rates, [row["upper_bound"] for row in finding.rows], color=FOURTH, lw=1.2,
              label="upper bound D²/(2η) + G²ηT/2")  # fmt: skip
    formulas: str | None = "the paper's lower bounds G²ηT/2 and D²/(4η)"
    for name, colour in (("oscillating", GLOBAL), ("climbing", PER_COORDINATE)):
        axes.plot(rates, [row[name] for row in finding.rows], color=colour, label=f"{name} problem")
        axes.plot(rates, [row[f"{name}_formula"] for row in finding.rows], ls=(0, (3, 4)), lw=1.2,
                  color=INK, alpha=0.65, label=formulas)  # fmt: skip
        formulas = None
    _dress(axes)
    save_picture(figure, path)


def _dress(axes: Any) -> None:
    axes.axvline(BEST, ymax=0.72, color=GUIDE, lw=1, ls=":")
    axes.set(xscale="log", yscale="log", xlabel="fixed rate η", ylabel="regret")
    top = SLOPE * WIDTH * ROUNDS
    axes.set_ylim(SLOPE * WIDTH / 6, 10 * top)
    # In a column the legend is below, and only the top is free of curves.
    low, ends = (SLOPE * WIDTH / 5, (15, 2)) if columns(2) == 2 else (top, (0, 18))
    axes.annotate("η = D/(G√T)", (BEST, low), xytext=(5, ends[0]),
                  textcoords="offset points", fontsize=9, color=GUIDE)  # fmt: skip
    axes.annotate("D/(2TG) ≤ η ≤ D/G", (LEAST, low), xytext=(5, ends[1]),
                  textcoords="offset points", fontsize=9, color=GUIDE)  # fmt: skip
    plain(axes, f"Too large or too small: regret after {ROUNDS:,} rounds")
    add_legend(axes, fontsize=9, loc="upper center")
