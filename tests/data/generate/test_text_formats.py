"""Do all texts and the rows of a log tell the same?"""

from __future__ import annotations

import csv
import tracemalloc
from collections import Counter
from functools import partial
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array, vstack

from lessregret import OnlineClassifier
from lessregret.cli.generate import FORMATS as FORMATS_OF_THE_COMMAND
from lessregret.data.generate import (
    CSV_HEADER,
    FORMATS,
    ClickWorld,
    csr_rows,
    impressions,
    log_text,
    rows,
)
from lessregret.data.streams import open_examples
from lessregret.errors import SpecError
from lessregret.learners.learner import Learner
from lessregret.learners.space import FeatureSpace
from tests.support.click_logs import ABOUT, DRAW, DRIFTING, SMALL, features, text
from tests.support.rows import learn_rows

WORLDS = pytest.mark.parametrize(
    "world", [SMALL, ABOUT, DRIFTING], ids=["plain", "phrase", "drift"]
)
EXAMPLES = DRAW + 1_000


def all_rows(world: ClickWorld, examples: int) -> tuple[csr_array, list[float]]:
    blocks = list(rows(world, examples))
    return vstack([X for X, _ in blocks], format="csr"), [*np.concatenate([y for _, y in blocks])]


def parsed(path: Path, content: bytes, format: str) -> tuple[csr_array, list[float]]:
    """The text as the library reads it; 2^31 slots, so that no two features share one here."""
    path.write_bytes(content)
    read = list(open_examples([path], FeatureSpace(bits=31), format=format))
    indptr = np.cumsum([0, *(len(example.slots) for example in read)])
    slots = np.concatenate([example.slots for example in read]).astype(np.int64)
    values = np.concatenate([example.values for example in read])
    X = csr_array((values, slots, indptr), shape=(len(read), 2**31))
    return X, [example.label for example in read]


def lines_of_features(X: csr_array) -> Counter[tuple[int, ...]]:
    """For each feature the lines it is on: equal if a renaming turns one matrix into the other."""
    coo = X.tocoo()
    order = np.lexsort((coo.row, coo.col))
    cuts = np.flatnonzero(np.diff(coo.col[order])) + 1
    return Counter(tuple(lines.tolist()) for lines in np.split(coo.row[order], cuts))


@WORLDS
def test_the_library_reads_the_same_problem_from_both_texts_and_the_rows(
    world: ClickWorld, tmp_path: Path
) -> None:
    X, y = all_rows(world, EXAMPLES)
    vw, vw_labels = parsed(tmp_path / "log.vw", text(world, EXAMPLES), "vw")
    svm, svm_labels = parsed(tmp_path / "log.svm", text(world, EXAMPLES, "libsvm"), "svmlight")
    assert y == vw_labels == svm_labels
    assert X.indptr.tolist() == vw.indptr.tolist() == svm.indptr.tolist()
    assert (X.indices + 1).tolist() == svm.indices.tolist()
    assert lines_of_features(X) == lines_of_features(vw)
    assert {*X.data.tolist(), *vw.data.tolist(), *svm.data.tolist()} == {1.0}


@WORLDS
def test_columns_have_the_names_of_the_features(world: ClickWorld) -> None:
    names = world.numbering.names(world)
    assert len(names) == len(set(names)) == world.columns
    X, _ = all_rows(world, 3_000)
    for k, line in enumerate(text(world, 3_000).decode().splitlines()):
        columns = X.indices[X.indptr[k] : X.indptr[k + 1]]
        assert {names[column] for column in columns} == {*features(line)}


@WORLDS
def test_rows_are_in_canonical_form(world: ClickWorld) -> None:
    for X, y in rows(world, EXAMPLES):
        X.check_format()
        ascending = np.diff(X.indices) > 0
        ascending[X.indptr[1:-1] - 1] = True
        assert ascending.all()
        assert X.shape == (len(y), world.columns)
        assert X.data.dtype == np.float32
        assert X.indices.dtype == np.int32


@WORLDS
def test_the_true_margin_is_a_row_times_the_weights_of_its_columns(world: ClickWorld) -> None:
    (block,) = impressions(world, 1_000, skip=5 * DRAW)
    weights, intercept = world.column_weights(5 * DRAW), world.hidden_weights(5 * DRAW)[""]
    margins = csr_rows(world, block) @ weights + intercept
    np.testing.assert_allclose(block.probabilities, 1 / (1 + np.exp(-margins)))


def test_a_learner_holds_the_same_from_libsvm_text_and_from_rows(tmp_path: Path) -> None:
    path = tmp_path / "log.svm"
    path.write_bytes(text(SMALL, EXAMPLES, "libsvm"))
    from_text = Learner(bits=18)
    from_text.learn(open_examples([path], from_text))
    from_rows = Learner(columns=SMALL.columns)
    for X, y in rows(SMALL, EXAMPLES):
        learn_rows(from_rows, X.indptr, X.indices, X.data, y)
    assert from_text.ledger().as_dict() == from_rows.ledger().as_dict()


def test_an_estimator_learns_from_rows() -> None:
    classifier = OnlineClassifier()
    for X, y in rows(SMALL, EXAMPLES):
        classifier.partial_fit(X, y, classes=[-1, 1])
    assert classifier.n_features_in_ == SMALL.columns
    assert classifier.ledger_.rounds == EXAMPLES


def test_rows_can_start_anywhere_in_blocks_of_any_size() -> None:
    X, y = all_rows(SMALL, EXAMPLES)
    pieces = list(rows(SMALL, 1_500, skip=DRAW - 700, block_size=400))
    assert [len(labels) for _, labels in pieces] == [400, 300, 400, 400]
    part = slice(DRAW - 700, DRAW + 800)
    assert (vstack([piece for piece, _ in pieces]) != X[part]).nnz == 0
    assert np.concatenate([labels for _, labels in pieces]).tolist() == y[part]


@pytest.mark.parametrize("what", [*FORMATS, "rows"])
def test_a_longer_log_takes_no_more_memory(what: str) -> None:
    def peak(draws: int) -> int:
        tracemalloc.start()
        for _ in make(draws * DRAW):
            pass
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    make = partial(rows, SMALL) if what == "rows" else partial(log_text, SMALL, format=what)
    peak(1)
    assert peak(6) < 1.1 * peak(2)


@WORLDS
def test_csv_says_what_the_vowpal_wabbit_text_says(world: ClickWorld) -> None:
    table = csv.DictReader(StringIO(text(world, 2_000, "csv").decode()))
    told = [(row["click"], {*features_of(row)}) for row in table]
    lines = text(world, 2_000).decode().splitlines()
    assert told == [("0" if line[0] == "-" else "1", {*features(line)}) for line in lines]


def features_of(row: dict[str, str]) -> list[str]:
    """The features of a CSV line, crosses included, which follow from the others."""
    query_words = row["query_words"].split()
    return [
        f"q^{row['query']}",
        f"a^{row['ad']}",
        f"a^{row['advertiser']}",
        f"p^p{row['position']}",
        f"x^{row['query']}^{row['ad']}",
        *(f"w^{word}" for word in query_words),
        *(f"t^{word}" for word in row["ad_words"].split()),
        *(f"x^{word}^{row['keyword']}" for word in query_words),
    ]


def test_csv_quotes_what_must_be_quoted() -> None:
    world = ClickWorld(queries=50, ads=64, words=40, vocabulary=("1,000", 'say"so"', "bébé"))
    table = list(csv.reader(StringIO(text(world, 500, "csv").decode())))
    assert {len(cells) for cells in table} == {8}
    said = {word for cells in table for word in cells[2].split()}
    assert {"1,000", 'say"so"', "bébé"} < said


def test_the_header_names_what_is_below_it_and_stands_there_once() -> None:
    log = text(SMALL, EXAMPLES, "csv", skip=5)
    assert log.startswith(CSV_HEADER)
    assert log.count(CSV_HEADER) == 1
    assert log.count(b"\n") == EXAMPLES + 1


def test_the_command_has_all_formats() -> None:
    assert tuple(FORMATS) == FORMATS_OF_THE_COMMAND


def test_an_unknown_format_is_refused_before_anything_is_made() -> None:
    with pytest.raises(SpecError, match=r"^format must be one of vw, libsvm, csv; got 'xml'$"):
        log_text(SMALL, 10, format="xml")
