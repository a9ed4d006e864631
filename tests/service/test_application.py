"""Do the endpoints do what they say, and does a start have the bits of a run that never stopped?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lessregret.learners.learner import Learner
from tests.support.service import (
    NDJSON,
    TEXT,
    Client,
    example,
    learned_model,
    new_model,
    service_of,
    serving,
)

app = pytest.importorskip("lessregret.service", reason="the extra [serve] is not installed").app


def lines(first: int, last: int) -> bytes:
    examples = (example(k, 1 if k % 3 else -1) for k in range(first, last))
    return b"".join(json.dumps(each).encode() + b"\n" for each in examples)


def test_what_is_learned_is_predicted_whatever_the_door(tmp_path: Path) -> None:
    with service_of(tmp_path) as client:
        assert client.post("/predict", example(1)).json == {"prediction": 0.5}
        assert client.post("/learn", example(1, 1)).json == {"examples": 1, "position": 1}
        assert client.post("/learn", [example(2, 0), example(3, 1)]).json["position"] == 2
        assert client.post("/learn", lines(4, 8), NDJSON).json["examples"] == 4
        assert client.post("/learn", b"1 | user=u1\n-1 | user=u2\n", TEXT).json["position"] == 4
        one = client.post("/predict", example(1)).json["prediction"]
        assert one > 0.5
        assert client.post("/predict", [example(1)]).json == {"predictions": [one]}
        text = b"| n:1.5 user=u1 k1:1\n"
        assert client.post("/predict", text, TEXT).json == {"predictions": [one]}


def test_the_bits_are_those_of_a_learner_that_never_stopped(tmp_path: Path) -> None:
    model = new_model(tmp_path)
    for start in (0, 40, 90):
        with service_of(tmp_path, snapshot_every=25) as client:
            for k in range(start, start + 40, 10):
                assert client.post("/learn", lines(k, k + 10), NDJSON).status == 200
    learner = Learner.load(model)
    for start in (0, 40, 90):
        for k in range(start, start + 40):
            found = example(k)["features"]
            assert learner.learn_one(found, 1 if k % 3 else -1) is not None
    assert learned_model(tmp_path) == learner.to_bytes()


@pytest.mark.parametrize(
    ("body", "media", "told", "line"),
    [
        (b"1 |a b\n2 |a c\n", TEXT, "body:2:1: expected a label 1, 0 or -1, found '2'", 2),
        (b"1 |a b\nhello\n", TEXT, "body:2:6: expected '|' before the features", 2),
        (b'{"features":{},"label":1}\n{"features":[]}', NDJSON, "body:2: expected an example", 2),
        (b'{"features":{},"label":1}\n{"feat', NDJSON, "body:2: expected JSON", 2),
        (b'[{"features":{"a":1},"label":1},{"features":{"a":1}}]', "", "body[1]: expected a", None),
        (b'[{"features":{},"label":7}]', "", "body[0].label: expected a label 1, 0", None),
        (b'{"features":{"a":1e39},"label":1}', "", "expected a finite number", None),
        (b'{"features":{"a":1},"label":1,"importance":-1}', "", "a number from 0 up", None),
        (b"", "", "expected", None),
        (b"[]", "", "expected at least one example, found none", None),
    ],
)
def test_a_bad_example_is_told_and_nothing_of_its_request_is_learned(
    tmp_path: Path, body: bytes, media: str, told: str, line: int | None
) -> None:
    with service_of(tmp_path) as client:
        before = client.post("/learn", example(1, 1)).json["position"]
        answer = client.post("/learn", body, media)
        assert answer.status == 400
        assert told in answer.json["error"]
        assert answer.json.get("line") == line
        assert client.get("/ready").json["position"] == before


def test_a_request_with_a_known_key_is_not_learned_again(tmp_path: Path) -> None:
    with service_of(tmp_path) as client:
        first = client.post("/learn", example(1, 1), idempotency_key="a").json
        again = client.post("/learn", example(1, 1), idempotency_key="a").json
        assert again == {**first, "repeated": True}
    with service_of(tmp_path) as client:
        assert client.post("/learn", example(1, 1), idempotency_key="a").json["repeated"]
        assert client.get("/ready").json["position"] == first["position"]


def test_the_model_has_an_etag(tmp_path: Path) -> None:
    with service_of(tmp_path) as client:
        first = client.get("/model")
        assert first.body == (tmp_path / "model.safetensors").read_bytes()
        tag = first.headers["ETag"]
        assert client.get("/model", if_none_match=tag).status == 304
        client.post("/learn", example(1, 1))
        assert client.get("/model", if_none_match=tag).status == 304
        written = client.post("/snapshot").json
        second = client.get("/model", if_none_match=tag)
        assert (second.status, second.headers["ETag"]) == (200, f'"{written["etag"]}"')
        assert second.headers["X-Log-Position"] == "1"
    assert Learner.from_bytes(second.body).tally().rounds == 1


def test_health_readiness_measures_and_pages(tmp_path: Path) -> None:
    with service_of(tmp_path) as client:
        client.post("/learn", [example(1, 1), example(2, -1)])
        client.post("/predict", example(1))
        assert client.get("/health").json == {"status": "ok"}
        assert client.get("/ready").json == {"ready": True, "position": 1}
        measures = client.get("/metrics").body.decode()
        assert 'lessregret_requests_total{path="/learn",status="200"} 1.0' in measures
        assert "lessregret_examples_learned_total 2.0" in measures
        assert "lessregret_examples_predicted_total 1.0" in measures
        assert "lessregret_rounds 2.0" in measures
        document = client.get("/openapi.json").json
        page = client.get("/docs").body.decode()
        for path, methods in document["paths"].items():
            assert path in page
            answers = [client.ask(method.upper(), path) for method in methods]
            assert {answer.status for answer in answers} <= {200, 400}


def test_it_can_be_mounted_in_another_application(tmp_path: Path) -> None:
    from starlette.applications import Starlette
    from starlette.routing import Mount

    mounted = app(new_model(tmp_path), state=tmp_path / "state")

    class Host(Starlette):
        service = mounted.service
        end_streams = staticmethod(mounted.end_streams)

    with serving(Host(routes=[Mount("/ml", mounted)])) as client:  # type: ignore[arg-type]
        assert client.post("/ml/learn", example(1, 1)).json["position"] == 1
        assert client.get("/ml/ready").json["ready"]
    mounted.close()
    assert Learner.from_bytes(learned_model(tmp_path)).tally().rounds == 1


def test_tables_are_learned_row_by_row(tmp_path: Path) -> None:
    from lessregret import train

    table = tmp_path / "people.csv"
    table.write_text("age,city,bought\n31,Rome,no\n,Oslo,yes\n58,Rome,no\n")
    model = tmp_path / "model.safetensors"
    train(str(table), label="bought", model=model, bits=10)
    rows = [
        {"features": {"age": 31, "city": "Rome"}, "label": "no"},
        {"features": {"age": None, "city": "Oslo"}, "label": "yes"},
    ]
    with service_of(tmp_path) as client:
        assert client.post("/learn", rows).status == 200
        assert client.post("/learn", b"age,city,bought\n58,Rome,no\n", "text/csv").status == 200
        bad = client.post("/learn", {**rows[0], "label": "maybe"})
        assert (bad.status, "expected the label 'no' or 'yes'" in bad.json["error"]) == (400, True)
        kept = client.post("/predict", {"features": rows[0]["features"], "id": "p"})
        assert kept.json["kept"] == 1
        assert client.post("/outcome", {"id": "p", "label": "yes"}).json["learned"] == 1
    learner = Learner.load(model)
    rest = tmp_path / "rest.csv"
    rest.write_text("age,city,bought\n31,Rome,no\n,Oslo,yes\n58,Rome,no\n31,Rome,yes\n")
    train(str(rest), resume=model, model=tmp_path / "after.safetensors")
    after = Learner.load(tmp_path / "after.safetensors")
    assert after.tally().rounds == learner.tally().rounds + 4
    assert learned_model(tmp_path) == after.to_bytes()


def test_arrow_streams_are_tables(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="Arrow streams are read through pyarrow")
    from lessregret import train

    frame = pyarrow.table({"age": [31.0, 58.0], "bought": ["no", "yes"]})
    train(frame, label="bought", model=tmp_path / "model.safetensors", bits=10)
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, frame.schema) as writer:
        writer.write_table(frame)
    media = "application/vnd.apache.arrow.stream"
    with service_of(tmp_path) as client:
        assert client.post("/learn", sink.getvalue().to_pybytes(), media).json["examples"] == 2
        assert client.post("/learn", b"no arrow", media).status == 400


def test_a_model_without_a_table_takes_no_csv(tmp_path: Path) -> None:
    with service_of(tmp_path) as client:
        answer = client.post("/learn", b"a,b\n1,2\n", "text/csv")
    assert (answer.status, "model of a table" in answer.json["error"]) == (415, True)


def test_the_regression_of_numbers(tmp_path: Path) -> None:
    new_model(tmp_path, "squared")
    with service_of(tmp_path) as client:
        for value in (3.0, 5.0):
            assert client.post("/learn", {"features": {"a": 1}, "label": value}).status == 200
        found = client.post("/predict", {"features": {"a": 1}}).json["prediction"]
        assert 0 < found <= 5


def ask_for(client: Client, size: int) -> int:
    return client.post("/learn", b"1 |a b\n" * size, TEXT).status


def test_limits_of_bodies_and_batches(tmp_path: Path) -> None:
    with service_of(tmp_path, most_batch=10, most_body=1000) as client:
        assert [ask_for(client, size) for size in (10, 11, 1000)] == [200, 413, 413]
