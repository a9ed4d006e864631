"""``lessregret predict``: a model and text in, predictions out."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from lessregret.cli.endless import follow_option
from lessregret.cli.options import (
    bad_lines_option,
    data_or_query_argument,
    format_option,
    json_option,
    threads_option,
)
from lessregret.cli.outputs import check_files, open_text
from lessregret.cli.progress import Bar, reading_bar
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
@bad_lines_option
@threads_option
@json_option
def command(
    model: str,
    output: str,
    path: str,
    bad_lines: str,
    threads: int | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Predict each example of DATA with MODEL. Each line of output is a prediction, followed by the
    tag of the example if it has one.

    A model that was trained on a table knows the columns, whatever their order; columns that it
    does not know are ignored. Labels do not change the predictions. Tables and Vowpal Wabbit text
    may leave them out; svmlight text must have a number in their place. If every example has a
    label, --json also reports the mean loss.
    """
    from lessregret.learners.learner import Learner

    given, _ = take_data(options)
    output = SINGULAR.get(output, output)
    check_files(given.files, [model], output=path)
    learner = Learner.load(model)
    _check(learner, model, output)
    # Predictions that go to the terminal are progress enough, and a bar would be among them.
    bar = reading_bar(path != STREAM or not sys.stdout.isatty(), given.total_bytes)
    blocks = _blocks(learner, given, bad_lines, threads, bar)
    with open_text(path) as file, bar or nullcontext():
        if as_json:
            file.write(json.dumps(_document(learner, list(blocks), output), indent=2) + "\n")
            return
        for block in blocks:
            file.writelines(_lines(learner, block, output))
            if given.is_endless:
                # Somebody may wait for the answer before giving more.
                file.flush()


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
    learner: Learner, given: GivenData, bad_lines: str, threads: int | None, bar: Bar | None
) -> Iterator[Outcomes]:
    from lessregret.data.streams import BLOCK

    space = learner.space.unlabelled()
    stream = given.open(space, bad_lines=bad_lines, threads=threads)
    examples = 0
    while len(block := learner.predict(stream, limit=BLOCK)):
        yield block
        examples += len(block)
        if bar is not None:
            bar.show(stream.bytes_read, counted(examples, "example"))
    if stream.skipped:
        first = stream.first_skipped
        click.echo(f"skipped {counted(stream.skipped, 'bad line')}; the first: {first}", err=True)


def _lines(learner: Learner, block: Outcomes, output: str) -> Iterator[str]:
    for line, tag in zip(_predicted(learner, block, output), block.tags, strict=True):
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

    from lessregret.training.class_predictions import class_losses, places_of, probabilities

    names, codes = learner.class_names or [], learner.classes or []
    margins = np.concatenate([np.empty((0, len(names))), *(block.margins for block in blocks)])
    labels = np.concatenate([np.empty(0), *(block.labels for block in blocks)])
    h = np.concatenate([np.empty(0), *(block.importances for block in blocks)])
    places, loss = places_of(labels, codes), learner.spec["loss"]
    is_judged = places is not None and h.sum() > 0
    predictions: list[Any] = [names[place] for place in margins.argmax(1).tolist()]
    if output not in ("auto", "label"):
        predictions = (probabilities(margins) if output == "probability" else margins).tolist()
    return {
        "examples": len(margins),
        "loss": loss,
        "classes": names,
        "mean_loss": float(np.average(class_losses(loss, margins, places), weights=h))
        if is_judged and places is not None
        else None,
        "mistake_rate": float(np.average(margins.argmax(1) != places, weights=h))
        if is_judged
        else None,
        "predictions": predictions,
    }
