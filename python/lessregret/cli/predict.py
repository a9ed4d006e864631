"""``lessregret predict``: a model and text in, predictions out."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from lessregret.cli.endless import follow_option
from lessregret.cli.live import ReadingBar, reading_bar
from lessregret.cli.options import (
    bad_lines_option,
    by_option,
    data_or_query_argument,
    format_option,
    json_option,
    negatives_option,
    progress_option,
    threads_option,
)
from lessregret.cli.outputs import check_files, open_text
from lessregret.cli.progress import ReadingLines
from lessregret.cli.slices_table import slices_table
from lessregret.cli.spelling import Command
from lessregret.cli.table_options import table_reading_options, take_data
from lessregret.cli.text_models import check_reads_text
from lessregret.data.files import STREAM
from lessregret.errors import SpecError
from lessregret.learners.losses import loss_named
from lessregret.report.wording import counted

if TYPE_CHECKING:
    from lessregret.data.given import GivenData
    from lessregret.learners.learner import Learner
    from lessregret.learners.outcomes import Outcomes
    from lessregret.training.progressive import Progressive

OUTPUTS = ("auto", "probability", "margin", "label", "probabilities", "margins")
SINGULAR = {"probabilities": "probability", "margins": "margin"}


@click.command("predict", cls=Command)
@click.argument("model", type=click.Path(dir_okay=False))
@data_or_query_argument
@click.option(
    "--as",
    "output",
    type=click.Choice(OUTPUTS),
    default="auto",
    show_default=True,
    help="What to write for each example. The margin is the sum of weight times value over the "
    "features. 'auto' writes the probability of the label 1, or of the positive class of a table, "
    "if the model has logistic loss, the expected count if it has Poisson loss, and the margin "
    "otherwise. 'label' writes the likelier label. "
    "Of many classes, 'auto' and 'label' write the likeliest class, 'probabilities' and 'margins' "
    "one number for each class.",
)
@click.option(
    "--output",
    "path",
    type=click.Path(dir_okay=False, allow_dash=True),
    default="-",
    show_default=True,
    help="The file to write predictions to; '-' is stdout.",
)
@follow_option
@table_reading_options
@format_option
@negatives_option
@bad_lines_option
@threads_option
@progress_option
@by_option
@json_option
def command(
    model: str,
    output: str,
    path: str,
    bad_lines: str,
    threads: int | None,
    every_line: int | None,
    by: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Predict each example of DATA with MODEL. Each line of output is a prediction, followed by the
    tag of the example if it has one.

    A model that was trained on a table knows the columns, whatever their order; columns that it
    does not know are ignored. Labels do not change the predictions. Tables and Vowpal Wabbit text
    may leave them out; svmlight text must have a number in their place. If every example has a
    label, --json also reports the mean loss. With --by every example must have one.
    """
    from lessregret.learners.learner import Learner

    given, _ = take_data(options)
    output = SINGULAR.get(output, output)
    check_files(given.files, [model], output=path)
    learner = Learner.load(model)
    _check(learner, model, output)
    sliced = _sliced(learner, by)
    progress = _progress(path, given, every_line)
    reading = {"bad_lines": bad_lines, "threads": threads, "by": by}
    blocks = _blocks(learner, given, reading, progress, sliced)
    with open_text(path) as file, progress or nullcontext():
        if as_json:
            document = _document(learner, list(blocks), output)
            if sliced is not None:
                document["slices"] = sliced.metrics().as_dict()["slices"]
            file.write(json.dumps(document, indent=2) + "\n")
            return
        for block in blocks:
            file.writelines(_lines(learner, block, output))
            if given.is_endless:
                # Somebody may wait for the answer before giving more.
                file.flush()
    for slicing in sliced.metrics().slices if sliced is not None else ():
        click.echo(f"\n{slices_table(slicing)}", err=True)


def _sliced(learner: Learner, by: tuple[str, ...]) -> Progressive | None:
    """What adds up the scores of slices, if any are asked for."""
    from lessregret.training.progressive import Progressive

    if by and learner.classes is not None:
        raise SpecError("slices have scores of two classes or of numbers; leave out --by")
    return Progressive(learner.spec["loss"], by=by) if by else None


def _progress(
    path: str, given: GivenData, every_line: int | None
) -> ReadingBar | ReadingLines | None:
    """Lines if they are asked for, else a bar on a terminal."""
    if every_line is not None:
        return ReadingLines(every_line)
    # Predictions that go to the terminal are progress enough, and a bar would be among them.
    return reading_bar(path != STREAM or not sys.stdout.isatty(), given.total_bytes)


def _check(learner: Learner, model: str, output: str) -> None:
    check_reads_text(learner, model, "predict")
    loss = loss_named(learner.spec["loss"])
    if output == "probability" and loss.link != "probability":
        raise SpecError(f"--as probability needs logistic loss; {model} has {loss.name} loss")
    if output == "label" and not loss.is_classification:
        raise SpecError(f"--as label needs a classifier; {model} has {loss.name} loss")
    from lessregret.training.predictions import link

    # Imports what it needs before an output is opened: an interrupt may get lost during an import.
    link(loss.name, output)


def _blocks(
    learner: Learner,
    given: GivenData,
    reading: dict[str, Any],
    progress: ReadingBar | ReadingLines | None,
    sliced: Progressive | None,
) -> Iterator[Outcomes]:
    from lessregret.data.streams import BLOCK

    space = learner.space.unlabelled() if sliced is None else learner.space
    stream = given.open(space, **reading)
    examples = 0
    while len(block := learner.predict(stream, limit=_limit(progress, examples, BLOCK))):
        yield block
        examples += len(block)
        if progress is not None:
            progress.read(stream.bytes_read, examples)
        if sliced is not None:
            sliced.add(block, examples)
    if stream.skipped:
        first = stream.first_skipped
        click.echo(f"skipped {counted(stream.skipped, 'bad line')}; the first: {first}", err=True)


def _limit(progress: ReadingBar | ReadingLines | None, examples: int, block: int) -> int:
    """How many examples to predict at once: a block ends where a line is due."""
    return progress.limit(examples, block) if isinstance(progress, ReadingLines) else block


def _lines(learner: Learner, block: Outcomes, output: str) -> Iterator[str]:
    for line, noted in zip(_predicted(learner, block, output), block.tags, strict=True):
        # Values to slice by stand behind the tag.
        tag = noted.partition(b"\x1e")[0]
        yield f"{line[:-1]} {tag.decode('utf-8', 'replace')}\n" if tag else line


def _predicted(learner: Learner, block: Outcomes, output: str) -> Iterator[str]:
    from lessregret.training.predictions import as_lines, as_names, link

    if learner.class_names is not None:
        from lessregret.training.class_predictions import class_lines

        return class_lines(block.margins, learner.class_names, output)
    schema = learner.space.schema
    if output == "label" and schema is not None and schema.classes is not None:
        return as_names(block.margins, schema.classes)
    return as_lines(link(learner.spec["loss"], output)(block.margins))


def _document(learner: Learner, blocks: list[Outcomes], output: str) -> dict[str, Any]:
    import numpy as np

    from lessregret.training.metrics import scores_of
    from lessregret.training.predictions import link

    if learner.class_names is not None:
        return _class_document(learner, blocks, output)
    margins = np.concatenate([np.empty(0), *(block.margins for block in blocks)])
    labels = np.concatenate([np.empty(0), *(block.labels for block in blocks)])
    importances = np.concatenate([np.empty(0), *(block.importances for block in blocks)])
    loss = learner.spec["loss"]
    scores = scores_of(loss, margins, labels, importances) if len(margins) else None
    counts_mistakes = scores is not None and loss_named(loss).is_classification
    return {
        "examples": len(margins),
        "loss": loss,
        "mean_loss": scores and scores.mean_loss,
        "mistake_rate": scores.error if scores and counts_mistakes else None,
        "metrics": scores and scores.as_dict(),
        "predictions": link(loss, output)(margins).tolist(),
    }


def _class_document(learner: Learner, blocks: list[Outcomes], output: str) -> dict[str, Any]:
    """The predictions of many classes."""
    import numpy as np

    from lessregret.training.class_metrics import class_scores_of
    from lessregret.training.class_predictions import probabilities

    names, codes = learner.class_names or [], learner.classes or []
    margins = np.concatenate([np.empty((0, len(names))), *(block.margins for block in blocks)])
    labels = np.concatenate([np.empty(0), *(block.labels for block in blocks)])
    h = np.concatenate([np.empty(0), *(block.importances for block in blocks)])
    loss = learner.spec["loss"]
    scores = class_scores_of(loss, codes, names, margins, labels, h) if len(margins) else None
    predictions: list[Any] = [names[place] for place in margins.argmax(1).tolist()]
    if output not in ("auto", "label"):
        predictions = (probabilities(margins) if output == "probability" else margins).tolist()
    return {
        "examples": len(margins),
        "loss": loss,
        "classes": names,
        "mean_loss": scores and scores.mean_loss,
        "mistake_rate": scores and scores.error,
        "metrics": scores and scores.as_dict(),
        "predictions": predictions,
    }
