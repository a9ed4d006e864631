"""Is the regret what its definition says, at every mark and from either source?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from lessregret import (
    CW,
    PA,
    Arow,
    Constant,
    Ftrl,
    Global,
    InverseSqrt,
    Learner,
    PerCoordinate,
    Rule,
    SpecError,
)
from lessregret.data.examples import Examples
from lessregret.data.streams import ExampleStream, open_examples
from lessregret.learners.losses import loss_named
from lessregret.regret.comparator import BestFixed, OverFiles
from lessregret.regret.measure import (
    FIRST_MARK,
    FromFiles,
    FromMemory,
    Measured,
    RegretPoint,
    measure,
)
from tests.support.pairs import ONE_OF_EACH

BOXED: dict[str, Rule] = {
    "per-coordinate": PerCoordinate(radius=1.0, rate=0.3),
    "global": Global(radius=1.0, rate="theory"),
    "constant": Constant(radius=1.0, rate=0.1),
    "inverse-sqrt": InverseSqrt(radius=1.0, rate=0.5),
    "ftrl": Ftrl(radius=1.0, rate=0.1),
}
UNBOXED: dict[str, Rule] = {"pa": PA(), "cw": CW(), "arow": Arow()}
BITS = 8


def table(count: int, columns: int = 2, seed: int = 0) -> tuple[csr_array, np.ndarray]:
    """Rows with noisy labels, so that no point of the box is right about all."""
    generator = np.random.default_rng(seed)
    X = generator.choice([0.0, 0.5, 1.0, -1.0], size=(count, columns)).astype(np.float32)
    y = np.where(X @ np.linspace(-1, 1, columns) + generator.normal(size=count) > 0, 1.0, -1.0)
    return csr_array(X), y


def maker(loss: str, columns: int, l2: float = 0.0) -> Callable[[Rule], Learner]:
    return lambda rule: Learner(
        loss,
        rule,
        columns=columns,
        intercept=False,
        certify=np.isfinite(rule.width),
        l2=l2,
        scale="none",
    )


def measured_of(
    rules: Mapping[str, Rule],
    count: int,
    loss: str = "logistic",
    l2: float = 0.0,
    **options: object,
) -> list[Measured]:
    X, y = table(count)
    make = maker(loss, X.shape[1], l2)
    examples = Examples.from_csr(X, y, space=make(PerCoordinate()))
    return measure(rules, make, FromMemory(examples), **options)  # type: ignore[arg-type]


def least_total(X: csr_array, y: np.ndarray, loss: str, l2: float) -> float:
    """The least mean total in [-1, 1]^n, by grids that close in on the best of their points."""
    rows, curve = X.toarray().astype(float), loss_named(loss)
    active = (rows != 0).sum(axis=0)

    def total(w: np.ndarray) -> float:
        losses = sum(curve.value(p, label) for p, label in zip(rows @ w, y, strict=True))
        return float(losses + l2 / 2 * (active * w**2).sum()) / len(y)

    best, reach = np.zeros(rows.shape[1]), 1.0
    while reach > 1e-7:
        sides = [np.clip(centre + reach * np.linspace(-1, 1, 7), -1, 1) for centre in best]
        grid = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, len(best))
        best, reach = min([best, *grid], key=total), 0.6 * reach
    return total(best)


@pytest.mark.parametrize("loss", ONE_OF_EACH)
@pytest.mark.parametrize("l2", [0.0, 0.01])
@pytest.mark.parametrize("columns", [1, 2])
def test_regret_is_the_total_less_the_least_total(loss: str, l2: float, columns: int) -> None:
    X, y = table(40, columns)
    make = maker(loss, columns, l2)
    examples = Examples.from_csr(X, y, space=make(PerCoordinate()))
    rules = {"mine": PerCoordinate(radius=1.0, rate=0.3)}
    [measured] = measure(rules, make, FromMemory(examples), gap=1e-6)
    mark = measured.last
    expected = mark.mean_total - least_total(X, y, loss, l2)
    assert mark.regret_low is not None
    assert mark.regret_high is not None
    assert mark.regret_high - mark.regret_low <= 1e-6 * (1 + 1e-9)
    assert mark.regret_low - 1e-8 <= expected <= mark.regret_high + 1e-8


@pytest.mark.parametrize("loss", ONE_OF_EACH)
@pytest.mark.parametrize("l2", [0.0, 0.01])
def test_regret_linearised_bound_at_every_mark(loss: str, l2: float) -> None:
    for measured in measured_of(BOXED, 1500, loss, l2):
        assert [mark.rounds for mark in measured.marks] == [750, 1500]
        for mark in measured.marks:
            check_order(mark)


def check_order(mark: RegretPoint) -> None:
    assert mark.regret_low is not None
    assert mark.regret_high is not None
    assert mark.linear_regret is not None
    assert mark.bound is not None
    assert mark.regret_low <= mark.regret_high
    # The slots that the bound is made from are float32.
    assert mark.regret_low <= mark.linear_regret * (1 + 1e-6)
    assert mark.linear_regret <= mark.bound * (1 + 1e-6)


def write_log(folder: Path, count: int, *, weightless: int = 0) -> str:
    X, y = table(count, columns=5)
    lines = []
    for place, (row, label) in enumerate(zip(X.toarray(), y, strict=True)):
        features = " ".join(f"{k}:{value:g}" for k, value in enumerate(row) if value)
        importance = "0 " if place < weightless else ""
        lines.append(f"{label:g} {importance}|f {features}\n")
    path = folder / "log.vw"
    path.write_text("".join(lines))
    return str(path)


def from_files(rule: Rule) -> Learner:
    return Learner("logistic", rule, bits=BITS, certify=True, scale="none")


def stream_of(path: str) -> ExampleStream:
    return open_examples([path], from_files(PerCoordinate()))


def kept(path: str, rules: Mapping[str, Rule] = BOXED, *, growth: bool = False) -> list[Measured]:
    examples = Examples.collect(stream_of(path))
    return measure(rules, from_files, FromMemory(examples, growth=growth))


def reread(path: str, rules: Mapping[str, Rule] = BOXED) -> list[Measured]:
    again = partial(OverFiles, [path], from_files(PerCoordinate()))
    return measure(rules, from_files, FromFiles(stream_of(path), again))


@pytest.mark.parametrize(
    ("count", "at"),
    [
        (1, [1]),
        (FIRST_MARK - 1, [511]),
        (FIRST_MARK, [512]),
        (FIRST_MARK + 1, [512, 513]),
        (1024, [512, 1024]),
        (1500, [512, 1024, 1500]),
    ],
)
def test_files_read_again_give_what_memory_gives(tmp_path: Path, count: int, at: list[int]) -> None:
    path = write_log(tmp_path, count)
    for one, other in zip(kept(path), reread(path), strict=True):
        assert [mark.rounds for mark in other.marks] == at
        assert all(mark.best is None and mark.regret_low is None for mark in other.marks[:-1])
        assert_same(one.last, other.last)


def assert_same(one: RegretPoint, other: RegretPoint) -> None:
    numbers, others = one.as_dict(), other.as_dict()
    for name, number in numbers.items():
        close = number if number is None else pytest.approx(number, rel=1e-9, abs=1e-9)
        assert others[name] == close, name


@pytest.mark.parametrize(
    ("count", "at"),
    [
        (1, [1]),
        (512, [512]),
        (1023, [1023]),
        (1024, [512, 1024]),
        (2049, [512, 1024, 2049]),
    ],
)
def test_marks_in_memory_are_halves(count: int, at: list[int]) -> None:
    [measured] = measured_of({"mine": BOXED["per-coordinate"]}, count)
    assert [mark.rounds for mark in measured.marks] == at
    assert all(mark.best is not None for mark in measured.marks)


def test_an_earlier_mark_is_the_last_of_a_shorter_log(tmp_path: Path) -> None:
    path = Path(write_log(tmp_path, 1024))
    whole = kept(str(path), growth=True)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:512]))
    half = kept(str(path))
    for long, short in zip(whole, half, strict=True):
        assert long.marks[0].ledger == short.last.ledger
        assert_same(long.marks[0], short.last)


@pytest.mark.parametrize("source", [partial(kept, growth=True), reread], ids=["kept", "reread"])
def test_rounds_before_any_importance_have_no_mark(
    tmp_path: Path, source: Callable[[str], list[Measured]]
) -> None:
    path = write_log(tmp_path, 1100, weightless=600)
    for measured in source(path):
        assert 550 not in [mark.rounds for mark in measured.marks]
        assert 512 not in [mark.rounds for mark in measured.marks]
        assert measured.last.rounds == 1100
        check_order(measured.last)


def test_no_examples_have_no_marks(tmp_path: Path) -> None:
    path = write_log(tmp_path, 0)
    assert [each.marks for each in (*kept(path), *reread(path))] == [()] * 2 * len(BOXED)


def test_each_box_has_its_comparator() -> None:
    rules = {
        "small": PerCoordinate(radius=0.1),
        "large": PerCoordinate(radius=1.0),
        "uneven": PerCoordinate(box=(0.0, 1.0)),
        "large too": Global(radius=1.0),
    }
    small, large, uneven, same = measured_of(rules, 600)
    assert [each.box for each in (small, large, uneven)] == [(-0.1, 0.1), (-1, 1), (0, 1)]
    assert same.last.best is large.last.best
    assert small.last.best is not None
    assert uneven.last.best is not None
    assert abs(small.last.best.weights).max() <= 0.1
    assert uneven.last.best.weights.min() >= 0
    assert large.last.best_total is not None
    assert small.last.best_total is not None
    assert large.last.best_total < small.last.best_total


def test_rules_without_a_box_are_measured_against_the_radius() -> None:
    both = measured_of({**UNBOXED, "boxed": PerCoordinate(radius=3.0)}, 600, radius=3.0)
    *unboxed, boxed = both
    for measured in unboxed:
        mark = measured.last
        assert measured.box == (-3.0, 3.0)
        assert (mark.bound, mark.linear_regret, mark.theorem) == (None, None, None)
        assert mark.best is boxed.last.best
        assert mark.best is not None
        assert mark.regret_low == pytest.approx(mark.mean_total - mark.best.mean_total)


@pytest.mark.parametrize("name", UNBOXED)
def test_rules_without_a_box_refuse_l2(name: str) -> None:
    with pytest.raises(SpecError, match="l2 is for rules that follow the gradient on a box"):
        measured_of({name: UNBOXED[name]}, 10, l2=0.01)


def test_a_search_that_is_stopped_has_a_true_and_wider_interval() -> None:
    rules = {"mine": BOXED["per-coordinate"]}
    [whole] = measured_of(rules, 600, gap=1e-8)
    seen: list[tuple[int, bool]] = []

    def three_steps(rounds: int, best: BestFixed, last: bool) -> bool:
        seen.append((rounds, last))
        return len(seen) < 3

    [stopped] = measured_of(rules, 600, gap=1e-8, watch=three_steps)
    assert seen == [(600, True)] * 3
    wide, narrow = stopped.last, whole.last
    assert wide.best is not None
    assert wide.best.gap > 1e-8
    assert wide.regret_low is not None
    assert wide.regret_high is not None
    assert narrow.regret_low is not None
    assert narrow.regret_high is not None
    assert wide.regret_low <= narrow.regret_high
    assert narrow.regret_low <= wide.regret_high
    assert wide.regret_high - wide.regret_low > narrow.regret_high - narrow.regret_low


def test_the_watch_knows_the_last_search() -> None:
    seen: dict[int, bool] = {}

    def watch(rounds: int, best: BestFixed, last: bool) -> bool:
        seen[rounds] = last
        return True

    measured_of({"mine": BOXED["global"]}, 2048, watch=watch)
    assert seen == {512: False, 1024: False, 2048: True}


def test_a_start_spares_passes() -> None:
    rules = {"mine": BOXED["per-coordinate"]}
    [cold] = measured_of(rules, 600, gap=1e-6)
    [warm] = measured_of(rules, 600, gap=1e-6, start=cold.last.best)
    assert cold.last.best is not None
    assert warm.last.best is not None
    assert warm.last.best.passes < cold.last.best.passes
    assert warm.last.regret_low == pytest.approx(cold.last.regret_low, abs=1e-6)


def test_the_document_is_the_last_mark_and_the_growth() -> None:
    [measured] = measured_of({"mine": BOXED["ftrl"]}, 1024)
    document = measured.as_dict()
    assert (document["rule"], document["box"]) == ("mine", [-1.0, 1.0])
    assert [each["rounds"] for each in document["growth"]] == [512, 1024]
    last = {name: document[name] for name in document["growth"][-1]}
    assert last == document["growth"][-1] == measured.last.as_dict()
    assert document["regret_high"] - document["regret_low"] == pytest.approx(document["gap"])
    assert document["regret_low"] == pytest.approx(
        document["mean_loss"] + document["mean_penalty"] - document["best_total"]
    )


def test_the_upper_end_is_never_above_the_linearised_regret() -> None:
    """Both are at least the regret; where the comparator's gap is wide the second is lower."""
    rule = PerCoordinate(rate=0.01, radius=0.05)

    def make(rule: Rule) -> Learner:
        return Learner("hinge", rule, columns=4, intercept=False, certify=True, scale="none")

    rng = np.random.default_rng(3)
    X = csr_array(rng.normal(size=(600, 4)))
    y = np.where(rng.random(600) < 0.5, 1.0, -1.0)
    examples = Examples.from_csr(X, y, space=make(rule))
    [measured] = measure({"mine": rule}, make, FromMemory(examples), gap=1.0)
    for point in measured.marks:
        assert point.regret_low is not None
        assert point.regret_high is not None
        assert point.linear_regret is not None
        assert point.regret_low <= point.regret_high <= point.linear_regret
    assert any(
        point.best.regret(point.ledger).high > point.ledger.linear_regret
        for point in measured.marks
    ), "the case shows nothing"


def test_learners_that_scale_are_refused_with_the_scale_for_the_source(tmp_path: Path) -> None:
    file = tmp_path / "data.vw"
    file.write_text("".join(f"{1 - 2 * (k % 2)} | a:{k % 5} b:{k % 3}\n" for k in range(60)))
    rules = {"mine": PerCoordinate(radius=1.0)}

    def make(rule: Rule, **scale: str) -> Learner:
        return Learner("logistic", rule, bits=8, certify=True, **scale)  # type: ignore[arg-type]

    def source(space: Learner, **scale: str) -> FromMemory:
        return FromMemory(Examples.collect(open_examples([file], space, **scale)))  # type: ignore[arg-type]

    told = r"'standard', which the comparator does not see; .*open_examples\(..., scale='standard'"
    with pytest.raises(SpecError, match=told):
        measure(rules, make, source(make(PerCoordinate())))
    advised = partial(make, scale="none")
    scaled = source(advised(PerCoordinate()), scale="standard")
    [measured] = measure(rules, advised, scaled)
    assert measured.last.rounds == 60
