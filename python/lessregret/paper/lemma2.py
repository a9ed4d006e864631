"""Lemma 2: the regret of one learner for each coordinate is at most the sum of theirs."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log1p
from typing import Any, Literal

import numpy as np

from lessregret.game.algorithms import (
    AdaptiveDescent,
    Composite,
    OneDimensional,
    Optimistic,
    RuleLearner,
)
from lessregret.game.algorithms.composite import MakeLearner
from lessregret.game.domains import Box, Point
from lessregret.game.losses import Coordinates, RoundLoss, Smooth, logistic_loss
from lessregret.game.play import Comparator, Problem, play
from lessregret.game.problems import RandomLinear, Recorded, UnequalCurvature
from lessregret.learners.rules import Ftrl, PerCoordinate
from lessregret.paper.finding import (
    FAILS_AS_PRINTED,
    HOLDS,
    Finding,
    Request,
    bullets,
    holds_as_corrected,
    table,
)
from lessregret.report.palette import (
    FIFTH,
    FOURTH,
    GLOBAL,
    GUIDE,
    INK,
    PER_COORDINATE,
    THIRD,
    plain,
)
from lessregret.report.picture_file import add_legend, panels, save_picture

CLAIM = "Lemma 2: one learner for each coordinate"

ROUNDS = 500
DIMENSIONS = 12
ACTIVE = 4
STRENGTH = 0.1
"""λ of the regularised logistic loss"""
SLACK = 1e-9

Minorant = Literal["linear", "quadratic"]


class Wrong(OneDimensional):
    """Steps uphill: as bad as a learner can be. The lemma must hold for it as well."""

    def feed(self, gradient: float, curvature: float = 0.0) -> None:
        self.point = self.clip(self.point + 0.3 * gradient)


LEARNERS: dict[str, MakeLearner] = {
    "per-coordinate rule": lambda low, high: RuleLearner(PerCoordinate(rate="theory"), low, high),
    "FTRL rule": lambda low, high: RuleLearner(Ftrl(rate=0.5), low, high),
    "adaptive descent": AdaptiveDescent,
    "optimistic": lambda low, high: Optimistic(low, high, surprise=6.0),
    "wrong way": Wrong,
}


def run(request: Request, done: Callable[[str], None] = lambda what: None) -> Finding:
    """Every learner on every problem, then the minorant as printed."""
    rows: list[dict[str, Any]] = []
    for name, problem in problems(request.seed).items():
        rows += run_problem(name, problem)
        done(name)
    rows += [compare_minorants(name) for name in LOSSES]
    claims = judge(rows)
    return Finding(CLAIM, verdict(claims), rows, sections(rows, claims))


def problems(seed: int) -> dict[str, Problem]:
    """Losses that split over coordinates, and losses that do not."""
    rng = np.random.default_rng(seed)
    cube = Box.cube(DIMENSIONS, -1.0, 1.0)
    return {
        "linear": RandomLinear(ROUNDS, DIMENSIONS, seed=seed),
        "quadratic": UnequalCurvature(ROUNDS, (2.0, 1.0, 0.5, 0.0), seed),
        "logistic": Recorded(cube, [drawn(rng, logistic) for _ in range(ROUNDS)]),
        "logistic + L2": Recorded(cube, [drawn(rng, regularised) for _ in range(ROUNDS)]),
        "squared": Recorded(cube, [drawn(rng, squared) for _ in range(ROUNDS)]),
    }


MakeLoss = Callable[[Coordinates, Point, float], RoundLoss]


def drawn(rng: np.random.Generator, make: MakeLoss) -> RoundLoss:
    """The loss of a random sparse example whose label depends on its features."""
    coordinates = np.sort(rng.choice(DIMENSIONS, size=ACTIVE, replace=False))
    values = rng.normal(size=ACTIVE)
    margin = values @ np.cos(coordinates)
    return make(coordinates, values, 1.0 if margin + rng.logistic() > 0 else -1.0)


def logistic(coordinates: Coordinates, values: Point, label: float) -> RoundLoss:
    """log(1 + exp(−y θ·x))"""
    return logistic_loss(coordinates, values, label)


def regularised(coordinates: Coordinates, values: Point, label: float) -> RoundLoss:
    """log(1 + exp(−y θ·x)) + λ/2 Σ x_i² over the features of the example, curved by λ."""
    plain_loss = logistic_loss(coordinates, values, label)
    return Smooth(
        coordinates,
        lambda at: plain_loss.value(at) + STRENGTH / 2 * float(at @ at),
        lambda at: plain_loss.gradient(at) + STRENGTH * at,
        curvature=STRENGTH,
    )


def squared(coordinates: Coordinates, values: Point, label: float) -> RoundLoss:
    """½ (θ·x − y)²"""
    return Smooth(
        coordinates,
        lambda at: float(values @ at - label) ** 2 / 2,
        lambda at: np.asarray((values @ at - label) * values),
    )


def run_problem(name: str, problem: Problem) -> list[dict[str, Any]]:
    """All learners on one problem, with every minorant it allows."""
    best = play(Composite(AdaptiveDescent), problem).comparator
    curved = bool(problem.loss(1, problem.domain.start).curvature.any())
    minorants: tuple[Minorant, ...] = ("linear", "quadratic") if curved else ("linear",)
    return [
        run_learner(name, problem, learner, minorant, best)
        for minorant in minorants
        for learner in LEARNERS
    ]


def run_learner(
    name: str, problem: Problem, learner: str, minorant: Minorant, best: Comparator
) -> dict[str, Any]:
    """R and Σ R_i; no round's loss depends on the play, so the best fixed point is shared."""
    transcript = play(Composite(LEARNERS[learner], minorant), problem)
    return {
        "table": "regrets",
        "problem": name,
        "learner": learner,
        "minorant": minorant,
        "regret": transcript.total_loss - best.loss,
        "gap": best.gap,
        "sum_of_regrets": float(transcript.coordinate_regrets(minorant).sum()),
    }


LOSSES: dict[str, tuple[Callable[[float], float], Callable[[float], float], float]] = {
    "x², x_t = 1": (lambda x: x * x, lambda x: 2 * x, 1.0),
    "(x − 1)², x_t = 0": (lambda x: (x - 1) ** 2, lambda x: 2 * (x - 1), 0.0),
    "log(1 + exp(−2x)), x_t = −1": (
        lambda x: log1p(exp(-2 * x)),
        lambda x: -2 / (1 + exp(2 * x)),
        -1.0,
    ),
    "abs(x), x_t = −1": (abs, lambda x: 1.0 if x > 0 else -1.0, -1.0),
}
"""losses in one dimension, their slopes, and a point played"""
GRID = np.linspace(-2.0, 2.0, 401)


def as_printed(name: str, x: float) -> float:
    """f_t(x) + f_t'(x_t)(x − x_t), as the paper prints it."""
    f, slope, played = LOSSES[name]
    return f(x) + slope(played) * (x - played)


def tangent(name: str, x: float) -> float:
    """f_t(x_t) + f_t'(x_t)(x − x_t), as it must be (E11)."""
    f, slope, played = LOSSES[name]
    return f(played) + slope(played) * (x - played)


def compare_minorants(name: str) -> dict[str, Any]:
    """Where the printed minorant is farthest above its loss on [−2, 2], and the tangent there."""
    f = LOSSES[name][0]
    worst = float(max(GRID, key=lambda x: as_printed(name, x) - f(x)))
    return {
        "table": "minorants",
        "loss": name,
        "x": worst,
        "value": f(worst),
        "as_printed": as_printed(name, worst),
        "corrected": tangent(name, worst),
        "corrected_excess": max(tangent(name, x) - f(x) for x in GRID.tolist()),
    }


def judge(rows: list[dict[str, Any]]) -> dict[str, bool]:
    """The lemma, where it is exact, and its minorant."""
    regrets = [row for row in rows if row["table"] == "regrets"]
    minorants = [row for row in rows if row["table"] == "minorants"]
    return {
        "the regret, with its gap, is at most the sum of the learners' regrets": all(
            row["regret"] + row["gap"] <= row["sum_of_regrets"] + slack(row) for row in regrets
        ),
        "they are equal where the minorant is the loss itself": all(
            abs(row["regret"] - row["sum_of_regrets"]) <= slack(row)
            for row in regrets
            if (row["problem"], row["minorant"]) in EXACT
        ),
        "the tangent, f_t(x_t) + ∇f_t(x_t)·(x − x_t), is a lower bound": all(
            row["corrected_excess"] <= SLACK for row in minorants
        ),
        AS_PRINTED: all(row["as_printed"] <= row["value"] + SLACK for row in minorants),
    }


EXACT = (("linear", "linear"), ("quadratic", "quadratic"))
AS_PRINTED = "as printed, f_t(x) + ∇f(x_t)·(x − x_t), it is a lower bound"


def slack(row: dict[str, Any]) -> float:
    """What rounding may do to sums of this size."""
    return float(SLACK * (1 + abs(row["sum_of_regrets"])))


def verdict(claims: dict[str, bool]) -> str:
    """The lemma must hold; its minorant needs erratum E11 unless it holds as printed."""
    if not all(held for claim, held in claims.items() if claim != AS_PRINTED):
        return FAILS_AS_PRINTED
    return HOLDS if claims[AS_PRINTED] else holds_as_corrected("E11")


def sections(rows: list[dict[str, Any]], claims: dict[str, bool]) -> list[str]:
    """The page."""
    return [
        STATEMENT,
        "## What we ran",
        RAN,
        regret_table(rows),
        CAME_OUT,
        "## The minorant as printed",
        ERRATUM,
        minorant_table(rows),
        "## What came out",
        bullets(claims),
    ]


STATEMENT = """\
*On a box, let ℓ_t(x) = Σ_i ℓ_{t,i}(x_i) be a lower bound on the loss f_t that equals it at the
point played, f_t(x_t) = ℓ_t(x_t). Run any one-dimensional algorithm in each coordinate i, with
losses ℓ_{t,i}, and let R_i be its regret. Then the regret of the whole is at most Σ_i R_i.*

The proof is two lines. Replacing f_t by ℓ_t leaves what was suffered unchanged and can only lower
what the comparator suffers, so regret can only grow; and the minimum over a box of a sum of
functions of one coordinate each is the sum of their minima. The lemma turns every one-dimensional
algorithm into one for n dimensions, with a guarantee that is a sum over coordinates. Theorem 3 is
its first use and §4 its others; this library is built on it: a rule is a one-dimensional algorithm,
and a learner runs one per coordinate.

Lower bounds that split always exist for convex losses: the tangent. For losses that are strongly
convex with curvatures H_i a quadratic is better (§4.1):

    linear       ℓ_{t,i}(y) = f_t(x_t)/n + g_{t,i}·(y − x_{t,i})
    quadratic    the same + (H_i/2)·(y − x_{t,i})²"""

RAN = f"""\
Composites of five one-dimensional learners: two rules of the library (gradient descent with
per-coordinate rates, FTRL-Proximal), adaptive descent (§4.1), optimistic FTRL (§4.2), and one that
steps uphill, because the lemma says *any* algorithm. Problems of {ROUNDS} rounds: sparse random
linear losses; separable quadratics; and logistic, L2-regularised logistic and squared losses of
random examples with {ACTIVE} of {DIMENSIONS} features, which do not split over coordinates. The
best fixed point is exact or has a gap, which counts against the lemma. Regret, then Σ R_i:"""

CAME_OUT = """\
Where the minorant is the loss itself, linear or quadratic, the two sides are equal. Elsewhere the
difference is what the minorant gives away. It is large for curved losses with linear minorants: the
sum bounds the regret on the tangents, where the comparator may run to a corner of the box. The
quadratic minorant gives away less."""

ERRATUM = """\
**E11.** The paper prints the linear minorant as ℓ_t(x) = f_t(x) + ∇f(x_t)·(x − x_t), with f_t(x)
where f_t(x_t) belongs. So printed it equals f_t at x_t, but it is above f_t wherever ∇f(x_t)·(x −
x_t) > 0, and it is not linear. The paper adds a “bias” coordinate for the constant f_t(x_t);
splitting it as f_t(x_t)/n over the coordinates, as §4.1 does, makes that unnecessary. Where the
printed formula is farthest above its loss on [−2, 2]:"""


def regret_table(rows: list[dict[str, Any]]) -> str:
    """A line for each problem and minorant, a pair of numbers for each learner."""
    cells = {
        (row["problem"], row["minorant"], row["learner"]): row
        for row in rows
        if row["table"] == "regrets"
    }
    lines = list(dict.fromkeys((problem, minorant) for problem, minorant, _ in cells))
    body = [
        [f"{problem}, {minorant} minorant"]
        + [as_pair(cells[problem, minorant, learner]) for learner in LEARNERS]
        for problem, minorant in lines
    ]
    return table(["loss", *LEARNERS], body)


def as_pair(row: dict[str, Any]) -> str:
    """R ≤ Σ R_i."""
    sign = "≤" if row["regret"] + row["gap"] <= row["sum_of_regrets"] + slack(row) else ">"
    return f"{row['regret']:.1f} {sign} {row['sum_of_regrets']:.1f}"


def minorant_table(rows: list[dict[str, Any]]) -> str:
    """A line for each loss."""
    body = [
        [row["loss"], f"{row['x']:g}"]
        + [f"{row[name]:.3f}" for name in ("value", "as_printed", "corrected")]
        for row in rows
        if row["table"] == "minorants"
    ]
    return table(["loss", "x", "f_t(x)", "as printed", "corrected"], body)


def draw(finding: Finding, path: str) -> None:
    """Left: regret against the sum of regrets. Right: the minorant as printed and corrected."""
    figure, (left, right) = panels(2, (11, 5), width_ratios=(1.15, 1))
    _draw_regrets(left, [row for row in finding.rows if row["table"] == "regrets"])
    _draw_minorants(right, "log(1 + exp(−2x)), x_t = −1")
    save_picture(figure, path)


def _draw_regrets(axes: Any, rows: list[dict[str, Any]]) -> None:
    marks = dict(zip(dict.fromkeys(row["problem"] for row in rows), "osD^v", strict=True))
    colours = (PER_COORDINATE, THIRD, FOURTH, FIFTH, GLOBAL)
    for learner, colour in zip(LEARNERS, colours, strict=True):
        for problem, mark in marks.items():
            chosen = [row for row in rows if (row["learner"], row["problem"]) == (learner, problem)]
            axes.plot([row["sum_of_regrets"] for row in chosen], [row["regret"] for row in chosen],
                      mark, color=colour, ms=6.5, alpha=0.85)  # fmt: skip
        axes.plot([], [], "o", color=colour, label=learner)
    for problem, mark in marks.items():
        axes.plot([], [], mark, color=GUIDE, label=problem, mfc="none")
    ends = [min(row["regret"] for row in rows) / 2, max(row["sum_of_regrets"] for row in rows) * 2]
    axes.plot(ends, ends, color=GUIDE, lw=1, zorder=0)
    axes.set(xscale="log", yscale="log", xlabel="sum of the learners' regrets", ylabel="regret")
    plain(axes, "No regret is above the line")
    add_legend(axes, fontsize=8.5, ncols=2, loc="upper left")


def _draw_minorants(axes: Any, name: str) -> None:
    f, _, played = LOSSES[name]
    grid = np.linspace(-2.0, 1.0, 200).tolist()
    axes.plot(grid, [f(x) for x in grid], color=INK, lw=2, label="the loss, log(1 + exp(−2x))")
    axes.plot(grid, [as_printed(name, x) for x in grid], "--", color=GLOBAL,
              label="as printed: f_t(x) + f_t′(x_t)(x − x_t)")  # fmt: skip
    axes.plot(grid, [tangent(name, x) for x in grid], color=PER_COORDINATE,
              label="corrected: f_t(x_t) + f_t′(x_t)(x − x_t)")  # fmt: skip
    axes.plot([played], [f(played)], "o", color=INK)
    axes.annotate("x_t", (played, f(played)), xytext=(6, 6), textcoords="offset points")
    axes.set(xlabel="x", ylim=(-3, 8.5))
    plain(axes, "E11: what is printed is no lower bound")
