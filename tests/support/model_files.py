"""Model files, good and wrong in every way but the checksum."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import safetensors
import safetensors.numpy

from lessregret import Learner, PerCoordinate
from lessregret.data.streams import open_examples
from lessregret.learners.losses import LOSSES
from lessregret.learners.rules import RULES
from tests.support.rows import learn_rows

KEY = "lessregret"
ZEROS = "00000000"

Tensors = dict[str, np.ndarray]
Edit = Callable[[dict[str, Any], Tensors], Any]


def small_learner(folder: Any = None, *, certify: bool = True) -> Learner:
    """A learner of a few slots; with a folder to write text in, also with names."""
    learner = Learner("logistic", PerCoordinate(rate=0.5), bits=4, certify=certify, scale="none")
    learn_rows(learner, [0, 2, 3], [3, 7, 3], [1.0, -0.5, 2.0], [1, -1])
    if folder is not None:
        text = folder / "names.vw"
        text.write_bytes(b"1 |user age:3 anna\n")
        stream = open_examples([text], learner, names=True)
        learner.learn(stream)
        learner.keep_names(stream)
    return learner


def two_states() -> list[Learner]:
    """Two learners whose files have some megabytes and differ in length."""
    rng = np.random.default_rng(1)
    states = []
    for slots in (200_000, 199_000):
        learner = Learner(bits=18, certify=True)
        columns = rng.permutation(2**18)[:slots]
        rows = np.arange(0, slots + 1, 100)
        learn_rows(learner, rows, columns, np.ones(slots), np.ones(len(rows) - 1))
        states.append(learner)
    return states


def take_apart(content: bytes) -> tuple[dict[str, Any], Tensors]:
    """The metadata and the tensors of a model file."""
    length = int.from_bytes(content[:8], "little")
    metadata = json.loads(content[8 : 8 + length])["__metadata__"]
    return json.loads(metadata[KEY]), dict(safetensors.numpy.load(content))


def put_together(header: dict[str, Any], tensors: Tensors) -> bytes:
    """A model file with the right checksum."""
    text = json.dumps({**header, "checksum": ZEROS}, separators=(",", ":"))
    return _with_checksum(safetensors.numpy.save(tensors, {KEY: text}))


def _with_checksum(content: bytes) -> bytes:
    checksum = f"{zlib.crc32(content):08x}".encode()
    before = rb"{\"checksum\":\""
    return content.replace(before + ZEROS.encode(), before + checksum, 1)


def with_text(content: bytes, change: Callable[[str], str]) -> bytes:
    """The same file with the text of its metadata changed, and the checksum made right again."""
    header, tensors = take_apart(content)
    text = change(json.dumps({**header, "checksum": ZEROS}, separators=(",", ":")))
    return _with_checksum(safetensors.numpy.save(tensors, {KEY: text}))


def edited(content: bytes, edit: Edit) -> bytes:
    """The same file with something changed, and the checksum made right again."""
    header, tensors = take_apart(content)
    edit(header, tensors)
    return put_together(header, tensors)


class Wrong(NamedTuple):
    """A change to a good file, and what is said of the file."""

    name: str
    edit: Edit
    told: str


def damaged(name: str, edit: Edit, what: str) -> Wrong:
    """A change that makes a file count as damaged."""
    return Wrong(name, edit, f"is damaged: {what}. Use a backup, or train again")


def _set(place: str, value: Any) -> Edit:
    """Set one entry of the header, named by its path."""

    def edit(header: dict[str, Any], _: Tensors) -> None:
        *parents, last = place.split(".")
        for parent in parents:
            header = header[parent]
        header[last] = value

    return edit


def _without(name: str) -> Edit:
    return lambda _, tensors: tensors.pop(name)


def _put(name: str, at: int, value: float) -> Edit:
    def edit(_: dict[str, Any], tensors: Tensors) -> None:
        tensors[name] = tensors[name].copy()
        tensors[name][at] = value

    return edit


def _more(name: str) -> Edit:
    return lambda _, tensors: tensors.update({name: np.zeros(3, dtype=np.float32)})


def _cast(name: str, dtype: str) -> Edit:
    return lambda _, tensors: tensors.update({name: tensors[name].astype(dtype)})


def _reshape(name: str) -> Edit:
    return lambda _, tensors: tensors.update({name: tensors[name].reshape(1, -1)})


WRONG_HEADERS = [
    Wrong("later format", _set("format", 2),
          "has format version 2; this lessregret reads version 1. Use the lessregret that wrote "
          "it"),
    damaged("no format", _set("format", None), "its metadata have no format version"),
    damaged("0 bits", _set("spec.table", {"bits": 0}), "bits must be from 1 to 31, found 0"),
    damaged("32 bits", _set("spec.table", {"bits": 32}), "bits must be from 1 to 31, found 32"),
    damaged("2^32 - 1 bits", _set("spec.table", {"bits": 2**32 - 1}),
            "bits must be from 1 to 31, found 4294967295"),
    damaged("unknown rule", _set("spec.rule.name", "magic"),
            "its metadata cannot be understood (unknown variant `magic`, expected one of "
            + ", ".join(f"`{name}`" for name in RULES)
            + ")"),
    damaged("unknown loss", _set("spec.loss", "magic"),
            "its metadata cannot be understood (unknown loss 'magic'; the losses are "
            + ", ".join(LOSSES)
            + ")"),
    damaged("something more", _set("spec.more", 1),
            "its metadata cannot be understood (unknown field `more`, expected one of "
            "`loss`, `rule`, `table`, `intercept`, `certify`, `l2`, `l2_scope`, `scale`, "
            "`importance_aware`, `fixed_share`, `schema`, `namespaces`)"),
    damaged("unknown scope", _set("spec.l2_scope", "some"),
            "its metadata cannot be understood (unknown variant `some`, expected `active` or "
            "`all`)"),
    damaged("a sum that is null", _set("tally.loss", None),
            "its metadata cannot be understood (invalid type: null, expected f64)"),
    damaged("negative rounds", _set("tally.rounds", -1),
            "its metadata cannot be understood (invalid value: integer `-1`, expected u64)"),
    damaged("importance below 0", _set("tally.importance", -1.0),
            "'tally.importance' is -1.0, expected a finite number from 0 up"),
    damaged("too much importance", _set("tally.importance", 1e300),
            "'tally.importance' is 1e300, expected a sum of that many float32"),
    damaged("loss below 0", _set("tally.loss", -0.5),
            "'tally.loss' is -0.5, expected a finite number from 0 up"),
    damaged("energy below 0", _set("tally.energy", -3),
            "'tally.energy' is -3.0, expected a finite number from 0 up"),
    damaged("more mistakes than rounds", _set("tally.mistakes", 3.0),
            "'tally.mistakes' is 3.0, expected at most 'tally.importance'"),
    damaged("too many rounds", _set("tally.rounds", 2**60),
            f"'tally.rounds' is {2**60}, expected a number of at most 2^53"),
    damaged("no rounds", _set("tally.rounds", 0),
            "'tally.importance' is 2.0, expected 0 before the first round"),
    damaged("too few features", _set("tally.features", 2),
            "'tally.features' is 2, expected a number from 3 up"),
    damaged("too many skipped", _set("skipped", 2**64 - 1),
            f"'skipped' is {2**64 - 1}, expected a number of at most 2^53"),
    damaged("too many collisions", _set("collisions", 18),
            "'collisions' is 18, expected a number of slots"),
    damaged("shared state", _set("shared", []), "the shared state is not an object"),
    damaged("more shared state", _set("shared.more", 1), "'shared' has an unknown field 'more'"),
    damaged("no step", lambda header, _: header["shared"].pop("step"),
            "'shared' has no field 'step'"),
    damaged("step", _set("shared.step", "x"), "'shared.step' is \"x\", expected an object"),
    damaged("more of a step", _set("shared.step.more", 1),
            "'shared.step.more' is an unknown field"),
    damaged("infinite step", _set("shared.step.rate", 1e39),
            "'shared.step.rate' is 1e39, expected a number from 0 up that fits a float32"),
    damaged("step that is null", _set("shared.step.rate", None),
            "'shared.step.rate' is null, expected a number from 0 up that fits a float32"),
]  # fmt: skip
"""Faults that are seen before the slots are read."""

WRONG_SLOTS = [
    damaged("rate below 0", _set("spec.rule.rate", -1.0),
            "rate must be a positive number that fits a float32, found -1.0"),
    damaged("offset below 0", _set("spec.rule.offset", -0.5),
            "offset must be a number from 0 up, found -0.5"),
    damaged("radius 0", _set("spec.rule.radius", 0.0),
            "radius must be a positive number that fits a float32, found 0.0"),
    damaged("empty box", _set("spec.rule.box", [2.0, 1.0]),
            "a box needs low < high and a width that fits a float32, found [2.0, 1.0]"),
    damaged("l2 below 0", _set("spec.l2", -1.0),
            "l2 must be a number from 0 up that fits a float32, found -1.0"),
    damaged("slots out of order", _put("slot", 0, 9),
            "'slot[1]' is 7, expected a slot from 10 up and below 17"),
    damaged("slot twice", _put("slot", 1, 3),
            "'slot[1]' is 3, expected a slot from 4 up and below 17"),
    damaged("slot outside", _put("slot", -1, 17),
            "'slot[2]' is 17, expected a slot from 8 up and below 17"),
    damaged("no weights", _without("weight"), "the tensor 'weight' is missing"),
    damaged("no slots", _without("slot"), "the tensor 'slot' is missing"),
    damaged("no gradients", _without("gradient_sum"), "the tensor 'gradient_sum' is missing"),
    damaged("wrong type", _cast("energy", "float64"),
            "the tensor 'energy' is F64 [3], expected F32 [3]"),
    damaged("not a list", _reshape("energy"), "the tensor 'energy' is not a list"),
    damaged("fewer touched", _set("touched", 2),
            "the tensor 'slot' is U32 [3], expected U32 [2]"),
    damaged("weight nan", _put("weight", 0, np.nan),
            "'weight of slot 3' is NaN, expected a finite number"),
    damaged("energy inf", _put("energy", 1, np.inf),
            "'energy of slot 7' is inf, expected a finite number from 0 up"),
    damaged("energy below 0", _put("energy", 2, -1),
            "'energy of slot 16' is -1.0, expected a finite number from 0 up"),
    damaged("gradient nan", _put("gradient_sum", 0, np.nan),
            "'gradient_sum of slot 3' is NaN, expected a finite number"),
    damaged("another tensor", _more("another"), "the tensor 'another' is no part of this model"),
    damaged("boxes promised", _set("boxes", True), "the tensor 'low' is missing"),
    damaged("names promised", _set("names", True), "the tensor 'names' is missing"),
]  # fmt: skip
"""Faults that are seen when the model is loaded."""

NOT_OURS = {
    "empty": (b"", "it has fewer than 8 bytes"),
    "7 bytes": (b"\x08\0\0\0\0\0\0", "it has fewer than 8 bytes"),
    "8 bytes": (8 * b"\0", "its safetensors header cannot be understood"),
    "text": (b"1 1:1\n0 2:1\n", "it does not begin like a safetensors file"),
    "noise": (np.random.default_rng(5).bytes(4096), "it does not begin like a safetensors file"),
    "a long header": (b"\xff" * 8 + b"{}", "it does not begin like a safetensors file"),
    "a header of 2 MB": (
        (2 << 20).to_bytes(8, "little") + bytes(2 << 20),
        "it does not begin like a safetensors file",
    ),
    "no JSON": (b"\x02\0\0\0\0\0\0\0[]", "its safetensors header cannot be understood"),
    "safetensors of others": (
        safetensors.numpy.save({"weight": np.ones(3, dtype=np.float32)}, {"framework": "np"}),
        "its safetensors header says nothing of lessregret",
    ),
}
