"""§4.3: small regret on every interval, and coordinate by coordinate.

Follow the leading history (Hazan & Seshadhri 2009), alone and in each coordinate, where targets
change sides; then the section's own linear example, played by all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, log, log2
from typing import Any

import numpy as np

from lessregret.game.algorithms import (
    AdaptiveDescent,
    Algorithm,
    Composite,
    ConstantRate,
    Descent,
    GlobalRate,
    JointLeadingHistory,
    LazyProjection,
    LeadingHistory,
    Optimistic,
    PerCoordinateRate,
    StronglyConvexRate,
)
from lessregret.game.algorithms.leading_history import Experts
from lessregret.game.domains import Box, interval
from lessregret.game.intervals import regret_on
from lessregret.game.losses import Quadratic
from lessregret.game.play import Problem, Transcript, play
from lessregret.game.problems import CoordinateSwitching, LinearSwitching, Recorded, switching
from lessregret.paper.finding import (
    FAILS,
    HOLDS,
    Finding,
    Request,
    bullets,
    holds_as_corrected,
    table,
)
from lessregret.report.palette import GLOBAL, GUIDE, PER_COORDINATE, THIRD, plain
from lessregret.report.picture_file import panels, save_picture

CLAIM = "§4.3: adaptive regret"

ROUNDS = 10_000
"""T of the games in one coordinate"""
EXPERT_ROUNDS = 20_000
GROWTH_HORIZONS = (700, 2100, 6300)
SWITCHES = (0.5, 0.7)
"""where the target switches, as parts of T: experts' lives favour some rounds over others"""
SIZES = (1, 2, 4, 8)
"""n of the games in several coordinates"""
MANY_ROUNDS = 1100
"""so that switches do not fall on the births of long-lived experts, powers of two and the like"""
CURVATURE = 1.0
"""H of every quadratic loss"""
SLACK = 1e-9

NO_N = "as printed, without n: the joint R_Z does not grow with n where N is the same (E12)"
PRINTED_ALPHA = "as printed, losses with α = H/G²: the experts' mixture is no worse than they (E13)"
REMARK = "as printed, “standard regret-minimizing algorithms fail to adapt” there: descent, too"

TITLES = {
    "leading": "leading history",
    "strongly": "descent, 1/(Ht)",
    "bhr": "adaptive descent (§4.1)",
    "theorem3": "descent, Theorem 3",
    "printed": "leading history, α = H/G²",
    "constant": "x = 0 for ever",
    "theorem2": "descent, Theorem 2",
    "lazy": "lazy projection, Q = T",
    "optimistic": "optimistic (§4.2)",
}
LAZY = ("strongly", "lazy", "optimistic")
"""what does not forget: rates 1/t, or all gradients summed up"""
DESCENTS = ("theorem2", "theorem3")
SHOWN = ("constant", "optimistic", "theorem3", "leading")
"""whose plays are drawn"""


class AsPrinted(LeadingHistory):
    """With α = H/G², G the steepest gradient at the points played."""

    def exp_concavity(self) -> float:
        return self.curvature / self.steepest**2 if self.steepest > 0 else 0.0


def leading(kind: type[LeadingHistory] = LeadingHistory) -> Composite:
    """Follow the leading history in each coordinate."""
    return Composite(lambda low, high: kind(low, high, CURVATURE), "quadratic")


def run(
    request: Request, done: Callable[[str], None] = lambda what: None, sizes: Sequence[int] = SIZES
) -> Finding:
    """Count experts, switch half-way, switch at different times, and re-run the linear example."""
    rows = run_experts()
    done("experts")
    rows += run_switching("clean", switching(ROUNDS, CURVATURE))
    rows += run_switching("noisy", noisy_switching(ROUNDS, request.seed))
    rows += [run_growth(rounds) for rounds in GROWTH_HORIZONS]
    done("one switch")
    rows += [run_together(size) for size in sizes]
    rows += [run_apart(size) for size in sizes if size > 1]
    done("several coordinates")
    games = play_linear()
    rows += [{"table": "linear", **halves(key, game)} for key, game in games.items()]
    rows += [mixture(name) for name in ("corrected", "printed")]
    done("the linear example")
    claims = judge(rows)
    paths = {key: [float(at[0]) for at in games[key].played] for key in SHOWN}
    return Finding(CLAIM, verdict(claims), rows, sections(rows, claims), data={"paths": paths})


def run_experts() -> list[dict[str, Any]]:
    """How many experts are alive, at worst relative to 2(log2 t + 1), up to powers of ten."""
    experts, rows, worst = Experts(np.zeros(1)), [], 0.0
    for t in range(1, EXPERT_ROUNDS + 1):
        worst = max(worst, len(experts.births) / (2 * (log2(t) + 1)))
        if t in (10, 100, 1000, 10_000, EXPERT_ROUNDS):
            alive = len(experts.births)
            rows.append({"table": "experts", "round": t, "alive": alive, "worst_ratio": worst,
                         "limit": 2 * (log2(t) + 1)})  # fmt: skip
        experts.reweigh(np.zeros(len(experts.births)))
    return rows


def noisy_switching(rounds: int, seed: int) -> Recorded:
    """½(x − c)² with c = ¼ ± ¼ for the first half and ¾ ± ¼ for the second."""
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=rounds)
    middle = np.where(np.arange(rounds) < rounds // 2, 0.25, 0.75)
    losses = [Quadratic([0], curvature=CURVATURE, centre=float(c)) for c in middle + signs / 4]
    return Recorded(interval(0.0, 1.0), losses)


def run_switching(name: str, problem: Problem) -> list[dict[str, Any]]:
    """One coordinate that switches half-way."""
    algorithms: dict[str, Algorithm] = {
        "leading": leading(),
        "strongly": Descent(StronglyConvexRate(CURVATURE)),
        "bhr": Composite(AdaptiveDescent, "quadratic"),
        "theorem3": Descent(PerCoordinateRate()),
    }
    if name == "clean":
        algorithms["printed"] = leading(AsPrinted)
    return [
        {"table": "switching", "game": name, **halves(key, play(algorithm, problem))}
        for key, algorithm in algorithms.items()
    ]


def halves(key: str, game: Transcript) -> dict[str, Any]:
    """The regret of a game, and of either half against the best point of that half."""
    middle = game.rounds // 2
    return {
        "algorithm": key,
        "regret": game.regret(),
        "first_half": on(game, 1, middle),
        "second_half": on(game, middle + 1, game.rounds),
    }


def on(game: Transcript, first: int, last: int) -> float:
    """The regret of an interval."""
    losses = [loss for loss in game.rounds_losses if isinstance(loss, Quadratic)]
    assert isinstance(game.domain, Box)
    return regret_on(game.domain, losses, np.array(game.losses), first, last)


def run_growth(rounds: int) -> dict[str, Any]:
    """The regret after a switch, the worst of two places for it, for one T."""
    worst = 0.0
    for part in SWITCHES:
        change = int(part * rounds) + 1
        game = play(leading(), CoordinateSwitching(rounds, ((change,),), CURVATURE))
        worst = max(worst, on(game, change, rounds))
    return {"table": "growth", "rounds": rounds, "after_switch": worst,
            "per_square_log": worst / log(rounds) ** 2}  # fmt: skip


def run_together(size: int) -> dict[str, Any]:
    """All coordinates switch in the same round: N = N_i = 1."""
    problem = CoordinateSwitching(MANY_ROUNDS, ((MANY_ROUNDS // 2 + 1,),) * size, CURVATURE)
    return {"table": "together", **compare(problem)}


def run_apart(size: int) -> dict[str, Any]:
    """Each coordinate switches once, in a round of its own: N = n, N_i = 1."""
    changes = tuple((1 + MANY_ROUNDS * (i + 1) // (size + 1),) for i in range(size))
    return {"table": "apart", **compare(CoordinateSwitching(MANY_ROUNDS, changes, CURVATURE))}


def compare(problem: CoordinateSwitching) -> dict[str, Any]:
    """R_Z against the targets and the worst interval: one learner for each, and one for all."""
    targets = [problem.targets(t) for t in range(1, problem.rounds + 1)]
    own = play(leading(), problem)
    joint = play(JointLeadingHistory(CURVATURE), problem)
    return {
        "size": problem.domain.dimensions,
        "shifting": own.shifting_regret(targets),
        "joint_shifting": joint.shifting_regret(targets),
        "adaptive": own.adaptive_regret().regret,
        "joint_adaptive": joint.adaptive_regret().regret,
    }


def linear_players() -> dict[str, Algorithm]:
    """Who plays the linear example."""
    return {
        "constant": Descent(ConstantRate(0.0)),
        "strongly": Descent(StronglyConvexRate(CURVATURE)),
        "lazy": Composite(lambda low, high: LazyProjection(low, high, ROUNDS)),
        "optimistic": Composite(Optimistic),
        "theorem2": Descent(GlobalRate()),
        "theorem3": Descent(PerCoordinateRate()),
        "leading": leading(),
    }


def play_linear() -> dict[str, Transcript]:
    """The section's own example: x for the first half, −x for the second, on [0, 1]."""
    problem = LinearSwitching(ROUNDS)
    return {key: play(algorithm, problem) for key, algorithm in linear_players().items()}


def mixture(name: str) -> dict[str, Any]:
    """Two experts at 0 and 1, alike in weight, on the minorant y + y²/2: G = H = D = 1.

    The proof needs exp(−α·loss) of the mean to be at least the mean of the experts'.
    """
    alpha = CURVATURE / (1 + CURVATURE) ** 2 if name == "corrected" else CURVATURE
    values = [exp(-alpha * (y + CURVATURE / 2 * y**2)) for y in (0.0, 0.5, 1.0)]
    return {"table": "mixture", "alpha": name, "value": alpha, "of_the_mean": values[1],
            "mean_of_both": (values[0] + values[2]) / 2}  # fmt: skip


def of_table(rows: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """The rows of one table."""
    return [row for row in rows if row["table"] == name]


def second_half(rows: list[dict[str, Any]], game: str, key: str) -> float:
    """The regret of the second half of a game with a switch."""
    mine = [row for row in rows if row.get("game", row["table"]) == game]
    return float(next(row["second_half"] for row in mine if row["algorithm"] == key))


def judge(rows: list[dict[str, Any]]) -> dict[str, bool]:
    """What the section says, statement by statement."""
    linear = {row["algorithm"]: row for row in of_table(rows, "linear")}
    together, apart = of_table(rows, "together"), of_table(rows, "apart")
    alphas = {row["alpha"]: row for row in of_table(rows, "mixture")}
    lost = linear["constant"]
    return {
        "pruned, at most 2(log2 t + 1) experts are alive, for every t up to "
        f"{EXPERT_ROUNDS:,}": all(row["worst_ratio"] <= 1 for row in of_table(rows, "experts")),
        "after a switch its regret is at least 5 times below that of descent with 1/(Ht)": all(
            5 * second_half(rows, game, "leading") <= second_half(rows, game, "strongly")
            for game in ("clean", "noisy")
        ),
        "and grows like a power of log T: its slope on logarithmic axes is below 0.3": growth_slope(
            rows
        )
        < 0.3,
        "a learner for each coordinate is never worse, in R_Z and on the worst interval": all(
            row[name] <= row[f"joint_{name}"] * (1 + SLACK)
            for row in together + apart
            for name in ("shifting", "adaptive")
        ),
        f"and twice as good or better where {apart[-1]['size']} coordinates switch at different "
        "times": 2 * apart[-1]["shifting"] <= apart[-1]["joint_shifting"],
        "x = 0 for ever has regret 0 in the linear example, and loses T/2 on the final half":
            lost["regret"] == 0 and lost["second_half"] == ROUNDS / 2,
        "algorithms that never forget fail to adapt there: they lose more than T/4":
            all(linear[key]["second_half"] >= ROUNDS / 4 for key in LAZY),
        NO_N: together[-1]["joint_shifting"] <= 1.5 * together[0]["joint_shifting"],
        PRINTED_ALPHA: alphas["printed"]["of_the_mean"] >= alphas["printed"]["mean_of_both"],
        REMARK: all(linear[key]["second_half"] >= ROUNDS / 20 for key in DESCENTS),
    }  # fmt: skip


def growth_slope(rows: list[dict[str, Any]]) -> float:
    """From the shortest to the longest game with a switch; √T would have 0.5, log² T has 0.26."""
    grown = of_table(rows, "growth")
    wider = log(grown[-1]["rounds"] / grown[0]["rounds"])
    return log(grown[-1]["after_switch"] / grown[0]["after_switch"]) / wider


def verdict(claims: dict[str, bool]) -> str:
    """Holds with the errata that were needed; a remark that fails is told beside."""
    printed = {NO_N: "E12", PRINTED_ALPHA: "E13"}
    if not all(held for claim, held in claims.items() if claim not in (*printed, REMARK)):
        return FAILS
    needed = [erratum for claim, erratum in printed.items() if not claims[claim]]
    held = holds_as_corrected(*needed) if needed else HOLDS
    return held if claims[REMARK] else f"{held}, except for a remark"


def sections(rows: list[dict[str, Any]], claims: dict[str, bool]) -> list[str]:
    """The page."""
    return [
        STATEMENT,
        "## The linear example",
        LINEAR,
        halves_table(of_table(rows, "linear")),
        about_linear(rows),
        "## One switch, curved losses",
        SWITCHING,
        switching_table(rows),
        about_switching(rows),
        "## Experts",
        experts_table(of_table(rows, "experts")),
        "## Several coordinates",
        SEVERAL,
        several_table(of_table(rows, "apart")),
        "## What came out",
        bullets(claims),
        "## Errata",
        E12,
        together_table(of_table(rows, "together")),
        about_alpha(rows),
    ]


STATEMENT = """\
Regret against one fixed point says little where the best point changes. *Adaptive regret* is the
greatest regret over all intervals of rounds, each against the best point of its own. Hazan and
Seshadhri's *follow the leading history* starts a new copy of a base learner, an *expert*, in every
round, weighs all of them by their past losses, and prunes them to O(log t). For H-strongly convex
losses its adaptive regret is O((1/H) log² T).

Summed over the intervals on which a sequence Z = z_1, …, z_T is constant, this bounds
R_Z = Σ_t f_t(x_t) − f_t(z_t) by O((N + 1) log² T), N the number of changes of Z.

*With a copy for each coordinate R_Z = O(Σ_i (N_i + 1) log² T), N_i the number of changes of
coordinate i. This is never worse, and better if some coordinates change more often than others.*"""

LINEAR = f"""\
The section opens with f_t(x) = x for T/2 rounds and −x thereafter, on [0, 1]: *an algorithm that
plays x_t = 0 for all t has 0 regret, yet its loss on the final T/2 rounds is T/2 worse than if it
had played x = 1. Standard regret-minimizing algorithms fail to adapt in simple examples such as
this.* Here T = {ROUNDS:,}; a half's regret is against the best point of that half."""

SWITCHING = f"""\
½(x − c_t)² on [0, 1], T = {ROUNDS:,}. *Clean*: c is 0 for the first half, then 1. *Noisy*: ¼ ± ¼ at
random, then ¾ ± ¼. The experts are gradient descents with step 1/(H·age). Regret of both halves:"""

SEVERAL = f"""\
½ Σ_i (x_i − c_{{t,i}})² on [0, 1]^n, T = {MANY_ROUNDS:,}. Each coordinate's target changes sides
once, at a round of its own: N = n, but N_i = 1. *Jointly* means experts that play all coordinates
and have one weight. A newcomer that is right about the coordinate that has just moved must then
learn all others anew. R_Z is against the targets themselves:"""

E12 = """\
**E12.** Under the section's normalisation, |g_i| ≤ 1 on [0, 1]^n, the joint algorithm's bound must
carry n: gradients have length √n. Printed without it, “never worse” is false: with N = N_i = 0 it
would compare n log² T with log² T. With (N + 1)·n for N + 1 it is true, since N_i ≤ N. That n is no
artefact of the proof: when all coordinates switch in the same round, N = 1 for every n, and yet"""


def about_linear(rows: list[dict[str, Any]]) -> str:
    """The two sentences, judged."""
    linear = {row["algorithm"]: row for row in of_table(rows, "linear")}
    return (
        "The first sentence is right: every fixed point has total loss 0, and x = 0 loses T/2 on "
        "the final half. The second depends on what is standard. It is right for algorithms that "
        "never forget: follow-the-leader and its lazy kin, which sum up all gradients, and descent "
        "with rates 1/t. It is *wrong for gradient descent with the rates of this paper*: in "
        f"the first half Theorem 3's rate falls to about 1/√T, the play waits at 0, and √T steps "
        f"take it to 1. It loses {linear['theorem3']['second_half']:.0f}, not T/2 = "
        f"{ROUNDS // 2:,}. That is no accident: for rates that fall like 1/√t, Zinkevich's "
        "argument started in any round gives regret O(√T) on every interval. What the section can "
        "claim is log² T in place of √T, for curved losses.\n\n"
        "Follow the leading history promises nothing here, as linear losses are not strongly "
        "convex: what it takes for a minorant (H = 1) lies above the loss. Its regret on the final "
        f"half, {linear['leading']['second_half']:.0f}, is luck as far as the theory goes; descent "
        f"with Theorem 3's rate has {linear['theorem3']['second_half']:.0f}."
    )


def about_switching(rows: list[dict[str, Any]]) -> str:
    """What the switch shows, the price of caution, and the growth with T."""
    factor = second_half(rows, "clean", "strongly") / second_half(rows, "clean", "leading")
    grown = ", ".join(
        f"{row['after_switch']:.1f} for T = {row['rounds']:,} ({row['per_square_log']:.2f} log² T)"
        for row in of_table(rows, "growth")
    )
    return (
        "Descent with 1/(Ht), the standard algorithm for such losses, has regret log T over all "
        "rounds, and so has the adaptive descent of §4.1; after the switch both follow the mean of "
        f"all targets and lose in proportion to T. The leading history loses {factor:.0f} times "
        f"less. A switch costs it {grown}.\n\n"
        "Descent with Theorem 3's rate, not made for curvature, recovers faster still. Its price "
        "is on the stationary half with noise, where its regret grows like √T: compare the first "
        "halves."
    )


def about_alpha(rows: list[dict[str, Any]]) -> str:
    """E13, shown on two experts and in the game."""
    right, printed = (row for row in of_table(rows, "mixture"))
    return (
        "**E13.** The algorithm is for α-exp-concave losses: its proof needs exp(−α·loss) of the "
        "experts' mean to be at least the mean of the experts'. For an H-strongly convex loss with "
        "slopes up to G one takes α = H/G². But the experts see minorants, away from the point "
        "played, where the slope is up to G + H·D: so α = H/(G + H·D)². With G = H = D = 1 and two "
        f"experts at 0 and 1 on y + y²/2: α = {right['value']:g} gives {right['of_the_mean']:.3f} "
        f"≥ {right['mean_of_both']:.3f}, as needed; α = {printed['value']:g} gives "
        f"{printed['of_the_mean']:.3f} < {printed['mean_of_both']:.3f}, and the proof stops there. "
        "The larger α makes the algorithm bolder, and in the clean game above that paid: "
        f"{second_half(rows, 'clean', 'printed'):.1f} on the second half. It is the guarantee that "
        "is lost."
    )


def halves_table(rows: list[dict[str, Any]]) -> str:
    """Algorithms down."""
    heading = ["algorithm", "all rounds", "first half", "final half"]
    keys = ("regret", "first_half", "second_half")
    body = [[TITLES[row["algorithm"]], *(f"{row[key]:,.1f}" for key in keys)] for row in rows]
    return table(heading, body)


def switching_table(rows: list[dict[str, Any]]) -> str:
    """Both games side by side, algorithms down; α as printed is told elsewhere."""
    cells = {(row["game"], row["algorithm"]): row for row in of_table(rows, "switching")}
    names = [key for game, key in cells if game == "clean" and key != "printed"]
    heading = ["algorithm", "clean: first half", "second", "noisy: first half", "second"]
    columns = [
        (game, half) for game in ("clean", "noisy") for half in ("first_half", "second_half")
    ]
    return table(
        heading,
        [
            [TITLES[key], *(f"{cells[game, key][half]:,.2f}" for game, half in columns)]
            for key in names
        ],
    )


def experts_table(rows: list[dict[str, Any]]) -> str:
    """Experts alive beside the limit."""
    body = [
        [f"{r['round']:,}", str(r["alive"]), f"{r['limit']:.1f}", f"{r['worst_ratio']:.3f}"]
        for r in rows
    ]
    return table(["round t", "alive", "2(log2 t + 1)", "worst ratio so far"], body)


def several_table(rows: list[dict[str, Any]]) -> str:
    """Apart and jointly, n down."""
    heading = ["n", "R_Z apart", "R_Z jointly", "ratio", "worst interval apart", "jointly"]
    body = [
        [str(row["size"]), f"{row['shifting']:.1f}", f"{row['joint_shifting']:.1f}",
         f"{row['joint_shifting'] / row['shifting']:.2f}", f"{row['adaptive']:.1f}",
         f"{row['joint_adaptive']:.1f}"]
        for row in rows
    ]  # fmt: skip
    return table(heading, body)


def together_table(rows: list[dict[str, Any]]) -> str:
    """The joint R_Z in proportion to n."""
    body = [
        [str(row["size"]), f"{row['joint_shifting']:.1f}",
         f"{row['joint_shifting'] / row['size']:.2f}", f"{row['shifting']:.1f}"]
        for row in rows
    ]  # fmt: skip
    return table(["n", "R_Z jointly", "over n", "R_Z apart"], body)


def draw(finding: Finding, path: str) -> None:
    """Left: the plays of the linear example. Right: R_Z over n, apart and jointly."""
    figure, (left, right) = panels(2, (11, 4.8))
    _draw_paths(left, finding.data["paths"])
    _draw_several(right, finding.rows)
    save_picture(figure, path)


def _draw_paths(axes: Any, played: dict[str, list[float]]) -> None:
    colours = {"constant": GUIDE, "optimistic": GLOBAL, "theorem3": PER_COORDINATE,
               "leading": THIRD}  # fmt: skip
    first, last = ROUNDS // 2 - 200, ROUNDS // 2 + 300
    for key, path in played.items():
        width = 5 if key == "constant" else 1.8
        axes.plot(range(first, last), path[first:last], color=colours[key], lw=width,
                  label=TITLES[key])  # fmt: skip
    axes.axvline(ROUNDS // 2, color=GUIDE, lw=1, ls=":")
    axes.annotate("loss x, then −x", (ROUNDS // 2, 0.5), xytext=(-6, 0), ha="right",
                  textcoords="offset points", fontsize=9, color=GUIDE)  # fmt: skip
    axes.set(xlabel="round", ylabel="point played")
    plain(axes, "The linear example: who adapts")


def _draw_several(axes: Any, rows: list[dict[str, Any]]) -> None:
    looks = (
        ("apart", "joint_shifting", GLOBAL, "-", "jointly, at different times"),
        ("together", "joint_shifting", GUIDE, "--", "either, all switch at once"),
        ("apart", "shifting", PER_COORDINATE, "-", "per coordinate, at different times"),
    )
    for name, key, colour, style, label in looks:
        mine = of_table(rows, name)
        values = [row[key] for row in mine]
        axes.plot([row["size"] for row in mine], values, "o" + style, color=colour, ms=4.5,
                  label=label)  # fmt: skip
    axes.set(xlabel="coordinates n", ylabel="$R_Z$ against the targets")
    axes.set_ylim(bottom=0)
    plain(axes, f"Curved losses, one switch each, T = {MANY_ROUNDS:,}")
