"""§4.2: regret bounded by how much each coordinate's gradients vary, not by how large they are.

Learners of Hazan and Kale's kind run in each coordinate, and are set beside the same algorithm with
one rate for all coordinates, and beside plain descent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log, sqrt
from typing import Any

import numpy as np

from lessregret.game.algorithms import (
    Algorithm,
    Composite,
    Descent,
    LazyProjection,
    OneDimensional,
    Optimistic,
    PerCoordinateRate,
    RestartedLazyProjection,
)
from lessregret.game.domains import Point, interval
from lessregret.game.losses import linear
from lessregret.game.play import Problem, Transcript, play
from lessregret.game.problems import Contrary, Recorded, UnequalVariance
from lessregret.paper.finding import (
    FAILS,
    HOLDS,
    Finding,
    Request,
    bullets,
    holds_as_corrected,
    table,
)
from lessregret.report.palette import FOURTH, GLOBAL, GUIDE, PER_COORDINATE, THIRD, plain
from lessregret.report.picture_file import panels, save_picture

CLAIM = "§4.2: tighter bounds in terms of variance"

MEANS = (0.9, 0.9, -0.9, 0.5, -0.5, 0.5, 0.0, 0.0)
NOISES = (0.0, 0.02, 0.05, 0.02, 0.05, 0.1, 0.05, 1.0)
"""seven quiet coordinates and a loud one"""
HORIZONS = (512, 2048, 8192)
SEEDS = 3
CONSTANT_HORIZONS = (10, 100, 1000, 10_000)
CONTRARY_HORIZONS = (100, 1000, 10_000)
SPREADS = {
    "all alike": (0.5,) * 8,
    "halving": tuple(2.0**-i for i in range(8)),
    "the game above": NOISES,
    "one loud, seven silent": (1.0, *(0.0,) * 7),
}
"""the noises of the comparison of bounds"""
LARGEST = 1.05
"""no gradient of the game is larger"""
SLACK = 1e-9

TITLES = {
    "optimistic": "optimistic",
    "told": "lazy, told V_i",
    "restarted": "lazy, restarted",
    "descent": "descent",
    "joint": "jointly lazy, told V",
    "untold": "lazy, η = 1/6 for ever",
}

NO_CONSTANT = "as printed, without a constant: no variation, no regret"
MERE_COPY = "as printed, “a separate copy on each coordinate” is enough: no V told, no restarts"


class Told(Composite):
    """Lazy projection in each coordinate, each told the variation of its own to expect."""

    def __init__(self, variations: Point) -> None:
        super().__init__(lambda low, high: LazyProjection(low, high, 1.0, LARGEST))
        self.variations = variations

    def learner(self, coordinate: int) -> OneDimensional:
        known = coordinate in self.learners
        learner = super().learner(coordinate)
        if not known:
            # A variation below 1 in units of the largest gradient changes nothing: η is 1/6.
            variation = max(1.0, float(self.variations[coordinate]) / LARGEST**2)
            learner = LazyProjection(learner.low, learner.high, variation, LARGEST)
            self.learners[coordinate] = learner
        return learner


def players(variations: Point) -> dict[str, Algorithm]:
    """All algorithms for a game of these variations.

    The joint one is Hazan and Kale's in n dimensions: scaled to the unit ball, |x| by √n and |g| by
    √n, it is lazy projection with Q = V/n in every coordinate, and its 15 √Q becomes 15 √(nV).
    """
    return {
        "optimistic": Composite(lambda low, high: Optimistic(low, high, 2 * LARGEST)),
        "told": Told(variations),
        "restarted": Composite(lambda low, high: RestartedLazyProjection(low, high, LARGEST)),
        "descent": Descent(PerCoordinateRate()),
        "joint": Told(np.full(len(variations), variations.mean())),
    }


def run(
    request: Request,
    done: Callable[[str], None] = lambda what: None,
    horizons: Sequence[int] = HORIZONS,
) -> Finding:
    """The game of unequal noise, the constant gradient, the adversary, and the two bounds."""
    rows = [row for rounds in horizons for row in run_unequal(rounds, request.seed)]
    done("unequal noise")
    rows += [run_constant(rounds) for rounds in CONSTANT_HORIZONS]
    rows += [run_contrary(rounds) for rounds in CONTRARY_HORIZONS]
    done("the constant gradient and the adversary")
    rows += [run_spread(name, request.seed) for name in SPREADS]
    claims = judge(rows)
    return Finding(CLAIM, verdict(claims), rows, sections(rows, claims))


def run_unequal(rounds: int, seed: int) -> list[dict[str, Any]]:
    """Mean regret of each coordinate over the seeds, beside its variation and its guarantees."""
    games = [play_unequal(rounds, seed + k) for k in range(SEEDS)]
    means = {name: np.mean([game[name] for game in games], axis=0) for name in games[0]}
    # A coordinate is within its guarantees if it was in every game.
    within = means.pop("within") == 1
    return [
        {"table": "unequal", "rounds": rounds, "coordinate": i, "mean": MEANS[i],
         "noise": NOISES[i], **{name: float(mean[i]) for name, mean in means.items()},
         "within": bool(within[i])}
        for i in range(len(MEANS))
    ]  # fmt: skip


def play_unequal(rounds: int, seed: int) -> dict[str, Point]:
    """All algorithms on one drawing of the noise: an entry for each coordinate."""
    problem = UnequalVariance(rounds, MEANS, NOISES, seed)
    gradients = np.array(
        [problem.loss(t, problem.domain.start).slope for t in range(1, rounds + 1)]
    )
    variations = variation(gradients)
    algorithms = players(variations)
    games = {name: play(algorithm, problem) for name, algorithm in algorithms.items()}
    regrets = {name: game.coordinate_regrets("linear") for name, game in games.items()}
    bound = optimistic_bounds(algorithms["optimistic"], len(MEANS))
    lazy = 15 * np.sqrt(np.maximum(LARGEST**2, variations))
    # E ≤ g_1² + 2V, so the bound of the optimistic learner is one by variation.
    by_variation = sqrt(2) * np.sqrt(gradients[0] ** 2 + 2 * variations + (2 * LARGEST) ** 2)
    within = (regrets["optimistic"] <= bound) & (bound <= by_variation * (1 + SLACK))
    within &= (regrets["told"] <= lazy) & (regrets["restarted"] <= 2 * lazy)
    widths = problem.domain.widths
    return {**regrets, "root_variation": np.sqrt(variations), "optimistic_bound": bound,
            "descent_bound": widths * np.sqrt(2 * games["descent"].energies),
            "within": within}  # fmt: skip


def variation(gradients: Point) -> Point:
    """V_i = Σ_t (g_{t,i} − mean)²."""
    return np.asarray(((gradients - gradients.mean(axis=0)) ** 2).sum(axis=0))


def optimistic_bounds(algorithm: Algorithm, dimensions: int) -> Point:
    """D_i/√2 · √(E_i + B²) of every coordinate."""
    assert isinstance(algorithm, Composite)
    learners = [algorithm.learner(i) for i in range(dimensions)]
    return np.array([learner.bound for learner in learners if isinstance(learner, Optimistic)])


def single(told: float) -> dict[str, Algorithm]:
    """The algorithms for one coordinate with |g| ≤ 1, one of them told a bound on V."""
    return {
        "optimistic": Composite(Optimistic),
        "told": Composite(lambda low, high: LazyProjection(low, high, told)),
        "restarted": Composite(RestartedLazyProjection),
        "descent": Descent(PerCoordinateRate()),
        "untold": Composite(lambda low, high: LazyProjection(low, high, 1.0)),
    }


def run_constant(rounds: int) -> dict[str, Any]:
    """The gradient 1 in every round on [−1, 1]: nothing varies; lazy projection is told Q = 1."""
    problem = Recorded(interval(-1.0, 1.0), [linear([0], 1.0)] * rounds)
    return {"table": "constant", "rounds": rounds, "variation": 0.0,
            **{name: regret for name, (regret, _) in play_single(problem, 1.0).items()
               if name != "untold"}}  # fmt: skip


def run_contrary(rounds: int) -> dict[str, Any]:
    """An adversary that always pushes back over 0: V is about T."""
    played = play_single(Contrary(rounds, interval(-1.0, 1.0)), float(rounds))
    regrets = {name: regret for name, (regret, _) in played.items()}
    return {"table": "contrary", "rounds": rounds, "variation": played["told"][1], **regrets}


def play_single(problem: Problem, told: float) -> dict[str, tuple[float, float]]:
    """For each algorithm its regret and the variation it met."""
    games = {name: play(algorithm, problem) for name, algorithm in single(told).items()}
    return {name: (game.regret(), met(game)) for name, game in games.items()}


def met(game: Transcript) -> float:
    """The variation of the gradients of a game in one coordinate."""
    return float(variation(np.array(game.gradients))[0])


def run_spread(name: str, seed: int) -> dict[str, Any]:
    """Σ√V_i beside √(nV) for one way of spreading noise over eight coordinates."""
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(HORIZONS[0], 8))
    variations = variation(signs * np.array(SPREADS[name]))
    apart, together = float(np.sqrt(variations).sum()), sqrt(8 * float(variations.sum()))
    return {"table": "spread", "spread": name, "apart": apart, "together": together}


def of_table(rows: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """The rows of one table."""
    return [row for row in rows if row["table"] == name]


def slope(rows: list[dict[str, Any]], name: str) -> float:
    """The slope of log regret on log T over the last two horizons."""
    before, after = rows[-2:]
    return log(after[name] / before[name]) / log(after["rounds"] / before["rounds"])


def growth(rows: list[dict[str, Any]], name: str) -> float:
    """How many times the regret of the quiet coordinates with a mean grew, first T to last."""
    quiet = [row for row in rows if row["mean"] != 0]
    first, last = min(row["rounds"] for row in rows), max(row["rounds"] for row in rows)
    sums = [sum(row[name] for row in quiet if row["rounds"] == t) for t in (first, last)]
    return float(sums[1] / sums[0])


def judge(rows: list[dict[str, Any]]) -> dict[str, bool]:
    """What the section says, statement by statement."""
    unequal, constant = of_table(rows, "unequal"), of_table(rows, "constant")
    contrary, spread = of_table(rows, "contrary"), of_table(rows, "spread")
    return {
        "each coordinate's regret is within its guarantee by variation, in every run": all(
            row["within"] for row in unequal
        ),
        "against the adversary, too, regret grows like √V = √T: slopes at most 0.6": all(
            slope(contrary, name) <= 0.6 for name in ("optimistic", "told", "restarted")
        ),
        "Σ√V_i ≤ √(nV), and less than half of it where one coordinate is loud": all(
            row["apart"] <= row["together"] * (1 + SLACK) for row in spread
        )
        and spread[-1]["apart"] < spread[-1]["together"] / 2,
        "quiet coordinates pay nothing for a loud one: apart their regret stays, jointly it grows":
            growth(unequal, "told") <= 1.1 and growth(unequal, "joint") >= 2,
        NO_CONSTANT: all(row[name] <= SLACK for row in constant for name in ("optimistic", "told")),
        MERE_COPY: slope(contrary, "untold") <= 0.6,
    }  # fmt: skip


def verdict(claims: dict[str, bool]) -> str:
    """Holds with what E14 asks for; as printed only if neither of the two was needed."""
    printed = (NO_CONSTANT, MERE_COPY)
    if not all(held for claim, held in claims.items() if claim not in printed):
        return FAILS
    return HOLDS if all(claims[claim] for claim in printed) else holds_as_corrected("E14")


def sections(rows: list[dict[str, Any]], claims: dict[str, bool]) -> list[str]:
    """The page."""
    return [
        STATEMENT,
        "## What we ran",
        RAN,
        unequal_table(of_table(rows, "unequal")),
        about_unequal(of_table(rows, "unequal")),
        "## The two bounds",
        spread_table(of_table(rows, "spread")),
        "By Cauchy–Schwarz Σ√V_i ≤ √(nV), with equality if all V_i are equal. With a single loud "
        "coordinate of n the factor is √n.",
        "## What came out",
        bullets(claims),
        "## Erratum E14, and a constant",
        ERRATA,
        single_table(of_table(rows, "contrary"), ("untold", "told", "restarted", "optimistic")),
        CONSTANT,
        single_table(of_table(rows, "constant"), ("told", "restarted", "optimistic", "descent")),
    ]


STATEMENT = """\
The bounds of §3 are in terms of Σ g²: gradients that are large but always the same look as bad as
gradients that fluctuate. Yet against a constant gradient there is nothing to learn after the first
rounds. Hazan and Kale's algorithm has regret O(√(nV)), where V = Σ_t |g_t − μ|² and μ is the mean
of the gradients.

*A separate copy of it on each coordinate has regret O(Σ_i √V_i), V_i = Σ_t (g_{t,i} − μ_i)². This
is never worse, and substantially better if the V_i differ greatly.*"""

RAN = f"""\
Linear losses on [−1, 1]⁸, gradients mean_i ± noise_i with random signs; means of {SEEDS} seeds.
Seven coordinates are quiet, one is loud. In each coordinate on its own:

- *optimistic*: follow the regularised leader with the running mean as the hint for the next
  gradient; regret ≤ (D_i/√2)·√(E_i + B²), where E_i, the sum of the squared errors of the hints, is
  at most g_1² + 2V_i, and B bounds one error;
- *lazy projection*: x = clip(−η Σ g), scaled so that |x| ≤ 1 and |g| ≤ 1, with η = min(2/√Q, 1/6)
  and regret ≤ 15√Q for Q ≥ max(V, 1). It is either *told* V_i in advance or begins with η = 1/6 and
  is *restarted* with half the rate whenever its epoch has varied too much;
- *descent* with the rates of Theorem 3, which ignores variation.

*Jointly lazy* is Hazan and Kale's algorithm in eight dimensions, told V: one rate for all."""

ERRATA = """\
The algorithm must know V, or find it out by restarts; “running a separate copy” does not say so
(E14). Against an adversary that always pushes back over 0, a copy neither told nor restarted
loses in every round, for ever (regret on [−1, 1]; V is about T):"""

CONSTANT = """\
And O(√V) hides a constant. If the gradient is 1 in every round then V = 0, but nobody knows the
sign in the first round, so no algorithm has regret 0 for both signs. Read √V_i + 1 for √V_i. The
comparison survives: scaled back to the unit cube, the joint algorithm's constant is n as well. The
regret against the constant gradient does not depend on T:"""


def unequal_table(rows: list[dict[str, Any]]) -> str:
    """The longest game: a line for each coordinate, and their sum."""
    last = [row for row in rows if row["rounds"] == max(row["rounds"] for row in rows)]
    keys = ("root_variation", "optimistic", "optimistic_bound", "told", "restarted", "joint",
            "descent", "descent_bound")  # fmt: skip
    body = [
        [f"{row['mean']:g} ± {row['noise']:g}", *(f"{row[key]:.1f}" for key in keys)]
        for row in last
    ]
    body.append(["sum", *(f"{sum(row[key] for row in last):.1f}" for key in keys)])
    heading = ["gradient", "√V_i", "optimistic", "(bound)", "told", "restarted", "jointly",
               "descent", "(bound)"]  # fmt: skip
    return table(heading, body)


def about_unequal(rows: list[dict[str, Any]]) -> str:
    """What the table shows, and what it does not."""
    first, last = min(row["rounds"] for row in rows), max(row["rounds"] for row in rows)
    totals = {
        name: sum(row[name] for row in rows if row["rounds"] == last)
        for name in ("optimistic", "descent")
    }
    return (
        f"Regret at T = {last:,}. In the six quiet coordinates with a mean the lazy learners' "
        "regret is that of reaching the right corner, whatever T is: from "
        f"T = {first} to {last:,} it grew {growth(rows, 'told'):.2f}-fold. The joint algorithm's "
        f"grew {growth(rows, 'joint'):.2f}-fold, because the loud coordinate slows all of them. "
        "The loud coordinate costs every algorithm √(2V_i/π) on average, since its signs cannot be "
        "foreseen; the differences in its line are chance.\n\n"
        f"Plain descent ends with {totals['descent']:.1f} in all, beside "
        f"{totals['optimistic']:.1f} for the optimistic learners: a gradient that keeps its sign "
        "pins it to the corner, too. What the section improves is what can be promised: compare "
        "the two columns of bounds."
    )


def spread_table(rows: list[dict[str, Any]]) -> str:
    """Both bounds, a line for each way of spreading the noise."""
    body = [
        [row["spread"], f"{row['apart']:.1f}", f"{row['together']:.1f}",
         f"{row['together'] / row['apart']:.2f}"]
        for row in rows
    ]  # fmt: skip
    return table([f"noise, T = {HORIZONS[0]}", "Σ√V_i", "√(nV)", "ratio"], body)


def single_table(rows: list[dict[str, Any]], names: Sequence[str]) -> str:
    """One coordinate: algorithms across, horizons down."""
    body = [[f"{row['rounds']:,}", *(f"{row[name]:,.2f}" for name in names)] for row in rows]
    return table(["T", *(TITLES[name].replace("V_i", "Q") for name in names)], body)


def draw(finding: Finding, path: str) -> None:
    """Left: the quiet coordinates over T, apart and jointly. Right: the adversary."""
    figure, (left, right) = panels(2, (11, 4.8))
    _draw_quiet(left, of_table(finding.rows, "unequal"))
    _draw_contrary(right, of_table(finding.rows, "contrary"))
    save_picture(figure, path)


COLOURS = {
    "joint": GLOBAL,
    "untold": GLOBAL,
    "restarted": FOURTH,
    "told": PER_COORDINATE,
    "optimistic": THIRD,
    "descent": GUIDE,
}


def _draw_quiet(axes: Any, rows: list[dict[str, Any]]) -> None:
    rounds = list(dict.fromkeys(row["rounds"] for row in rows))
    for name in ("joint", "restarted", "told", "optimistic", "descent"):
        sums = [
            sum(row[name] for row in rows if row["rounds"] == t and row["mean"]) for t in rounds
        ]
        # The restarted learner never needs to restart here and lies under the one that was told.
        size = {"lw": 5, "alpha": 0.4} if name == "restarted" else {"ms": 4.5}
        axes.plot(rounds, sums, "o-", color=COLOURS[name], label=TITLES[name], **size)
    axes.set(xscale="log", xlabel="rounds T", ylabel="sum of their regrets")
    axes.set_xticks(rounds, [f"{t:,}" for t in rounds])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    plain(axes, "Six quiet coordinates beside a loud one")


def _draw_contrary(axes: Any, rows: list[dict[str, Any]]) -> None:
    rounds = [row["rounds"] for row in rows]
    for name in ("untold", "restarted", "descent", "told", "optimistic"):
        label = f"{TITLES[name].replace('V_i', 'V')}: slope {slope(rows, name):.2f}"
        style = "--" if name == "restarted" else "-"
        values = [row[name] for row in rows]
        axes.plot(rounds, values, "o" + style, color=COLOURS[name], ms=4.5, label=label)
    axes.set(xscale="log", yscale="log", xlabel="rounds T", ylabel="regret")
    plain(axes, "One coordinate against an adversary")
