"""Feasible sets: are the projections the nearest points, and do the sets know themselves?"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from lessregret.errors import SpecError
from lessregret.game.domains import (
    Box,
    Domain,
    L1Ball,
    L2Ball,
    Point,
    Simplex,
    as_point,
    falling_root,
    interval,
)

DOMAINS: dict[str, Domain] = {
    "box": Box(np.array([-1.0, 0.5, -3.0, 2.0]), np.array([1.0, 0.9, 5.0, 2.0])),
    "l2": L2Ball(np.array([0.5, -1.0, 0.0, 2.0]), 1.5),
    "l1": L1Ball(4, 2.0),
    "simplex": Simplex(4),
    "interval": interval(-1.0, 3.0),
    "one number": L1Ball(1, 0.5),
    "one corner": Simplex(1),
}
each_domain = pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS)


def inside(domain: Domain, rng: np.random.Generator) -> Point:
    """A random point of the set, often on its edge."""
    ends = domain.box
    drawn = ends.low + ends.widths * rng.random(domain.dimensions)
    return domain.project(drawn + ends.widths * rng.normal(size=domain.dimensions))


def drawn_points(domain: Domain, count: int) -> list[tuple[Point, Point, np.random.Generator]]:
    """Points far and near with weights of many sizes."""
    rng = np.random.default_rng(0)
    points = []
    for _ in range(count):
        far = 10.0 ** rng.uniform(-2, 3)
        point = domain.start + far * rng.normal(size=domain.dimensions)
        points.append((point, 10.0 ** rng.uniform(-4, 4, size=domain.dimensions), rng))
    return points


@each_domain
@pytest.mark.parametrize("weighted", [False, True])
def test_projections_satisfy_the_variational_inequality(domain: Domain, weighted: bool) -> None:
    """(x − p)'Q(y − p) ≤ 0 for all y of the set: exactly the nearest point has it."""
    for point, weights, rng in drawn_points(domain, 100):
        q = weights if weighted else np.ones(len(point))
        near = domain.project(point, weights if weighted else None)
        towards = q * (point - near)
        # Where x is nearly in the set, q (x − p) is mostly rounding.
        slack = 1e-14 * (1 + domain.diameter) * (q * (1 + np.abs(point))).max()
        for _ in range(20):
            assert towards @ (inside(domain, rng) - near) <= slack
        assert towards @ (domain.least(-towards) - near) <= slack


def searched(domain: Domain, point: Point, weights: Point) -> float:
    """The least Σ q (y − x)² over the set, by a general-purpose search."""
    q = weights / weights.max()
    ends = list(zip(domain.box.low, domain.box.high, strict=True))
    limits = []
    if isinstance(domain, L2Ball):
        limits = [
            {"type": "ineq", "fun": lambda y: domain.radius**2 - ((y - domain.centre) ** 2).sum()}
        ]
    if isinstance(domain, Simplex):
        limits = [{"type": "eq", "fun": lambda y: y.sum() - 1}]
    start = np.clip(domain.start, domain.box.low, domain.box.high)
    found = minimize(
        lambda y: q @ (y - point) ** 2, start, bounds=ends, constraints=limits, method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )  # fmt: skip
    return float(found.fun)


@pytest.mark.parametrize("name", ["box", "l2", "simplex"])
@pytest.mark.parametrize("weighted", [False, True])
def test_projections_are_what_a_search_finds(name: str, weighted: bool) -> None:
    domain = DOMAINS[name]
    rng = np.random.default_rng(1)
    for _ in range(15):
        point = domain.start + 2 * rng.normal(size=domain.dimensions)
        weights = rng.uniform(0.2, 2.0, size=domain.dimensions) if weighted else np.ones(4)
        near = domain.project(point, weights if weighted else None)
        distance = float(weights / weights.max() @ (near - point) ** 2)
        assert distance == pytest.approx(searched(domain, point, weights), abs=1e-6)


def test_l1_projections_are_those_of_the_sign_split_simplex() -> None:
    """|x| ≤ r as u − v with u, v ≥ 0 and Σ u + v = r: a simplex of twice the dimensions."""
    rng = np.random.default_rng(2)
    ball = L1Ball(3, 1.0)
    for _ in range(50):
        point = 3 * rng.normal(size=3)
        near = ball.project(point)
        split = Simplex(6).project(np.concatenate([point, -point]))
        if np.abs(point).sum() > 1:
            assert near == pytest.approx(split[:3] - split[3:], abs=1e-12)


@each_domain
def test_projecting_twice_is_projecting_once(domain: Domain) -> None:
    for point, weights, _ in drawn_points(domain, 50):
        for q in (None, weights):
            near = domain.project(point, q)
            assert domain.contains(near)
            assert domain.project(near, q) == pytest.approx(near, abs=1e-12)


@each_domain
def test_projecting_makes_a_new_array(domain: Domain) -> None:
    near = domain.project(domain.start)
    again = domain.project(near)
    again += 1
    assert domain.contains(near)


@each_domain
def test_membership(domain: Domain) -> None:
    assert domain.contains(domain.start)
    assert domain.contains(domain.least(np.ones(domain.dimensions)))
    assert not domain.contains(domain.box.high + 1)
    assert not domain.contains(domain.box.low - 0.01)


def test_membership_at_the_edges() -> None:
    assert Simplex(2).contains(as_point([0.5, 0.5]))
    assert not Simplex(2).contains(as_point([0.5, 0.4]))
    assert not L1Ball(2, 1.0).contains(as_point([0.6, 0.6]))
    assert L2Ball(np.zeros(2), 1.0).contains(as_point([0.6, 0.8]))
    assert not L2Ball(np.zeros(2), 1.0).contains(as_point([0.61, 0.8]))


@each_domain
def test_linear_functions_are_least_where_it_is_said(domain: Domain) -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        gradient = rng.normal(size=domain.dimensions)
        least = domain.least(gradient)
        assert domain.contains(least)
        others = [inside(domain, rng) for _ in range(20)]
        assert gradient @ least <= min(gradient @ other for other in others) + 1e-12


@each_domain
def test_a_flat_function_is_least_somewhere_in_the_set(domain: Domain) -> None:
    assert domain.contains(domain.least(np.zeros(domain.dimensions)))


def test_the_least_of_linear_functions_by_all_vertices() -> None:
    gradient = as_point([0.3, -2.0, 1.0])
    corners = np.stack(np.meshgrid(*[[-1.0, 1.0]] * 3), axis=-1).reshape(-1, 3)
    assert gradient @ Box.cube(3, -1, 1).least(gradient) == pytest.approx(
        (corners @ gradient).min()
    )
    assert gradient @ L1Ball(3, 2.0).least(gradient) == -4.0
    assert gradient @ Simplex(3).least(gradient) == -2.0
    ball = L2Ball(np.ones(3), 2.0)
    length = float(np.linalg.norm(gradient))
    assert gradient @ ball.least(gradient) == pytest.approx(gradient.sum() - 2 * length)


@each_domain
def test_diameters_and_boxes_are_the_smallest(domain: Domain) -> None:
    rng = np.random.default_rng(4)
    points = [inside(domain, rng) for _ in range(60)]
    farthest = max(float(np.linalg.norm(p - q)) for p in points for q in points)
    assert farthest <= domain.diameter + 1e-12
    if domain.dimensions == 1 and isinstance(domain, Simplex):
        return
    for i, axis in enumerate(np.eye(domain.dimensions)):
        assert domain.least(axis)[i] == pytest.approx(domain.box.low[i])
        assert domain.least(-axis)[i] == pytest.approx(domain.box.high[i])


def test_diameters_are_reached() -> None:
    assert Box.cube(4, -1, 2).diameter == 6
    assert L2Ball(np.ones(3), 1.5).diameter == 3
    assert L1Ball(5, 2.0).diameter == 4
    assert Simplex(3).diameter == pytest.approx(np.sqrt(2))
    assert Simplex(1).diameter == 0
    assert Box(np.zeros(2), np.array([3.0, 4.0])).widths.tolist() == [3, 4]


def test_the_start_is_the_point_nearest_to_0() -> None:
    """Erratum E9: 0 itself need not be feasible."""
    assert Box(np.array([1.0, -1.0]), np.array([2.0, 1.0])).start.tolist() == [1, 0]
    assert L2Ball(as_point([3.0, 4.0]), 1.0).start == pytest.approx([2.4, 3.2])
    assert L1Ball(2, 1.0).start.tolist() == [0, 0]
    assert Simplex(4).start.tolist() == [0.25] * 4


@pytest.mark.parametrize("domain", [Simplex(3), L1Ball(3, 1.0)], ids=["simplex", "l1"])
def test_projections_from_very_far(domain: Domain) -> None:
    """The total of 1 is lost beside 1e17; the projection must not be."""
    for point in ([1e17, 1.0, 0.0], [1e300, 0.0, 1.0], [1e17, 1e17, 0.0]):
        near = domain.project(as_point(point))
        assert near.sum() == 1
        assert near[2] == 0


def test_weighted_projection_on_a_ball_with_weights_of_all_sizes() -> None:
    ball = L2Ball(np.zeros(3), 1.0)
    q, point = as_point([1e-12, 1.0, 1e-6]), as_point([1.5, 0.1, 0.1])
    near = ball.project(point, q)
    multipliers = q * (point - near) / near
    assert multipliers == pytest.approx(np.full(3, multipliers[0]), rel=1e-2)
    assert np.linalg.norm(near) == pytest.approx(1)


def test_falling_root_at_the_lower_end() -> None:
    assert falling_root(lambda nu: -nu, 0.0, 1.0) == 0
    assert falling_root(lambda nu: 1e-14 - nu, 0.0, 1.0) == pytest.approx(1e-14)


@pytest.mark.parametrize("radius", [0.0, -1.0, np.inf, np.nan])
def test_balls_refuse_radii(radius: float) -> None:
    with pytest.raises(SpecError, match="radius above 0"):
        L2Ball(np.zeros(2), radius)
    with pytest.raises(SpecError, match="radius above 0"):
        L1Ball(2, radius)


def test_boxes_refuse_ends() -> None:
    with pytest.raises(SpecError, match="low ≤ high"):
        Box.cube(2, 1.0, 0.0)
    for low, high in [(0.0, np.inf), (np.nan, 1.0)]:
        with pytest.raises(SpecError, match="finite"):
            Box.cube(2, low, high)
    with pytest.raises(SpecError, match="each coordinate"):
        Box(np.zeros((2, 2)), np.ones((2, 2)))


def test_balls_refuse_centres() -> None:
    for centre in (np.zeros((2, 2)), np.array([np.nan, 0.0]), np.array(1.0)):
        with pytest.raises(SpecError, match="centre"):
            L2Ball(centre, 1.0)


@pytest.mark.parametrize("make", [Simplex, lambda n: L1Ball(n, 1.0)])
def test_sets_refuse_no_dimensions(make: type[Simplex]) -> None:
    with pytest.raises(SpecError, match="at least one dimension"):
        make(0)


def test_a_box_does_not_share_its_ends() -> None:
    low = np.zeros(2)
    box = Box(low, np.ones(2))
    low += 5
    assert box.low.tolist() == [0, 0]
    assert box.box is box
