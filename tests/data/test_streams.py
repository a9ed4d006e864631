"""Do streams give the examples that are written, in order, from any kind of file?"""

from __future__ import annotations

import gzip
import math
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lessregret.data.streams import BLOCK, ExampleStream, open_examples, total_bytes
from lessregret.errors import InputError, SpecError
from lessregret.learners.learner import Learner
from lessregret.learners.scale import EXPECTED
from lessregret.learners.space import FeatureSpace
from tests.support.command_line import ENVIRONMENT
from tests.support.malformed import GOOD_SVMLIGHT, GOOD_VW


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def opened(*files: Path | str, bits: int = 8, labels: str = "any", **options: Any) -> ExampleStream:
    return open_examples(files, FeatureSpace(bits=bits, labels=labels), **options)


def features(path: Path, **options: Any) -> list[dict[int, float]]:
    stream = opened(path, **options)
    return [dict(zip(e.slots.tolist(), e.values.tolist(), strict=True)) for e in stream]


def test_svmlight(data: Path) -> None:
    data.write_bytes(GOOD_SVMLIGHT)
    assert features(data) == [{1: 0.5, 7: 2.0}, {2: 1.0}, {1: 1.0, 9: -0.25}]


def test_labels_follow_the_loss(data: Path) -> None:
    data.write_bytes(GOOD_SVMLIGHT)

    def labels(space: FeatureSpace | Learner) -> list[float]:
        return [each.label for each in open_examples([data], space)]

    hinge, logistic, squared = (Learner(loss, bits=8) for loss in ("hinge", "logistic", "squared"))
    assert labels(hinge) == labels(logistic) == labels(FeatureSpace(bits=8)) == [1, -1, 1]
    assert labels(squared) == labels(FeatureSpace(bits=8, labels="real")) == [1, 0, 1]
    assert labels(hinge.space.unlabelled()) == labels(squared.space.unlabelled()) == [1, 0, 1]


def test_vowpal_wabbit(data: Path) -> None:
    data.write_bytes(GOOD_VW)
    first, second, third = opened(data, bits=18, labels="binary")
    assert [first.label, second.label, third.label] == [1, -1, 1]
    assert [first.importance, second.importance] == [1, 2]
    assert [first.tag, second.tag] == [b"", b"t"]
    assert first.values.tolist() == [0.5, 1]
    assert second.values.tolist() == [2, 1]
    # What Vowpal Wabbit gives for | a, b:… with -b 18.
    assert first.slots.tolist() == [144_016, 120_964]
    assert first.slots.dtype == np.uint32
    assert first.values.dtype == np.float32


def test_labels_of_any_kind_may_be_missing(data: Path) -> None:
    data.write_bytes(b"|a b\n'tag |a b\n3.5 |a b\n")
    found = [(each.label, each.tag) for each in opened(data)]
    assert math.isnan(found[0][0])
    assert math.isnan(found[1][0])
    assert found[1][1] == b"tag"
    assert found[2] == (3.5, b"")


def test_a_format_can_be_forced(data: Path) -> None:
    data.write_bytes(b"1 1:1 # not | a bar\n")
    assert features(data) == features(data, format="svmlight") == [{1: 1.0}]
    with pytest.raises(InputError, match=r"data:1:3: expected an importance"):
        features(data, format="vw", labels="real")


def test_files_follow_each_other(tmp_path: Path) -> None:
    plain, packed = tmp_path / "plain", tmp_path / "packed"
    plain.write_bytes(b"1 1:1")
    packed.write_bytes(gzip.compress(b"1 2:1\n"))
    stream = opened(plain, str(packed), plain, bits=4)
    assert [each.slots.tolist() for each in stream] == [[1], [2], [1]]
    assert stream.bytes_read == 5 + packed.stat().st_size + 5 == total_bytes([plain, packed, plain])


@pytest.mark.parametrize("limit", [1, 3, 10_000])
def test_limits_cut_and_lose_nothing(data: Path, limit: int) -> None:
    data.write_bytes(b"".join(b"1 %d:1\n" % k for k in range(1000)))
    stream = opened(data, bits=10)
    slots = []
    while True:
        indptr, found, *_, tags = stream.core.read(limit)
        if not tags:
            break
        assert len(tags) == len(indptr) - 1 <= limit
        slots += found.tolist()
    assert slots == list(range(1000))


def test_more_examples_than_a_block(data: Path) -> None:
    count = BLOCK + 7
    data.write_bytes(b"0 1:1\n" * count)
    assert sum(1 for _ in opened(data, bits=4)) == count


def test_the_examples_before_a_bad_line_come_first(data: Path) -> None:
    data.write_bytes(b"1 1:1\n1 2:1\n1 x\n1 3:1\n")
    stream = opened(data, bits=4)
    learner = Learner("squared", bits=4)
    assert len(learner.predict(stream, limit=10)) == 2
    for _ in range(2):
        with pytest.raises(InputError) as caught:
            learner.predict(stream, limit=10)
    error = caught.value
    place = (error.file, error.line, error.column)
    assert place == (str(data), 3, 3)
    assert (error.expected, error.found) == ("an index, 0 or more", "'x'")


def test_skipped_lines(data: Path) -> None:
    data.write_bytes(b"1 1:1\n1 x\n2\n1 3:1\n")
    stream = opened(data, bits=4, labels="binary", bad_lines="skip")
    assert stream.first_skipped is None
    assert len(list(stream)) == 2
    assert stream.skipped == 2
    assert stream.first_skipped == f"{data}:2:3: expected an index, 0 or more, found 'x'"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"format": "xml"}, "format must be one of auto, svmlight, vw, csv, found 'xml'"),
        ({"bad_lines": "mend"}, "bad_lines must be one of stop, skip, found 'mend'"),
        ({"bits": 0}, "bits must be a whole number from 1 to 31, found 0"),
        ({"bits": 32}, "bits must be a whole number from 1 to 31, found 32"),
        (
            {"labels": "absolute"},
            "labels must be 'binary' or 'real' or 'count' or 'any', found 'absolute'",
        ),
        ({"scale": "half"}, f"scale must be {EXPECTED}, found 'half'"),
    ],
)
def test_wrong_requests(data: Path, options: dict[str, object], told: str) -> None:
    data.write_bytes(b"1 1:1\n")
    with pytest.raises(SpecError) as caught:
        features(data, **options)
    assert str(caught.value) == told


def test_a_named_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(GOOD_SVMLIGHT,))
    writer.start()
    assert total_bytes([pipe]) is None
    assert len(features(pipe)) == 3
    writer.join()


def test_standard_input_byte_by_byte() -> None:
    code = (
        "from lessregret import FeatureSpace, open_examples\n"
        "for each in open_examples(['-'], FeatureSpace(bits=4)): print(each.slots)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
        env=ENVIRONMENT,
    )  # fmt: skip
    assert process.stdin is not None
    for byte in b"1 1:1\n1 2:1":
        process.stdin.write(bytes([byte]))
    assert process.communicate()[0] == b"[1]\n[2]\n"


def test_sizes_of_files(data: Path) -> None:
    assert total_bytes([data]) is None
    assert total_bytes(["-"]) is None
    data.write_bytes(b"12345")
    assert total_bytes([data, data]) == 10
    assert total_bytes([data, "-"]) is None
