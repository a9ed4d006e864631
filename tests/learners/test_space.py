"""Do examples and learners agree about the feature space, and is every difference named?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lessregret import (
    Examples,
    ExampleStream,
    FeatureSpace,
    InputError,
    Learner,
    PerCoordinate,
    ReadableLearner,
    Rows,
    SpecError,
    best_fixed,
    learn_many,
    open_examples,
)
from lessregret.data.convert import convert

CURE = "open the examples for the learner's own feature space"
ONLY_PREDICTED = "examples of which labels may be missing can only be predicted"


def differ(what: str, own: str, other: str, cure: str = CURE) -> str:
    """What a learner says of examples that were read for another space."""
    return (
        f"the feature spaces differ in {what}: the learner has {own}, "
        f"the examples were read for {other}; {cure}"
    )


@pytest.fixture
def text(tmp_path: Path) -> Path:
    file = tmp_path / "data.vw"
    file.write_text("1 |a b:0.5 c:3\n-1 |a b c:-2\n1 |a d:0.25 e\n-1 |a c:7 e:0.5\n")
    return file


@pytest.fixture
def numbers(tmp_path: Path) -> Path:
    """Labels that are no classes."""
    file = tmp_path / "numbers.vw"
    file.write_text("7 |a b\n-3 |a c\n")
    return file


@pytest.fixture
def unlabelled(tmp_path: Path) -> Path:
    file = tmp_path / "unlabelled.vw"
    file.write_text("|a b\n'tag |a c\n")
    return file


def learn(learner: Learner, examples: ExampleStream | Examples) -> Any:
    return learner.learn(examples)


def predict(learner: Learner, examples: ExampleStream | Examples) -> Any:
    return learner.predict(examples)


def learn_with_another(learner: Learner, examples: ExampleStream | Examples) -> Any:
    """Beside one that the examples are for: neither learns."""
    fitting = Learner(learner.spec["loss"], bits=18, scale="none")
    try:
        return learn_many([fitting, learner], examples)
    finally:
        assert fitting.tally().rounds == 0


EVERY_CALL = pytest.mark.parametrize("call", [learn, predict, learn_with_another])
KEPT_OR_NOT = pytest.mark.parametrize(
    "keep", [lambda stream: stream, Examples.collect], ids=["stream", "in memory"]
)
Keep = Callable[[ExampleStream], Any]


def refusal(call: Callable[[], Any], *learners: Learner) -> str:
    """What is said, having learned nothing."""
    with pytest.raises(SpecError) as caught:
        call()
    assert all(learner.tally().rounds == 0 for learner in learners)
    return str(caught.value)


@EVERY_CALL
@KEPT_OR_NOT
@pytest.mark.parametrize(
    ("size", "own"), [({"bits": 10}, "bits=10"), ({"columns": 5}, "columns=5")]
)
def test_another_table_is_refused(
    text: Path, call: Callable[..., Any], keep: Keep, size: dict[str, int], own: str
) -> None:
    learner = Learner(**size)  # type: ignore[arg-type]
    examples = keep(open_examples([text], FeatureSpace(bits=18)))
    told = refusal(lambda: call(learner, examples), learner)
    assert told == differ("slots", own, "bits=18")


@EVERY_CALL
@KEPT_OR_NOT
def test_another_intercept_is_refused(text: Path, call: Callable[..., Any], keep: Keep) -> None:
    learner = Learner(bits=18, intercept=False)
    examples = keep(open_examples([text], FeatureSpace(bits=18)))
    told = refusal(lambda: call(learner, examples), learner)
    assert told == differ("intercept", "intercept=False", "intercept=True")


@KEPT_OR_NOT
@pytest.mark.parametrize("call", [learn, learn_with_another])
def test_labels_that_are_numbers_are_not_classes(
    numbers: Path, call: Callable[..., Any], keep: Keep
) -> None:
    learner = Learner("logistic", bits=18)
    examples = keep(open_examples([numbers], FeatureSpace(bits=18, labels="real")))
    told = refusal(lambda: call(learner, examples), learner)
    assert told == differ("labels", "'binary'", "'real'")


def test_classes_are_not_numbers_either(text: Path) -> None:
    learner = Learner("squared", bits=18)
    stream = open_examples([text], FeatureSpace(bits=18))
    assert refusal(lambda: learner.learn(stream)) == differ("labels", "'real'", "'binary'")


def test_numbers_are_learned_from_by_who_takes_them(numbers: Path) -> None:
    learner = Learner("squared", bits=18)
    assert learner.learn(open_examples([numbers], learner)).labels.tolist() == [7, -3]
    with pytest.raises(InputError, match="expected a label 1, 0 or -1, found '7'"):
        Learner("logistic", bits=18).learn(open_examples([numbers], Learner(bits=18)))


@KEPT_OR_NOT
@pytest.mark.parametrize("loss", ["logistic", "squared"])
@pytest.mark.parametrize("call", [learn, learn_with_another])
def test_lines_without_labels_are_not_learned_from(
    unlabelled: Path, loss: str, call: Callable[..., Any], keep: Keep
) -> None:
    learner = Learner(loss, bits=18)
    examples = keep(open_examples([unlabelled], learner.space.unlabelled()))
    told = refusal(lambda: call(learner, examples), learner)
    own = {"logistic": "'binary'", "squared": "'real'"}[loss]
    assert told == differ("labels", own, "'any'", ONLY_PREDICTED)


@KEPT_OR_NOT
@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_lines_without_labels_are_predicted(unlabelled: Path, loss: str, keep: Keep) -> None:
    learner = Learner(loss, bits=18)
    outcomes = learner.predict(keep(open_examples([unlabelled], learner.space.unlabelled())))
    assert outcomes.margins.tolist() == [0, 0]
    assert np.isnan(outcomes.labels).all()
    assert outcomes.importances.tolist() == [1, 1]
    assert outcomes.tags == [b"", b"tag"]


def test_labels_that_stand_there_are_given_back_where_nothing_is_learned(numbers: Path) -> None:
    learner = Learner("logistic", bits=18)
    outcomes = learner.predict(open_examples([numbers], learner.space.unlabelled()))
    assert outcomes.labels.tolist() == [7, -3]


@pytest.mark.parametrize(
    "learner", [Learner(columns=2), ReadableLearner("hinge", PerCoordinate())], ids=["Rust", "here"]
)
def test_rows_without_labels_are_not_learned_from(learner: Learner | ReadableLearner) -> None:
    rows = Rows([0, 1], [0], [1.0], space=FeatureSpace(columns=2))
    told = refusal(lambda: learner.learn(rows))
    assert told == "rows without labels cannot be learned from; give labels, or predict"
    assert learner.ledger().rounds == 0
    assert learner.predict(rows).margins.tolist() == [0]
    assert np.isnan(learner.predict(rows).labels).all()


def test_nor_are_they_when_they_were_kept() -> None:
    learner = Learner(columns=2)
    examples = Examples.collect(Rows([0, 1], [0], [1.0], space=learner))
    assert examples.space == replace(learner.space, labels="any", scale="none")
    told = refusal(lambda: learner.learn(examples), learner)
    assert told == differ("labels", "'binary'", "'any'", ONLY_PREDICTED)
    assert refusal(lambda: best_fixed(examples)) == (
        "the logistic loss needs binary labels, and the examples were read for any labels; "
        "open them for a feature space with labels 'binary'"
    )
    assert learner.predict(examples).margins.tolist() == [0]


@pytest.mark.parametrize(
    ("space", "told"),
    [
        (FeatureSpace(columns=3), differ("slots", "columns=2", "columns=3")),
        (FeatureSpace(bits=1), differ("slots", "columns=2", "bits=1")),
        (
            FeatureSpace(columns=2, intercept=False),
            differ("intercept", "intercept=True", "intercept=False"),
        ),
    ],
)
def test_rows_of_another_space_are_refused(space: FeatureSpace, told: str) -> None:
    learner = Learner(columns=2)
    rows = Rows([0, 1], [0], [1.0], [1], space=space)
    assert refusal(lambda: learner.learn(rows), learner) == told
    assert refusal(lambda: learner.predict(rows)) == told
    assert refusal(lambda: learner.learn(Examples.collect(rows)), learner) == told


def test_an_arrow_file_has_the_bits_of_its_stream(text: Path, tmp_path: Path) -> None:
    arrow = tmp_path / "data.arrow"
    ten = FeatureSpace(bits=10, labels="any")
    assert convert(open_examples([text], ten), arrow).examples == 4
    with pytest.raises(InputError) as caught:
        list(open_examples([arrow], replace(ten, bits=20)))
    assert str(caught.value) == (
        f"{arrow}: expected slots of at least 20 bits, as asked for, found slots of 10 bits; "
        "convert the text again with more --bits, or use fewer here"
    )
    models = []
    for file in (arrow, text):
        learner = Learner(bits=10)
        assert len(learner.learn(open_examples([file], learner))) == 4
        models.append(learner.to_bytes())
    assert models[0] == models[1]


@pytest.mark.parametrize("scale", ["cap", "full", "standard"])
def test_an_arrow_file_holds_no_scaled_values(text: Path, tmp_path: Path, scale: str) -> None:
    """It does not say so, and they would be divided again when it is read."""
    stream = open_examples([text], FeatureSpace(bits=10, labels="any"), scale=scale)
    assert refusal(lambda: convert(stream, tmp_path / "data.arrow")) == (
        f"an Arrow file holds values as they are written, and these were divided by scale "
        f"'{scale}'; open the examples with scale='none', and scale when the file is read"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["data.vw"]


def test_names_of_another_table_are_refused(text: Path) -> None:
    stream = open_examples([text], FeatureSpace(bits=18), names=True)
    list(stream)
    learner = Learner(bits=4)
    assert refusal(lambda: learner.keep_names(stream)) == differ("slots", "bits=4", "bits=18")


@EVERY_CALL
@KEPT_OR_NOT
@pytest.mark.parametrize(("scale", "own"), [("full", "full"), ("cap", "full"), ("full", "cap")])
def test_values_are_not_scaled_twice(
    text: Path, call: Callable[..., Any], keep: Keep, scale: str, own: str
) -> None:
    learner = Learner(bits=18, scale=own)
    examples = keep(open_examples([text], FeatureSpace(bits=18), scale=scale))
    assert refusal(lambda: call(learner, examples), learner) == (
        f"the values of the examples were already divided by scale '{scale}', and the learner "
        f"would divide them again by scale '{own}'; open the examples with scale='none', or make "
        "the learner with scale='none'"
    )


@pytest.mark.parametrize("scale", ["cap", "full", "standard"])
@pytest.mark.parametrize("rule", [PerCoordinate(), PerCoordinate(rate=0.3)])
def test_scaled_once_is_the_same_here_or_there(text: Path, rule: PerCoordinate, scale: str) -> None:
    """The stream or a fresh learner: the same values, so the same margins."""
    scaling = Learner("logistic", rule, bits=18, scale=scale)
    plain = Learner("logistic", rule, bits=18, scale="none")
    here = scaling.learn(open_examples([text], scaling))
    there = plain.learn(open_examples([text], plain, scale=scale))
    assert np.abs(here.margins).max() > 0
    if scale != "standard" or not scaling.ledger().lanes:
        assert here.margins.tobytes() == there.margins.tobytes()
    # The stream has scaled values only. The coin would divide by their size those that stay.
    rated = [
        [lane.loss for lane in learner.ledger().lanes if lane.rate is not None]
        for learner in (scaling, plain)
    ]
    assert rated[0] == rated[1]
    unscaled = Learner("logistic", rule, bits=18, scale="none")
    other = unscaled.learn(open_examples([text], unscaled))
    assert other.margins.tobytes() != here.margins.tobytes()


def test_who_is_given_a_learner_takes_its_space_but_scales_nothing(text: Path) -> None:
    learner = Learner("squared", bits=12, intercept=False, scale="full")
    assert learner.space == FeatureSpace(bits=12, labels="real", intercept=False, scale="full")
    as_read = replace(learner.space, scale="none")
    stream = open_examples([text], learner)
    assert stream.space == Examples.collect(stream).space == as_read
    rows = Rows([0, 1], [0], [1.0], [0.5], space=learner)
    assert rows.space == Examples.collect(rows).space == as_read
    assert open_examples([text], rows).space == as_read


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared"])
@pytest.mark.parametrize("size", [{"bits": 4}, {"columns": 3}], ids=str)
def test_a_model_file_keeps_the_space(loss: str, size: dict[str, int], tmp_path: Path) -> None:
    for intercept in (True, False):
        learner = Learner(loss, **size, intercept=intercept, scale="cap")  # type: ignore[arg-type]
        learner.save(tmp_path / "m")
        again = Learner.load(tmp_path / "m")
        assert again.space == learner.space
        assert again.space.slots == again.slots
        assert FeatureSpace.from_json(again.space.to_json()) == again.space


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({}, "a feature space needs either bits or columns"),
        ({"bits": 4, "columns": 4}, "a feature space needs either bits or columns"),
        ({"bits": 0}, "bits must be a whole number from 1 to 31, found 0"),
        ({"bits": 32}, "bits must be a whole number from 1 to 31, found 32"),
        ({"bits": 4.0}, "bits must be a whole number from 1 to 31, found 4.0"),
        ({"bits": "4"}, "bits must be a whole number from 1 to 31, found '4'"),
        ({"columns": -1}, "columns must be a whole number from 0 to 4294967294, found -1"),
        ({"columns": 2**32 - 1}, "columns must be a whole number .*, found 4294967295"),
        (
            {"bits": 4, "labels": "three"},
            "labels must be 'binary' or 'real' or 'count' or 'any', found 'thr",
        ),
        ({"bits": 4, "scale": "half"}, "scale must be .* or 'full' or 'standard', found 'half'"),
    ],
    ids=str,
)
def test_what_is_no_space_is_refused(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(SpecError, match=told):
        FeatureSpace(**wrong)


@pytest.mark.parametrize(
    ("order", "told"),
    [
        ([4], "order: expected numbers below 4, found 4"),
        ([-1], "order: expected whole numbers from 0 to 4294967295, found -1"),
        (np.array([-1]), "order: expected whole numbers from 0 to 4294967295, found -1"),
        (np.array([0, 2**32]), "order: expected whole numbers .*, found 4294967296"),
        ([0.5], r"order: expected a list of whole numbers, found \[0.5\]"),
        ([[0, 1]], r"order: expected a list of whole numbers, found \[\[0, 1\]\]"),
        ("10", "order: expected a list of whole numbers, found '10'"),
        ([True, False], "order: expected a list of whole numbers"),
    ],
    ids=str,
)
def test_an_order_is_taken_as_it_is_or_refused(text: Path, order: Any, told: str) -> None:
    learner = Learner(bits=4)
    examples = Examples.collect(open_examples([text], learner))
    for call in (learner.learn, learner.predict, partial(learn_many, [learner])):
        with pytest.raises(InputError, match=told):
            call(examples, order=order)
    assert learner.tally().rounds == 0
    chosen = learner.predict(examples, order=np.array([3, 0, 3], dtype=np.int8))
    assert chosen.labels.tolist() == [-1, 1, -1]
    assert len(learner.learn(examples, order=[])) == 0


def test_nobody_learns_twice_at_once(text: Path) -> None:
    learner = Learner(bits=4)
    stream = open_examples([text], learner)
    told = refusal(lambda: learn_many([learner, learner], stream), learner)
    assert told == "a learner is given twice; learn_many wants each of them once"
    assert learn_many([learner], stream) == 4


def test_a_space_does_not_change() -> None:
    space = FeatureSpace(bits=4)
    with pytest.raises(FrozenInstanceError):
        space.bits = 5  # type: ignore[misc]
    assert {space, FeatureSpace(bits=4)} == {space}


def test_text_has_no_columns(text: Path) -> None:
    told = refusal(lambda: open_examples([text], Learner(columns=5)))
    assert told == (
        "text and Arrow files are hashed into 2^bits slots, and this feature space has columns=5; "
        "use a feature space with bits, or give the rows of a matrix"
    )
