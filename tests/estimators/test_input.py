"""What goes in: CSR without copies, dicts, and bad batches that leave no trace."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from lessregret import (
    DivergedError,
    InputError,
    Namespaces,
    OnlineClassifier,
    OnlineRegressor,
    SpecError,
    _core,
)
from lessregret.estimators.arguments import hashed_rows
from tests.support.tables import CLASSES, COLUMNS, estimator, go_on, table


@pytest.fixture
def handed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[np.ndarray, ...]]:
    """The arrays of every matrix that is handed to Rust, in their order."""
    matrices: list[tuple[np.ndarray, ...]] = []

    def rows(space: str, *arrays: np.ndarray) -> Any:
        matrices.append(arrays)
        return to_rust(space, *arrays)

    to_rust = _core.Rows
    monkeypatch.setattr(_core, "Rows", rows)
    return matrices


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_csr_reaches_rust_without_a_copy(
    handed: list[tuple[np.ndarray, ...]], index: type, real: type
) -> None:
    rows = table()
    X = rows.X.astype(real)
    X.indptr, X.indices = X.indptr.astype(index), X.indices.astype(index)
    clf = go_on(estimator(), rows)
    for call in (lambda: clf.partial_fit(X, rows.y, sample_weight=rows.h), lambda: clf.predict(X)):
        handed.clear()
        call()
        [arrays] = handed
        for array, given in zip(arrays, (X.indptr, X.indices, X.data), strict=False):
            assert array.dtype == given.dtype
            assert np.shares_memory(array, given)


def test_importances_reach_rust_without_a_copy(handed: list[tuple[np.ndarray, ...]]) -> None:
    rows = table()
    go_on(estimator(), rows)
    [arrays] = handed
    assert np.shares_memory(arrays[4], rows.h)


DICTS: list[dict[str, Any]] = [
    {"age": 0.5, "word": "ham", "first": True},
    {"word": "spam", "count": 3, "first": np.bool_(False)},
    {"age": np.float32(0.25), "17": 2.0, "word": "ham"},
    {},
]
NAMED = [
    {"age": 0.5, "word=ham": 1.0, "first": 1.0},
    {"word=spam": 1.0, "count": 3.0, "first": 0.0},
    {"age": 0.25, "17": 2.0, "word=ham": 1.0},
    {},
]
TARGETS = ["a", "b", "a", "b"]


def hashed(examples: list[dict[str, float]], bits: int) -> csr_array:
    ends = np.cumsum([0, *map(len, examples)])
    names = [name for example in examples for name in example]
    values = np.array([value for example in examples for value in example.values()])
    return csr_array((values, _core.hash_features(names, bits), ends), (len(examples), 1 << bits))


@pytest.mark.parametrize("scale", ["cap", "standard"])
@pytest.mark.parametrize("bits", [1, 8, 18])
def test_dicts_are_hashed_rows(bits: int, scale: str) -> None:
    from_dicts = OnlineClassifier(bits=bits, scale=scale).fit(DICTS, TARGETS)
    from_rows = OnlineClassifier(scale=scale).fit(hashed(NAMED, bits), TARGETS)
    assert from_dicts.n_features_in_ == 1 << bits
    assert np.array_equal(from_dicts.coef_, from_rows.coef_)
    assert from_dicts.ledger_.as_dict() == from_rows.ledger_.as_dict()
    margins = from_dicts.decision_function(DICTS)
    assert np.array_equal(margins, from_rows.decision_function(hashed(NAMED, bits)))


def test_numbered_names_are_their_own_columns_as_in_vowpal_wabbit() -> None:
    reg = OnlineRegressor(bits=6, intercept=False, scale="none").fit([{"17": 1.0}], [2.0])
    assert np.flatnonzero(reg.coef_).tolist() == [17]


def test_dicts_make_a_learner_that_the_command_line_can_go_on_with() -> None:
    clf = OnlineClassifier(bits=10).fit(DICTS, TARGETS)
    assert clf.learner_.spec["table"] == {"bits": 10}


def test_dicts_and_rows_of_the_same_width_mix() -> None:
    clf = OnlineClassifier(bits=5).fit(DICTS, TARGETS)
    clf.partial_fit(hashed(NAMED, 5), TARGETS)
    assert clf.ledger_.rounds == 8


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (
            [{"a": 1.0}, {"b": None}],
            r"X\[1\]\['b'\]: expected a finite number or a string, found None",
        ),
        ([{"a": 1.0}, {2: 1.0}], r"X\[1\]\[2\]: expected a string as the name .* found 2"),
        ([{"a": 1.0}, [1.0]], r"X\[1\]: expected a dict, as in the first row, found \[1.0\]"),
    ],
)
def test_bad_dicts_are_named(bad: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        OnlineClassifier().fit(bad, ["a", "b"])


def test_numbers_in_dicts_must_be_finite() -> None:
    with pytest.raises(InputError, match=r"X\[1\]\['a'\]: expected a finite number .* found nan"):
        OnlineClassifier().fit([{"a": 1.0}, {"a": np.nan}], ["a", "b"])


def spoiled(entry: float) -> np.ndarray:
    X = table().X.toarray()
    X[150, 3] = entry
    return X


def stranger() -> np.ndarray:
    y = table().y.copy()
    y[150] = 2
    return y


ROWS = table()
BAD_BATCHES = {
    "NaN in X": ({"X": spoiled(np.nan)}, "Input X contains NaN"),
    "infinity in X": ({"X": spoiled(np.inf)}, "Input X contains infinity"),
    "NaN in a CSR": ({"X": csr_array(spoiled(np.nan))}, r"X\[150, 3\]: .* found NaN"),
    "infinity in a CSR": ({"X": csr_array(spoiled(np.inf))}, r"X\[150, 3\]: .* found inf"),
    "too large for a float32": ({"X": spoiled(1e39)}, r"X\[150, 3\]: expected a finite number"),
    "label that is no class": ({"y": stranger()}, "y must hold only the classes -1, 1, found 2.0"),
    "labels of another type": ({"y": ["-1"] * 200}, "only the classes -1, 1, found '-1'"),
    "NaN in y": ({"y": np.full(200, np.nan)}, "Input y contains NaN"),
    "too few labels": ({"y": ROWS.y[:-1]}, "inconsistent numbers of samples"),
    "negative importance": ({"sample_weight": -ROWS.h}, "Negative values in .*sample_weight"),
    "too few importances": ({"sample_weight": ROWS.h[:-1]}, r"must have shape \(200,\)"),
    "importances in two columns": ({"sample_weight": np.ones((200, 2))}, r"shape \(200,\)"),
    "NaN importance": ({"sample_weight": np.full(200, np.nan)}, "sample_weight contains NaN"),
    "no rows": ({"X": ROWS.X[:0], "y": ROWS.y[:0], "sample_weight": None}, r"0 sample\(s\)"),
}
LATER_ONLY = {
    "another number of columns": ({"X": ROWS.X[:, 1:]}, f"expecting {COLUMNS} features"),
    "other classes": ({"classes": [0, 1]}, "classes are -1, 1 since the first call"),
    "dicts of another width": ({"X": [{"a": 1}] * 200}, f"expecting {COLUMNS} features"),
}


def arguments(changed: dict[str, Any]) -> dict[str, Any]:
    return {"X": ROWS.X, "y": ROWS.y, "sample_weight": ROWS.h, "classes": CLASSES} | changed


@pytest.mark.parametrize("case", BAD_BATCHES | LATER_ONLY)
def test_a_bad_batch_leaves_the_estimator_as_it_was(case: str) -> None:
    changed, message = (BAD_BATCHES | LATER_ONLY)[case]
    clf = go_on(estimator(certify=True), ROWS)
    before, attributes = clf.learner_.to_bytes(), dict(vars(clf))
    with pytest.raises(ValueError, match=message):
        clf.partial_fit(**arguments(changed))
    assert clf.learner_.to_bytes() == before
    assert vars(clf) == attributes


@pytest.mark.parametrize("case", BAD_BATCHES)
def test_a_bad_first_batch_leaves_the_estimator_unfitted(case: str) -> None:
    changed, message = BAD_BATCHES[case]
    clf = estimator()
    attributes = dict(vars(clf))
    with pytest.raises(ValueError, match=message):
        clf.partial_fit(**arguments(changed))
    assert vars(clf) == attributes
    with pytest.raises(NotFittedError):
        check_is_fitted(clf)


def test_a_failed_fit_keeps_what_was_learned_before() -> None:
    clf = go_on(estimator(), ROWS)
    before, attributes = clf.learner_.to_bytes(), dict(vars(clf))
    with pytest.raises(ValueError, match="found 1 class"):
        clf.fit(ROWS.X[:, 1:], np.full(ROWS.X.shape[0], "x"))
    assert clf.learner_.to_bytes() == before
    assert vars(clf) == attributes


def test_diverging_keeps_the_rounds_before_it() -> None:
    X, y = np.array([[1.0], [2.0], [1e20]]), np.array([1.0, 2.0, 3.0])
    whole = OnlineRegressor(scale="none")
    reg = OnlineRegressor(scale="none").partial_fit(X[:1], y[:1])
    with pytest.raises(DivergedError, match="round 3"):
        reg.partial_fit(X[1:], y[1:])
    assert reg.learner_.to_bytes() == whole.fit(X[:2], y[:2]).learner_.to_bytes()
    with pytest.raises(DivergedError, match="round 3"):
        reg.fit(X, y)
    assert reg.ledger_.rounds == 2


def test_names_of_columns_are_kept_and_a_failed_fit_does_not_change_them() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame({"age": [0.5, 1.0], "height": [1.0, 0.0]})
    clf = OnlineClassifier().fit(frame, ["a", "b"])
    with pytest.raises(ValueError, match="infinity"):
        clf.fit(frame.rename(columns={"age": "weight"}) + np.inf, ["a", "b"])
    assert clf.feature_names_in_.tolist() == ["age", "height"]


def test_keys_of_dicts_are_crossed() -> None:
    rows = [{"user": "u7", "hour": 23, "ad": "x"}, {"user": "u8", "hour": 2.0}, {"hour": 1}] * 5
    labels = [1, 0, 1] * 5
    crossed = OnlineClassifier(crosses=[("user", "hour")]).fit(rows, labels)
    assert crossed.learner_.tally().features == 5 * ((3 + 1) + (2 + 1) + 1) + 15
    again = OnlineClassifier(crosses=["user*hour"]).fit(rows, labels)
    np.testing.assert_array_equal(crossed.decision_function(rows), again.decision_function(rows))
    plain = OnlineClassifier().fit(rows, labels)
    assert (plain.decision_function(rows) != crossed.decision_function(rows)).any()


def test_crossed_keys_have_the_slots_of_crossed_features() -> None:
    user, hour = _core.hash_features(["user=u7", "hour"], 18).tolist()
    slot = ((16777619 * user) ^ hour) & ((1 << 18) - 1)
    square = ((16777619 * hour) ^ hour) & ((1 << 18) - 1)
    crosses = Namespaces(["user*hour", ("hour", "hour")], of="keys")
    row = hashed_rows([{"hour": 23, "user": "u7"}], 18, crosses)
    found = dict(zip(row.indices.tolist(), row.data.tolist(), strict=True))
    assert found == {user: 1.0, hour: 23.0, slot: 23.0, square: 529.0}


def test_what_cannot_be_crossed_is_refused() -> None:
    for crosses, told in (
        (["ab"], "expected keys with '*' between, as in 'user*hour', found 'ab'"),
        (["a*b"], "give X as a list of dicts"),
        ("a*b", "expected a list"),
        ([("a",)], "from 2 to 16 names"),
    ):
        with pytest.raises(SpecError) as error:
            OnlineClassifier(crosses=crosses).fit([[1.0, 2.0], [2.0, 1.0]], [0, 1])
        assert told in str(error.value)
    many = [{f"k{k}": 1.0 for k in range(3)} | {"big": 3e38}, {"big": 1.0}]
    with pytest.raises(InputError, match="products are within"):
        OnlineClassifier(crosses=["big*big"], scale="none").fit(many, [0, 1])


def test_a_changed_cross_waits_for_the_next_fit() -> None:
    rows = [{"user": "u7", "hour": 23}, {"user": "u8", "hour": 2}]
    clf = OnlineClassifier(crosses=["user*hour"]).fit(rows, [0, 1])
    before = clf.decision_function(rows)
    clf.set_params(crosses=None)
    np.testing.assert_array_equal(clf.decision_function(rows), before)
