"""Do the examples run, and do what they say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

from examples import clicks, own_rule, regret_of_your_model, shortest_paths, table, text
from examples.shortest_paths import SINK, SOURCE, Flows, layered_edges, routes
from lessregret import PerCoordinate, RegretOf
from lessregret.game.play import Transcript

ROUNDS = 120


@pytest.fixture(scope="module")
def flows() -> Flows:
    return Flows(tuple(layered_edges()))


@pytest.fixture(scope="module")
def games() -> dict[str, Transcript]:
    return shortest_paths.run(ROUNDS)


def test_every_point_played_is_a_flow(flows: Flows, games: dict[str, Transcript]) -> None:
    for game in games.values():
        played = np.array(game.points)
        assert played.shape == (ROUNDS, flows.dimensions)
        assert played.min() >= -1e-12
        np.testing.assert_allclose(played @ flows.balance.T, np.tile(flows.supply, (ROUNDS, 1)),
                                   atol=1e-9)  # fmt: skip


def test_learners_are_within_their_bounds_and_beat_the_even_split(
    games: dict[str, Transcript],
) -> None:
    even = games["even split"].regret()
    for name in ("FTPRL-Diag", "global descent"):
        bound = games[name].bound()
        assert bound is not None
        assert 0 <= games[name].regret() <= bound
        assert games[name].regret() < even / 5
    assert games["FTPRL-Diag"].bound() <= games["FTPRL-Diag"].theorem3() * (1 + 1e-9)


def test_the_best_flow_is_the_best_route(flows: Flows, games: dict[str, Transcript]) -> None:
    game = games["FTPRL-Diag"]
    totals = game.gradient_sum
    least = np.full(SINK + 1, np.inf)
    least[SOURCE] = 0.0
    # Nodes are numbered layer by layer, so one sweep over the roads finds shortest routes.
    for road, (tail, head) in enumerate(flows.edges):
        least[head] = min(least[head], least[tail] + totals[road])
    assert game.comparator.loss == pytest.approx(least[SINK])


@pytest.mark.parametrize("weighted", [False, True])
def test_the_projection_is_the_one_scipy_finds(flows: Flows, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    for _ in range(5):
        point = rng.normal(size=flows.dimensions)
        weights = rng.uniform(0.1, 2.0, size=flows.dimensions) if weighted else np.ones(33)
        near = flows.project(point, weights if weighted else None)
        found = minimize(
            lambda y, w=weights, x=point: float(w @ (y - x) ** 2),
            flows.start,
            jac=lambda y, w=weights, x=point: 2 * w * (y - x),
            bounds=[(0, None)] * flows.dimensions,
            constraints=LinearConstraint(flows.balance, flows.supply, flows.supply),
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        np.testing.assert_allclose(near, found.x, atol=1e-5)


def test_routes_make_up_the_flow(flows: Flows, games: dict[str, Transcript]) -> None:
    for flow in (games["FTPRL-Diag"].points or [])[::10]:
        again = np.zeros(flows.dimensions)
        for share, roads in routes(flows, flow):
            assert flows.edges[roads[0]][0] == SOURCE
            assert flows.edges[roads[-1]][1] == SINK
            again[roads] += share
        np.testing.assert_allclose(again, flow, atol=1e-8)


def test_a_drawn_route_costs_what_the_flow_costs(
    flows: Flows, games: dict[str, Transcript]
) -> None:
    game = games["FTPRL-Diag"]
    draws = [shortest_paths.drawn(flows, game, seed) for seed in range(20)]
    error = 4 * np.std(draws) / np.sqrt(len(draws))
    assert abs(np.mean(draws) - game.total_loss) <= error


def test_it_prints_a_table(
    games: dict[str, Transcript], capsys: pytest.CaptureFixture[str]
) -> None:
    shortest_paths.show(games)
    printed = capsys.readouterr().out
    assert "best route in hindsight: source → " in printed
    assert "FTPRL-Diag" in printed
    assert "global descent" in printed


@pytest.fixture(scope="module")
def measured() -> dict[str, RegretOf]:
    return dict(regret_of_your_model.runs(1000))


def test_models_of_others_lose_no_less_than_is_certified(measured: dict[str, RegretOf]) -> None:
    assert {"SGDClassifier, as it is", "SGDClassifier, rate 0.01"} <= measured.keys()
    for said in measured.values():
        stated = said.statement
        assert stated is not None
        best = said.best(stated.radius, intercept=stated.intercept)
        # The box of this radius holds the ball.
        assert said.certified(stated.radius, "box", stated.intercept) <= best.mean_total
        low, high = said.regret(stated.radius, intercept=stated.intercept)
        assert low <= high <= low + 1e-4
    steps = measured["SGDClassifier, rate 0.01"].statement
    assert steps is not None
    assert steps.speaks


def test_the_model_of_river_is_measured() -> None:
    pytest.importorskip("river", reason="River is not installed")
    X, y = regret_of_your_model.made(300)
    said = regret_of_your_model.of_river(X, y)
    # 300 rows are learned from in steps of 0.01, so that the model is between nothing and the best.
    low, _ = said.regret(3.0, intercept=3.0)
    assert 0 < low < said.lost < np.log(2)


def test_it_says_what_the_regrets_mean(
    measured: dict[str, RegretOf], capsys: pytest.CaptureFixture[str]
) -> None:
    regret_of_your_model.show(measured)
    printed = capsys.readouterr().out
    assert "SGDClassifier, as it is: most of its loss may have been needless; the best " in printed
    assert "SGDClassifier, rate 0.01: fixed weights with ‖w‖ ≤ " in printed
    assert ("pip install river" in printed) != regret_of_your_model.has_river()


def test_clicks_are_predicted_better_than_by_one_probability(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loss, found = clicks.learned(clicks.generated(tmp_path / "log.vw", 5000))
    assert loss < found.entropy
    assert found.examples == 5000
    clicks.show(loss, found)
    assert capsys.readouterr().out.splitlines()[1] == "predicted  observed  examples"


def test_messages_are_told_apart_and_words_say_why() -> None:
    model, wrong = text.learned(400)
    assert wrong < 0.3
    parts = {part.name: part.part for part in model.explain_one(text.words("win lunch")).parts}
    assert model.classes_.tolist() == ["mail", "spam"]
    assert parts["win"] > 0 > parts["lunch"]


def test_prices_are_learned_from_a_table_with_empty_cells(tmp_path: Path) -> None:
    training = table.learned(table.written(tmp_path / "homes.csv", 600))
    assert (tmp_path / "homes.safetensors").exists()
    loss = training.ledger.tally.standardised_loss
    assert loss is not None
    assert loss / 600 < 0.25, "in variances of the labels"


def test_a_rule_of_ones_own_learns() -> None:
    lazy = own_rule.mean_loss(own_rule.Lazy(radius=10.0), 300)
    known = own_rule.mean_loss(PerCoordinate(radius=10.0, rate=0.3), 300)
    assert lazy < np.log(2)
    assert abs(lazy - known) < 0.1
