"""Examples in JSON: ``{"features": {...}, "label": 1, "importance": 2, "id": "a7"}``.

One object, an array of them, or one object a line. The objects are decoded and their types checked
in one step by msgspec; numbers and labels are checked by the core, as those of any other source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec

from lessregret.errors import InputError

BODY = "body"
"""What errors call the body of a request."""
Value = bool | float | str | None
T = TypeVar("T")


class Example(msgspec.Struct, forbid_unknown_fields=True):
    """An example; a label is needed to learn, an id to bring the label later."""

    features: dict[str, bool | float | str]
    label: bool | float | str | None = None
    importance: float = 1.0
    id: str | None = None


class Row(msgspec.Struct, forbid_unknown_fields=True):
    """An example whose features are the cells of a table; null is a missing cell."""

    features: dict[str, bool | int | float | str | None]
    label: bool | int | float | str | None = None
    importance: float = 1.0
    id: str | None = None


class KeptExample(Example):
    """An example that waits for its label, or came by one late."""

    played: bytes | None = None
    """what the core keeps of a play, for a model that learns from old predictions"""


class KeptRow(Row):
    """The cells of an example that waits for its label, or came by one late."""

    played: bytes | None = None


class LabelOf(msgspec.Struct, forbid_unknown_fields=True):
    """The label of a prediction that was made before."""

    id: str
    label: bool | int | float | str


AnyExample = Example | Row


class Decoder:
    """Decodes objects of one type, alone, in an array or one a line."""

    def __init__(self, kind: type[Any]) -> None:
        self._one: msgspec.json.Decoder[Any] = msgspec.json.Decoder(kind)
        self._many: msgspec.json.Decoder[list[Any]] = msgspec.json.Decoder(list[kind])  # type: ignore[valid-type]

    def document(self, body: bytes) -> tuple[list[Any], bool]:
        """The objects of one JSON document, and whether it is an array."""
        if body.lstrip()[:1] == b"[":
            return _decoded(self._many.decode, body), True
        return [_decoded(self._one.decode, body)], False

    def lines(self, body: bytes) -> list[Any]:
        """The objects, one a line; blank lines are passed over."""
        try:
            return self._one.decode_lines(body)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            return self._line_by_line(body)

    def _line_by_line(self, body: bytes) -> list[Any]:
        """As :meth:`lines`, to find the line of an error."""
        lines = enumerate(body.split(b"\n"), 1)
        return [_decoded(self._one.decode, line, number) for number, line in lines if line.strip()]


def _decoded(decode: Callable[[bytes], T], body: bytes, line: int = 0) -> T:
    try:
        return decode(body)
    except msgspec.ValidationError as error:
        raise InputError(BODY, line, 0, _plain(str(error)), "an example as JSON") from None
    except msgspec.DecodeError as error:
        raise InputError(BODY, line, 0, _plain(str(error)), "JSON") from None
    except RecursionError:
        raise InputError(BODY, line, 0, "arrays within arrays", "JSON that is less deep") from None
    except UnicodeDecodeError:
        raise InputError(BODY, line, 0, "bytes that are no text", "JSON in UTF-8") from None


def _plain(text: str) -> str:
    return f"trouble ({text.replace('`', chr(39))})"


def label_number(label: Any, classes: tuple[str | None, str] | None, binary: bool) -> float | None:
    """The label as the core takes it, 1 or -1 if it is binary; None if it is none.

    >>> label_number("yes", ("no", "yes"), True), label_number(False, None, True)
    (1.0, -1.0)
    """
    if isinstance(label, str):
        return _named(label, classes) if binary else None
    if label is None or not binary:
        return label if label is None else float(label)
    return {1.0: 1.0, 0.0: -1.0, -1.0: -1.0}.get(float(label))


def _named(label: str, classes: tuple[str | None, str] | None) -> float | None:
    negative, positive = classes or (None, None)
    if label == positive:
        return 1.0
    is_negative = classes is not None and negative in (None, label)
    return -1.0 if is_negative else None


def check_fields(examples: Sequence[Any], is_labelled: bool) -> None:
    """Raise an :class:`InputError` for the first example without a label, if one is needed."""
    if not is_labelled:
        return
    for number, example in enumerate(examples):
        if example.label is None:
            raise InputError(f"{BODY}[{number}]", 0, 0, "none", "a label to learn from")


def cell_text(value: Value | int) -> str | None:
    """A cell of a table as text, as it would stand in a CSV file; None if it is missing.

    >>> cell_text(True), cell_text(2.0), cell_text(None)
    ('true', '2.0', None)
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)
