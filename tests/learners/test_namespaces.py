"""Are namespaces read and crossed as asked, kept in the model, and every difference named?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lessregret import FeatureSpace, Learner, Namespaces, SpecError, open_examples, train

LINES = "1 |user u7 |hour 23 |ad shoes:0.5\n-1 |user u8 |hour 23 |ad hats\n" * 20
CROSSED = Namespaces(crosses=["user*hour"], ignore="a")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "log.vw"
    file.write_text(LINES)
    return file


def test_spellings_of_the_same_features_are_equal() -> None:
    assert Namespaces(["ab", "ba"]) == Namespaces([("a", "b")]) == Namespaces(["a*b"])
    assert Namespaces(["aba"]).crosses == (("a", "a", "b"),)
    assert Namespaces(keep="user").keep == ("user",)
    assert Namespaces(keep=["b", "a", "b"]).keep == ("a", "b")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"crosses": ["a"]}, "expected from 2 to 16 names in a cross, found 'a'"),
        ({"crosses": ["user*"]}, "expected the name of a namespace, found ''"),
        ({"crosses": ["user*:"]}, "expected initials beside ':'"),
        ({"crosses": "ab"}, "crosses: expected a list, found 'ab'"),
        ({"crosses": [("a", 1)]}, "expected names, which are strings, found 1"),
        ({"keep": "a", "ignore": "a"}, "namespace 'a' is to be kept and to be ignored"),
        ({"ignore": ":"}, "ignore: expected the name of a namespace, found ':'"),
    ],
)
def test_impossible_names_are_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(SpecError) as error:
        Namespaces(**given)
    assert told in str(error.value)


def test_a_space_holds_them_and_so_does_a_model(log: Path, tmp_path: Path) -> None:
    space = FeatureSpace(bits=10, namespaces=CROSSED)
    assert FeatureSpace.from_json(space.to_json()) == space
    learner = Learner(bits=10, namespaces=CROSSED)
    learner.learn(open_examples([log], learner))
    learner.save(tmp_path / "model")
    loaded = Learner.load(tmp_path / "model")
    assert loaded.space.namespaces == CROSSED
    unlabelled = loaded.space.unlabelled()
    margins = loaded.predict(open_examples([log], unlabelled)).margins
    np.testing.assert_array_equal(
        margins, learner.predict(open_examples([log], unlabelled)).margins
    )
    assert learner.tally().features == 40 * 4


def test_a_model_without_them_has_no_word_of_them() -> None:
    assert "namespaces" not in Learner(bits=10).spec


def test_examples_for_others_are_refused(log: Path) -> None:
    learner = Learner(bits=10, namespaces=CROSSED)
    with pytest.raises(SpecError) as error:
        learner.learn(open_examples([log], FeatureSpace(bits=10)))
    assert str(error.value) == (
        "the feature spaces differ in namespaces: the learner has crosses user*hour; ignore a, the "
        "examples were read for none selected or crossed; open the examples for the learner's own "
        "feature space"
    )


def test_a_table_and_a_matrix_have_none() -> None:
    with pytest.raises(SpecError):
        Learner(columns=3, namespaces=CROSSED)


def test_training_goes_on_with_the_crosses_of_the_model(log: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    asked: dict[str, Any] = {"crosses": ["user*hour"], "ignore": "a"}
    whole = train([log, log], bits=10, **asked)
    train(log, bits=10, model=model, **asked)
    assert train(log, resume=model).ledger == whole.ledger
    assert train(log, resume=model, crosses=["user*hour"]).ledger == whole.ledger
    for other, told in (
        ({"crosses": ["ab"]}, "crosses is a*b, but the model was trained with user*hour"),
        ({"keep": "a"}, "keep is a, but the model was trained with none"),
    ):
        with pytest.raises(SpecError, match="leave it out, or train a new model") as error:
            train(log, resume=model, **other)
        assert told.replace("*", "*") in str(error.value)


def test_crossed_features_have_names(log: Path) -> None:
    learner = train(log, bits=18, crosses=["user*hour"], names=True).learner
    names = {name[0] for slot in learner.weights()[0] if (name := learner.name(int(slot)))}
    assert {"user^u7*hour^23", "user^u8*hour^23", "user^u7", "hour^23"} < names
