"""``lessregret explain``: what each feature gave to a prediction."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from math import exp
from typing import TYPE_CHECKING, Any

import click

from lessregret.cli.options import (
    bad_lines_option,
    data_or_query_argument,
    format_option,
    json_option,
)
from lessregret.cli.outputs import check_files
from lessregret.cli.table_options import table_reading_options, take_data
from lessregret.cli.text_models import check_reads_text
from lessregret.errors import InputError
from lessregret.learners.losses import loss_named
from lessregret.report.wording import counted, weight_text

if TYPE_CHECKING:
    from lessregret.data.streams import ExampleStream
    from lessregret.learners.explanation import Explanation, Part
    from lessregret.learners.learner import Learner

ARROW = b"ARROW1"
SHARED = " (shared)"
HEADING = ("feature", "value", "scaled", "weight", "part", "total")
SHARED_NOTE = (
    "(shared): features with different names use this slot of the hash table, so they have one "
    "weight."
)


@click.command("explain")
@click.argument("model", type=click.Path(dir_okay=False))
@data_or_query_argument
@click.option(
    "--top",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    metavar="N",
    help="Show the N parts that are largest in absolute value; the others are added up in one "
    "line.",
)
@click.option(
    "--row",
    "first",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="N",
    help="The first example to explain, counted from 1.",
)
@click.option(
    "--rows",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="N",
    help="How many examples to explain.",
)
@table_reading_options
@format_option
@bad_lines_option
@json_option
def command(
    model: str,
    top: int,
    first: int,
    rows: int,
    bad_lines: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Show what each feature gave to the prediction that MODEL makes for an example of DATA.

    The prediction is a sum with one part for each feature and one for the intercept. The largest
    parts come first; 'total' is the sum of the parts so far, and the last total is the margin. With
    logistic loss a margin of 0 is the probability 1/2. 'scaled' is the value after scaling, if
    scaling changes it, and 'weight' is the part divided by the scaled value. Labels do not matter.

    A feature marked (shared) has the slot of another feature, so that both have one weight: train
    with more --bits to separate them. Names are those of the model, if it was trained with --names,
    and of DATA.
    """
    from lessregret.learners.learner import Learner

    given, _ = take_data(options)
    check_files(given.files, [model])
    learner = Learner.load(model)
    check_reads_text(learner, model, "explain")
    # The features of an Arrow file have no names, and its reader refuses to record them.
    is_table = given.recognised.kind == "table"
    names = is_table or not any(map(_is_arrow, given.files))
    space = learner.space.unlabelled()
    stream = given.open(space, bad_lines=bad_lines, names=names)
    _skip(learner, stream, first - 1, given.name)
    explained = list(_explained(learner, stream, rows))
    if not explained:
        raise _too_few(given.name, first - 1, first)
    if as_json:
        click.echo(json.dumps(_document(model, learner, explained, first, top), indent=2))
    else:
        click.echo(_pages(learner, explained, first, top))
    if stream.skipped:
        told = f"skipped {counted(stream.skipped, 'bad line')}"
        click.echo(f"{told}; the first: {stream.first_skipped}", err=True)


def _is_arrow(path: str) -> bool:
    """Whether a file, not a pipe, begins as Arrow files do."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(ARROW)) == ARROW


def _skip(learner: Learner, stream: ExampleStream, count: int, name: str) -> None:
    from lessregret.data.streams import BLOCK

    left = count
    while left:
        done = len(learner.predict(stream, limit=min(left, BLOCK)))
        if not done:
            raise _too_few(name, count - left, count + 1)
        left -= done


def _too_few(name: str, found: int, row: int) -> InputError:
    there = counted(found, "example") if found else "none"
    expected = f"an example at --row {row:,}" if found else "at least one example"
    return InputError(name, 0, 0, there, expected)


def _explained(learner: Learner, stream: ExampleStream, count: int) -> Iterator[Explanation]:
    """The next examples; a pipe may give them one by one."""
    left = count
    while left and (found := learner.explain(stream, limit=left)):
        left -= len(found)
        yield from found


def _document(
    model: str, learner: Learner, explained: Sequence[Explanation], first: int, top: int
) -> dict[str, Any]:
    loss = learner.spec["loss"]
    rows = [_row(number, loss, each, top) for number, each in enumerate(explained, first)]
    return {"model": model, "loss": loss, "rows": rows}


def _row(number: int, loss: str, explained: Explanation, top: int) -> dict[str, Any]:
    shown, others = explained.largest(top)
    return {
        "row": number,
        **explained.as_dict(),
        "prediction": _prediction(loss, explained.margin),
        "parts": [part._asdict() for part in shown],
        "others": {"count": len(others), "part": sum((part.part for part in others), start=0.0)},
    }


def _prediction(loss: str, margin: float) -> float:
    from lessregret.learners.losses.logistic import logistic

    if loss_named(loss).link == "count":
        return exp(margin)
    return logistic(margin) if loss_named(loss).link == "probability" else margin


def _pages(learner: Learner, explained: Sequence[Explanation], first: int, top: int) -> str:
    loss = learner.spec["loss"]
    pages = [_page(number, loss, each, top) for number, each in enumerate(explained, first)]
    if any(part.shared for each in explained for part in each.largest(top)[0]):
        pages.append(SHARED_NOTE)
    return "\n\n".join(pages)


def _page(number: int, loss: str, explained: Explanation, top: int) -> str:
    about = [f"example {number}"]
    if explained.tag:
        about.append(f"tag {explained.tag.decode('utf-8', 'replace')}")
    if explained.label is not None:
        about.append(f"label {explained.label:g}")
    return "\n".join([", ".join(about), *_table(explained, top), _result(loss, explained.margin)])


def _result(loss: str, margin: float) -> str:
    if loss_named(loss).link == "probability":
        chance = _prediction(loss, margin)
        return f"margin {weight_text(margin)}: the probability of the label 1 is {chance:.6g}"
    if loss_named(loss).is_classification:
        return f"margin {weight_text(margin)}: the label is {1 if margin > 0 else -1}"
    if loss_named(loss).link == "count":
        count = _prediction(loss, margin)
        return f"margin {weight_text(margin)}: the expected count is {count:.6g}"
    return f"prediction {margin:.6g}"


def _table(explained: Explanation, top: int) -> list[str]:
    shown, others = explained.largest(top)
    total, rows = 0.0, [HEADING]
    for part in shown:
        total += part.part
        rows.append((*_cells(part), weight_text(part.part), weight_text(total)))
    if others:
        rest = sum(part.part for part in others)
        name = f"all others ({counted(len(others), 'part')})"
        # The last total is the margin itself: a sum in another order may end in other digits.
        rows.append((name, "", "", "", weight_text(rest), weight_text(explained.margin)))
    return _aligned(rows if _is_scaled(shown) else [row[:2] + row[3:] for row in rows])


def _cells(part: Part) -> tuple[str, str, str, str]:
    name = part.name or f"slot {part.slot}"
    value, scaled = (_short(number) for number in (part.value, part.scaled))
    weight = "–" if part.weight is None else weight_text(part.weight)
    weight = "" if part.slot is None else weight
    return name + (SHARED if part.shared else ""), value, scaled, weight


def _short(number: float | None) -> str:
    return "" if number is None else f"{number:.6g}"


def _is_scaled(parts: Sequence[Part]) -> bool:
    return any(part.value != part.scaled for part in parts)


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
