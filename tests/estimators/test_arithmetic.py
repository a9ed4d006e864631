"""One arithmetic: however the rows come, the learner holds the same bits."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import coo_matrix, csc_array, csr_array, csr_matrix, issparse

from lessregret import Learner
from lessregret.learners.rules import Rule
from tests.support.pairs import is_certifiable
from tests.support.tables import EVERY, SEED, Table, estimator, go_on, table


def bits(learning: Any) -> bytes:
    return bytes(learning.learner_.to_bytes())


def in_batches(learning: Any, rows: Table, cuts: list[int]) -> Any:
    for start, end in zip([0, *cuts], [*cuts, len(rows.y)], strict=True):
        go_on(learning, rows.part(start, end))
    return learning


@EVERY
def test_batches_of_any_size_are_one_run(loss: str, rule: Rule) -> None:
    rows = table(loss)
    certify = is_certifiable(rule.name)
    whole = bits(go_on(estimator(loss, rule, certify=certify), rows))
    random_cuts = np.unique(np.random.default_rng(SEED).integers(1, len(rows.y), 12)).tolist()
    for cuts in (list(range(1, len(rows.y))), random_cuts):
        assert (
            bits(in_batches(estimator(loss, rule, certify=is_certifiable(rule.name)), rows, cuts))
            == whole
        )


@EVERY
def test_fit_is_one_batch_and_forgets_what_was_before(loss: str, rule: Rule) -> None:
    rows = table(loss)
    fresh = estimator(loss, rule).fit(rows.X, rows.y, rows.h)
    again = go_on(estimator(loss, rule), rows).fit(rows.X, rows.y, rows.h)
    assert bits(fresh) == bits(again) == bits(go_on(estimator(loss, rule), rows))


@EVERY
def test_passes_are_batches_too(loss: str, rule: Rule) -> None:
    rows = table(loss)
    twice = estimator(loss, rule, passes=2).fit(rows.X, rows.y, rows.h)
    assert bits(twice) == bits(go_on(go_on(estimator(loss, rule), rows), rows))


@EVERY
def test_pickles_copies_and_model_files_go_on_as_if_never_stopped(
    loss: str, rule: Rule, tmp_path: Path
) -> None:
    rows = table(loss)
    first, rest = rows.part(0, 90), rows.part(90, len(rows.y))
    whole = bits(go_on(estimator(loss, rule, certify=is_certifiable(rule.name)), rows))
    half = go_on(estimator(loss, rule, certify=is_certifiable(rule.name)), first)
    assert bits(go_on(pickle.loads(pickle.dumps(half)), rest)) == whole
    assert bits(go_on(copy.deepcopy(half), rest)) == whole
    half.learner_.save(tmp_path / "half.safetensors")
    half.learner_ = Learner.load(tmp_path / "half.safetensors")
    assert bits(go_on(half, rest)) == whole


def wide(X: csr_array) -> csr_array:
    """The same with 64-bit indices."""
    copied = X.copy()
    copied.indptr, copied.indices = X.indptr.astype(np.int64), X.indices.astype(np.int64)
    return copied


def with_zeros(X: csr_array) -> csr_array:
    """The same with every zero stored."""
    rows, columns = X.shape
    ends = np.arange(0, rows * columns + 1, columns)
    return csr_array((X.toarray().ravel(), np.tile(np.arange(columns), rows), ends), X.shape)


FORMS = {
    "dense": lambda X: X.toarray(),
    "dense, by columns": lambda X: np.asfortranarray(X.toarray()),
    "dense float32": lambda X: X.toarray().astype(np.float32),
    "list of lists": lambda X: X.toarray().tolist(),
    "CSR matrix": csr_matrix,
    "CSR of 64-bit indices": wide,
    "CSR of float32": lambda X: X.astype(np.float32),
    "CSR with stored zeros": with_zeros,
    "CSC": csc_array,
    "COO": coo_matrix,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scale", ["cap", "standard"])
@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_every_form_of_the_same_table_gives_the_same_bits(loss: str, scale: str, form: str) -> None:
    """To the standard scale a stored zero is a value, and a dense table stores every cell."""
    rows = table(loss)
    formed = FORMS[form](rows.X)
    stores_zeros = not issparse(formed) or formed.nnz > rows.X.nnz
    X = with_zeros(rows.X) if stores_zeros and scale == "standard" else rows.X
    plain = go_on(estimator(loss, scale=scale), Table(X, rows.y, rows.h))
    other = go_on(estimator(loss, scale=scale), Table(formed, rows.y, rows.h))
    assert bits(other) == bits(plain)
    assert np.array_equal(other.predict(formed), plain.predict(X))


def test_stored_zeros_are_values_to_the_standard_scale() -> None:
    rows = table()
    learned = [go_on(estimator(), rows._replace(X=X)) for X in (rows.X, with_zeros(rows.X))]
    assert bits(learned[0]) != bits(learned[1])


def test_the_odd_forms_are_what_they_say() -> None:
    X = table().X
    assert wide(X).indices.dtype == wide(X).indptr.dtype == np.int64
    assert with_zeros(X).nnz == X.shape[0] * X.shape[1]
