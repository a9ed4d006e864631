"""The best fixed point in hindsight: sources, searches, files, errors and edges."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Callable
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from lessregret import InputError, Learner, ModelFileError, SpecError, _core
from lessregret.data.datasets import DATASETS, DataFile
from lessregret.data.datasets.loaders import svmlight
from lessregret.data.examples import Examples
from lessregret.data.generate import ClickWorld, log_text
from lessregret.data.streams import open_examples
from lessregret.learners.losses import LOSSES
from lessregret.regret.comparator import (
    BestFixed,
    GapWarning,
    InMemory,
    OverFiles,
    best_fixed,
    interior_point,
    iterate_best_fixed,
)
from tests.support.data_home import home_with
from tests.support.hindsight import Problem, examples_of
from tests.support.pairs import ONE_OF_EACH

BITS = 12
EXAMPLES = 450
"""Not a multiple of the blocks of 100."""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small click log in which many rows are the same."""
    path = tmp_path_factory.mktemp("clicks") / "log.vw"
    world = ClickWorld(seed=4, queries=10, ads=32, advertisers=4, words=12)
    path.write_bytes(b"".join(log_text(world, EXAMPLES)))
    return path


@pytest.fixture(scope="module")
def examples(log: Path) -> Examples:
    return Examples.collect(open_examples([str(log)], Learner("logistic", bits=BITS)))


def over_files(*files: Path, loss: str = "logistic") -> OverFiles:
    names = [str(file) for file in files]
    return OverFiles(names, Learner("logistic", bits=BITS), loss, block=100)


def random_problem(loss: str, examples: int = 30, columns: int = 4, radius: float = 1.0) -> Problem:
    rng = np.random.default_rng(examples)
    rows = rng.normal(size=(examples, columns)).astype(np.float32).astype(np.float64)
    labels, importances = rng.choice([-1.0, 1.0], examples), rng.choice([0.5, 1.0, 3.0], examples)
    return Problem(
        loss, rows, labels, importances, *[np.full(columns, e * radius) for e in (-1, 1)]
    )


# --- sources -----------------------------------------------------------------------------------


def test_memory_and_files_give_the_same(log: Path, examples: Examples) -> None:
    kept, read = (best_fixed(data, box=1.0, l2=1e-3) for data in (examples, over_files(log)))
    assert read.slots.tolist() == kept.slots.tolist()
    assert (read.total, read.lower) == pytest.approx((kept.total, kept.lower), rel=1e-9)
    assert read.weights == pytest.approx(kept.weights, abs=1e-6)
    assert (read.importance, read.passes) == (kept.importance, kept.passes)


def test_memory_and_files_enclose_the_same_for_hinge(log: Path, examples: Examples) -> None:
    """Rounding leads so stiff a search other ways; the sums at a point are the same."""
    kept, read = InMemory(examples, "hinge"), over_files(log, loss="hinge")
    point = np.random.default_rng(0).uniform(-1, 1, len(kept.slots))
    looks = [passes.look(point, 0.01) for passes in (kept, read)]
    assert looks[1].gradient == pytest.approx(looks[0].gradient, abs=1e-9)
    sums = [(look.loss, look.smooth, look.dual) for look in looks]
    assert sums[1] == pytest.approx(sums[0], rel=1e-12)
    found = [best_fixed(passes, "hinge", 1.0, gap=1e-3) for passes in (kept, read)]
    assert max(best.gap for best in found) <= 1e-3
    assert max(best.lower for best in found) <= min(best.total for best in found)


def test_several_files_and_gzip_are_one_log(log: Path, tmp_path: Path) -> None:
    lines = log.read_bytes().splitlines(keepends=True)
    first, second = tmp_path / "first.vw.gz", tmp_path / "second.vw"
    first.write_bytes(gzip.compress(b"".join(lines[:130])))
    second.write_bytes(b"".join(lines[130:]))
    whole, parts = (best_fixed(over_files(*files), box=1.0) for files in ([log], [first, second]))
    assert (parts.total, parts.lower) == pytest.approx((whole.total, whole.lower), rel=1e-9)


def test_standard_input_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        OverFiles(["-"], Learner(bits=BITS), "logistic")
    told = "<stdin>: expected files, to be read several times, found standard input"
    assert str(caught.value) == told


def test_merged_rows_are_as_good_as_distinct_ones() -> None:
    """A column that only marks the row, of a value too small to matter, keeps rows apart."""
    problem = random_problem("logistic", 5)
    chosen = np.arange(40) % 5
    labels = np.random.default_rng(1).choice([-1.0, 1.0], 40)
    importances = problem.importances[chosen]
    merged = Problem("logistic", problem.rows[chosen], labels, importances, *problem.box)
    marks = 1e-30 * np.arange(1, 41)[:, None]
    ends = [np.append(end, sign) for end, sign in zip(problem.box, (-1, 1), strict=True)]
    apart = Problem("logistic", np.hstack([merged.rows, marks]), labels, importances, *ends)
    assert [distinct_rows(each) for each in (merged, apart)] == [5, 40]
    found = [
        best_fixed(each.examples(), "logistic", each.box, gap=1e-8) for each in (merged, apart)
    ]
    assert found[0].total == pytest.approx(found[1].total, abs=1e-8 * importances.sum())
    assert found[0].weights == pytest.approx(found[1].weights[:4], abs=1e-3)


def distinct_rows(problem: Problem) -> int:
    examples = problem.examples()
    columns = _core.Columns(examples.space.slots)
    columns.meet(examples.core)
    return _core.Problem(columns, examples.core, problem.loss).rows


@pytest.mark.parametrize("loss", ONE_OF_EACH)
def test_a_prefix_is_the_problem_of_the_first_examples(loss: str) -> None:
    whole = random_problem(loss)
    first = Problem(loss, whole.rows[:7], whole.labels[:7], whole.importances[:7], *whole.box)
    prefix = best_fixed(InMemory(whole.examples(), loss, count=7), loss, 1.0)
    alone = best_fixed(first.examples(), loss, 1.0)
    assert prefix.weights.tobytes() == alone.weights.tobytes()
    assert (prefix.lower, prefix.importance) == (alone.lower, alone.importance)


# --- sums --------------------------------------------------------------------------------------


def many_rows(loss: str) -> Problem:
    """Enough features that the rows are cut into parts, which several threads share."""
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(9000, 4)).astype(np.float32).astype(np.float64)
    labels, importances = rng.choice([-1.0, 1.0], 9000), rng.choice([0.5, 1.0, 3.0], 9000)
    return Problem(loss, rows, labels, importances, -np.ones(4), np.ones(4))


@pytest.mark.parametrize("loss", ONE_OF_EACH)
def test_sums_are_those_of_the_definition(loss: str) -> None:
    problem, point = many_rows(loss), np.array([0.3, -0.2, 0.9, -1.0])
    # So cold a barrier that its slopes are those of hinge itself.
    look = InMemory(problem.examples(), loss).look(point, 1e-20)
    assert look.loss == pytest.approx(problem.value(point), rel=1e-12)
    size = float(np.abs(problem.importances[:, None] * problem.rows).sum())
    assert look.gradient == pytest.approx(problem.gradient(point), abs=1e-12 * size)


@pytest.mark.parametrize("loss", ONE_OF_EACH)
def test_products_are_those_of_the_hessian(loss: str) -> None:
    """Against the matrix Σ c θ θ' of the curvatures that the look gave."""
    problem, direction = many_rows(loss), np.array([1.0, -2.0, 0.5, 3.0])
    passes = InMemory(problem.examples(), loss)
    look = passes.look(np.array([0.3, -0.2, 0.9, -1.0]), 0.1)
    assert look.curvatures is not None
    hessian = (problem.rows * look.curvatures[:, None]).T @ problem.rows
    size = 1e-12 * float(look.curvatures @ (problem.rows**2).sum(axis=1))
    assert passes.times(look, direction) == pytest.approx(hessian @ direction, abs=10 * size)
    assert passes.diagonal(look) == pytest.approx(np.diag(hessian), abs=size)


@pytest.mark.parametrize("loss", ONE_OF_EACH)
def test_two_runs_give_the_same_bits(loss: str) -> None:
    """Threads end in any order; their sums are added in the order of the parts."""
    examples = many_rows(loss).examples()
    once, again = (best_fixed(examples, loss, 0.5, gap=1e-3) for _ in range(2))
    assert once.weights.tobytes() == again.weights.tobytes()
    assert (once.loss, once.lower, once.passes) == (again.loss, again.lower, again.passes)


# --- the search --------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_steps_only_make_it_better(loss: str, examples: Examples) -> None:
    steps = list(iterate_best_fixed(examples, loss, 1.0))
    assert len(steps) > 3
    for before, after in pairwise(steps):
        assert after.total <= before.total
        assert after.lower >= before.lower
        assert after.passes > before.passes
    assert steps[-1].gap <= 1e-4 < steps[-2].gap


@pytest.mark.parametrize("l2", [0.0, 1e-3])
def test_an_interrupted_search_is_gone_on_with(
    l2: float, examples: Examples, tmp_path: Path
) -> None:
    whole = best_fixed(examples, box=1.0, l2=l2)
    *_, first = islice(iterate_best_fixed(examples, box=1.0, l2=l2), 12)
    assert first.gap > 1e-4
    first.save(tmp_path / "first.npz")
    again = best_fixed(examples, box=1.0, l2=l2, start=BestFixed.load(tmp_path / "first.npz"))
    assert again.gap <= 1e-4
    assert again.passes < whole.passes


def test_the_point_of_other_columns_is_a_start_too(examples: Examples) -> None:
    start = best_fixed(InMemory(examples, "logistic", count=300), "logistic", 1.0)
    best = best_fixed(examples, "logistic", 1.0, start=start)
    assert len(start.slots) < len(best.slots)
    assert best.gap <= 1e-4


def test_progress_is_told(examples: Examples) -> None:
    told: list[BestFixed] = []
    best = best_fixed(examples, "logistic", 1.0, tell=told.append)
    assert told[-1] is best
    assert [each.passes for each in told] == [
        b.passes for b in iterate_best_fixed(examples, box=1.0)
    ]


def test_a_search_that_gets_no_nearer_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lessregret.regret.comparator.best.LONGEST", 30)
    problem = random_problem("logistic")
    with pytest.warns(GapWarning):
        best = best_fixed(problem.examples(), "logistic", 1.0, gap=1e-300)
    assert 0 <= abs(best.gap) < 1e-6


def test_steps_too_small_to_see_do_not_stop_the_search() -> None:
    """In a wide box the barrier is large against the loss, which is rounded away beside it."""
    best = best_fixed((csr_array([[1.0]]), [1.0]), "squared", box=1e6)
    assert best.gap <= 1e-4
    assert best.passes < 500


def test_without_allowance_for_rounding_it_would_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interior_point, "ROUNDING", 0.0)
    monkeypatch.setattr("lessregret.regret.comparator.best.LONGEST", 200)
    with pytest.warns(GapWarning):
        best = best_fixed((csr_array([[1.0]]), [1.0]), "squared", box=1e6)
    assert best.gap > 1e-4


# --- files -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small() -> BestFixed:
    return best_fixed(random_problem("squared").examples(), "squared", 1.0, 0.01)


def test_saved_and_loaded_it_is_the_same(small: BestFixed, tmp_path: Path) -> None:
    small.save(tmp_path / "best.npz")
    loaded = BestFixed.load(tmp_path / "best.npz")
    for name, value in vars(small).items():
        assert type(getattr(loaded, name)) is type(value)
        assert np.asarray(getattr(loaded, name)).tobytes() == np.asarray(value).tobytes()
    assert os.listdir(tmp_path) == ["best.npz"]


def saved(small: BestFixed, tmp_path: Path) -> bytes:
    small.save(tmp_path / "best.npz")
    return (tmp_path / "best.npz").read_bytes()


def test_a_damaged_file_is_told(small: BestFixed, tmp_path: Path) -> None:
    content, path = saved(small, tmp_path), tmp_path / "damaged"
    kept = content.index(small.weights.tobytes())
    flipped = bytearray(content)
    flipped[kept] ^= 1
    for damaged in (b"", content[:40], content[:-1], content[len(content) // 2 :], bytes(flipped)):
        path.write_bytes(damaged)
        with pytest.raises(ModelFileError) as caught:
            BestFixed.load(path)
        told = f"{path}: not a best fixed point that was saved, or damaged: "
        assert str(caught.value).startswith(told)


def archive(**entries: Any) -> bytes:
    written = io.BytesIO()
    np.savez(written, **entries)
    return written.getvalue()


def array(entry: Any) -> bytes:
    written = io.BytesIO()
    np.save(written, entry)
    return written.getvalue()


def test_a_foreign_file_is_told(small: BestFixed, tmp_path: Path) -> None:
    fields, path = dict(vars(small)), tmp_path / "foreign"
    for foreign in (
        b"text\n",
        array(np.ones(3)),
        archive(a=np.ones(3)),
        archive(**{**fields, "weights": np.array(1.0)}),
        archive(**{**fields, "weights": np.array([{}, {}])}),
        archive(**{**fields, "loss": np.array("1")}),
        Learner(columns=3).to_bytes(),
    ):
        path.write_bytes(foreign)
        with pytest.raises(ModelFileError, match="not a best fixed point"):
            BestFixed.load(path)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="No such file"):
        BestFixed.load(tmp_path / "nothing")


def test_an_interrupted_search_leaves_what_was_saved(examples: Examples, tmp_path: Path) -> None:
    path = tmp_path / "best.npz"

    def save_then_interrupt(best: BestFixed) -> None:
        best.save(path)
        if best.passes > 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        best_fixed(examples, "logistic", 1.0, tell=save_then_interrupt)
    assert BestFixed.load(path).passes > 20
    assert os.listdir(tmp_path) == ["best.npz"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_interrupted_save_leaves_the_file_before(
    error: type[BaseException], small: BestFixed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = saved(small, tmp_path)

    def interrupted(file: Any, **entries: Any) -> None:
        file.write(b"half")
        raise error

    monkeypatch.setattr(np, "savez", interrupted)
    with pytest.raises(error):
        small.save(tmp_path / "best.npz")
    assert (tmp_path / "best.npz").read_bytes() == before
    assert os.listdir(tmp_path) == ["best.npz"]


# --- errors ------------------------------------------------------------------------------------

PAIR = (csr_array([[1.0, 0.0], [0.0, 1.0]]), [1.0, -1.0])
OPEN = "without a box and without l2 there need be no best fixed point; give one of them"
BOX = "box must be a number above 0 or a pair (low, high) of numbers or arrays, found "
NO_IMPORTANCE = "the examples: expected at least one of an importance above 0, found none"


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        ({"box": np.inf}, OPEN),
        ({"box": (0.0, np.inf)}, OPEN),
        ({"box": 0.0}, f"{BOX}0.0"),
        ({"box": -1.0}, f"{BOX}-1.0"),
        ({"box": np.nan}, f"{BOX}nan"),
        ({"box": "wide"}, f"{BOX}'wide'"),
        ({"box": None}, f"{BOX}None"),
        ({"box": (1.0, 2.0, 3.0)}, f"{BOX}(1.0, 2.0, 3.0)"),
        ({"box": (np.zeros((2, 2)), 1.0)}, f"{BOX}(array([[0., 0.],\n       [0., 0.]]), 1.0)"),
        (
            {"box": (1.0, 1.0)},
            "a box needs low < high in every coordinate, found [1, 1] for slot 0",
        ),
        (
            {"box": ([-1.0, 2.0], [1.0, -2.0])},
            "a box needs low < high in every coordinate, found [2, -2] for slot 1",
        ),
        (
            {"box": ([-1.0, np.nan], [1.0, 1.0])},
            "a box needs low < high in every coordinate, found [nan, 1] for slot 1",
        ),
        (
            {"box": ([-1.0], [1.0])},
            "a box of arrays needs an entry for each slot; found 1 entries, but slot 1 occurs",
        ),
        ({"gap": 0.0}, "gap must be a number above 0, found 0.0"),
        ({"gap": np.nan}, "gap must be a number above 0, found nan"),
        ({"gap": "small"}, "gap must be a number above 0, found 'small'"),
        ({"l2": -1.0}, "l2 must be a number from 0 up that fits a float32, found -1.0"),
        ({"l2": np.nan}, "l2 must be a number from 0 up that fits a float32, found nan"),
        ({"l2": "0"}, "l2 must be a number from 0 up that fits a float32, found '0'"),
        ({"l2_scope": "touched"}, "l2_scope must be 'active' or 'all', found 'touched'"),
        (
            {"loss": "magic"},
            f"unknown loss 'magic'; the losses are {', '.join(LOSSES)}",
        ),
    ],
)
def test_a_bad_request_is_told(request_: dict[str, Any], told: str) -> None:
    with pytest.raises(SpecError) as caught:
        best_fixed(PAIR, **{"box": 1.0, **request_})
    assert str(caught.value) == told


def no_examples() -> Any:
    return csr_array((0, 2)), np.zeros(0)


def no_importance() -> Any:
    space = Learner("logistic", columns=2, intercept=False)
    return examples_of(np.eye(2), np.array([1.0, -1.0]), np.zeros(2), space)


@pytest.mark.parametrize("make", [no_examples, no_importance])
def test_there_must_be_something_to_learn_from(make: Callable[[], Any]) -> None:
    with pytest.raises(InputError) as caught:
        best_fixed(make(), box=1.0)
    assert str(caught.value) == NO_IMPORTANCE


def test_an_empty_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty.vw").touch()
    with pytest.raises(InputError):
        best_fixed(over_files(tmp_path / "empty.vw"), box=1.0)


def test_hinge_needs_classes() -> None:
    with pytest.raises(InputError, match="label"):
        best_fixed((PAIR[0], [0.5, 2.0]), "hinge", 1.0)
    numbers = Examples.from_csr(PAIR[0], [0.5, 2.0], space=Learner("squared", columns=2))
    with pytest.raises(SpecError) as caught:
        best_fixed(numbers, "hinge", 1.0)
    assert str(caught.value) == (
        "the hinge loss needs binary labels, and the examples were read for real labels; "
        "open them for a feature space with labels 'binary'"
    )


def test_passes_know_their_loss() -> None:
    examples = random_problem("hinge").examples()
    with pytest.raises(SpecError) as caught:
        best_fixed(InMemory(examples, "hinge"), "logistic", 1.0)
    assert str(caught.value) == "the passes are for the loss 'hinge', found loss='logistic'"


# --- edges -------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ONE_OF_EACH)
def test_examples_without_features_have_no_columns(loss: str) -> None:
    best = best_fixed((csr_array((3, 2)), [1.0, -1.0, 1.0]), loss, 1.0, gap=1e-6)
    expected = {"logistic": 3 * np.log(2), "hinge": 3.0, "squared": 3.0}[loss]
    assert (best.slots.size, best.weights.size) == (0, 0)
    assert best.total == pytest.approx(expected)
    assert 0 <= best.gap <= 1e-6


@pytest.mark.parametrize("loss", ONE_OF_EACH)
def test_one_example(loss: str) -> None:
    best = best_fixed((csr_array([[2.0]]), [1.0]), loss, 1.0)
    expected = {"logistic": np.log1p(np.exp(-2)), "hinge": 0.0, "squared": 0.0}[loss]
    assert best.total == pytest.approx(expected, abs=1e-4)
    assert best.lower <= expected


def test_with_equal_labels_the_best_is_at_the_bound() -> None:
    rows = csr_array([[1.0, 0.5], [0.5, 1.0], [1.0, 0.0]])
    best = best_fixed((rows, [1.0, 1.0, 1.0]), "logistic", 3.0, gap=1e-6)
    assert best.weights == pytest.approx([3.0, 3.0], abs=1e-4)
    assert (best.weights <= 3.0).all()


@pytest.mark.parametrize("box", [1.0, 100.0])
@pytest.mark.parametrize("loss", ONE_OF_EACH)
def test_values_of_any_size(loss: str, box: float) -> None:
    rows = np.array([[1e-20, 1.0], [1.0, 1e-20], [-1.0, 1.0]])
    for scale, gap in ((1.0, 1e-4), (1e-20, 1e-4), (1e10, 1e-3)):
        best = best_fixed((csr_array(scale * rows), [1.0, 1.0, -1.0]), loss, box, gap=gap)
        assert best.gap <= gap
        assert best.lower <= best.total


@pytest.mark.parametrize("loss", ONE_OF_EACH)
def test_what_no_example_of_importance_has_is_no_column(loss: str) -> None:
    space = Learner(loss, columns=2, intercept=False)
    examples = examples_of(np.eye(2), np.array([1.0, -1.0]), np.array([0.0, 1.0]), space)
    best = best_fixed(examples, loss, np.inf, 0.01)
    assert best.slots.tolist() == [1]
    assert best.gap <= 1e-4


@pytest.mark.parametrize("loss", ONE_OF_EACH)
@pytest.mark.parametrize(
    "box",
    [1e-30, (1.0, 1.0 + 1e-15), (0.0, np.inf), (np.array([1.0, -np.inf]), np.array([np.inf, -2]))],
    ids=["tiny", "one float wide", "half a line", "two half lines"],
)
def test_boxes_of_any_shape(loss: str, box: Any) -> None:
    rows = csr_array([[1.0, 2.0], [1.0, 1.0]])
    best = best_fixed((rows, [1.0, -1.0]), loss, box, 0.1)
    low, high = (-box, box) if isinstance(box, float) else box
    assert best.gap <= 1e-4
    assert ((low <= best.weights) & (best.weights <= high)).all()


# --- real data ---------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ONE_OF_EACH)
def test_the_gap_closes_on_rcv1(loss: str) -> None:
    """Squared loss reaches 1e-4 too, after 1,100 passes: too long for a test."""
    X, y = DATASETS["rcv1-piece"].load(home_with("rcv1-piece"))
    gap = 1e-3 if loss == "squared" else 1e-4
    assert best_fixed((X, y), loss, 1.0, gap=gap).gap <= gap


@pytest.mark.parametrize("loss", ONE_OF_EACH)
def test_the_gap_closes_on_a9a(loss: str) -> None:
    """Census records of 14 fields as 0 and 1: far more rows than columns."""
    home, file = home_with(), DataFile("a9a/a9a")
    if home.find(file) is None:
        pytest.skip(f"the data home lacks {file.path}")
    X, y = svmlight([home.read(file)])
    assert best_fixed((X, y), loss, 1.0).gap <= 1e-4
