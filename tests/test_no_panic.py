"""Can a panic of the Rust core reach Python? All public calls that take examples are asked wrongly.

A call may give a value or refuse by an error that says what is wrong. What it may not do is panic:
a ``pyo3_runtime.PanicException``, which is no ``Exception`` and goes through every net.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from lessregret import (
    Examples,
    ExampleStream,
    FeatureSpace,
    FromFiles,
    FromMemory,
    InMemory,
    Learner,
    LessRegretError,
    OnlineClassifier,
    OnlineRegressor,
    OverFiles,
    PerCoordinate,
    ReadableLearner,
    Rows,
    SpecError,
    best_fixed,
    learn_many,
    measure,
    open_examples,
)
from lessregret.data.convert import convert
from lessregret.learners.rules import Rule
from lessregret.regret.comparison import compare_shuffled, compare_stream
from tests.support.slow import slow

REFUSALS = (LessRegretError, TypeError, ValueError, OverflowError)
VW = "1 |a b:0.5 c:3\n-1 2 tag|a b c:-2\n1 |a d:0.25 e\n-1 |a c:7 e:0.5\n"
SVMLIGHT = "1 1:0.5 2:3\n-1 1:1 5000:2\n"
UNLABELLED = "|a b\n'tag |a c\n"
NUMBERS = "7 |a b\n-3 |a c\n"

FILES = {"vw": VW, "svmlight": SVMLIGHT, "unlabelled": UNLABELLED, "numbers": NUMBERS, "empty": ""}
BITS = [1, 4, 18]
LABELS = ["binary", "real", "any"]
SPACES = [
    FeatureSpace(bits=bits, labels=labels, intercept=intercept)
    for bits, labels, intercept in itertools.product(BITS, LABELS, [True, False])
]
SIZES: list[dict[str, int]] = [
    {"bits": 1},
    {"bits": 4},
    {"bits": 18},
    {"columns": 1},
    {"columns": 5},
]
SCALES = ["none", "cap", "full", "standard"]

LEARNERS: list[Callable[[], Learner]] = [
    partial(Learner, loss, rule, **size, intercept=intercept, scale=scale)
    for (loss, rule), size, intercept, scale in itertools.product(
        [("logistic", None), ("squared", PerCoordinate(rate=0.1))],
        [{"bits": 4}, {"bits": 18}, {"columns": 5}],
        [True, False],
        ["none", "full"],
    )
]
"""One for every difference that there can be."""


def attempt(call: Callable[[], Any]) -> Any:
    """What the call gives, or the error by which it refuses; anything else goes through."""
    try:
        return call()
    except REFUSALS as error:
        return error


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    for name, content in FILES.items():
        folder.joinpath(name).write_text(content)
    return folder


def test_the_net_would_hold_a_panic() -> None:
    """A panic is none of the refusals, nor an Exception."""
    panic = type("PanicException", (BaseException,), {})

    def fail() -> None:
        raise panic("a bug")

    with pytest.raises(panic):
        attempt(fail)


# --- every source for every learner --------------------------------------------------------------


def sources(folder: Path, name: str, space: FeatureSpace, scale: str) -> list[Callable[[], Any]]:
    """The stream of a file and its examples in memory, made anew for every call."""

    def stream() -> ExampleStream:
        return open_examples([folder / name], space, scale=scale, names=True)

    return [stream, lambda: Examples.collect(stream())]


CALLS: list[Callable[[Learner, Any], Any]] = [
    lambda learner, source: learner.learn(source).margins,
    lambda learner, source: learner.predict(source).margins,
    lambda learner, source: learn_many([learner, learner], source),
    lambda learner, source: learn_many([learner], source),
    lambda learner, source: learn_many([], source),
    lambda learner, source: learner.keep_names(source),
]


def ask_everything(make: Callable[[], Learner], source: Callable[[], Any]) -> None:
    for call in CALLS:
        learner = make()
        given = attempt(source)
        if isinstance(given, BaseException):
            return
        attempt(lambda: call(learner, given))  # noqa: B023
        # Whatever happened, it is still a learner.
        assert Learner.from_bytes(learner.to_bytes()).ledger() == learner.ledger()


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("scale", [*map(slow, SCALES[:-1]), SCALES[-1]])
def test_streams_and_examples_of_every_space(folder: Path, name: str, scale: str) -> None:
    for space, make in itertools.product(SPACES, LEARNERS):
        for source in sources(folder, name, space, scale):
            ask_everything(make, source)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("labels", [None, [1.0, -1.0], [7.0, -3.0]], ids=str)
def test_rows_of_every_space(size: dict[str, int], labels: list[float] | None) -> None:
    for intercept, kind, make in itertools.product([True, False], LABELS, LEARNERS):
        space = FeatureSpace(**size, labels=kind, intercept=intercept)  # type: ignore[arg-type]
        rows = partial(Rows, [0, 1, 2], [0, 4], [1.0, 2.0], labels, space=space)
        ask_everything(make, rows)
        ask_everything(make, lambda rows=rows: Examples.collect(rows()))  # type: ignore[misc]


def test_names_of_another_space_are_kept_and_harmless(folder: Path) -> None:
    stream = open_examples([folder / "vw"], FeatureSpace(bits=18), names=True)
    list(stream)
    for make in LEARNERS:
        learner = make()
        attempt(lambda: learner.keep_names(stream))  # noqa: B023
        for slot in (0, learner.slots - 1, learner.slots, 2**32 - 1, 2**40, -1):
            attempt(lambda: learner.name(slot))  # noqa: B023
        attempt(lambda: Learner.from_bytes(learner.to_bytes()))  # noqa: B023


# --- wrong arguments -----------------------------------------------------------------------------

HUGE = [2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 2**100]
LIMITS: list[Any] = [-1, 0, 1, *HUGE, -(2**70), 1.5, "1", None, np.int64(2), float("nan"), [1]]
ORDERS: list[Any] = [
    [0], [3, 3, 3], [4], [-1], [2**32 - 1], [2**32], [-(2**40)], [], [[0, 1], [2, 3]], [0.5], 0,
    [float("nan")], ["a"], "10", None, np.arange(4, dtype=np.int8), np.zeros((0, 4)), [None],
    np.array([True, False]), np.arange(8)[::2], [10**30],
]  # fmt: skip


@pytest.mark.parametrize("limit", LIMITS, ids=repr)
def test_limits(folder: Path, limit: Any) -> None:
    learner = Learner(bits=4)

    def stream() -> ExampleStream:
        return open_examples([folder / "vw"], learner)

    for source in (stream, lambda: Examples.collect(stream())):
        attempt(lambda: learner.learn(source(), limit=limit))  # noqa: B023
        attempt(lambda: learner.predict(source(), limit=limit))  # noqa: B023
        attempt(lambda: learn_many([learner], source(), limit=limit))  # noqa: B023
    attempt(lambda: Examples.collect(stream(), limit))
    attempt(lambda: learner.learn(Rows([0, 1], [0], [1.0], [1], space=learner), limit=limit))
    attempt(lambda: InMemory(Examples.collect(stream()), "logistic", limit))
    attempt(lambda: compare_stream({"pc": PerCoordinate()}, maker(), stream(), block=limit or 5))
    attempt(lambda: OverFiles([str(folder / "vw")], learner, "logistic", block=limit or 5))
    attempt(lambda: open_examples([folder / "vw"], learner, threads=small(limit)))


def small(limit: Any) -> Any:
    """Not so many threads that the machine has none left."""
    return limit if not isinstance(limit, int) or limit < 100 or limit >= 2**64 else 2


@pytest.mark.parametrize("order", ORDERS, ids=repr)
def test_orders(folder: Path, order: Any) -> None:
    learner = Learner(bits=4)

    def stream() -> ExampleStream:
        return open_examples([folder / "vw"], learner)

    rows = Rows([0, 1], [0], [1.0], [1], space=learner)
    for source in (stream, lambda: Examples.collect(stream()), lambda: rows):
        for call in (learner.learn, learner.predict, partial(learn_many, [learner])):
            attempt(lambda: call(source(), order=order))  # noqa: B023
    assert Learner.from_bytes(learner.to_bytes()).ledger() == learner.ledger()


GOOD: dict[str, Any] = {
    "indptr": [0, 2, 3],
    "indices": [0, 2, 1],
    "values": [1.0, 2.0, -1.0],
    "labels": [1, -1],
    "importances": [1.0, 0.5],
}
NAN, INF = float("nan"), float("inf")
WRONG: dict[str, list[Any]] = {
    "indptr": [
        [], [0], [0, 2], [0, 2, 2, 3], [1, 2, 3], [0, 3, 2], [0, 2, 4], [0, -1, 3], [0, 2, 2**62],
        [-(2**62), 2, 3], [[0, 2, 3]], [0.5, 2, 3], ["a"], None, 3, [0, 2, 2**70], [NAN, 2, 3],
        np.array([0, 2, 3], dtype=np.uint64), np.array([0, 2, 3], dtype=np.float32),
        np.array([0, 2, 3], dtype=np.int32), np.array([0, 2, 3, 4])[:3], np.arange(0, 9, 3)[::-1],
        np.array([0, 2, 3], dtype=object), [0, 3, 3, 3, 3], [3, 3, 3],
    ],
    "indices": [
        [], [0, 2], [0, 2, 1, 1], [0, 2, 3], [0, 2, 2**31], [0, 2, 2**32], [0, 2, 2**62],
        [0, -1, 1], [0, -(2**62), 1], [[0, 2, 1]], [0.5, 2, 1], ["a"], None, 0, [0, 2, 2**70],
        [NAN, 0, 1], np.array([0, 2, 1], dtype=np.int32), np.array([0, 2, 1], dtype=np.uint32),
        np.array([0, 2, 2**63], dtype=np.uint64), [1, 1, 1],
    ],
    "values": [
        [], [1.0, 2.0], [1.0] * 4, [NAN, 1, 1], [INF, 1, 1], [-INF, 1, 1], [1e39, 1, 1],
        [1e300, 1, 1], [[1.0, 2.0, 3.0]], ["a", 1, 1], None, 1.0, [0, 0, 0], [1e-46, 1, 1],
        np.array([1, 2, 3], dtype=np.float16), np.array([1, 2, 3], dtype=np.int8),
        np.array([1, 2, 3], dtype=np.complex128), np.array([1, NAN, 3], dtype=np.float32),
        [1j, 1, 1], [10**400, 1, 1], [3e38, 3e38, 3e38], [True, False, True],
    ],
    "labels": [
        [], [1], [1, -1, 1], [0, 1], [2, 1], [NAN, 1], [INF, -INF], [1e300, 1], [[1, -1]], ["a", 1],
        1, [None, 1], [1j, 1], np.array([1, 0], dtype=np.uint8), [True, False], [10**400, 1],
    ],
    "importances": [
        [], [1], [1, 1, 1], [0, 0], [-1, 1], [NAN, 1], [INF, 1], [1e300, 1], [1e39, 1], [[1, 1]],
        ["a", 1], 1, [1j, 1], [1e-300, 1], [3e38, 3e38],
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "wrong"),
    [(name, wrong) for name, entries in WRONG.items() for wrong in entries],
    ids=lambda given: given if isinstance(given, str) else repr(given)[:40].replace("\n", " "),
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")
def test_arrays_of_rows(name: str, wrong: Any) -> None:
    arrays = {**GOOD, name: wrong}
    for loss, size in itertools.product(["logistic", "squared"], [{"columns": 3}, {"bits": 2}]):
        learner = Learner(loss, **size)  # type: ignore[arg-type]

        def rows() -> Rows:
            return Rows(**arrays, space=learner)  # noqa: B023

        attempt(lambda: learner.learn(rows()).margins)  # noqa: B023
        attempt(lambda: learner.predict(rows()).margins)  # noqa: B023
        attempt(lambda: learn_many([learner], rows()))  # noqa: B023
        attempt(lambda: learner.learn(Examples.collect(rows())).margins)  # noqa: B023
        attempt(lambda: best_fixed(Examples.collect(rows()), loss, 1.0))  # noqa: B023
        assert np.isfinite(learner.weights()[1]).all()


def test_arrays_changed_after_they_were_handed_over() -> None:
    """Rows leave arrays where they are, so they are checked when they are used."""
    learner = Learner(columns=3)
    for name, place, value in [
        ("indptr", 1, -5), ("indptr", 1, 2**40), ("indptr", 2, 100), ("indices", 0, -1),
        ("indices", 0, 2**40), ("values", 0, NAN), ("labels", 0, NAN), ("importances", 0, -1),
    ]:  # fmt: skip
        arrays = {key: np.array(entry) for key, entry in GOOD.items()}
        arrays["labels"] = arrays["labels"].astype(float)
        rows = Rows(**arrays, space=learner)
        arrays[name][place] = value
        attempt(lambda: learner.learn(rows))  # noqa: B023
        attempt(lambda: learner.predict(rows))  # noqa: B023
        attempt(lambda: Examples.collect(rows))  # noqa: B023


NOT_SOURCES: list[Any] = [None, 1, "data.vw", [[1.0]], csr_array([[1.0]])]


@pytest.mark.parametrize("wrong", NOT_SOURCES, ids=lambda wrong: type(wrong).__name__)
def test_what_is_no_source(wrong: Any, tmp_path: Path) -> None:
    learner = Learner(bits=4)
    for call in (
        learner.learn, learner.predict, learner.keep_names, partial(learn_many, [learner]),
        Examples.collect, lambda source: convert(source, tmp_path / "x.arrow"),
        ReadableLearner("hinge", PerCoordinate()).learn, best_fixed,
        lambda source: open_examples([tmp_path], source),
    ):  # fmt: skip
        with pytest.raises((AttributeError, IndexError, *REFUSALS)):
            call(wrong)


@pytest.mark.parametrize("wrong", NOT_SOURCES, ids=lambda wrong: type(wrong).__name__)
def test_what_is_no_source_is_named(wrong: Any) -> None:
    learner = Learner(bits=4)
    found = "None" if wrong is None else repr(type(wrong).__name__)
    for call in (
        learner.learn, learner.predict, learner.keep_names, partial(learn_many, [learner]),
        Examples.collect,
    ):  # fmt: skip
        with pytest.raises(SpecError, match=rf"expected an ExampleStream.* found .*{found}"):
            call(wrong)
    assert learner.ledger().rounds == 0


@pytest.mark.parametrize("wrong", [0, -1, -(2**70), 1.5, "1", NAN, [1]], ids=repr)
def test_a_limit_that_is_no_number_of_examples(folder: Path, wrong: Any) -> None:
    learner = Learner(bits=4)
    for call in (learner.learn, learner.predict, partial(learn_many, [learner]), Examples.collect):
        with pytest.raises(SpecError, match="limit: expected a whole number from 1 up"):
            call(open_examples([folder / "vw"], learner), limit=wrong)  # type: ignore[operator]
    assert learner.ledger().rounds == 0


@pytest.mark.parametrize(
    ("limit", "read"), [(None, 4), (3, 3), (np.int64(3), 3), (2**70, 4)], ids=repr
)
def test_a_limit_that_is_one(folder: Path, limit: Any, read: int) -> None:
    learner = Learner(bits=4)
    assert len(learner.learn(open_examples([folder / "vw"], learner), limit=limit)) == read


# --- what stands on learners ---------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_convert(folder: Path, tmp_path: Path, name: str) -> None:
    arrow = tmp_path / "data.arrow"
    for space, scale in itertools.product(SPACES, SCALES):
        attempt(lambda: convert(open_examples([folder / name], space, scale=scale), arrow))  # noqa: B023
        if not arrow.exists():
            continue
        for other in SPACES:
            attempt(lambda: list(open_examples([arrow], other)))  # noqa: B023
        arrow.unlink()
    for place in (tmp_path, tmp_path / "no" / "file", folder / name / "below", "", "\0"):
        with pytest.raises((OSError, *REFUSALS)):
            convert(open_examples([folder / name], FeatureSpace(bits=4, labels="any")), place)


WIDTHS = [1, 2, 3, 8]
TABLES: list[Any] = [
    *(np.ones((4, width)) for width in WIDTHS),
    *(csr_array(np.eye(4, width)) for width in WIDTHS),
    np.ones((0, 2)), np.ones((4, 0)), np.ones(4), np.ones((2, 2, 2)), [[NAN, 1.0]] * 4,
    [[INF, 1.0]] * 4, [["a", "b"]] * 4, [{"a": 1.0}] * 4, [{}] * 4, [], None, csr_array((4, 2**33)),
    csr_array((0, 2)), [[1e300, 1.0]] * 4, np.ones((4, 2), dtype=np.int8), np.ones((4, 2)) * 1j,
]  # fmt: skip


@pytest.mark.parametrize("made", [OnlineClassifier, OnlineRegressor])
def test_estimators(made: Any) -> None:
    y = [1, -1, 1, -1]
    for first, second in itertools.product(TABLES, TABLES):
        model = made(bits=3)
        if isinstance(attempt(lambda: model.fit(first, y)), BaseException):  # noqa: B023
            continue
        attempt(lambda: model.partial_fit(second, y))  # noqa: B023
        for method in ("predict", "decision_function", "predict_proba"):
            if hasattr(model, method):
                attempt(lambda: getattr(model, method)(second))  # noqa: B023
    for targets in ([], [1], [1, -1, NAN, 1], [1, 2, 3, 4], ["a"] * 4, None, [[1, -1]] * 4):
        attempt(lambda: made().fit(TABLES[1], targets))  # noqa: B023
        attempt(lambda: made().fit(TABLES[1], y, sample_weight=targets))  # noqa: B023


LOSSES = ["logistic", "hinge", "squared", "none", "", None]


@pytest.mark.parametrize("name", FILES)
def test_the_comparator(folder: Path, name: str) -> None:
    few = [space for space in SPACES if space.bits != 1]
    for space, loss in itertools.product(few, LOSSES):
        examples = attempt(lambda: Examples.collect(open_examples([folder / name], space)))  # noqa: B023
        if not isinstance(examples, BaseException):
            for count in (None, 0, 1, 2**40, -1):
                attempt(lambda: InMemory(examples, loss, count))  # noqa: B023
            attempt(lambda: best_fixed(examples, loss, 1.0, gap=0.1))  # noqa: B023
        files = [str(folder / name)]
        over = attempt(lambda: OverFiles(files, space, loss, block=1))  # noqa: B023
        if not isinstance(over, BaseException):
            attempt(lambda: best_fixed(over, loss, 1.0, gap=0.1))  # noqa: B023


@pytest.mark.parametrize("width", [0, 1, 2, 3, 100])
def test_points_of_another_width(folder: Path, width: int) -> None:
    learner = Learner(bits=4)
    kept = InMemory(Examples.collect(open_examples([folder / "vw"], learner)), "logistic")
    over = OverFiles([str(folder / "vw")], learner, "logistic")
    for passes in (kept, over):
        for point in (
            np.zeros(width),
            np.zeros(width, np.float32),
            np.zeros((width, 1)),
            [NAN] * 4,
        ):
            look = attempt(lambda: passes.look(point, 0.1))  # noqa: B023
            right = passes.look(np.zeros(len(passes.slots)), 0.1)
            attempt(lambda: passes.times(right, point))  # noqa: B023
            if not isinstance(look, BaseException):
                attempt(lambda: passes.diagonal(look))  # noqa: B023
    for start in (best_fixed((csr_array(np.eye(2)), [1, -1]), box=1.0), None):
        attempt(lambda: best_fixed(kept, start=start, gap=0.1))  # noqa: B023


def maker(**changed: Any) -> Callable[[Rule], Learner]:
    options: dict[str, Any] = {"bits": 4, "scale": "none", "certify": True, **changed}
    if "columns" in changed:
        del options["bits"]
    return lambda rule: Learner(options.pop("loss", "logistic"), rule, **options)


RULES = {"per-coordinate": PerCoordinate(rate=0.1), "auto": PerCoordinate()}
CHANGED: list[dict[str, Any]] = [
    {}, {"bits": 5}, {"columns": 4}, {"intercept": False}, {"scale": "full"}, {"loss": "squared"},
    {"certify": False},
]  # fmt: skip


@pytest.mark.parametrize("changed", CHANGED, ids=str)
@pytest.mark.parametrize("scale", ["none", "full"])
def test_measuring_and_comparing(folder: Path, changed: dict[str, Any], scale: str) -> None:
    make = maker(**changed)
    for name, labels in itertools.product(FILES, LABELS):
        space, file = FeatureSpace(bits=4, labels=labels), folder / name

        def stream() -> ExampleStream:
            return open_examples([file], space, scale=scale)  # noqa: B023

        def again(loss: str) -> OverFiles:
            return OverFiles([str(file)], space, loss, scale=scale)  # noqa: B023

        attempt(lambda: measure(RULES, make, FromFiles(stream(), again), gap=0.1))
        attempt(lambda: compare_stream(RULES, make, stream(), block=2))
        examples = attempt(lambda: Examples.collect(stream()))
        if not isinstance(examples, BaseException):
            attempt(lambda: measure(RULES, make, FromMemory(examples), gap=0.1))  # noqa: B023
            for shuffles in (0, 1, -1):
                attempt(lambda: compare_shuffled(RULES, make, examples, shuffles=shuffles))  # noqa: B023
