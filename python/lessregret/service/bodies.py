"""Bodies of requests as examples, all parsed and checked before anything is done with them.

| media type                            | what it holds                                           |
| ------------------------------------- | ------------------------------------------------------- |
| application/json                      | an example or an array of examples (``json_examples``)  |
| application/x-ndjson                  | an example a line                                       |
| text/plain                            | Vowpal Wabbit text                                      |
| text/csv                              | rows with a header, for a model of a table              |
| application/vnd.apache.arrow.stream   | a table, for a model of a table; needs pyarrow          |
| application/vnd.apache.arrow.file     | examples as ``lessregret convert`` writes them          |

Text and tables are parsed by the core, and so is JSON that is plain: no escapes in strings, no ids,
no words as labels (``crates/core/src/read/json``). All other JSON, good or bad, is decoded here. A
plain body gives the same examples either way. A body whose parsing is given twice gives the same
examples twice: the log keeps bodies, and a start reads them again.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lessregret import _core
from lessregret.errors import InputError, SpecError
from lessregret.learners.learner import Learner
from lessregret.learners.space import FeatureSpace
from lessregret.service.json_examples import (
    BODY,
    Decoder,
    Example,
    KeptExample,
    KeptRow,
    Row,
    cell_text,
    check_fields,
    label_number,
)
from lessregret.service.many_classes import ManyClasses
from lessregret.service.refusals import TooLargeError, UnknownMediaError

if TYPE_CHECKING:
    from numpy.typing import NDArray

JSON = "application/json"
NDJSON = "application/x-ndjson"
VW = "text/plain"
CSV = "text/csv"
ARROW_STREAM = "application/vnd.apache.arrow.stream"
ARROW_FILE = "application/vnd.apache.arrow.file"
LATE = "application/x-lessregret-late"
"""What the log calls examples with what was kept of their plays; no request may bring them."""
ALIASES = {
    "": JSON,
    "application/jsonl": NDJSON,
    "application/x-jsonlines": NDJSON,
    "application/json-lines": NDJSON,
}
ANY = 1 << 40
MEDIA = (JSON, NDJSON, VW, CSV, ARROW_STREAM, ARROW_FILE)


def media_type(header: str) -> str:
    """The media type of a Content-Type header, without parameters.

    >>> media_type("Application/JSON; charset=utf-8"), media_type("")
    ('application/json', 'application/json')
    """
    name = header.split(";", 1)[0].strip().lower()
    name = ALIASES.get(name, name)
    if name not in MEDIA:
        expected = ", ".join(MEDIA)
        raise UnknownMediaError(f"Content-Type: expected one of {expected}, found {name[:80]!r}")
    return name


class Labelled(NamedTuple):
    """Examples to learn from."""

    examples: _core.Examples
    played: Sequence[bytes] | None = None
    """what was kept when they were predicted; None if they are to be played now"""


class _Body(io.BytesIO):
    name = BODY


class Bodies:
    """Reads bodies for one feature space.

    Parameters
    ----------
    space : FeatureSpace
        That of the learner.
    most : int
        The largest number of examples in a body.
    classes : ManyClasses, optional
        The classes of a model of many.
    """

    def __init__(self, space: FeatureSpace, most: int, classes: ManyClasses | None = None) -> None:
        self.space = space
        self.most = most
        self.has_columns = space.schema is not None and bool(space.schema.columns)
        self.is_plain = space.bits is not None and not self.has_columns and space.namespaces is None
        self._many_classes = classes
        self._classes = None if space.schema is None else space.schema.classes
        as_read = replace(space, scale="none")
        self._spaces = {True: as_read.to_json(), False: as_read.unlabelled().to_json()}
        self.decoder = Decoder(Row if self.has_columns else Example)
        self.kept = Decoder(KeptRow if self.has_columns else KeptExample)
        self._plain = {known: _core.JsonReader(space) for known, space in self._spaces.items()}

    def examples(self, media: str, body: bytes) -> _core.Examples:
        """All examples of a body to learn from, checked."""
        if media in (JSON, NDJSON):
            plain = self.plain(media, body, True)
            return self.of_json(self.decoded(media, body)[0], True) if plain is None else plain[0]
        return self._collected(self._stream(media, body, True))

    def entry(self, media: str, body: bytes) -> Labelled:
        """What an entry of the log holds."""
        if media != LATE:
            return Labelled(self.examples(media, body))
        examples = self.kept.lines(body)
        return Labelled(self.of_json(examples, True), [each.played for each in examples])

    def labelled(self, kept: Sequence[Any]) -> tuple[Labelled, str, bytes]:
        """Examples that waited and have labels now, and the entry of the log that holds them.

        They are learned at the margins that were played if all know what that takes, and otherwise
        as if they had been played now.
        """
        played = [each.played for each in kept]
        if None in played:
            kind = Row if self.has_columns else Example
            examples = [kind(each.features, each.label, each.importance) for each in kept]
            return Labelled(self.of_json(examples, True)), NDJSON, _lines(examples)
        return Labelled(self.of_json(kept, True), played), LATE, _lines(kept)

    def replayed(self, media: str, body: bytes) -> _core.Examples | None:
        """Examples that were learned before; None if they are not read by the core."""
        if media == NDJSON:
            plain = self._plain[True].read(body, True, ANY)
            return None if plain is None else plain[0]
        return _core.Examples.from_stream(self._stream(media, body, True))

    def plain(
        self, media: str, body: bytes, is_labelled: bool
    ) -> tuple[_core.Examples, bool] | None:
        """The examples of a JSON body that is plain, and whether there may be many."""
        return self._plain[is_labelled].read(body, media == NDJSON, self.most)

    def unlabelled(self, media: str, body: bytes) -> _core.Examples:
        """All examples of a body that is no JSON, to predict."""
        return self._collected(self._stream(media, body, False))

    def decoded(self, media: str, body: bytes) -> tuple[list[Any], bool]:
        """The objects of a JSON body, and whether there may be many."""
        many = media == NDJSON
        examples, many = (self.decoder.lines(body), True) if many else self.decoder.document(body)
        self.check_count(len(examples))
        return examples, many

    def of_json(self, examples: Sequence[Any], is_labelled: bool) -> _core.Examples:
        """Decoded objects as examples."""
        check_fields(examples, is_labelled)
        if self.has_columns:
            return self._collected(self._of_cells(examples, is_labelled))
        if not self.is_plain:
            raise UnknownMediaError(
                "this model has columns or namespaces, which JSON does not give; send Vowpal "
                "Wabbit text (Content-Type: text/plain)"
            )
        return _core.Examples.from_rows(self._rows(examples, is_labelled))

    def check_count(self, count: int) -> None:
        """Raise a refusal for a batch that is empty or too large."""
        if count == 0:
            raise InputError(BODY, 0, 0, "none", "at least one example")
        if count > self.most:
            raise TooLargeError(
                f"expected at most {self.most:,} examples in a body, found {count:,}; send several"
            )

    def number_of(self, label: Any, place: str) -> float:
        """The label as a number; an :class:`InputError` if it does not fit the model."""
        is_binary = self.space.labels == "binary"
        if self._many_classes is None:
            number = label_number(label, self._classes, is_binary)
        else:
            number = self._many_classes.code(label)
        if number is None or not np.isfinite(np.float32(number)):
            raise InputError(place, 0, 0, repr(label)[:80], self._expected_label())
        return number

    def _expected_label(self) -> str:
        if self._many_classes is not None:
            return self._many_classes.expected
        if self.space.labels != "binary":
            return "a number as label"
        if self._classes is None:
            return "a label 1, 0, -1, true or false"
        negative, positive = self._classes
        return f"the label {positive!r} or {'any other' if negative is None else repr(negative)}"

    def _collected(self, stream: _core.Stream) -> _core.Examples:
        examples = _core.Examples.from_stream(stream, self.most + 1)
        self.check_count(len(examples))
        return examples

    def _rows(self, examples: Sequence[Any], is_labelled: bool) -> _core.Rows:
        names: list[str] = []
        values: list[float] = []
        ends = [0]
        for example in examples:
            for key, value in example.features.items():
                is_word = type(value) is str
                names.append(f"{key}={value}" if is_word else key)
                values.append(1.0 if is_word else value)
            ends.append(len(names))
        assert self.space.bits is not None
        slots = _core.hash_features(names, self.space.bits)
        labels, importances = self._targets(examples) if is_labelled else (None, None)
        matrix = np.array(ends, np.int64), slots, np.array(values, np.float64)
        return _core.Rows(self._spaces[is_labelled], *matrix, labels, importances)

    def _targets(self, examples: Sequence[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        places = ((f"{BODY}[{k}].label", each) for k, each in enumerate(examples))
        labels = [self.number_of(example.label, place) for place, example in places]
        importances = [example.importance for example in examples]
        return np.array(labels, np.float64), np.array(importances, np.float64)

    def _of_cells(self, examples: Sequence[Any], is_labelled: bool) -> _core.Stream:
        """Objects as rows of a table of texts; the label and the importance are cells, too."""
        schema = self.space.schema
        assert schema is not None
        label, weight = schema.first("label"), schema.first("weight")
        if is_labelled and weight is None:
            _refuse_importances(examples)
        rows = [_cells(each, label if is_labelled else None, weight) for each in examples]
        names = list(dict.fromkeys(name for row in rows for name in row))
        columns = [[row.get(name) for row in rows] for name in names]
        table = _core.Table.of_texts(names, iter([columns]), BODY)
        return _core.Stream.over_table(table, self._spaces[is_labelled], threads=1)

    def _stream(self, media: str, body: bytes, is_labelled: bool) -> _core.Stream:
        open_stream = self._openers()[media]
        try:
            return open_stream(body, self._spaces[is_labelled])
        except SpecError as error:
            raise UnknownMediaError(str(error)) from None

    def _openers(self) -> dict[str, Callable[[bytes, str], _core.Stream]]:
        return {
            VW: lambda body, space: _text(body, space, "vw"),
            CSV: self._of_csv,
            ARROW_FILE: self._of_arrow_file,
            ARROW_STREAM: self._of_arrow_stream,
        }

    def _of_csv(self, body: bytes, space: str) -> _core.Stream:
        self._need_columns(CSV)
        return _text(body, space, "csv")

    def _of_arrow_file(self, body: bytes, space: str) -> _core.Stream:
        if not body.startswith(b"ARROW1"):
            raise InputError(BODY, 0, 0, "other bytes", "an Arrow file of 'lessregret convert'")
        return _text(body, space, "auto")

    def _of_arrow_stream(self, body: bytes, space: str) -> _core.Stream:
        self._need_columns(ARROW_STREAM)
        try:
            from pyarrow import ArrowException, ipc
        except ImportError:
            raise UnknownMediaError("Arrow streams need pyarrow where the service runs") from None
        try:
            table = _core.Table(ipc.open_stream(body).read_all(), BODY)
        except (ArrowException, OSError) as error:
            raise InputError(BODY, 0, 0, f"trouble ({error})"[:200], "an Arrow stream") from None
        return _core.Stream.over_table(table, space, threads=1)

    def _need_columns(self, media: str) -> None:
        if not self.has_columns:
            raise UnknownMediaError(
                f"{media} is for a model of a table; send JSON or Vowpal Wabbit text to this one"
            )


def margins(learner: Learner, examples: _core.Examples) -> NDArray[np.float64]:
    """The margins of examples."""
    return learner._core.predict(examples).margins


def _text(body: bytes, space: str, format: str) -> _core.Stream:
    # Packed bytes would be unpacked by the core, to any size.
    if body.startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd")):
        raise InputError(BODY, 0, 0, "packed bytes", "text")
    return _core.Stream([_Body(body)], space, format=format, threads=1)


def _refuse_importances(examples: Sequence[Any]) -> None:
    for number, example in enumerate(examples):
        if example.importance != 1.0:
            place = f"{BODY}[{number}].importance"
            expected = "1, because the table of this model has no column of weights"
            raise InputError(place, 0, 0, repr(example.importance), expected)


def _cells(example: Any, label: str | None, weight: str | None) -> dict[str, str | None]:
    cells = {name: cell_text(value) for name, value in example.features.items()}
    if label is not None:
        cells[label] = cell_text(example.label)
    if weight is not None and weight not in cells:
        cells[weight] = cell_text(example.importance)
    return cells


def with_label(example: Any, label: Any) -> Any:
    """The kept example with a label, ready to be learned from."""
    return type(example)(example.features, label, example.importance, None, example.played)


def _lines(examples: Sequence[Any]) -> bytes:
    """Examples as lines of JSON that :meth:`Bodies.entry` reads."""
    import msgspec

    return b"".join(msgspec.json.encode(example) + b"\n" for example in examples)
