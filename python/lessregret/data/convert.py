"""Conversion of text to an Arrow file of examples, which later runs read faster.

``docs/reference/formats.md`` lists the columns of the file. It is written and read by Rust code
(``crates/core/src/read/arrow``). ``open_examples`` recognises such files by their first bytes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from lessregret import _core
from lessregret.data.streams import BLOCK, ExampleStream
from lessregret.errors import SpecError


class Converted(NamedTuple):
    """The size of what was written."""

    examples: int
    features: int
    """the number of features of all examples together, without intercepts"""
    bytes: int


def convert(
    examples: ExampleStream,
    output: str | os.PathLike[str],
    *,
    watch: Callable[[int, int], object] | None = None,
) -> Converted:
    """Write the remaining examples of a stream to an Arrow file.

    The write is atomic: if it fails, an existing file is unchanged. The file has the ``bits`` of
    the feature space of the stream. It can be read with the same number of bits or fewer.

    Parameters
    ----------
    examples : ExampleStream
        Open it with ``labels="any"``, so that labels are stored unchanged, and with
        ``scale="none"``.
    output : the name of a file
        The file to write. It must not be one of the files that the stream reads.
    watch : function, optional
        Called after every block with the bytes and the examples read so far.

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
    written = 0
    try:
        while count := writer.take(examples.core, BLOCK):
            written += count
            if watch is not None:
                watch(examples.bytes_read, written)
        return Converted(*writer.finish())
    finally:
        writer.discard()
