"""Text in, an Arrow file of examples out: what later passes read instead of the text.

The columns and what they hold are in ``docs/reference/formats.md``; writing and reading are done in
Rust (``crates/core/src/arrow``). Streams know such files by their first bytes.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from lessregret import _core
from lessregret.data.streams import BLOCK


class Converted(NamedTuple):
    """What was written."""

    examples: int
    features: int
    """those of all examples, no intercept among them"""
    bytes: int


def convert(stream: _core.Stream, output: str | os.PathLike[str], *, bits: int) -> Converted:
    """Write all that is left of a stream as an Arrow file, whole or not at all.

    Parameters
    ----------
    stream : from ``open_stream``
        Opened without a loss, so that labels stay as they are written, and not scaled.
    output : the name of a file
        It must be none that the stream reads.
    bits : 1 to 31
        Those of the stream. Who reads the file may use fewer, not more.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from lessregret.data.streams import open_stream, read_examples
    >>> with TemporaryDirectory() as folder:
    ...     text, arrow = Path(folder, "examples.vw"), Path(folder, "examples.arrow")
    ...     _ = text.write_text("1 |a b c:0.5\\n")
    ...     converted = convert(open_stream([text], bits=18), arrow, bits=18)
    ...     [example] = read_examples(open_stream([arrow], bits=18))
    >>> converted.examples, converted.features, example.label
    (1, 2, 1.0)
    """
    writer = _core.ArrowWriter(output, bits)
    try:
        while writer.take(stream, BLOCK):
            pass
        examples, features = writer.examples, writer.features
        return Converted(examples, features, writer.finish())
    finally:
        writer.discard()
