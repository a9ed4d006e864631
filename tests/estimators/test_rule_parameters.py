"""Rules as strings, and their parameters as those of the estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lessregret import Ftrl, OnlineClassifier, OnlineRegressor, PerCoordinate
from lessregret.errors import SpecError
from lessregret.learners.rules import RULES, rule_named


def clicks(rows: int = 300) -> tuple[Any, Any]:
    draw = np.random.default_rng(1)
    X = draw.normal(size=(rows, 4))
    return X, (X[:, 0] + draw.normal(size=rows) > 0).astype(int)


@pytest.mark.parametrize("name", RULES)
def test_a_rule_may_be_given_by_its_name(name: str) -> None:
    X, y = clicks()
    by_name = OnlineClassifier(rule=name).fit(X, y)  # type: ignore[arg-type]
    by_rule = OnlineClassifier(rule=rule_named(name)).fit(X, y)
    assert by_name.learner_.to_bytes() == by_rule.learner_.to_bytes()
    assert by_name.get_params(deep=False)["rule"] == name


@pytest.mark.parametrize("name", RULES)
def test_every_parameter_of_a_rule_is_one_of_the_estimator(name: str) -> None:
    clf = OnlineClassifier(rule=name)  # type: ignore[arg-type]
    parameters = clf.get_params()
    for field, value in rule_named(name).spec().items():
        if field != "name":
            assert parameters[f"rule__{field}"] == value
    # What is set to what it is stays as it was given.
    assert clf.set_params(**parameters).rule == name


def test_parameters_are_set_for_every_way_to_give_a_rule() -> None:
    for given in (None, "per-coordinate", PerCoordinate(radius=7)):
        clf = OnlineClassifier(rule=given).set_params(rule__rate=0.5)  # type: ignore[arg-type]
        assert clf.rule == PerCoordinate(
            rate=0.5, radius=100 if given != PerCoordinate(radius=7) else 7
        )
    both = OnlineClassifier().set_params(rule="ftrl", rule__l1=0.5, passes=2)
    assert (both.rule, both.passes) == (Ftrl(l1=0.5), 2)


def test_a_default_that_depends_on_another_parameter_follows_it() -> None:
    assert PerCoordinate().having(rate=0.5).offset == 0
    assert PerCoordinate(rate=0.5).having(rate="auto").offset == 0.3
    assert PerCoordinate(rate=0.5, offset=0.2).having(rate="auto").offset == 0.2


def test_wrong_parameters_say_what_there_is() -> None:
    with pytest.raises(SpecError, match=r"rule 'ftrl' has no alpha; it has radius, box, rate, off"):
        OnlineClassifier(rule="ftrl").set_params(rule__alpha=1)
    with pytest.raises(SpecError, match=r"Ftrl: rate must be a number above 0 or 'auto', found -1"):
        OnlineClassifier(rule="ftrl").set_params(rule__rate=-1)
    with pytest.raises(ValueError, match="Invalid parameter 'rate'"):
        OnlineClassifier().set_params(rate=1)


def test_a_grid_search_varies_the_rule_and_its_parameters() -> None:
    X, y = clicks()
    grid = [{"rule": ["ftrl", "coin"]}, {"rule": ["ftrl"], "rule__rate": [0.001, 1.0]}]
    search = GridSearchCV(OnlineClassifier(), grid, cv=3).fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    pipe = make_pipeline(StandardScaler(), OnlineRegressor(rule="ftrl"))
    name = "onlineregressor__rule__rate"
    search = GridSearchCV(pipe, {name: [0.0001, 1.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {name: 1.0}
    assert clone(search.best_estimator_).get_params()[name] == 1.0


def test_random_state_is_accepted_and_has_no_effect() -> None:
    X, y = clicks()
    one, other = (OnlineClassifier(random_state=seed).fit(X, y) for seed in (1, None))
    assert one.learner_.to_bytes() == other.learner_.to_bytes()
    bagged = BaggingClassifier(OnlineClassifier(), n_estimators=3, random_state=2).fit(X, y)
    assert all(clf.random_state is not None for clf in bagged.estimators_)
    OnlineRegressor(random_state=np.random.RandomState(1)).fit(X, y)


def test_scikit_learns_own_picture_of_an_estimator_stays() -> None:
    assert "OnlineClassifier" in OnlineClassifier(rule="ftrl")._repr_html_()
