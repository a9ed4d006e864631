"""Does the core read plain JSON as the strict reader does?"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessregret import Learner
from lessregret.errors import LessRegretError
from lessregret.service.bodies import JSON, NDJSON, Bodies
from lessregret.service.refusals import RefusedError

NAMES = st.text(st.characters(codec="utf-8"), max_size=5)
NUMBERS = (
    st.floats(-1e39, 1e39) | st.integers(-(10**40), 10**40) | st.sampled_from([0, -0.0, 1e-50])
)
VALUES = NUMBERS | st.booleans() | NAMES
EXAMPLES = st.fixed_dictionaries(
    {"features": st.dictionaries(NAMES, VALUES, max_size=4)},
    optional={
        "label": st.sampled_from([0, 1, -1, 1.0, True, False, None, 2, "yes"]),
        "importance": st.sampled_from([0, 1, 2.5, -1]),
    },
)


def bodies(loss: str) -> Bodies:
    return Bodies(Learner(bits=8, loss=loss).space, 100)


def strict(given: Bodies, media: str, body: bytes, labelled: bool) -> Any:
    try:
        return given.of_json(given.decoded(media, body)[0], labelled)
    except (LessRegretError, RefusedError) as error:
        return str(error)


def learned(given: Bodies, examples: Any) -> bytes:
    loss = "logistic" if given.space.labels == "binary" else "squared"
    learner = Learner(bits=8, loss=loss)
    learner._core.learn(examples)
    return learner.to_bytes()


@settings(max_examples=400, deadline=None)
@given(
    examples=st.lists(EXAMPLES, min_size=1, max_size=4),
    media=st.sampled_from([JSON, NDJSON]),
    loss=st.sampled_from(["logistic", "squared"]),
    ascii=st.booleans(),
)
def test_what_the_core_reads_is_what_the_strict_reader_reads(
    examples: list[dict[str, Any]], media: str, loss: str, ascii: bool
) -> None:
    given = bodies(loss)
    dumped = [json.dumps(example, ensure_ascii=ascii) for example in examples]
    body = ("\n".join(dumped) if media == NDJSON else f"[{', '.join(dumped)}]").encode()
    for labelled in (True, False):
        plain = given.plain(media, body, labelled)
        if plain is None:
            continue
        expected = strict(given, media, body, labelled)
        assert not isinstance(expected, str), (body, expected)
        assert len(plain[0]) == len(expected)
        if labelled:
            assert learned(given, plain[0]) == learned(given, expected)
        else:
            learner = Learner(bits=8, loss=loss)
            learner.learn_one({"a": 1.0, "b": "x"}, 1)
            found = [learner._core.predict(one).margins for one in (plain[0], expected)]
            np.testing.assert_array_equal(*found)


@settings(max_examples=300, deadline=None)
@given(
    st.binary(max_size=40) | st.text('{}[]",:features01.e-tru \n\\', max_size=40).map(str.encode)
)
def test_no_bytes_are_read_that_the_strict_reader_refuses(body: bytes) -> None:
    given = bodies("logistic")
    for media in (JSON, NDJSON):
        plain = given.plain(media, body, False)
        assert plain is None or not isinstance(strict(given, media, body, False), str)


@pytest.mark.parametrize(
    ("body", "is_plain"),
    [
        (b'{"features": {"a": 1, "b": "x"}, "label": 1}', True),
        (b'{"features": {"a": 1}, "label": 1, "id": "7"}', False),
        (b'{"features": {"\\u0061": 1}, "label": 1}', False),
        (b'{"features": {"a": 1, "a": 2}, "label": 1}', False),
        (b'{"features": {"a": 1}}', False),
    ],
)
def test_what_is_plain(body: bytes, is_plain: bool) -> None:
    assert (bodies("logistic").plain(JSON, body, True) is not None) == is_plain


def test_a_model_of_a_table_reads_no_plain_json() -> None:
    from lessregret import Column, Schema

    schema = Schema(columns=(Column("a", "number"), Column("y", "label")))
    given = Bodies(Learner("squared", bits=8, schema=schema).space, 100)
    assert given.plain(JSON, b'{"features": {"a": 1}, "label": 1}', True) is None
