"""Bytes in: files as streams of examples.

LIBSVM/svmlight text and Vowpal Wabbit text, plain or packed by gzip or zstd, files or standard
input (``-``), one after another, in bounded memory and on all cores; and what ``convert`` made of
such text. The reading is done in Rust (``crates/core/src/read``).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from lessregret import _core
from lessregret.learners.space import FeatureSpace, HasSpace, space_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FORMATS = ("auto", "svmlight", "vw")
BLOCK = 1 << 14
"""Examples asked for at a time: often enough to answer an interrupt, seldom enough to be free."""


class Example(NamedTuple):
    """One example as the learner sees it."""

    label: float
    """+1 or -1 for classification; NaN where a line for prediction has none"""
    importance: float
    slots: NDArray[np.uint32]
    values: NDArray[np.float32]
    tag: bytes


class ExampleStream:
    """The examples of files, one after another; they can be read once.

    Iterating gives the examples one by one, to look at them; learners read a stream themselves.
    """

    def __init__(self, core: _core.Stream) -> None:
        self.core = core

    @property
    def space(self) -> FeatureSpace:
        """The feature space that the examples are read for."""
        return FeatureSpace.from_json(self.core.space)

    @property
    def skipped(self) -> int:
        """Bad lines passed over so far."""
        return self.core.skipped

    @property
    def first_skipped(self) -> str | None:
        """What was wrong with the first line passed over."""
        return self.core.first_skipped

    @property
    def bytes_read(self) -> int:
        """Bytes read from the files so far, packed as they are."""
        return self.core.bytes_read

    def __iter__(self) -> Iterator[Example]:
        while True:
            indptr, slots, values, labels, importances, tags = self.core.read(BLOCK)
            if not tags:
                return
            for k, tag in enumerate(tags):
                row = slice(indptr[k], indptr[k + 1])
                yield Example(float(labels[k]), float(importances[k]), slots[row], values[row], tag)


def open_examples(
    files: Sequence[str | os.PathLike[str]],
    space: FeatureSpace | HasSpace,
    *,
    format: str = "auto",
    bad_lines: str = "stop",
    names: bool = False,
    scale: str = "none",
    threads: int | None = None,
) -> ExampleStream:
    """Open files as a stream of examples.

    Parameters
    ----------
    files : names of files
        ``-`` is standard input.
    space : FeatureSpace, or a learner or source that has one
        What the examples are read for: the table, the intercept and the kind of the labels.
        ``learner.space.unlabelled()`` is for examples that are only to be predicted.
    format : "auto", "svmlight" or "vw"
        ``"auto"`` takes a first line with a ``|`` for Vowpal Wabbit's.
    bad_lines : "stop" or "skip"
        Whether a bad line is an error, or counted and passed over.
    names : bool
        Whether to record the names of the features; costs memory, and one thread reads.
    scale : "none", "cap" or "full"
        What values are divided by while they are read. Learners scale for themselves and refuse
        values that were scaled before; this is for learners with scale "none" that are compared
        with something that cannot scale, such as the best fixed point.
    threads : int, optional
        How many threads read, the caller's included; all cores without it. The examples are the
        same for any number.
    """
    space = replace(space_of(space), scale=scale)
    core = _core.Stream(
        list(files),
        space.to_json(),
        format=format,
        bad_lines=bad_lines,
        names=names,
        threads=threads,
    )
    return ExampleStream(core)


def total_bytes(files: Sequence[str | os.PathLike[str]]) -> int | None:
    """The size of all files, for a progress bar; None when one of them has no size."""
    if any(not os.path.isfile(file) for file in files):
        return None
    return sum(os.path.getsize(file) for file in files)
