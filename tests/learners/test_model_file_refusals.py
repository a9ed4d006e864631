"""Is a model file that no run could have written refused, and what every run can write loaded?"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

from lessregret import Global, Learner, PerCoordinate
from lessregret.errors import ModelFileError
from lessregret.learners.rules import parse_rule
from tests.support.command_line import ENVIRONMENT
from tests.support.model_files import Tensors, edited, small_learner, with_text
from tests.support.rows import learn_rows, predict_rows

ROWS = ([0, 2, 3], [1, 4, 2], [1.0, -3.5, 0.5], [1, -1])


def learner(rule: str, loss: str = "hinge", **options: Any) -> Learner:
    made = Learner(loss, parse_rule(rule), columns=6, **options)
    learn_rows(made, *ROWS)
    return made


def refusal(content: bytes) -> str:
    with pytest.raises(ModelFileError) as error:
        Learner.from_bytes(content)
    return error.value.reason


def put(path: str, value: Any) -> Callable[[dict[str, Any], Tensors], None]:
    def edit(header: dict[str, Any], _: Tensors) -> None:
        *parents, last = path.split("/")
        place: Any = header
        for parent in parents:
            place = place[int(parent) if parent.isdigit() else parent]
        place[int(last) if last.isdigit() else last] = value

    return edit


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("mixture/labels", [2.0, 1.0], "mixture.labels' is [2.0,1.0], expected the lowest and the"),
        ("mixture/labels", [1.0], "mixture.labels' is [1.0], expected the lowest and the highest"),
        ("mixture/heaviest", 0.5, "mixture.heaviest' is 0.5, expected a finite number from 1 up"),
        ("mixture/standing/shares/3", None, "mixture.standing.shares[3]' is null, expected a"),
        ("mixture/surplus", None, "mixture.surplus' is null, expected a finite number"),
        ("mixture/clipping", -1.0, "mixture.clipping' is -1.0, expected a finite number from 0 up"),
        ("stack_tally/loss", -1.0, "stack_tally.loss' is -1.0, expected a finite number from 0"),
        ("lanes/2/energy", -1.0, "lanes[2].energy' is -1.0, expected a finite number from 0 up"),
        ("lanes/2/more", 1.0, "lanes[2].more' is an unknown field"),
        ("step/7/rate", -0.5, "step[7].rate' is -0.5, expected a number from 0 up that fits"),
        ("step/7/tighten", 1e39, "step[7].tighten' is 1e39, expected a number from 0 up that"),
    ],
)
def test_shared_state_of_lanes_that_no_run_has(path: str, value: Any, told: str) -> None:
    content = learner("per-coordinate:rate=auto", "squared").to_bytes()
    assert f"is damaged: 'shared.{told}" in refusal(edited(content, put(f"shared/{path}", value)))


@pytest.mark.parametrize("field", ["energy", "rates", "widths", "inverse", "climb"])
def test_shared_state_of_one_rate_that_no_run_has(field: str) -> None:
    content = learner("global:rate=0.5").to_bytes()
    for value in (-1.0, None):
        reason = refusal(edited(content, put(f"shared/state/{field}", value)))
        assert f"'shared.state.{field}' is {json.dumps(value)}, expected a finite number" in reason


@pytest.mark.parametrize(
    ("rule", "field", "value", "expected"),
    [
        ("ftrl:rate=0.1", "n", -1, "a finite number from 0 up"),
        ("ftrl:rate=0.1", "z", np.nan, "a finite number"),
        ("constant:rate=0.1", "seen", 0.5, "0 or 1"),
        ("arow", "precision", -1, "a finite number from 0 up"),
        ("per-coordinate:rate=auto", "energy", -1, "a finite number from 0 up"),
    ],
)
def test_slots_that_no_run_has(rule: str, field: str, value: float, expected: str) -> None:
    def edit(_: dict[str, Any], tensors: Tensors) -> None:
        tensors[field] = tensors[field].copy()
        tensors[field][1] = value

    reason = refusal(edited(learner(rule).to_bytes(), edit))
    assert f"'{field} of slot 2' is " in reason
    assert f", expected {expected}. " in reason


@pytest.mark.parametrize("tensor", ["weight_slot", "weight"])
def test_weights_for_other_readers_are_checked_too(tensor: str) -> None:
    content = learner("ftrl:rate=0.1").to_bytes()
    reason = refusal(edited(content, lambda _, tensors: tensors.pop(tensor)))
    assert f"the tensor '{tensor}' is missing" in reason


def test_a_slim_file_has_no_shared_state(tmp_path: Path) -> None:
    learner("constant:rate=0.1").save(tmp_path / "slim", slim=True)
    content = (tmp_path / "slim").read_bytes()
    for edit in (put("shared/step/rate", 1.0), put("boxes", True)):
        assert "a slim file has no shared state and no boxes" in refusal(edited(content, edit))


@pytest.mark.parametrize(
    ("before", "after", "key"),
    [
        ('"rounds":', '"rounds":1,"rounds":', "rounds"),
        ('"loss":"logistic"', '"loss":"hinge","loss":"logistic"', "loss"),
        ('"format":1', '"format":2,"format":1', "format"),
        ('"rate":0.5', '"rate":0.25,"rate":0.5', "rate"),
    ],
)
def test_a_key_that_stands_twice(before: str, after: str, key: str) -> None:
    """JSON for maps keeps the last and says nothing."""
    content = with_text(small_learner().to_bytes(), lambda text: text.replace(before, after, 1))
    assert f"the key '{key}' stands there twice" in refusal(content)


def test_a_tensor_that_stands_twice() -> None:
    content = small_learner().to_bytes()
    length = int.from_bytes(content[:8], "little")
    header, body = content[8 : 8 + length].rstrip(), content[8 + length :]
    doubled = header[:-1] + b',"slot":{"dtype":"U32","shape":[3],"data_offsets":[24,36]}}'
    file = len(doubled).to_bytes(8, "little") + doubled + body
    assert "the key 'slot' stands there twice" in refusal(file)


def test_other_metadata_are_refused() -> None:
    content = small_learner().to_bytes()
    tensors = safetensors.numpy.load(content)
    length = int.from_bytes(content[:8], "little")
    metadata = json.loads(content[8 : 8 + length])["__metadata__"]
    more = safetensors.numpy.save(tensors, {**metadata, "framework": "np"})
    assert "its '__metadata__' has more entries than 'lessregret'" in refusal(more)


def names_of(learner: Learner, folder: Path, edit: Callable[[Tensors], None]) -> str:
    return refusal(edited(learner.to_bytes(), lambda _, tensors: edit(tensors)))


def test_names_are_one_a_slot(tmp_path: Path) -> None:
    named = small_learner(tmp_path)

    def names(change: Callable[[bytes], bytes]) -> Callable[[Tensors], None]:
        def edit(tensors: Tensors) -> None:
            changed = change(tensors["names"].tobytes())
            tensors["names"] = np.frombuffer(changed, dtype=np.uint8)

        return edit

    assert "names are missing" in names_of(named, tmp_path, names(lambda text: text[:-1]))
    assert "more names than slots" in names_of(named, tmp_path, names(lambda text: text + b"x\n"))


LOAD_AND_TELL = """
import re, sys
from pathlib import Path
from lessregret import Learner, LessRegretError
try:
    Learner.load(sys.argv[1])
    print("loaded")
except LessRegretError as error:
    print(type(error).__name__)
print(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc, as on Linux")
@pytest.mark.parametrize("scale", ["none", "cap", "full", "standard"])
@pytest.mark.parametrize("rate", ["0.5", "auto"])
def test_a_small_file_takes_little_memory_whatever_it_claims(
    tmp_path: Path, scale: str, rate: str
) -> None:
    """Tables of zeros are not in memory before they are touched; all others are in the file."""
    content = learner(f"per-coordinate:rate={rate}", scale=scale, certify=True).to_bytes()
    table = {"columns": 2**32 - 2}
    path = tmp_path / "m"
    path.write_bytes(edited(content, put("spec/table", table)))
    done = subprocess.run(
        [sys.executable, "-c", LOAD_AND_TELL, str(path)],
        capture_output=True, text=True, env=ENVIRONMENT, check=True,
    )  # fmt: skip
    outcome, peak = done.stdout.split()
    assert outcome in {"loaded", "OutOfMemoryError"}
    assert int(peak) < 300_000


def test_a_rate_too_small_for_float32_is_saved_and_loaded(tmp_path: Path) -> None:
    made = Learner("squared", Global(rate=1e-30), columns=6)
    learn_rows(made, [0, 1, 2], [0, 1], [1.0, 1.0], [1e16, -1e16])
    again = Learner.from_bytes(made.to_bytes())
    assert again.to_bytes() == made.to_bytes()
    assert np.isfinite(made.ledger().bound or 0.0)


@pytest.mark.parametrize("scale", ["none", "cap", "full", "standard"])
def test_a_slim_model_of_boxes_without_0_is_loaded(tmp_path: Path, scale: str) -> None:
    box = (np.full(6, 0.5, np.float32), np.full(6, 2.0, np.float32))
    made = Learner("hinge", PerCoordinate(rate=0.1), columns=6, box=box, scale=scale)
    learn_rows(made, *ROWS)
    made.save(tmp_path / "slim", slim=True)
    slim = Learner.load(tmp_path / "slim")
    assert predict_rows(slim, *ROWS[:3]).tobytes() == predict_rows(made, *ROWS[:3]).tobytes()
    slim.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "slim").read_bytes()
