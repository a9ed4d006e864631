"""Text in, an Arrow file of examples out: what later passes read instead of the text.

The columns and what they hold are in ``docs/reference/formats.md``; writing and reading are done in
Rust (``crates/core/src/read/arrow``). Streams know such files by their first bytes.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from lessregret import _core
from lessregret.data.streams import BLOCK, ExampleStream
from lessregret.errors import SpecError


class Converted(NamedTuple):
    """What was written."""

    examples: int
    features: int
    """those of all examples, no intercept among them"""
    bytes: int


def convert(examples: ExampleStream, output: str | os.PathLike[str]) -> Converted:
    """Write all that is left of a stream as an Arrow file, whole or not at all.

    The file has the bits of the stream's feature space. Who reads it may use fewer, not more.

    Parameters
    ----------
    examples : from ``open_examples``
        Opened with labels "any", so that labels stay as they are written, and not scaled.
    output : the name of a file
        It must be none that the stream reads.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from lessregret import FeatureSpace, open_examples
    >>> space = FeatureSpace(bits=18, labels="any")
    >>> with TemporaryDirectory() as folder:
    ...     text, arrow = Path(folder, "examples.vw"), Path(folder, "examples.arrow")
    ...     _ = text.write_text("1 |a b c:0.5\\n")
    ...     converted = convert(open_examples([text], space), arrow)
    ...     [example] = open_examples([arrow], space)
    >>> converted.examples, converted.features, example.label
    (1, 2, 1.0)
    """
    if (scale := examples.space.scale) != "none":
        raise SpecError(
            f"an Arrow file holds values as they are written, and these were divided by scale "
            f"'{scale}'; open the examples with scale='none', and scale when the file is read"
        )
    writer = _core.ArrowWriter(output, examples.core)
    try:
        while writer.take(examples.core, BLOCK):
            pass
        count, features = writer.examples, writer.features
        return Converted(count, features, writer.finish())
    finally:
        writer.discard()
