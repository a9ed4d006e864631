"""Files as streams of examples.

A file holds LIBSVM/svmlight text, Vowpal Wabbit text or a table (CSV, TSV), plain or compressed
with gzip, zstd or xz, or is an Arrow file that ``convert`` wrote; ``-`` is standard input. Files
are read one after another, in bounded memory and on all cores, by Rust code
(``crates/core/src/read``).
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from lessregret import _core
from lessregret.data.sources import File, opened
from lessregret.errors import SpecError
from lessregret.learners.space import FeatureSpace, HasSpace, space_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TEXTS = ("svmlight", "vw")
TABLES = ("csv", "tsv")
"""The formats of tables, which need a feature space with a schema."""
UNLABELLED = ("error", "predict")
"""What an example without a label may be, where labels are asked for."""
BLOCK = 1 << 14
"""Examples asked for at a time: often enough to answer an interrupt, seldom enough to be free."""


class Example(NamedTuple):
    """One example as the learner gets it: names hashed to slots, values as numbers."""

    label: float
    """+1 or -1 for classification; NaN if the line has no label"""
    importance: float
    slots: NDArray[np.uint32]
    values: NDArray[np.float32]
    tag: bytes
    base: float = 0.0
    """the base margin, which is added to the margin"""


class ExampleStream:
    """The examples of files, which can be read once; :func:`open_examples` creates it.

    Pass the stream to a learner, or iterate over it to look at its examples one by one.
    """

    def __init__(self, core: _core.Stream) -> None:
        self.core = core

    @property
    def space(self) -> FeatureSpace:
        """The feature space that the examples are read for."""
        return FeatureSpace.from_json(self.core.space)

    def stop(self) -> None:
        """Stop reading: there are no more examples, as if the files had ended.

        May be called from a signal's handler and from another thread while the stream is read.
        """
        self.core.stop()

    @property
    def skipped(self) -> int:
        """The number of bad lines skipped so far."""
        return self.core.skipped

    @property
    def first_skipped(self) -> str | None:
        """The error in the first skipped line; None if no line was skipped."""
        return self.core.first_skipped

    @property
    def bytes_read(self) -> int:
        """The number of bytes read from the files so far, before decompression."""
        return self.core.bytes_read

    @property
    def ignored_columns(self) -> list[str]:
        """The columns of the tables read so far that the schema does not have."""
        return self.core.ignored_columns

    def __iter__(self) -> Iterator[Example]:
        while True:
            indptr, slots, values, labels, importances, bases, tags = self.core.read(BLOCK)
            if not tags:
                return
            for k, tag in enumerate(tags):
                row = slice(indptr[k], indptr[k + 1])
                features, base = (slots[row], values[row]), float(bases[k]) if len(bases) else 0.0
                yield Example(float(labels[k]), float(importances[k]), *features, tag, base)


class Data(ABC):
    """Data that know how they are opened: what may be given in place of the names of files."""

    @property
    @abstractmethod
    def files(self) -> list[str]:
        """The names of the files, if there are any."""

    @abstractmethod
    def open(self, space: FeatureSpace | HasSpace, **options: Any) -> ExampleStream:
        """The examples; the options are those of :func:`open_examples`."""


def open_examples(
    files: Sequence[File] | Data,
    space: FeatureSpace | HasSpace,
    *,
    format: str = "auto",
    bad_lines: str = "stop",
    names: bool = False,
    scale: str = "none",
    threads: int | None = None,
    delimiter: str | None = None,
    header: bool = True,
    column_names: Sequence[str] | None = None,
    by: Sequence[str] = (),
    unlabelled: str = "error",
    follow: bool = False,
) -> ExampleStream:
    """Open files as a stream of examples.

    Parameters
    ----------
    files : names of files, or open binary files
        The files to read; ``-`` is standard input. An open file is anything with ``read``.
    space : FeatureSpace, or a learner or source of examples that has one
        The feature space of the learner that the examples are for: the number of slots, the
        intercept and the kind of labels. Use ``learner.space.unlabelled()`` for examples that may
        have no labels and are only predicted.
    format : "auto", "svmlight", "vw", "csv" or "tsv"
        The format of text files. ``"auto"`` reads tables if the space has a schema and the name of
        the first file ends with ``.csv`` or ``.tsv``, Vowpal Wabbit text if the first line has a
        ``|``, and svmlight text otherwise. Tables need a space with a schema.
    bad_lines : "stop" or "skip"
        What to do with a line that cannot be read: raise an InputError, or skip and count it.
    names : bool
        Whether to record the feature names. This uses more memory, and only one thread then reads.
    scale : "none", "cap", "full" or "standard"
        How values are scaled while they are read. Learners scale values themselves, so a learner
        raises a SpecError for values that were scaled here, unless it has scale "none". Scale here
        if the same values go to something that cannot scale, such as :func:`best_fixed`. With
        ``"standard"`` real labels are standardised, too.
    threads : int, optional
        The number of threads that read. The default is one for each core. The examples do not
        depend on it.
    delimiter : str, optional
        For tables: what separates cells, one ASCII character. The default is a comma for ``"csv"``
        and a tab for ``"tsv"``.
    header : bool
        For tables: whether the first row has the names of the columns.
    column_names : strings, optional
        For tables without a header: the names of the columns. The default is c1, c2, ….
    by : names of columns or namespaces, default none
        What the examples will be sliced by. The values are written behind the tags: the byte 0x1e,
        then the values with 0x1f between them.
    unlabelled : "error" or "predict"
        What an example without a label is, if the space asks for labels: a bad line, or an example
        with the label NaN, which a learner predicts and does not learn from.
    follow : bool
        Whether files of text are followed as ``tail -F`` does: at the end of a file the stream
        waits for more lines. It goes on with a new file of the name, and from the start of a file
        that became shorter. Such a stream ends when it is stopped.
    """
    if isinstance(files, Data):
        reading = {"bad_lines": bad_lines, "names": names, "scale": scale, "threads": threads}
        return files.open(space, **reading, by=by, unlabelled=unlabelled)
    _check_unlabelled(unlabelled)
    space = replace(space_of(space), scale=scale)
    if format == "auto" and space.schema is not None:
        format = _format_of_table(files)
    if format == "tsv":
        format, delimiter = "csv", "\t" if delimiter is None else delimiter
    core = _core.Stream(
        opened(files),
        space.to_json(),
        format=format,
        bad_lines=bad_lines,
        names=names,
        threads=threads,
        delimiter="," if delimiter is None else delimiter,
        header=header,
        column_names=None if column_names is None else list(column_names),
        by=list(by),
        unlabelled=unlabelled == "predict",
        follow=follow,
    )
    return ExampleStream(core)


def _check_unlabelled(unlabelled: str) -> None:
    if unlabelled not in UNLABELLED:
        raise SpecError(f"unlabelled must be one of {', '.join(UNLABELLED)}, found {unlabelled!r}")


def _format_of_table(files: Sequence[File]) -> str:
    """The format of tables by the name of the first file; "auto" if it does not say so."""
    name = os.fspath(files[0]) if files and isinstance(files[0], str | os.PathLike) else ""
    for packed in (".gz", ".zst", ".xz"):
        name = name.removesuffix(packed)
    ending = os.path.splitext(name)[1].removeprefix(".")
    return ending if ending in TABLES else "auto"


def total_bytes(files: Sequence[str | os.PathLike[str]]) -> int | None:
    """The size of all files, for a progress bar; None when one of them has no size."""
    if any(not os.path.isfile(file) for file in files):
        return None
    return sum(os.path.getsize(file) for file in files)
