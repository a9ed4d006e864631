"""Tables: what their columns are, inferred from the first rows.

    first rows ─▶ what each column seems to be ─ what the user says ─▶ schema, loss

A user names the label, and only what is inferred wrongly. The schema becomes part of the feature
space and so of the model, and later tables are read by it. Cells are read by Rust code
(``crates/core/src/read/table``); ``docs/reference/formats.md`` has the grammar.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from lessregret import _core
from lessregret.data.column_choices import ColumnChoices
from lessregret.data.sources import File, first_line, opened_one
from lessregret.errors import SpecError
from lessregret.learners.losses import loss_named
from lessregret.learners.schema import Column, ColumnKind, Schema

ROWS = 10_000
"""The number of rows that columns are inferred from."""
DELIMITERS = (",", ";", "\t", "|")
"""What may separate cells if neither the user nor the file's name says it."""
PACKED = (".gz", ".zst", ".xz")
MOST_WORDS = 3
Classes: TypeAlias = tuple[str | None, str]


class ColumnSeen(NamedTuple):
    """What was seen of a column, and what it is taken for."""

    name: str
    kind: ColumnKind
    cells: int
    missing: int
    seen: str
    """a few values, or the range of numbers"""


class Inferred(NamedTuple):
    """A schema that fits a table, and the loss that fits its labels."""

    schema: Schema
    loss: str
    delimiter: str
    columns: tuple[ColumnSeen, ...]
    rows: int
    """the number of rows that the columns were inferred from"""

    def lines(self) -> list[str]:
        """A table to print: column, kind, missing cells and what was seen."""
        heads = ("column", "kind", "missing", "seen")
        rows = [heads] + [
            (each.name, each.kind, _percent(each.missing, each.cells), each.seen)
            for each in self.columns
        ]
        widths = [max(len(row[k]) for row in rows) for k in range(3)]
        cells = [
            [text.ljust(width) for text, width in zip(row, widths, strict=False)] for row in rows
        ]
        return ["  ".join([*row, rows[k][3]]).rstrip() for k, row in enumerate(cells)]


def infer_schema(
    files: Sequence[File],
    choices: ColumnChoices | None = None,
    *,
    loss: str | None = None,
    bad_lines: str = "stop",
) -> Inferred:
    """Infer what the columns of a table are from the first rows of its first file.

    Parameters
    ----------
    files : names of files
        Only the first is read. Standard input, ``-``, can still be read afterwards.
    choices : ColumnChoices, optional
        What is known of the columns. Without a delimiter it is a tab for ``.tsv`` files; for others
        it is the most frequent of comma, semicolon, tab and bar in the first line. Without a
        positive class it is the one of two labels that sorts last.
    loss : str, optional
        The loss, if the user has chosen it. With ``"squared"`` and the other losses of
        numbers, labels are numbers.
    bad_lines : "stop" or "skip"
        What to do with a row that cannot be read.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     table = Path(folder, "people.csv")
    ...     _ = table.write_text("age,city,bought\\n31,Rome,no\\n,Oslo,yes\\n58,Rome,no\\n")
    ...     inferred = infer_schema([table], ColumnChoices(label="bought"))
    >>> inferred.loss, inferred.schema.classes
    ('logistic', ('no', 'yes'))
    >>> print(*inferred.lines(), sep="\\n")
    column  kind      missing  seen
    age     number    33 %     31 to 58
    city    category  0 %      Rome, Oslo
    bought  label     0 %      no, yes
    """
    if not files:
        raise SpecError("infer_schema needs at least one file, found none")
    choices = choices or ColumnChoices()
    if choices.delimiter is None:
        choices = replace(choices, delimiter=delimiter_of(files[0]))
    return inferred_from(sample_csv(files[0], choices, bad_lines=bad_lines), choices, loss=loss)


def sample_csv(file: File, choices: ColumnChoices, *, bad_lines: str = "stop") -> dict[str, Any]:
    """What the first rows of a file show; the choices have a delimiter."""
    header = choices.header
    sampled: dict[str, Any] = json.loads(
        _core.sample_table(
            opened_one(file),
            delimiter=choices.delimiter or ",",
            header=header is None,
            column_names=list(header) if header else None,
            missing=list(choices.spellings),
            rows=ROWS,
            bad_lines=bad_lines,
        )
    )
    return sampled


def inferred_from(
    table: Mapping[str, Any],
    choices: ColumnChoices,
    *,
    loss: str | None = None,
    classes: Sequence[str] | None = None,
) -> Inferred:
    """Infer the schema from what the first rows show, and from what is known of the columns.

    ``classes`` are the names of the classes, if they are given; an empty list asks for as many
    classes as the first rows have.
    """
    samples = {column["name"]: column for column in table["columns"]}
    runs = dict(_split_words(entry) for entry in choices.text)
    kinds = _kinds(_given(choices, runs), samples)
    for cross in choices.crosses:
        _check_known(cross, samples, "cross")
    columns = tuple(
        Column(name, kinds.get(name, sample["kind"]), runs.get(name, 1))
        for name, sample in samples.items()
    )
    two: Classes | None = None
    many: tuple[str, ...] = ()
    if choices.label is not None:
        sample = samples[choices.label]
        if classes is None:
            two, many, loss = _label(choices.label, sample, choices.positive, loss)
        else:
            many, loss = _many(choices.label, sample, choices.positive, loss, classes)
    schema = Schema(columns, choices.spellings, two, choices.crosses, many)
    seen = tuple(_seen(column, samples[column.name]) for column in columns)
    return Inferred(schema, loss or "logistic", choices.delimiter or ",", seen, table["rows"])


def _given(choices: ColumnChoices, text: Iterable[str]) -> dict[str, Iterable[str]]:
    """The names of the columns whose kind is known, by kind."""
    single = (choices.label, choices.weight, choices.base, choices.tag)
    ones = zip(("label", "weight", "base", "tag"), single, strict=True)
    return {
        **{kind: [] if name is None else [name] for kind, name in ones},
        "number": choices.number,
        "category": choices.category,
        "text": text,
        "time": choices.time,
        "ignore": choices.ignore,
    }


def delimiter_of(file: File) -> str:
    """The delimiter, by the name of a file or by its first line."""
    name = os.fspath(file) if isinstance(file, str | os.PathLike) else ""
    for packed in PACKED:
        name = name.removesuffix(packed)
    if name.endswith(".tsv"):
        return "\t"
    line = first_line(file).split(b"\n", 1)[0]
    line = b"".join(line.split(b'"')[::2])  # What is in quotes does not count.
    return max(DELIMITERS, key=lambda each: line.count(each.encode()))


def _split_words(entry: str) -> tuple[str, int]:
    """The name of a text column and the longest run of words: ``body:2``."""
    name, colon, words = entry.rpartition(":")
    if not colon or not words.isdigit():
        return entry, 1
    if not 1 <= int(words) <= MOST_WORDS:
        raise SpecError(
            f"text {entry!r}: expected from 1 to {MOST_WORDS} words after ':', found {words}"
        )
    return name, int(words)


def _kinds(given: Mapping[str, Iterable[str]], samples: Mapping[str, Any]) -> dict[str, Any]:
    """The kinds that the user gave, each column once."""
    kinds: dict[str, str] = {}
    for kind, names in given.items():
        _check_known(names, samples, kind)
        for name in names:
            if kinds.setdefault(name, kind) != kind:
                raise SpecError(
                    f"column {name!r} is given as {kinds[name]} and as {kind}; give it once"
                )
    return kinds


def _check_known(names: Iterable[str], samples: Mapping[str, Any], what: str) -> None:
    for name in names:
        if name in samples:
            continue
        import difflib  # only for a message

        near = difflib.get_close_matches(name, samples, n=1, cutoff=0.5)
        shown = ", ".join(map(repr, list(samples)[:12])) + (", …" if len(samples) > 12 else "")
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise SpecError(f"{what}: the table has no column {name!r}; {hint}it has {shown or 'none'}")


def _label(
    name: str, sample: Mapping[str, Any], positive: str | None, loss: str | None
) -> tuple[Classes | None, tuple[str, ...], str]:
    """Two classes, or the names of many, or neither if labels are numbers; the loss that fits."""
    values = [value for value, _ in sample["values"]]
    if loss is not None and not loss_named(loss).is_classification:
        if positive is not None:
            raise SpecError(f"positive is for two classes; {loss} loss has numbers as labels")
        return None, (), loss
    different = _distinct(values, sample["is_number"])
    is_all = sample["different"] <= len(values)
    if sample["is_number"] and loss is None and positive is None and not _is_two(different, is_all):
        if is_all and len(different) < 2:
            raise _one_label(name, different)
        return None, (), "squared"
    if positive is None and is_all and len(different) > 2:
        return None, tuple(different), loss or "logistic"
    classes = _classes(name, different, is_all, positive, sample["different"])
    return classes, (), loss or "logistic"


def _many(
    name: str,
    sample: Mapping[str, Any],
    positive: str | None,
    loss: str | None,
    classes: Sequence[str],
) -> tuple[tuple[str, ...], str]:
    """The names of many classes, as they are given or as the first rows have them."""
    if positive is not None:
        raise SpecError("positive is for two classes, and many are asked for; leave out one")
    if classes:
        return tuple(classes), loss or "logistic"
    values = [value for value, _ in sample["values"]]
    if sample["different"] > len(values):
        raise SpecError(
            f"column {name!r} has {sample['different']:,} different labels, too many to be found "
            "in the first rows; name the classes with --classes"
        )
    return tuple(_distinct(values, sample["is_number"])), loss or "logistic"


def _is_two(different: Sequence[str], is_all: bool) -> bool:
    return is_all and len(different) == 2


def _distinct(values: Sequence[str], are_numbers: bool) -> list[str]:
    """The values in order, without other spellings of the same number; numbers as numbers."""
    if not are_numbers:
        return sorted(values)
    numbers: dict[float, str] = {}
    for value in values:
        numbers.setdefault(_number(value), value)
    return [numbers[number] for number in sorted(numbers)]


def _number(text: str) -> float:
    return float({"true": "1", "false": "0"}.get(text.lower(), text))


def _classes(
    name: str, different: Sequence[str], is_all: bool, positive: str | None, count: int
) -> Classes:
    if is_all and len(different) < 2:
        raise _one_label(name, different)
    if positive is not None:
        if is_all and positive not in different:
            shown = ", ".join(map(repr, different))
            raise SpecError(
                f"positive: no label in column {name!r} is {positive!r}; it has {shown}"
            )
        if _is_two(different, is_all):
            return next(value for value in different if value != positive), positive
        return None, positive
    if _is_two(different, is_all):
        return different[0], different[1]
    shown = ", ".join(map(repr, different[:6])) + (", …" if count > 6 else "")
    raise SpecError(
        f"column {name!r} has {count} different labels ({shown}), too many to be found in the "
        "first rows; name the classes with --classes, or the positive one with --positive"
    )


def _one_label(name: str, different: Sequence[str]) -> SpecError:
    found = f"only the label {different[0]!r}" if different else "no label"
    return SpecError(
        f"the first {ROWS:,} rows have {found} in column {name!r}, and two are needed; "
        "shuffle the rows, or choose another column as label"
    )


def _seen(column: Column, sample: Mapping[str, Any]) -> ColumnSeen:
    return ColumnSeen(
        column.name, column.kind, sample["cells"], sample["missing"], _shown(column.kind, sample)
    )


def _shown(kind: str, sample: Mapping[str, Any]) -> str:
    """A few values, or the range of numbers."""
    if kind == "number" and sample["range"]:
        low, high = sample["range"]
        return f"{low:g} to {high:g}"
    values = [value for value, _ in sample["values"][:3]]
    if not values:
        return "nothing"
    more = sample["different"] - len(values)
    shown = ", ".join(map(_short, values))
    at_least = "at least " if sample["is_cut"] else ""
    return f"{shown}, {at_least}{more:,} more" if more else shown


def _short(value: str) -> str:
    """The beginning of a value, in quotes if it has a comma."""
    cut = value if len(value) <= 24 else value[:23] + "…"
    return f'"{cut}"' if "," in cut else cut


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else ""
