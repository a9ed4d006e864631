"""One arithmetic: text or arrays, whole or in pieces, the same bits in the slots and the sums.

Learners are compared by the bytes of their model files, which hold every slot, the sums of the
gradients, the shared state, the tally and a checksum of it all.
"""

from __future__ import annotations

import gzip
import json
import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from _pytest.mark import ParameterSet

from lessregret import Learner
from lessregret.data.streams import open_examples
from lessregret.learners.rules import parse_rule
from tests.support.command_line import CommandLine, Done
from tests.support.pairs import COVER, PAIRS, is_certifiable
from tests.support.rows import learn_rows, predict_rows
from tests.support.slow import slow
from tests.support.streams import as_csr, random_rounds

SEED = 20100722
ROUNDS = 500
BITS = 8
QUIET = ("--bits", str(BITS), "--quiet")
CERTIFIED = ("--certify", *QUIET)
LINES = [(7919 * k % 99_991, (-1, 1)[k * k % 7 < 3]) for k in range(4000)]
"""Words and labels of a block of text."""


class Data(NamedTuple):
    """The same examples as arrays and as text."""

    lengths: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    labels: np.ndarray
    importances: np.ndarray

    def rows(self, start: int, stop: int) -> tuple[np.ndarray, ...]:
        """The arguments of ``learn_rows`` for some of the rows."""
        ends = np.concatenate([[0], np.cumsum(self.lengths)])
        features = slice(ends[start], ends[stop])
        one = slice(start, stop)
        return (
            ends[start : stop + 1] - ends[start], self.indices[features], self.values[features],
            self.labels[one], self.importances[one],
        )  # fmt: skip

    def lines(self, format: str) -> list[str]:
        """The rows as text; only Vowpal Wabbit's has importances."""
        ends = np.cumsum(self.lengths)
        pairs = [f"{i}:{x!r}" for i, x in zip(self.indices, self.values.tolist(), strict=True)]
        rows = [" ".join(pairs[end - n : end]) for n, end in zip(self.lengths, ends, strict=True)]
        heads = [f"{y!r}" for y in self.labels.tolist()]
        if format == "vw":
            importances = self.importances.tolist()
            heads = [f"{y} {h!r} |" for y, h in zip(heads, importances, strict=True)]
        return [f"{head} {row}\n" for head, row in zip(heads, rows, strict=True)]


def make_data(format: str, loss: str) -> Data:
    """Random rows; the values are float64 numbers that no float32 holds exactly."""
    rng = np.random.default_rng(SEED)
    lengths = rng.integers(0, 9, size=ROUNDS)
    draw = [rng.choice(2 * 2**BITS, size=n, replace=False) for n in lengths]
    indices = np.concatenate(draw) % 2**BITS
    values = rng.normal(size=len(indices))
    values[rng.random(len(values)) < 0.05] = 0
    real = rng.normal(size=ROUNDS)
    labels = real if loss == "squared" else np.where(real > 0, 1.0, -1.0)
    weighted = rng.choice([0.0, 0.1, 1.0, 2.5], size=ROUNDS)
    importances = weighted if format == "vw" else np.ones(ROUNDS)
    # svmlight refuses an index twice in a line; here the draw folds some together.
    return drop_repeats(Data(lengths, indices, values, labels, importances))


def drop_repeats(data: Data) -> Data:
    rows = np.repeat(np.arange(ROUNDS), data.lengths)
    _, first = np.unique(rows * 2**BITS + data.indices, return_index=True)
    kept = np.sort(first)
    lengths = np.bincount(rows[kept], minlength=ROUNDS)
    return data._replace(lengths=lengths, indices=data.indices[kept], values=data.values[kept])


class Case(NamedTuple):
    """A rule, a loss and a format, with the data and the learner that all others must equal."""

    rule: str
    loss: str
    data: Data
    lines: list[str]
    model: bytes
    margins: np.ndarray

    def learner(self) -> Learner:
        """An untouched learner."""
        return untouched(self.rule, self.loss)

    @property
    def options(self) -> tuple[str, ...]:
        """The same learner for the command line."""
        certify = ("--certify",) if is_certifiable(parse_rule(self.rule).name) else ()
        return ("--rule", self.rule, "--loss", self.loss, *certify, *QUIET)

    def text(self, start: int = 0, stop: int = ROUNDS) -> bytes:
        """Some of the rows as text."""
        return "".join(self.lines[start:stop]).encode()


def untouched(rule: str, loss: str) -> Learner:
    made = parse_rule(rule)
    return Learner(loss, made, bits=BITS, certify=is_certifiable(made.name))


def parameter(format: str, pair: tuple[str, str]) -> ParameterSet:
    """Every pair of a cover in one format is quick, by turns."""
    is_quick = pair in COVER and COVER.index(pair) % 2 == FORMATS.index(format)
    (loss, rule), mark = pair, pytest.param if is_quick else slow
    return mark((format, rule, loss), id=f"{format}-{rule}-{loss}")


FORMATS = ["svmlight", "vw"]
EVERY = [parameter(format, pair) for format in FORMATS for pair in PAIRS]


@pytest.fixture(params=EVERY, scope="module")
def case(request: pytest.FixtureRequest) -> Case:
    """One batch of arrays: what every other way must equal."""
    format, rule, loss = request.param
    data = make_data(format, loss)
    learner = untouched(rule, loss)
    margins = learn_rows(learner, *data.rows(0, ROUNDS))
    assert np.isfinite(margins).all()
    return Case(rule, loss, data, data.lines(format), learner.to_bytes(), margins)


def pieces(seed: int, most: int) -> Iterator[tuple[int, int]]:
    """The rows cut at random places."""
    rng = np.random.default_rng(seed)
    start = 0
    while start < ROUNDS:
        stop = min(ROUNDS, start + int(rng.integers(1, most + 1)))
        yield start, stop
        start = stop


@pytest.mark.parametrize("most", [1, 2, 60, 400])
def test_batches_of_arrays(case: Case, most: int) -> None:
    learner = case.learner()
    margins = [learn_rows(learner, *case.data.rows(*piece)) for piece in pieces(SEED + most, most)]
    assert np.concatenate(margins).tobytes() == case.margins.tobytes()
    assert learner.to_bytes() == case.model


def test_values_of_float32_and_indices_of_32_bits(case: Case) -> None:
    indptr, indices, values, labels, importances = case.data.rows(0, ROUNDS)
    learner = case.learner()
    narrow = indptr.astype(np.int32), indices.astype(np.int32), values.astype(np.float32)
    learn_rows(learner, *narrow, labels, importances)
    assert learner.to_bytes() == case.model


def test_saved_and_loaded_between_batches(case: Case, tmp_path: Path) -> None:
    learner = case.learner()
    path = tmp_path / "model"
    for k, piece in enumerate(pieces(SEED, 100)):
        learn_rows(learner, *case.data.rows(*piece))
        if k % 2:
            learner = pickle.loads(pickle.dumps(learner))
        else:
            learner.save(path)
            learner = Learner.load(path)
    assert learner.to_bytes() == case.model


@pytest.mark.parametrize("limit", [1, 7, 100_000])
def test_streams_of_text(case: Case, tmp_path: Path, limit: int) -> None:
    path = tmp_path / "data.txt"
    path.write_bytes(case.text())
    learner = case.learner()
    stream = open_examples([path], learner)
    while len(learner.learn(stream, limit=limit)):
        pass
    assert learner.to_bytes() == case.model


def test_the_command_line(case: Case, lessregret: CommandLine) -> None:
    data = lessregret.write("data.txt", case.text())
    assert lessregret("train", data, *case.options, "--model", "m") == Done(0, "", "")
    assert lessregret.read("m") == case.model


def test_the_command_line_in_pieces(case: Case, lessregret: CommandLine) -> None:
    first, *rest = pieces(SEED + 1, 250)
    data = lessregret.write("data.txt", case.text(*first))
    assert lessregret("train", data, *case.options, "--model", "m").code == 0
    for piece in rest:
        data = lessregret.write("data.txt", case.text(*piece))
        assert lessregret("train", data, "--resume", "m", "--model", "m", "--quiet").code == 0
    assert lessregret.read("m") == case.model


def test_files_and_gzip(case: Case, lessregret: CommandLine) -> None:
    cut = ROUNDS // 3
    files = [
        lessregret.write("a.txt", case.text(0, cut)),
        lessregret.write("b", b""),
        lessregret.write("c", gzip.compress(case.text(cut))),
    ]
    assert lessregret("train", *files, *case.options, "--model", "m").code == 0
    assert lessregret.read("m") == case.model


def test_what_is_shown_changes_nothing(case: Case, lessregret: CommandLine) -> None:
    data = lessregret.write("data.txt", case.text())
    loud = [option for option in case.options if option != "--quiet"]
    shown = ("--json", "--predictions", "p.txt")
    assert lessregret("train", data, *loud, *shown, "--model", "m").code == 0
    assert lessregret.read("m") == case.model
    made = np.loadtxt("p.txt")
    played = case.margins if case.loss != "logistic" else 1 / (1 + np.exp(-case.margins))
    np.testing.assert_allclose(made, played, rtol=1e-5)


def test_passes_are_the_data_again(case: Case, lessregret: CommandLine) -> None:
    learner = Learner.from_bytes(case.model)
    learn_rows(learner, *case.data.rows(0, ROUNDS))
    data = lessregret.write("data.txt", case.text())
    assert lessregret("train", data, *case.options, "--passes", "2", "--model", "m").code == 0
    assert lessregret.read("m") == learner.to_bytes()


def test_predicting_changes_nothing(case: Case, tmp_path: Path) -> None:
    learner = Learner.from_bytes(case.model)
    path = tmp_path / "data.txt"
    path.write_bytes(case.text())
    margins = learner.predict(open_examples([path], learner.space.unlabelled())).margins
    indptr, indices, values, _, _ = case.data.rows(0, ROUNDS)
    assert margins.tobytes() == predict_rows(learner, indptr, indices, values).tobytes()
    assert learner.to_bytes() == case.model


@pytest.mark.parametrize("format", ["svmlight", "vw"])
def test_a_process_of_its_own_and_a_pipe(lessregret: CommandLine, format: str) -> None:
    data = make_data(format, "logistic")
    learner = untouched("per-coordinate", "logistic")
    learn_rows(learner, *data.rows(0, ROUNDS))
    text = "".join(data.lines(format)).encode()
    for stdin in (text, gzip.compress(text)):
        assert lessregret.apart("train", "-", *CERTIFIED, "--model", "m", stdin=stdin).code == 0
        assert lessregret.read("m") == learner.to_bytes()


def test_the_command_line_with_l2(lessregret: CommandLine) -> None:
    data = make_data("vw", "hinge")
    learner = Learner("hinge", parse_rule("global"), bits=BITS, certify=True, l2=0.05)
    learn_rows(learner, *data.rows(0, ROUNDS))
    lines = data.lines("vw")
    options = ("--loss", "hinge", "--rule", "global", "--l2", "0.05", *CERTIFIED)
    for part, more in ((lines[:200], options), (lines[200:], ("--resume", "m", "--quiet"))):
        text = lessregret.write("data.txt", "".join(part))
        assert lessregret("train", text, *more, "--model", "m").code == 0
    assert lessregret.read("m") == learner.to_bytes()


def test_both_formats_without_importances(lessregret: CommandLine) -> None:
    data = make_data("svmlight", "hinge")
    options = ("--loss", "hinge", "--rule", "global", *CERTIFIED, "--model", "m")
    models = []
    for format in ("svmlight", "vw"):
        text = lessregret.write("data.txt", "".join(data.lines(format)))
        assert lessregret("train", text, *options).code == 0
        models.append(lessregret.read("m"))
    assert models[0] == models[1]


def test_features_that_share_a_slot(lessregret: CommandLine) -> None:
    """Text of more indices than slots, and the same folded by hand."""
    line = f"1 3:0.1 {3 + 2**BITS}:0.2 {5 + 2**40}:1 {3 + 2**20}:0.4\n"
    data = lessregret.write("data.txt", line)
    assert lessregret("train", data, *CERTIFIED, "--model", "m").code == 0
    learner = untouched("per-coordinate", "logistic")
    learn_rows(learner, [0, 4], [3, 3, 5, 3], [0.1, 0.2, 1, 0.4], [1])
    assert lessregret.read("m") == learner.to_bytes()


@pytest.mark.parametrize("scale", ["cap", "standard"])
def test_threads_change_no_bit(lessregret: CommandLine, scale: str) -> None:
    """Text of many blocks, with zeros, lines that the quick readers give back, and bad ones."""
    features = "|a {w}:0.{w} w{w} |b :{w} x^{w} |c age:{w} gain:0 gap:{zero}"
    lines = (f"{y} {features.format(w=w, zero=w % 2)}\n" for w, y in LINES)
    block = "".join(lines).encode()
    text = b"\n".join([block] * 8 + [b"0 |a b", b"1 |a b:x", b"1 '2\t|a b"] + [block] * 4)
    lessregret.write("data.vw", text)
    lessregret.write("data.vw.gz", gzip.compress(text, 1, mtime=0))
    options = ("--bad-lines", "skip", "--scale", scale, *CERTIFIED, "--json", "--model")
    models = set()
    for data in ("data.vw", "data.vw.gz"):
        for threads in ("1", "2", "4"):
            done = lessregret("train", data, *options, "m", "--threads", threads)
            assert (done.code, json.loads(done.stdout)["skipped"]) == (0, 3)
            models.add(lessregret.read("m"))
    assert len(models) == 1


@pytest.mark.parametrize("rate", ["auto", "0.1"])
@pytest.mark.parametrize("scale", ["cap", "standard"])
def test_every_set_of_vector_instructions_gives_the_same_file(
    lessregret: CommandLine, rate: str, scale: str
) -> None:
    """The paths that this machine has; a process chooses one and keeps it."""
    data = make_data("vw", "logistic")
    columns = (f" |t age:{k % 61} gain:0 gap:{k % 2}\n" for k in range(ROUNDS))
    lines = (line.rstrip("\n") + more for line, more in zip(data.lines("vw"), columns, strict=True))
    lessregret.write("data.vw", "".join(lines).encode())
    files = set()
    for path in ("avx512", "avx2", "portable"):
        options = ("--rate", rate, "--scale", scale, "--model", path, *QUIET)
        done = lessregret.apart("train", "data.vw", *options, env={"LESSREGRET_SIMD": path})
        if "must be one of" not in done.stderr:
            assert done == Done(0, "", "")
            files.add(lessregret.read(path))
    assert len(files) == 1


def test_rows_predicted_on_all_cores_are_those_predicted_one_by_one() -> None:
    """More rows than are given to one core, and several threads asking the same learner."""
    indptr, indices, values, labels, h = as_csr(list(random_rounds(31, 3000, 40)))
    learner = Learner("logistic", columns=40)
    learn_rows(learner, indptr, indices, values, labels, h)
    ends = list(pairwise(indptr.tolist()))
    alone = [
        predict_rows(learner, [0, end - start], indices[start:end], values[start:end])[0]
        for start, end in ends
    ]
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(predict_rows, learner, indptr, indices, values) for _ in range(8)]
    assert all(each.result().tolist() == alone for each in asked)
