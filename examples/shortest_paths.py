"""Online shortest paths: choose a route every day, learn the day's delays afterwards.

    python examples/shortest_paths.py

The paper names this problem (§5.1) as one that its algorithm can play and classifiers cannot. A
road map is a layered graph; every round we send one unit of traffic from the source to the sink,
split over routes as we like, then see the delay of every road. The loss is linear: the flow on
each road times its delay. Our feasible set is the set of all such flows, the *flow polytope*:

    F = { x ≥ 0 : at the source 1 flows out, at every other node as much flows out as in }

Its corners are the single routes, so the best fixed point in hindsight is the best route. F is not
a box, so per-coordinate rates need FTPRL-Diag (McMahan & Streeter 2010, §6 of the paper); a global
rate needs only a projection.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import sqrt

import numpy as np
from scipy.linalg import null_space, qr, solve_triangular
from scipy.optimize import linprog, nnls

from lessregret.game.algorithms import Algorithm, ConstantRate, Descent, DiagonalFTPRL, GlobalRate
from lessregret.game.domains import Box, Domain, Point
from lessregret.game.losses import Quadratic, linear
from lessregret.game.play import Problem, Transcript, play

LAYERS, WIDTH = 4, 3
SOURCE, SINK = 0, LAYERS * WIDTH + 1


def layered_edges() -> list[tuple[int, int]]:
    """The source to the first layer, each layer to the next, the last one to the sink."""
    layers = [[1 + WIDTH * layer + i for i in range(WIDTH)] for layer in range(LAYERS)]
    stages = [[SOURCE], *layers, [SINK]]
    return [(tail, head) for before, after in pairwise(stages) for tail in before for head in after]


@dataclass(frozen=True)
class Flows(Domain):
    """All flows of one unit from the source to the sink.

    A feasible set of one's own needs four things: ``project``, ``least``, ``diameter``, ``box``.
    """

    edges: tuple[tuple[int, int], ...]

    @property
    def dimensions(self) -> int:  # type: ignore[override]
        return len(self.edges)

    @cached_property
    def balance(self) -> np.ndarray:
        """What flows out of a node less what flows in, a row for each node but the sink.

        The sink's row is minus the sum of the others and would only make the matrix singular.
        """
        matrix = np.zeros((SINK, self.dimensions))
        for road, (tail, head) in enumerate(self.edges):
            matrix[tail, road] += 1
            if head != SINK:
                matrix[head, road] -= 1
        return matrix

    @cached_property
    def supply(self) -> Point:
        """1 at the source, 0 elsewhere: balance · x = supply."""
        return np.asarray(np.eye(SINK)[SOURCE])

    def least(self, gradient: Point) -> Point:
        """The cheapest route: a linear programme. The simplex method returns a corner, a route."""
        found = linprog(gradient, A_eq=self.balance, b_eq=self.supply, method="highs-ds")
        return np.asarray(found.x)

    def project(self, point: Point, weights: Point | None = None) -> Point:
        """argmin over F of Σ q_i (y_i − x_i)²: a quadratic programme of 33 unknowns.

        All y with balance · y = supply are inner + B z, so that conservation costs nothing. With
        √q·B = QR and u = Rz − Q'√q(x − inner) what is left is a *least distance* problem,

            min |u|²   subject to   A u ≥ h,      A = B R⁻¹,

        which Lawson and Hanson (1974, chapter 23) turn into one non-negative least squares. So
        scipy is enough and no other package is needed: SLSQP of scipy does the same inside, but
        iterates around it because it does not know that the problem is quadratic.
        """
        root = np.ones(self.dimensions) if weights is None else np.sqrt(weights / weights.max())
        orthogonal, triangle = qr(root[:, None] * self.directions, mode="economic")
        target = orthogonal.T @ (root * (point - self.inner))
        rows = solve_triangular(triangle, self.directions.T, trans="T").T
        inside = np.asarray(self.inner + rows @ target)
        if inside.min() >= 0:
            return inside
        return np.asarray(np.maximum(0.0, inside + rows @ least_distance(rows, -inside)))

    @cached_property
    def directions(self) -> np.ndarray:
        """B: the circulations, along which a flow can change and stay a flow."""
        return np.asarray(null_space(self.balance))

    @cached_property
    def inner(self) -> Point:
        """A flow: the shortest vector that is balanced; it spreads evenly over the layers."""
        return np.asarray(np.linalg.pinv(self.balance) @ self.supply)

    @property
    def start(self) -> Point:
        return self.inner.copy()

    @property
    def diameter(self) -> float:
        """Between two routes without a common road: each has LAYERS + 1 roads of flow 1."""
        return sqrt(2 * (LAYERS + 1))

    @cached_property
    def box(self) -> Box:
        """No road can carry more than everything: D_i = 1."""
        return Box.cube(self.dimensions, 0.0, 1.0)


def least_distance(rows: np.ndarray, limits: Point) -> Point:
    """argmin |u|² subject to rows · u ≥ limits (Lawson & Hanson 1974, algorithm LDP)."""
    stacked = np.vstack([rows.T, limits])
    goal = np.eye(len(stacked))[-1]
    residual = stacked @ nnls(stacked, goal)[0] - goal
    return np.asarray(-residual[:-1] / residual[-1])


@dataclass
class RoadWorks(Problem):
    """Delays: most roads are quick, each in its way; a few are congested every other day or so.

    That few roads matter is what per-coordinate rates can use: the bound √2 Σ_i D_i √S_i counts
    quiet roads for little. With delays alike on all roads the global bound, D √(2 Σ_i S_i), would
    be the lower one, as the polytope is much thinner than the box around it: D² = 10, not 33.
    """

    rounds: int
    congested: int = 5
    seed: int = 0

    @cached_property
    def domain(self) -> Flows:  # type: ignore[override]
        return Flows(tuple(layered_edges()))

    def loss(self, round: int, point: Point) -> Quadratic:
        return linear(np.arange(self.domain.dimensions), self.delays[round - 1])

    @cached_property
    def delays(self) -> Point:
        """A row for each round, a column for each road; from 0 to 1."""
        rng = np.random.default_rng(self.seed)
        shape = (self.rounds, self.domain.dimensions)
        delays = rng.uniform(0.01, 0.06, size=shape[1]) + rng.uniform(0.0, 0.02, size=shape)
        busy = rng.choice(shape[1], size=self.congested, replace=False)
        often = rng.uniform(0.3, 0.9, size=self.congested)
        delays[:, busy] += 0.9 * (rng.random((self.rounds, self.congested)) < often)
        return delays


def routes(flows: Flows, flow: Point) -> list[tuple[float, list[int]]]:
    """A flow as routes with probabilities: take the fullest road at every node, peel off, repeat.

    Playing a route drawn with these probabilities costs, on average, just what the flow costs.
    Every route empties a road, so there are at most as many routes as roads.
    """
    left, found = flow.copy(), []
    while (rest := left[[tail == SOURCE for tail, _ in flows.edges]].sum()) > 1e-9:
        node, roads = SOURCE, []
        while node != SINK:
            leaving = [road for road, (tail, _) in enumerate(flows.edges) if tail == node]
            roads.append(max(leaving, key=lambda road: left[road]))
            node = flows.edges[roads[-1]][1]
        share = min(left[roads].min(), rest)
        if share <= 1e-12:
            break
        left[roads] -= share
        found.append((float(share), roads))
    return found


def algorithms() -> dict[str, Callable[[], Algorithm]]:
    """Who plays."""
    return {
        "FTPRL-Diag": DiagonalFTPRL,
        "global descent": lambda: Descent(GlobalRate()),
        "even split": lambda: Descent(ConstantRate(0.0)),
    }


def run(rounds: int) -> dict[str, Transcript]:
    """Play the same delays with every algorithm."""
    problem = RoadWorks(rounds)
    return {name: play(make(), problem, keep_points=True) for name, make in algorithms().items()}


def through(flows: Flows, roads: list[int]) -> str:
    """A route by the nodes it visits, as row numbers in each layer."""
    heads = [flows.edges[road][1] for road in roads[:-1]]
    return " → ".join(["source", *(f"{(head - 1) % WIDTH + 1}" for head in heads), "sink"])


def show(games: dict[str, Transcript]) -> None:
    """Print the table, then what a flow means."""
    some = next(iter(games.values()))
    flows = some.problem.domain
    assert isinstance(flows, Flows)
    best = routes(flows, some.comparator.point)[0][1]
    print(f"{some.rounds} rounds, {flows.dimensions} roads, {SINK + 1} nodes")
    print(f"best route in hindsight: {through(flows, best)}, delay {some.comparator.loss:.1f}\n")
    print(f"{'algorithm':16}{'delay':>9}{'regret':>9}{'bound':>9}")
    for name, game in games.items():
        # The even split never moves: it has no rate, and nothing is promised for it.
        bound = "–" if name == "even split" else f"{game.bound():.1f}"
        print(f"{name:16}{game.total_loss:9.1f}{game.regret():9.1f}{bound:>9}")
    show_routes(flows, games["FTPRL-Diag"])


def show_routes(flows: Flows, game: Transcript) -> None:
    """Print two flows as routes, and what drawing one route a round would have cost."""
    played = game.points or []
    for number in (min(10, game.rounds), game.rounds):
        print(f"\nFTPRL-Diag's flow of round {number} as routes to draw from:")
        for share, roads in sorted(routes(flows, played[number - 1]), reverse=True)[:4]:
            print(f"{share:8.3f}  {through(flows, roads)}")
    print(f"\none route drawn a round: delay {drawn(flows, game):.1f}")


def drawn(flows: Flows, game: Transcript, seed: int = 0) -> float:
    """The total delay if every round one route is drawn from the flow."""
    rng, total = np.random.default_rng(seed), 0.0
    for point, delays in zip(game.points or [], game.gradients, strict=True):
        shares, ways = zip(*routes(flows, point), strict=True)
        way = ways[rng.choice(len(ways), p=np.array(shares) / sum(shares))]
        total += float(delays[way].sum())
    return total


def main(rounds: int = 1000) -> None:
    """Play and show."""
    show(run(rounds))


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
