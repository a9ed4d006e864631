"""Is a model file what its page says, for us and for anyone who reads safetensors?"""

from __future__ import annotations

import json
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
import safetensors.numpy

from lessregret import Global, Learner, PerCoordinate, _core
from lessregret.errors import SpecError
from lessregret.learners.model_file import expected_collisions, read_header
from lessregret.learners.rules import Ftrl, parse_rule
from lessregret.ledger import Tally
from tests.support.model_files import edited, put_together, small_learner, take_apart
from tests.support.pairs import PAIRS, has_lanes, is_certifiable
from tests.support.rows import learn_rows, predict_rows
from tests.support.streams import as_csr, random_rounds

ROWS = as_csr(list(random_rounds(5, 200)))


def test_anyone_can_read_the_weights(tmp_path: Path) -> None:
    learner = small_learner()
    path = tmp_path / "m.safetensors"
    learner.save(path)
    tensors = safetensors.numpy.load_file(path)
    assert set(tensors) == {"slot", "weight", "energy", "gradient_sum"}
    slots, weights = learner.weights()
    assert tensors["slot"].tolist() == slots.tolist() == [3, 7, 16]
    assert tensors["weight"].tolist() == weights.tolist()
    assert tensors["gradient_sum"].dtype == np.float64
    with safetensors.safe_open(path, "numpy") as file:
        assert json.loads(file.metadata()["lessregret"]) == read_header(path)


def test_the_header_says_what_is_inside(tmp_path: Path) -> None:
    learner = small_learner(tmp_path)
    path = tmp_path / "m"
    learner.save(path)
    header = read_header(path)
    assert header["format"] == 1
    assert header["writer"] == _core.__version__
    assert header["spec"] == learner.spec
    assert Tally(**header["tally"]) == learner.ledger().tally
    assert header["touched"] == learner.ledger().summary.touched
    assert (header["names"], header["boxes"], header["skipped"]) == (True, False, 0)


def test_the_header_is_read_without_the_slots(tmp_path: Path) -> None:
    """Damage among the slots is not met; loading would meet it."""
    content = small_learner().to_bytes()
    path = tmp_path / "m"
    path.write_bytes(content[:-4] + b"\xff\xff\xff\xff")
    assert read_header(path)["touched"] == 3


@pytest.mark.parametrize(("loss", "rule"), PAIRS)
@pytest.mark.parametrize("certify", [False, True])
def test_a_learner_comes_back_and_goes_on(rule: str, loss: str, certify: bool) -> None:
    certify = certify and is_certifiable(rule)
    learner = Learner(loss, parse_rule(rule), columns=40, certify=certify)
    learn_rows(learner, *ROWS)
    again = Learner.from_bytes(learner.to_bytes())
    assert again.ledger() == learner.ledger()
    assert again.spec == learner.spec
    assert again.to_bytes() == learner.to_bytes()
    assert learn_rows(again, *ROWS).tobytes() == learn_rows(learner, *ROWS).tobytes()
    assert again.to_bytes() == learner.to_bytes()


@pytest.mark.parametrize("rule", [PerCoordinate(rate="theory"), Global(rate="theory")])
@pytest.mark.parametrize("intercept", [False, True])
def test_boxes_come_back(rule: PerCoordinate | Global, intercept: bool) -> None:
    rng = np.random.default_rng(2)
    low = -rng.random(40).astype(np.float32)
    box = (low, low + rng.random(40).astype(np.float32) + np.float32(0.1))
    learner = Learner("hinge", rule, columns=40, intercept=intercept, box=box, certify=True)
    learn_rows(learner, *ROWS)
    content = learner.to_bytes()
    tensors = safetensors.numpy.load(content)
    assert tensors["low"][:40].tolist() == box[0].tolist()
    assert tensors["high"][:40].tolist() == box[1].tolist()
    again = Learner.from_bytes(content)
    assert again.ledger() == learner.ledger()
    assert learn_rows(again, *ROWS).tobytes() == learn_rows(learner, *ROWS).tobytes()
    assert again.to_bytes() == learner.to_bytes()


def test_an_offset_comes_back_and_a_file_that_says_nothing_of_it_has_none() -> None:
    plain = Learner("hinge", PerCoordinate(rate=0.3), columns=40)
    learn_rows(plain, *ROWS)
    assert plain.spec["rule"]["offset"] == 0
    before = edited(plain.to_bytes(), lambda header, _: header["spec"]["rule"].pop("offset"))
    assert Learner.from_bytes(before).to_bytes() == plain.to_bytes()
    offset = Learner("hinge", PerCoordinate(rate=0.3, offset=0.5), columns=40)
    learn_rows(offset, *ROWS)
    again = Learner.from_bytes(offset.to_bytes())
    assert again.spec["rule"]["offset"] == 0.5
    assert learn_rows(again, *ROWS).tobytes() == learn_rows(offset, *ROWS).tobytes()
    assert again.to_bytes() == offset.to_bytes()


def test_names_come_back(tmp_path: Path) -> None:
    learner = small_learner(tmp_path)
    again = Learner.from_bytes(learner.to_bytes())
    slots = learner.weights()[0].tolist()
    names = [learner.name(slot) for slot in slots]
    assert [again.name(slot) for slot in slots] == names
    assert {name for name, _ in filter(None, names)} == {"user^age", "user^anna"}
    assert again.to_bytes() == learner.to_bytes()


@pytest.mark.parametrize(
    "size",
    [
        {"bits": 20},
        {"columns": 1},
        {"columns": 0},
    ],
    ids=str,
)
def test_an_untouched_learner_comes_back(tmp_path: Path, size: dict[str, int]) -> None:
    path = tmp_path / "m"
    learner = Learner(**size, intercept=False)
    learner.save(path)
    # Metadata only: no tensor grows with the slots.
    assert path.stat().st_size < 4096
    assert Learner.load(path).ledger() == learner.ledger()


LATER_KEYS = ["l2", "l2_scope", "scale", "importance_aware", "fixed_share"]
"""What the specs of the first model files do not have."""


def test_the_spec_has_every_key_and_files_from_before_them_are_read() -> None:
    learner = Learner("hinge", PerCoordinate(rate=0.3), columns=40, scale="none")
    learn_rows(learner, *ROWS)
    first = ["loss", "rule", "table", "intercept", "certify"]
    assert list(learner.spec) == [*first, *LATER_KEYS]
    assert take_apart(learner.to_bytes())[0]["spec"] == learner.spec

    def as_before(header: dict[str, Any], _: Any) -> None:
        for key in LATER_KEYS:
            del header["spec"][key]

    again = Learner.from_bytes(edited(learner.to_bytes(), as_before))
    assert again.spec == learner.spec
    assert again.to_bytes() == learner.to_bytes()


def test_equal_learners_have_equal_files() -> None:
    first, second = small_learner().to_bytes(), small_learner().to_bytes()
    assert first == second
    assert pickle.loads(pickle.dumps(Learner.from_bytes(first))).to_bytes() == first


def test_the_body_is_aligned() -> None:
    content = small_learner().to_bytes()
    assert int.from_bytes(content[:8], "little") % 8 == 0


def test_a_file_put_together_elsewhere_is_read() -> None:
    """The order of tensors and of JSON's keys is free, but for the checksum, which comes first."""
    header, tensors = take_apart(small_learner().to_bytes())
    turned = dict(reversed(list(header.items())))
    turned.pop("checksum")
    content = put_together({"checksum": "", **turned}, dict(reversed(list(tensors.items()))))
    assert Learner.from_bytes(content).to_bytes() == small_learner().to_bytes()


def test_expected_collisions() -> None:
    assert expected_collisions(1024, 0) == 0
    assert expected_collisions(1024, 1024) == math.inf
    rng = np.random.default_rng(0)
    touched = len(np.unique(rng.integers(0, 2**12, size=3000)))
    assert expected_collisions(2**12, touched) == pytest.approx(3000 - touched, rel=0.1)


@pytest.mark.parametrize(("loss", "rule"), [pair for pair in PAIRS if not has_lanes(pair[1])])
def test_a_slim_model_predicts_the_same_and_does_not_learn(
    loss: str, rule: str, tmp_path: Path
) -> None:
    learner = Learner(loss, parse_rule(rule), columns=40)
    learn_rows(learner, *ROWS)
    learner.save(tmp_path / "slim", slim=True)
    slim = Learner.load(tmp_path / "slim")
    assert predict_rows(slim, *ROWS[:3]).tobytes() == predict_rows(learner, *ROWS[:3]).tobytes()
    assert slim.ledger().mean_loss == learner.ledger().mean_loss
    assert slim.ledger().bound is None
    assert read_header(tmp_path / "slim")["slim"]
    with pytest.raises(SpecError, match="a slim model predicts and does not learn"):
        learn_rows(slim, *ROWS)
    assert Learner.from_bytes(slim.to_bytes()).to_bytes() == slim.to_bytes()


def test_a_slim_model_plays_the_nearest_point_to_0_where_0_is_not_allowed(tmp_path: Path) -> None:
    learner = Learner(
        "hinge", Ftrl(rate=0.1, box=(0.5, 1.5)), columns=4, intercept=False, scale="none"
    )
    learner.save(tmp_path / "slim", slim=True)
    assert predict_rows(Learner.load(tmp_path / "slim"), [0, 1], [2], [2.0]).tolist() == [1.0]
