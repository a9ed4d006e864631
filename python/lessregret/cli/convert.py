"""``lessregret convert``: text in, an Arrow file of examples out."""

from __future__ import annotations

import json
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from lessregret.cli.live import reading_bar
from lessregret.cli.namespaces import namespace_options
from lessregret.cli.options import (
    bad_lines_option,
    bits_option,
    data_or_query_argument,
    format_option,
    json_option,
    threads_option,
)
from lessregret.cli.outputs import check_files
from lessregret.cli.spelling import Command
from lessregret.cli.table_options import table_options, take_data
from lessregret.report.wording import counted

if TYPE_CHECKING:
    from lessregret.data.convert import Converted
    from lessregret.data.streams import ExampleStream


@click.command("convert", cls=Command)
@data_or_query_argument
@click.option(
    "--output",
    required=True,
    type=click.Path(dir_okay=False),
    help="The Arrow file to write the examples to.",
)
@bits_option
@namespace_options
@table_options
@format_option
@bad_lines_option
@threads_option
@click.option("--quiet", is_flag=True, help="Print neither progress nor a summary.")
@json_option
def command(
    output: str,
    bits: int,
    bad_lines: str,
    threads: int | None,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Convert DATA to an Arrow file, which later runs read faster than text.

    The file can be given as DATA to train, predict, compare and regret, with the same number of
    --bits or fewer and the same crosses and namespaces. Any program that reads Arrow can read it.
    Labels are stored unchanged. Feature names are not stored, only their hashes.
    """
    from lessregret.data.convert import convert
    from lessregret.learners.space import FeatureSpace

    given, rest = take_data(options)
    check_files(given.files, [], direct=False, output=output)
    started = time.perf_counter()
    schema = given.infer().schema if given.has_columns else None
    space = FeatureSpace(bits=bits, labels="any", namespaces=rest["namespaces"], schema=schema)
    stream = given.open(space, bad_lines=bad_lines, threads=threads)
    bar = reading_bar(not quiet, given.total_bytes)
    with bar or nullcontext():
        converted = convert(stream, output, watch=None if bar is None else bar.read)
    seconds = time.perf_counter() - started
    if as_json:
        document = {
            **converted._asdict(),
            "skipped": stream.skipped,
            "seconds": round(seconds, 3),
            "output": output,
        }
        click.echo(json.dumps(document, indent=2))
    if not quiet:
        click.echo(_summary(converted, stream, output), err=True)


def _summary(converted: Converted, stream: ExampleStream, output: str) -> str:
    examples, features = converted.examples, converted.features
    lines = [
        f"{counted(examples, 'example')}, {counted(features, 'feature')}, "
        f"{counted(converted.bytes, 'byte')}"
    ]
    if stream.skipped:
        skipped = counted(stream.skipped, "bad line")
        lines.append(f"skipped        {skipped}; the first: {stream.first_skipped}")
    return "\n".join([*lines, f"output         {output}"])
