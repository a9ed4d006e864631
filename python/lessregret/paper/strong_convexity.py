"""§4.1: √T on linear coordinates and log T on curved ones, in one run.

Adaptive descent (Bartlett, Hazan & Rakhlin 2007) runs in each coordinate on the quadratic minorant,
and is set beside the same algorithm in all coordinates at once, which knows only min_i H_i.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import log
from typing import Any

import numpy as np

from lessregret.game.algorithms import AdaptiveDescent, Composite, JointAdaptiveDescent
from lessregret.game.domains import Point
from lessregret.game.play import Problem, play
from lessregret.game.problems import ContraryCurvature, UnequalCurvature
from lessregret.paper.finding import FAILS, HOLDS, Finding, Request, bullets, table
from lessregret.report.palette import FOURTH, GLOBAL, GUIDE, PER_COORDINATE, THIRD, plain
from lessregret.report.picture_file import panels, save_picture

CLAIM = "§4.1: more general notions of strong convexity"

CURVATURES = (1.0, 0.25, 0.05, 0.0)
"""H_i of the one run"""
HORIZONS = (2**8, 2**10, 2**12, 2**14, 2**16)
RANDOM_HORIZONS = (2**8, 2**10, 2**12)
SEEDS = 12
MIXES = {
    "all linear": (0.0,) * 4,
    "all curved alike": (1.0,) * 4,
    "one linear of four": (1.0, 1.0, 1.0, 0.0),
    "as in the run above": CURVATURES,
}
"""the curvatures of the comparison of bounds"""
MIX_ROUNDS = 2**12
SLACK = 1e-9


def run(
    request: Request,
    done: Callable[[str], None] = lambda what: None,
    horizons: Sequence[int] = HORIZONS,
) -> Finding:
    """Play the adversary, then random signs, then other mixes of curvature."""
    rows = [row for rounds in horizons for row in run_contrary(rounds)]
    done("the adversary")
    rows += growth(rows)
    rows += [row for rounds in RANDOM_HORIZONS for row in run_random(rounds, request.seed)]
    done("random signs")
    rows += [run_mix(name) for name in MIXES]
    claims = judge(rows)
    return Finding(CLAIM, verdict(claims), rows, sections(rows, claims))


def run_contrary(rounds: int) -> list[dict[str, Any]]:
    """Both treatments against the adversary: a row for each coordinate, and one for their sum."""
    problem = ContraryCurvature(rounds, CURVATURES)
    own, bounds = play_apart(problem)
    joint, joint_bound = play_jointly(problem)
    coordinates = [
        {"table": "adversary", "rounds": rounds, "coordinate": i, "curvature": curvature,
         "regret": own[i], "bound": bounds[i], "joint_regret": joint[i]}
        for i, curvature in enumerate(CURVATURES)
    ]  # fmt: skip
    total = {"table": "total", "rounds": rounds, "regret": float(own.sum()),
             "bound": float(bounds.sum()), "joint_regret": float(joint.sum()),
             "joint_bound": joint_bound}  # fmt: skip
    return [*coordinates, total]


def play_apart(problem: Problem) -> tuple[Point, Point]:
    """The regret of each coordinate under a learner of its own, and what is proved of it."""
    composite = Composite(AdaptiveDescent, "quadratic")
    transcript = play(composite, problem)
    learners = [composite.learner(i) for i in range(problem.domain.dimensions)]
    bounds = [learner.bound for learner in learners if isinstance(learner, AdaptiveDescent)]
    return transcript.coordinate_regrets("quadratic"), np.array(bounds)


def play_jointly(problem: Problem) -> tuple[Point, float]:
    """The regret of each coordinate under one learner for all, and what is proved of the sum."""
    joint = JointAdaptiveDescent()
    transcript = play(joint, problem)
    return transcript.coordinate_regrets("quadratic"), joint.bound


def growth(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """How the regret of each coordinate grows from one horizon to the next."""
    return [
        as_growth(before, after)
        for i in range(len(CURVATURES))
        for before, after in pairwise(
            row for row in of_table(rows, "adversary") if row["coordinate"] == i
        )
    ]


def as_growth(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """The slope of log regret on log T, and the regret that one unit of ln T adds."""
    wider = log(after["rounds"] / before["rounds"])
    return {
        "table": "growth",
        "coordinate": after["coordinate"],
        "curvature": after["curvature"],
        "from_rounds": before["rounds"],
        "rounds": after["rounds"],
        "slope": log(after["regret"] / before["regret"]) / wider,
        "joint_slope": log(after["joint_regret"] / before["joint_regret"]) / wider,
        "per_log": (after["regret"] - before["regret"]) / wider,
    }


def run_random(rounds: int, seed: int) -> list[dict[str, Any]]:
    """Random targets and signs: the mean regret of curved and of linear coordinates."""
    games = [play_apart(UnequalCurvature(rounds, seed=seed + k)) for k in range(SEEDS)]
    regrets = np.array([regret for regret, _ in games])
    within = all((regret <= bounds).all() for regret, bounds in games)
    curved = np.array(UnequalCurvature(rounds).curvatures) > 0
    parts = (("curved", regrets[:, curved]), ("linear", regrets[:, ~curved]))
    return [
        {"table": "random", "rounds": rounds, "kind": kind, "regret": float(part.mean()),
         "standard_error": float(part.std() / np.sqrt(part.size)), "within_bound": bool(within)}
        for kind, part in parts
    ]  # fmt: skip


def run_mix(name: str) -> dict[str, Any]:
    """What is proved of both treatments, and measured, for one mix of curvatures."""
    problem = ContraryCurvature(MIX_ROUNDS, MIXES[name])
    (own, bounds), (joint, joint_bound) = play_apart(problem), play_jointly(problem)
    return {
        "table": "mixes",
        "mix": name,
        "regret": float(own.sum()),
        "bound": float(bounds.sum()),
        "joint_regret": float(joint.sum()),
        "joint_bound": joint_bound,
    }


def of_table(rows: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """The rows of one table."""
    return [row for row in rows if row["table"] == name]


def judge(rows: list[dict[str, Any]]) -> dict[str, bool]:
    """What the section says, statement by statement."""
    grown, played = of_table(rows, "growth"), of_table(rows, "adversary")
    curved = [row for row in grown if row["curvature"] > 0]
    linear = [row for row in grown if row["curvature"] == 0]
    summed = of_table(rows, "total") + of_table(rows, "mixes")
    at_random = of_table(rows, "random")
    return {
        "linear coordinates have regret √T: every slope is within 0.02 of 1/2": all(
            abs(row["slope"] - 0.5) <= 0.02 for row in linear
        ),
        "curved ones have log T/H: a unit of ln T never adds more than 1/H, and slopes fall": all(
            row["per_log"] <= 1 / row["curvature"] for row in curved
        )
        and all(falling(curved, i) for i in {row["coordinate"] for row in curved}),
        "at random, too, linear regret grows fast and curved regret slowly": random_slope(
            at_random, "linear"
        )
        > 0.35
        > 0.25
        > random_slope(at_random, "curved"),
        "no coordinate's regret exceeds the bound proved for it": all(
            row["regret"] <= row["bound"] for row in played
        )
        and all(row["within_bound"] for row in at_random),
        "treated jointly, with H = min H_i = 0, curved coordinates have √T as well": all(
            row["joint_slope"] >= 0.45 for row in curved
        ),
        "the sum of the bounds is never above the joint bound": all(
            row["bound"] <= row["joint_bound"] * (1 + SLACK) for row in summed
        ),
    }


def verdict(claims: dict[str, bool]) -> str:
    """Nothing of this section needed correction."""
    return HOLDS if all(claims.values()) else FAILS


def falling(grown: list[dict[str, Any]], coordinate: int) -> bool:
    """Whether the slopes of a coordinate fall from step to step."""
    slopes = [row["slope"] for row in grown if row["coordinate"] == coordinate]
    return all(after < before for before, after in pairwise(slopes))


def random_slope(rows: list[dict[str, Any]], kind: str) -> float:
    """The slope of log regret on log T over all horizons of the random game."""
    mine = [row for row in rows if row["kind"] == kind]
    over = np.log([row["rounds"] for row in mine])
    return float(np.polyfit(over, np.log([row["regret"] for row in mine]), 1)[0])


def sections(rows: list[dict[str, Any]], claims: dict[str, bool]) -> list[str]:
    """The page."""
    return [
        STATEMENT,
        "## What we ran",
        RAN,
        regret_table(of_table(rows, "adversary")),
        "## How regret grows",
        growth_table(of_table(rows, "growth")),
        GROWTH,
        "## Apart and together",
        total_table(rows),
        about_together(of_table(rows, "mixes")),
        "## Random signs",
        about_random(of_table(rows, "random")),
        "## What came out",
        bullets(claims),
    ]


STATEMENT = """\
A loss is H-strongly convex if it lies above its tangent by at least (H/2)·|y − x|². The more curved
the losses, the smaller the regret: √T without curvature, (1/H)·log T with. Bartlett, Hazan and
Rakhlin's algorithm has the better of the two without being told which, in n dimensions

    O( n · min{ √T, (1/H) log T } )        H the curvature of the flattest direction.

The paper lets curvature differ by coordinate, f(y) ≥ f(x) + g·(y − x) + Σ_i (H_i/2)(y_i − x_i)²,
and by Lemma 2 runs the algorithm once for each coordinate, on the minorant

    ℓ_{t,i}(y) = f_t(x_t)/n + g_{t,i}(y − x_{t,i}) + (H_i/2)(y − x_{t,i})².

*Then the regret is O( Σ_i min{ √T, (1/H_i) log T } ): never worse than before, and better if
curvature differs much across coordinates.* L2 regularisation of some features and not of others is
the paper's case."""

RAN = f"""\
One game on [−1, 1]⁴ with H = {CURVATURES}: f_t(x) = Σ_i (H_i/2)·x_i² + s_{{t,i}}·x_i. The adversary
sees the point and takes s_{{t,i}} = 1 if x_{{t,i}} > 0, else −1: it always pushes back over 0.
Gradients are of size 1 to 1 + H_i, so coordinates differ in curvature and in little else. No seeds
are needed: the game is deterministic.

The algorithm descends on f_t + (λ_t/2)·(x − c)² with step 1/(H_{{1:t}} + λ_{{1:t}}), c the middle.
It adds as much curvature λ_t as pays for itself: next to none where the losses bring their own,
about 1/√t in round t where they do not. Its guarantee, with constants, is
Regret ≤ (3/2)R²·λ_{{1:T}} + Σ_t g²_t/(H_{{1:t}} + λ_{{1:t}}), R half the width. The regret of each
coordinate on its minorants, and in brackets this bound:"""

GROWTH = """\
A slope of 1/2 on logarithmic axes is √T. The slopes of curved coordinates go down towards 0, and
what a unit of ln T adds to their regret settles at 1/(2H): that is log T. A coordinate with small
H begins like a linear one and bends when T passes about 1/H²: the minimum in the bound."""


def about_together(mixes: list[dict[str, Any]]) -> str:
    """What one learner for all coordinates costs, and where it costs nothing."""
    alike = [row for row in mixes if len(set(MIXES[row["mix"]])) == 1]
    away = max(abs(row["bound"] / row["joint_bound"] - 1) for row in alike)
    return (
        f"*Jointly* is the same algorithm in all {len(CURVATURES)} dimensions at once, with one "
        "curvature H = min_i H_i and lengths |g| in place of |g_i|. One flat coordinate is enough "
        "to take log T from all the others. Where all coordinates are alike the two bounds are the "
        f"same: they differ by {away:.0e} of their size at most, which is rounding."
    )


def regret_table(rows: list[dict[str, Any]]) -> str:
    """Coordinates across, horizons down."""
    body = []
    for rounds in dict.fromkeys(row["rounds"] for row in rows):
        here = [row for row in rows if row["rounds"] == rounds]
        body.append([f"{rounds:,}", *(f"{r['regret']:.2f} ({r['bound']:.1f})" for r in here)])
    return table(["T", *(f"H = {curvature:g}" for curvature in CURVATURES)], body)


def growth_table(rows: list[dict[str, Any]]) -> str:
    """For each curvature the slope of every step, then what the last one adds."""
    body = []
    for curvature in CURVATURES:
        mine = [row for row in rows if row["curvature"] == curvature]
        limit = f"{1 / (2 * curvature):.2f}" if curvature else "–"
        slopes = [f"{row['slope']:.3f}" for row in mine]
        body.append([f"{curvature:g}", *slopes, f"{mine[-1]['per_log']:.2f}", limit])
    spans = [f"to {row['rounds']:,}" for row in rows if row["coordinate"] == 0]
    return table(["H: slope", *spans, "last: per unit of ln T", "1/(2H)"], body)


def total_table(rows: list[dict[str, Any]]) -> str:
    """Both treatments: the last horizon of the run, then every mix."""
    heading = ["game", "T", "apart", "bound", "jointly", "joint bound"]
    keys = ("regret", "bound", "joint_regret", "joint_bound")
    named = [("the run above", of_table(rows, "total")[-1])]
    named += [(row["mix"], {**row, "rounds": MIX_ROUNDS}) for row in of_table(rows, "mixes")]
    return table(
        heading,
        [
            [name, f"{row['rounds']:,}", *(f"{row[key]:,.1f}" for key in keys)]
            for name, row in named
        ],
    )


def about_random(rows: list[dict[str, Any]]) -> str:
    """The random game in words and a small table."""
    body = [
        [f"{row['rounds']:,}", row["kind"], f"{row['regret']:.2f} ± {row['standard_error']:.2f}"]
        for row in rows
    ]
    shown = table(["T", "coordinates", "mean regret"], body)
    return (
        "An adversary is not needed for the difference. Two curved coordinates, ½(x − c)² with "
        "targets c = ±½ at random, and two linear ones with random slopes ±1, which cost *any* "
        f"algorithm about √(2T/π) on average; mean of {SEEDS} seeds:\n\n{shown}\n\n"
        f"Slopes of log regret on log T: {random_slope(rows, 'linear'):.2f} for linear and "
        f"{random_slope(rows, 'curved'):.2f} for curved coordinates."
    )


COLOURS = dict(zip(CURVATURES, (PER_COORDINATE, THIRD, FOURTH, GLOBAL), strict=True))


def draw(finding: Finding, path: str) -> None:
    """Left: regret of every coordinate, apart and jointly. Right: the curved ones over ln T."""
    figure, (left, right) = panels(2, (11, 4.8))
    rows = of_table(finding.rows, "adversary")
    _draw_all(left, rows)
    _draw_curved(right, rows)
    save_picture(figure, path)


def _draw_all(axes: Any, rows: list[dict[str, Any]]) -> None:
    rounds = list(dict.fromkeys(row["rounds"] for row in rows))
    for curvature, colour in COLOURS.items():
        mine = [row["regret"] for row in rows if row["curvature"] == curvature]
        name = f"H = {curvature:g}" if curvature else "H = 0, linear"
        axes.plot(rounds, mine, "o-", color=colour, ms=4.5, label=name)
    joint = [row["joint_regret"] for row in rows if row["curvature"] == max(CURVATURES)]
    axes.plot(rounds, joint, "--", color=PER_COORDINATE, lw=1.2, label="H = 1, treated jointly")
    guide = [0.55 * np.sqrt(t) for t in rounds]
    axes.plot(rounds, guide, ":", color=GUIDE, label="slope 1/2")
    axes.set(xscale="log", yscale="log", xlabel="rounds T", ylabel="regret of the coordinate")
    plain(axes, "One run, four growths")


def _draw_curved(axes: Any, rows: list[dict[str, Any]]) -> None:
    rounds = list(dict.fromkeys(row["rounds"] for row in rows))
    for curvature, colour in COLOURS.items():
        mine = [row["regret"] for row in rows if row["curvature"] == curvature]
        if curvature:
            axes.plot(rounds, mine, "o-", color=colour, ms=4.5, label=f"H = {curvature:g}")
            ends = [mine[-1] - log(rounds[-1] / t) / (2 * curvature) for t in rounds]
            axes.plot(rounds, ends, ":", color=colour, lw=1.2)
    axes.plot([], [], ":", color=GUIDE, label="ln T/(2H) + constant")
    axes.set(xscale="log", xlabel="rounds T", ylabel="regret of the coordinate")
    axes.set_ylim(bottom=0)
    plain(axes, "Over log T: straight lines, once T is past 1/H²")
