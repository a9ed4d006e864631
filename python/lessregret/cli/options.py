"""Options that several commands share."""

from __future__ import annotations

import click

from lessregret._core import MAX_BITS
from lessregret.errors import SpecError
from lessregret.learners.losses import loss_named
from lessregret.learners.rules import Rule, parse_rule
from lessregret.learners.scale import SCALES


class LossName(click.ParamType[str]):
    """The name of a loss, with its parameter if it has one."""

    name = "loss"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "LOSS"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return loss_named(value).name
        except SpecError as error:
            self.fail(str(error), param, ctx)


FORMATS = ("auto", "svmlight", "vw", "csv", "tsv")

data_argument = click.argument("data", nargs=-1, required=True, metavar="DATA...")
data_or_query_argument = click.argument("data", nargs=-1, metavar="DATA...")
format_option = click.option(
    "--format",
    type=click.Choice(FORMATS),
    default="auto",
    show_default=True,
    help="The format of DATA. 'auto' goes by the names of files: .csv and .tsv are tables, and so "
    "are .parquet, .jsonl, .arrow, .duckdb and .sqlite. Of other files it reads Vowpal Wabbit text "
    "if the first line has a '|', and svmlight text otherwise.",
)
bad_lines_option = click.option(
    "--bad-lines",
    type=click.Choice(["stop", "skip"]),
    default="stop",
    show_default=True,
    help="What to do with a line that cannot be read: stop with an error, or skip and count it.",
)
threads_option = click.option(
    "--threads",
    type=click.IntRange(1),
    metavar="N",
    help="The number of threads that read DATA. The default is one for each core. The result does "
    "not depend on it.",
)
progress_option = click.option(
    "-P",
    "--progress",
    "every_line",
    type=click.IntRange(1),
    metavar="N",
    help="Print a line of progress to stderr at every N examples. The default is a bar on a "
    "terminal.",
)
loss_option = click.option(
    "--loss",
    type=LossName(),
    default="logistic",
    show_default=True,
    help="The loss to minimise. logistic, hinge and squared-hinge are for two classes; squared, "
    "absolute, quantile:LEVEL and huber:DELTA for numbers; poisson for counts.",
)
classes_option = click.option(
    "--classes",
    "classes_text",
    metavar="CLASSES",
    help="For more than two classes. A number, such as 20: the labels of text are 1 to 20. A list, "
    "such as 0,1,2 or red,green,blue: the labels of text, or the names in a table. 'auto': classes "
    "are found as they come, and each counts from its first example on. A table whose first rows "
    "have more than two words as labels needs no --classes. Logistic loss is then multinomial, and "
    "hinge loss that of each class against the rest.",
)
bits_option = click.option(
    "--bits",
    type=click.IntRange(1, MAX_BITS),
    default=22,
    show_default=True,
    help="The size of the hash table: feature names are hashed into 2^bits slots.",
)
no_intercept_option = click.option(
    "--no-intercept", is_flag=True, help="Learn no intercept (bias) weight."
)
l2_option = click.option(
    "--l2",
    type=float,
    default=0.0,
    show_default=True,
    metavar="NUMBER",
    help="The strength of L2 regularisation: NUMBER/2 times the sum of the squared weights of an "
    "example's features is added to the loss of that example. It applies only to rules that keep "
    "weights within [-radius, radius]. The parameter l2 of the rule ftrl is different: its "
    "penalty is added once for the whole run, not for each example.",
)
scale_option = click.option(
    "--scale",
    type=click.Choice(SCALES),
    default="standard",
    show_default=True,
    help="How feature values are scaled. 'standard' subtracts the mean of a feature that is in "
    "every example and divides by its standard deviation; it divides other features by their root "
    "mean square, if that is above 1. With squared loss it standardises the labels, too; "
    "predictions stay in their units. 'full' divides each value by the largest absolute value that "
    "the feature has had so far, 'cap' only if that largest value is above 1. 'none' leaves values "
    "as they are.",
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Write the result as one JSON document to stdout."
)
by_option = click.option(
    "--by",
    callback=lambda ctx, option, text: tuple(text.split(",")) if text else (),
    metavar="NAMES",
    help="Report the scores of slices, too: of the examples with the same value of a column. NAMES "
    "are columns of a table, or namespaces of Vowpal Wabbit text, separated by commas.",
)
negatives_option = click.option(
    "--negatives-kept",
    type=click.FloatRange(0, 1, min_open=True),
    default=1.0,
    show_default=True,
    metavar="FRACTION",
    help="For DATA of two classes of which only this fraction of the negatives was kept, at "
    "random: each of them has 1/FRACTION times its importance, so that probabilities are those of "
    "all data.",
)
report_option = click.option(
    "--report",
    type=click.Path(dir_okay=False),
    help="Write a report of the run, with numbers and pictures, as one self-contained HTML page.",
)


def parse_classes(text: str | None) -> str | int | list[str] | None:
    """The classes asked for: "auto", a number, or a list; None for two classes and for numbers."""
    if text is None or text == "auto":
        return text
    return int(text) if text.isdecimal() else text.split(",")


def parse_rules(texts: str, loss: str, radius: float | None) -> dict[str, Rule]:
    """Rules as users write them, with commas between, by what they were called."""
    named = {text: parse_rule(text, radius=radius) for text in texts.split(",")}
    if len(named) <= texts.count(","):
        raise SpecError(f"--rules {texts}: a rule is named twice")
    for text, rule in named.items():
        if not rule.regresses and not loss_named(loss).is_classification:
            raise SpecError(f"rule {text!r} learns from labels -1 and 1, not with {loss}")
        if not rule.learns_from(loss_named(loss).labels):
            raise SpecError(f"rule {text!r} moves predictions to labels, not with {loss}")
    return named
