"""Can any bytes hurt us? Whatever comes, the answer is success or an error of our own.

A panic of the Rust core arrives as pyo3's ``PanicException``, which is a BaseException and so would
not be mistaken for an error of ours: it fails these tests.
"""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lessregret import Learner, LessRegretError
from lessregret.data.streams import Example, open_examples
from lessregret.errors import InputError, ModelFileError
from lessregret.learners.model_file import read_header
from lessregret.learners.space import LABELS, FeatureSpace
from tests.support.malformed import ACCEPTED, BAD, GOOD_SVMLIGHT, GOOD_VW
from tests.support.model_files import put_together, small_learner, take_apart
from tests.support.rows import learn_rows

FUZZ = settings(
    max_examples=300,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
SMALL = 10_000
SEEDS = [GOOD_SVMLIGHT, GOOD_VW, *ACCEPTED.values()]
SEEDS += [case.content for case in BAD if len(case.content) < SMALL]
MODELS = [small_learner(certify=certify).to_bytes() for certify in (False, True)]
TOKENS = [
    b"1", b"0", b"-1", b" ", b"\t", b"\n", b"\r\n", b":", b"|", b"'", b"#", b"nan", b"1e39", b"\0",
    b"-", b"+", b".", b"e", b"18446744073709551616", b"qid:", b"\xef\xbb\xbf", b"\xff", b"\x1f\x8b",
]  # fmt: skip

text = st.one_of(st.binary(max_size=400), st.lists(st.sampled_from(TOKENS)).map(b"".join))


@st.composite
def mutated(draw: st.DrawFn, seeds: list[bytes]) -> bytes:
    """A good or nearly good file with some bytes replaced, removed, doubled or put in."""
    content = bytearray(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(content)))
        stop = min(len(content), start + draw(st.integers(0, 8)))
        piece = st.one_of(
            st.binary(max_size=8), st.sampled_from(TOKENS), st.just(content[start:stop] * 2)
        )
        content[start:stop] = draw(piece)
    return bytes(content)


@pytest.fixture(scope="module")
def path() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "data"


def read_all(path: Path, labels: str, **options: Any) -> list[Example]:
    space = FeatureSpace(bits=8, labels=labels)
    stream = open_examples([path], space, names=True, **options)
    examples = list(stream)
    assert stream.bytes_read == path.stat().st_size
    return examples


def attempt(action: Callable[[], Any]) -> Any:
    """What the action gives, or None where it refuses with an error of ours."""
    try:
        return action()
    except LessRegretError:
        return None


def check_stream(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    for format in ("auto", "svmlight", "vw"):
        for labels in LABELS:
            strict = attempt(lambda f=format, y=labels: read_all(path, y, format=f))
            skipping = attempt(
                lambda f=format, y=labels: read_all(path, y, format=f, bad_lines="skip")
            )
            check_examples(strict or [])
            check_examples(skipping or [])
            if strict is not None:
                assert repr(strict) == repr(skipping)


def check_examples(examples: list[Example]) -> None:
    for each in examples:
        assert np.isfinite(each.values).all()
        assert (each.values != 0).all()
        assert len(set(each.slots.tolist())) == len(each.slots)
        assert (each.slots < 2**8).all()
        assert np.isfinite(each.importance)
        assert each.importance >= 0


@FUZZ
@given(text)
def test_noise_as_text(path: Path, content: bytes) -> None:
    check_stream(path, content)


@FUZZ
@given(mutated(SEEDS))
def test_nearly_good_text(path: Path, content: bytes) -> None:
    check_stream(path, content)


@FUZZ
@given(mutated([gzip.compress(seed, mtime=0) for seed in SEEDS]))
def test_nearly_good_gzip(path: Path, content: bytes) -> None:
    check_stream(path, content)


@FUZZ
@given(mutated(SEEDS))
def test_learning_from_nearly_good_text(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    learner = Learner("logistic", bits=8, certify=True)
    stream = open_examples([path], learner, bad_lines="skip", names=True)
    attempt(lambda: learner.learn(stream))
    learner.keep_names(stream)
    slots, weights = learner.weights()
    assert np.isfinite(weights).all()
    assert all(learner.name(int(slot)) for slot in slots[:-1])
    again = Learner.from_bytes(learner.to_bytes())
    assert again.ledger() == learner.ledger()
    assert again.to_bytes() == learner.to_bytes()


def load_everyway(path: Path, content: bytes) -> Learner | None:
    path.write_bytes(content)
    attempt(lambda: read_header(path))
    loaded = attempt(lambda: Learner.from_bytes(content))
    assert (attempt(lambda: Learner.load(path)) is None) == (loaded is None)
    return loaded


@FUZZ
@given(st.binary(max_size=2000))
@example(b"")
@example(b"\x02\0\0\0\0\0\0\0{}")
def test_noise_as_model(path: Path, content: bytes) -> None:
    assert load_everyway(path, content) is None


@FUZZ
@given(mutated(MODELS))
def test_nearly_good_models(path: Path, content: bytes) -> None:
    loaded = load_everyway(path, content)
    assert loaded is None or content in MODELS


json_values = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(allow_nan=False),
    st.text(max_size=5), st.just([]), st.just({}),
)  # fmt: skip


@FUZZ
@given(st.sampled_from(MODELS), st.data())
def test_any_header_with_a_right_checksum(path: Path, content: bytes, data: st.DataObject) -> None:
    """Past the checksum nothing may be trusted either."""
    header, tensors = take_apart(content)
    place: Any = header
    while isinstance(place, dict) and place:
        key = data.draw(st.sampled_from(sorted(place)))
        if not isinstance(place[key], dict) or data.draw(st.booleans()):
            place[key] = data.draw(json_values)
            break
        place = place[key]
    # A large table that the machine can give is a good table, but not one to try here.
    table = header["spec"].get("table") if isinstance(header["spec"], dict) else None
    if isinstance(table, dict) and any(isinstance(n, int) and n > 20 for n in table.values()):
        table.clear()
    load_everyway(path, put_together(header, tensors))


@FUZZ
@given(st.sampled_from(MODELS), st.data())
def test_any_tensor_with_a_right_checksum(path: Path, content: bytes, data: st.DataObject) -> None:
    header, tensors = take_apart(content)
    name = data.draw(st.sampled_from(sorted(tensors)))
    raw = data.draw(st.binary(min_size=tensors[name].nbytes, max_size=tensors[name].nbytes))
    tensors[name] = np.frombuffer(raw, dtype=tensors[name].dtype)
    loaded = load_everyway(path, put_together(header, tensors))
    if loaded is not None:
        assert np.isfinite(loaded.weights()[1]).all()
        learn_rows(loaded, [0, 2], [3, 7], [1.0, 1.0], [1])
        assert np.isfinite(loaded.weights()[1]).all()


def test_the_net_would_hold_a_panic() -> None:
    """What is not ours is not taken for ours."""
    assert issubclass(InputError, LessRegretError)
    assert issubclass(ModelFileError, LessRegretError)

    class PanicException(BaseException):
        """As pyo3 makes it."""

    def panic() -> None:
        raise PanicException

    with pytest.raises(PanicException):
        attempt(panic)
