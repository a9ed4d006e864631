"""Theorem 1: problems where global rates have regret T^(2/3), and a rate for each coordinate √T."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any

import numpy as np

from lessregret.errors import SpecError
from lessregret.game.domains import Point
from lessregret.paper import bad_family
from lessregret.paper.finding import (
    FAILS_AS_PRINTED,
    HOLDS,
    Finding,
    Request,
    bullets,
    holds_as_corrected,
    table,
)
from lessregret.report.palette import FOURTH, GLOBAL, GUIDE, PER_COORDINATE, THIRD, plain
from lessregret.report.picture_file import add_legend, panels, save_picture

CLAIM = "Theorem 1: a bad example for global learning rates"

SIZES = (8, 16, 32, 48, 64, 96)
"""k: T_0 = k³ oscillating rounds, then k coordinates that climb for k rounds each"""
LEAST_SIZE = 8
GRID = np.geomspace(1e-4, 1, 60)
"""the constant rates tried"""
FINER = np.geomspace(1e-7, 1, 400)
"""a grid finer and far wider, to see whether the first one missed anything"""
FALLING_SIZES = (8, 16, 32)
SHOWN_FALLING = 16
"""the k whose falling sequences the page shows"""
LEAST_FLOOR = 0.8
"""what regret over T^(2/3) is at least, for any falling sequence"""
SHOWN_SIZE = 48
"""the k whose regret is drawn for every constant rate"""
ENOUGH = 32
"""from this k on the per-coordinate slope, too, is within 0.03 of 1/2"""
SLACK = 1e-9

AS_PRINTED = "with j as printed (E3) the best constant rate has regret T^(2/3), too"

RATES = {
    "global": "global, adaptive (Theorem 2)",
    "best_constant": "global, best constant",
    "per_coordinate": "per coordinate, corrected",
    "as_printed": "per coordinate, as printed",
    "per_coordinate_oscillating": "corrected, the oscillating coordinate alone",
    "misprinted": "best constant, family with j as printed (E3)",
}
"""the columns whose growth is measured"""


def run(
    request: Request,
    done: Callable[[str], None] = lambda what: None,
    sizes: Sequence[int] = SIZES,
) -> Finding:
    """The regret of every rate on every member of the family."""
    rows = []
    for k in checked_sizes(sizes):
        rows.append(run_size(k))
        done(f"k = {k}")
    rows += [row for k in FALLING_SIZES for row in run_falling(k, request.seed)]
    done("falling sequences")
    rows += slopes(rows)
    claims = judge(rows)
    data = {"constants": [bad_family.constant_regret(SHOWN_SIZE, float(rate)) for rate in GRID]}
    return Finding(CLAIM, verdict(claims), rows, sections(rows, claims), data=data)


def checked_sizes(sizes: Sequence[int]) -> list[int]:
    """The sizes in order, each once.

    The theorem is about large T: the slopes of sizes below 8, or close to each other, are too far
    from their limits to judge it by.
    """
    whole = sorted({int(k) for k in sizes if isinstance(k, int | np.integer) and k >= LEAST_SIZE})
    if len(whole) < len(set(sizes)) or not whole or whole[-1] < 2 * whole[0]:
        raise SpecError(
            f"sizes: expected whole numbers from {LEAST_SIZE} up, the largest at least twice the "
            f"smallest, found {sizes!r}"
        )
    return whole


def run_size(k: int) -> dict[str, Any]:
    """One member of the family."""
    constant = [bad_family.constant_regret(k, float(rate)).total for rate in GRID]
    corrected = bad_family.per_coordinate_regret(k)
    return {
        "table": "regret",
        "k": k,
        "rounds": bad_family.rounds(k),
        "global": bad_family.global_regret(k).total,
        "best_constant": min(constant),
        "best_rate": float(GRID[int(np.argmin(constant))]),
        "best_constant_wider": min(bad_family.constant_regret(k, float(r)).total for r in FINER),
        "per_coordinate": corrected.total,
        "per_coordinate_oscillating": corrected.oscillating,
        "as_printed": bad_family.per_coordinate_regret(k, as_printed=True).total,
        "misprinted": min(bad_family.misprinted_regret(k, float(rate)).total for rate in GRID),
        "floor": bad_family.floor(k),
        "theorem3": 2 * sqrt(2) * k**1.5,
    }


def falling_rates(k: int, seed: int) -> dict[str, Point]:
    """Falling sequences of global rates, each trying in its way to do well."""
    total, t = bad_family.rounds(k), np.arange(1.0, bad_family.rounds(k) + 1)
    rng = np.random.default_rng(seed)
    return {
        "2/√t": 2 / np.sqrt(t),
        "1/t": 1 / t,
        "t^(−1/3)": t ** (-1 / 3),
        "halved eight times": 2.0 ** -(8 * t // (total + 1)),
        "1, at last 1/k": np.where(t < k**3, 1.0, 1 / k),
        "1/(2k), at last 0": np.where(t <= k**3, 1 / (2 * k), 0.0),
        "random, sorted": np.sort(rng.uniform(0, 2, total))[::-1],
        "random powers, sorted": np.sort(10 ** rng.uniform(-4, 0, total))[::-1],
    }


def run_falling(k: int, seed: int) -> list[dict[str, Any]]:
    """Falling sequences beside the two halves of the repaired argument (E5)."""
    return [as_falling(k, name, rates) for name, rates in falling_rates(k, seed).items()]


def as_falling(k: int, name: str, rates: Point) -> dict[str, Any]:
    """One sequence: the regret of both parts and what each is at least."""
    regret = bad_family.falling_regret(k, rates)
    last = float(rates[k**3 - 1])
    return {
        "table": "falling",
        "sequence": name,
        "rounds": bad_family.rounds(k),
        "last_rate": last,
        "oscillating": regret.oscillating,
        "oscillating_floor": bad_family.oscillation_floor(k, last),
        "climbing": regret.climbing,
        "climbing_floor": bad_family.climbing_floor(k, last),
        "floor": bad_family.floor(k),
    }


def slopes(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Least-squares slopes of log regret on log T, over all k and over the larger ones."""
    sized = of_table(rows, "regret")
    return [
        {"table": "slopes", "rate": name, "from_k": least, "slope": slope(sized, name, least)}
        for name in RATES
        for least in (min(row["k"] for row in sized), ENOUGH)
    ]


def slope(rows: list[dict[str, Any]], name: str, least: int) -> float | None:
    """The slope over k ≥ least; None for fewer than two."""
    used = [row for row in rows if row["k"] >= least]
    if len(used) < 2:
        return None
    over = np.log([row["rounds"] for row in used])
    return float(np.polyfit(over, np.log([row[name] for row in used]), 1)[0])


def of_table(rows: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """The rows of one table."""
    return [row for row in rows if row["table"] == name]


def judge(rows: list[dict[str, Any]]) -> dict[str, bool]:
    """What the theorem says, statement by statement."""
    sized, falling = of_table(rows, "regret"), of_table(rows, "falling")
    found = {row["rate"]: row["slope"] for row in reversed(of_table(rows, "slopes"))}
    return {
        f"no falling sequence of global rates can have regret below {LEAST_FLOOR} T^(2/3)": all(
            row["floor"] >= LEAST_FLOOR * row["rounds"] ** (2 / 3) for row in sized
        ),
        "and none tried has: both halves of the repaired argument (E5) hold": all(
            row[name] >= row["floor"] for row in sized for name in ("global", "best_constant")
        )
        and all(above_floor(row) for row in falling),
        "the regret of the global rates grows as T^(2/3): slopes within 0.02": all(
            abs(found[name] - 2 / 3) <= 0.02 for name in ("global", "best_constant")
        ),
        "the regret of per-coordinate rates is within Theorem 3's bound, below 2√2·√T": all(
            row["per_coordinate"] <= row["theorem3"] <= 2 * sqrt(2 * row["rounds"]) for row in sized
        ),
        "and grows no faster than √T: slopes at most 0.53": all(
            found[name] <= 0.53 for name in ("per_coordinate", "as_printed")
        ),
        AS_PRINTED: abs(found["misprinted"] - 2 / 3) <= 0.02,
    }


def above_floor(row: dict[str, Any]) -> bool:
    """Whether each half, and so the whole, is at least what the repaired argument says."""
    return bool(
        row["oscillating"] >= row["oscillating_floor"] * (1 - SLACK)
        and row["climbing"] >= row["climbing_floor"] * (1 - SLACK)
        and row["oscillating"] + row["climbing"] >= row["floor"] * (1 - SLACK)
    )


def verdict(claims: dict[str, bool]) -> str:
    """Holds for the family as meant; as printed only if the misprinted j does no harm."""
    if not all(held for claim, held in claims.items() if claim != AS_PRINTED):
        return FAILS_AS_PRINTED
    return HOLDS if claims[AS_PRINTED] else holds_as_corrected("E3", "E4", "E5")


def sections(rows: list[dict[str, Any]], claims: dict[str, bool]) -> list[str]:
    """The page."""
    sized = of_table(rows, "regret")
    return [
        STATEMENT,
        "## What we ran",
        about_run(sized),
        size_table(sized),
        about_wider(sized),
        "## How regret grows",
        slope_table(of_table(rows, "slopes")),
        about_slopes(rows),
        "## What came out",
        bullets(claims),
        "## Falling rates, and the errata",
        ERRATA,
        falling_table(shown_falling(rows)),
    ]


STATEMENT = """\
*There is a family of problems, one for every number of rounds T, on which gradient descent with any
falling global rate has regret Ω(T^(2/3)), while suitable per-coordinate rates have regret O(√T).*

The family puts the two problems of §2.2 side by side, with G = 1 and F = [0, 1]^(k+1). For k³
rounds the first coordinate oscillates, f_t(x) = |x_1 − ε|. Then k coordinates take their turns,
k rounds each, with f_t(x) = −x_j. Every round has one coordinate with a gradient, so regret adds up
over coordinates. The long oscillation wants a rate of at most about 1/√T_0; the many short climbs
want a rate near 1, or each of them loses most of its k rounds:

    Regret  ≥  (T_0/2)·η + (C/2)·min{ T_1, 1/(2η) },     T_0 = k³,  C = T_1 = k

Whatever η is, this is of order k² = T^(2/3). With a rate for each coordinate nothing has to be
agreed on: √T_0 for the oscillation and √T_1 for each climb, together k^1.5 + k·k^0.5, of order √T.
It does not contradict the O(GD√T) of a global rate, because D = √(k + 1) grows with T."""

ERRATA = """\
**E3.** The printed j = 1 + ⌈(T − T_0)/T_1⌉ does not depend on the round: one coordinate would climb
for all k² rounds. A constant rate then copes (last line of the slopes): the theorem needs the t.
**E4.** The term (T_0/2)·η is right for ε < η ≤ 1 only; ε < 1/(2 T_1), as here, closes the gap.

**E5.** The paper passes from constant to falling rates by saying that regret rises with η on the
first part and falls on the second. That is no proof, since with changing rates the play does not
alternate between 0 and η. Repair: a step that is not clipped costs |x_t − ε| + |x_{t+1} − ε| ≥ η_t
in its two rounds, a step clipped at 0 is followed by one that is not or that is clipped at 1, and a
step clipped at 1 costs 1 − ε. So three rounds cost at least min(η_{T_0}, 1 − ε), and the
oscillation at least ⌊T_0/3⌋ of that; and no climb is ahead of (s − 1)·η_{T_0} in its round s.
Falling sequences for k = SHOWN, each half beside what it is at least:""".replace(
    "SHOWN", str(SHOWN_FALLING)
)


def shown_falling(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The falling sequences of one k."""
    rounds = bad_family.rounds(SHOWN_FALLING)
    return [row for row in of_table(rows, "falling") if row["rounds"] == rounds]


def about_run(sized: list[dict[str, Any]]) -> str:
    """What was run, and what the columns are."""
    first, last = sized[0]["k"], sized[-1]["k"]
    return (
        f"The family with ε = 1/(4k) and T = k³ + k², for {len(sized)} values of k from {first} to "
        f"{last}, from x_1 = 0. Columns: the adaptive global rate D/√(2 Σ g²) of Theorem 2; the "
        f"best of {len(GRID)} constant rates from {GRID[0]:g} to {GRID[-1]:g}, chosen in "
        "hindsight; per-coordinate rates D_i/√(2 Σ g_i²) and, as printed, D_i/√(Σ g_i²). *Any "
        "falling* is what the repaired proof (E5) guarantees every falling global sequence to "
        "lose. The numbers are exact simulations, held to the plain game by a test."
    )


def about_wider(sized: list[dict[str, Any]]) -> str:
    """Whether the grid of constant rates was wide enough."""
    gain = max(row["best_constant"] - row["best_constant_wider"] for row in sized)
    return (
        "The best constant rate is tiny: it hardly moves, keeps the oscillation cheap and gives up "
        "the climbs, which cost k². Rates near 1/k cost as much: what they save on climbs they "
        f"lose on the oscillation. For large k the best rate is the least of the grid; {len(FINER)}"
        f" rates from {FINER[0]:g} to {FINER[-1]:g} find a regret lower by {gain:.2f} at most."
    )


def about_slopes(rows: list[dict[str, Any]]) -> str:
    """What the slopes say, and where they fall short of their limits."""
    found = {(row["rate"], row["from_k"]): row["slope"] for row in of_table(rows, "slopes")}
    sized = of_table(rows, "regret")
    least, last = sized[0]["k"], sized[-1]
    swing = last["per_coordinate_oscillating"] / sqrt(last["rounds"])
    climb = (last["per_coordinate"] - last["per_coordinate_oscillating"]) / last["k"]
    larger = found["per_coordinate", ENOUGH]
    from_enough = "" if larger is None else f"; from k = {ENOUGH} on the whole has {larger:.3f}"
    return (
        f"The corrected per-coordinate slope over all k is {found['per_coordinate', least]:.3f}. "
        f"The regret of k = {last['k']} is {swing:.2f}·√T for the oscillation plus {climb:.2f} for "
        "each of the k climbs, about T^(1/3) of them. The second term still counts when k is "
        "small, and pulls the slope below 1/2. The oscillating coordinate alone has slope "
        f"{found['per_coordinate_oscillating', least]:.3f}{from_enough}. "
        "The theorem's O(√T) is an upper bound, so a slope below 1/2 is not against it. The slopes "
        f"of the global rates are {found['global', least]:.3f} and "
        f"{found['best_constant', least]:.3f}, where 2/3 is the limit: T is k³ + k² and not k³."
    )


def size_table(rows: list[dict[str, Any]]) -> str:
    """The regrets, a line for each k."""
    columns = ("global", "best_constant", "per_coordinate", "as_printed", "floor")
    heading = ["k", "T", "global", "best constant", "per coordinate", "as printed", "any falling"]
    return table(
        heading,
        [
            [str(row["k"]), f"{row['rounds']:,}", *(f"{row[name]:,.1f}" for name in columns)]
            for row in rows
        ],
    )


def slope_table(rows: list[dict[str, Any]]) -> str:
    """The slopes, a line for each rate."""
    starts = list(dict.fromkeys(row["from_k"] for row in rows))
    found = {(row["rate"], row["from_k"]): row["slope"] for row in rows}
    body = [
        [title, *(as_slope(found[name, start]) for start in starts)]
        for name, title in RATES.items()
    ]
    return table(["slope of log regret on log T", *(f"k ≥ {start}" for start in starts)], body)


def as_slope(value: float | None) -> str:
    """Three digits, or a dash where there were too few points."""
    return "–" if value is None else f"{value:.3f}"


def falling_table(rows: list[dict[str, Any]]) -> str:
    """The falling sequences, a line for each."""
    heading = ["rates", "η at T_0", "oscillating", "at least", "climbing", "at least", "together",
               "at least"]  # fmt: skip
    columns = ("oscillating", "oscillating_floor", "climbing", "climbing_floor")
    body = []
    for row in rows:
        numbers = [row[name] for name in columns]
        numbers += [row["oscillating"] + row["climbing"], row["floor"]]
        body.append([row["sequence"], f"{row['last_rate']:.4f}", *(f"{n:,.1f}" for n in numbers)])
    return table(heading, body)


def draw(finding: Finding, path: str) -> None:
    """Left: regret over T. Right: regret over all constant rates, for one k."""
    figure, (left, right) = panels(2, (11, 5), width_ratios=(1.15, 1))
    _draw_growth(left, finding)
    _draw_constants(right, finding)
    save_picture(figure, path)


COLOURS = dict(
    zip(
        ("global", "best_constant", "per_coordinate", "as_printed"),
        (GLOBAL, FOURTH, PER_COORDINATE, THIRD),
        strict=True,
    )
)


def _draw_growth(axes: Any, finding: Finding) -> None:
    sized = of_table(finding.rows, "regret")
    rounds = [row["rounds"] for row in sized]
    found = {row["rate"]: row["slope"] for row in reversed(of_table(finding.rows, "slopes"))}
    for name, colour in COLOURS.items():
        label = f"{RATES[name]}: slope {as_slope(found[name])}"
        axes.plot(rounds, [row[name] for row in sized], "o-", color=colour, label=label, ms=4.5)
    axes.plot(rounds, [row["floor"] for row in sized], ":", color=GUIDE,
              label="any falling global rate: at least")  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="rounds T", ylabel="regret")
    axes.set_ylim(top=12 * max(row["global"] for row in sized))
    plain(axes, "Regret on the family of Theorem 1")
    add_legend(axes, fontsize=8.5, loc="upper left")


def _draw_constants(axes: Any, finding: Finding) -> None:
    parts = finding.data["constants"]
    axes.plot(
        GRID, [part.total for part in parts], color=FOURTH, lw=2, label="constant global rate"
    )
    axes.plot(GRID, [part.oscillating for part in parts], "--", color=FOURTH, lw=1,
              label="of it: the oscillating coordinate")  # fmt: skip
    axes.plot(GRID, [part.climbing for part in parts], ":", color=FOURTH, lw=1.4,
              label="of it: the climbing coordinates")  # fmt: skip
    own = bad_family.per_coordinate_regret(SHOWN_SIZE).total
    axes.axhline(own, color=PER_COORDINATE, label="per coordinate, corrected")
    axes.set(xscale="log", yscale="log", xlabel="constant rate η", ylabel="regret")
    axes.set_ylim(5, 10 * max(part.total for part in parts))
    plain(axes, f"No constant rate is good: k = {SHOWN_SIZE}")
