"""Bytes in: files as streams of examples.

LIBSVM/svmlight text and Vowpal Wabbit text, plain or packed by gzip or zstd, files or standard
input (``-``), one after another, in bounded memory and on all cores; and what ``convert`` made of
such text. The reading is done in Rust (``crates/core/src/text``, ``arrow`` and ``reading``).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from lessregret import _core
from lessregret.learners.losses import loss_named
from lessregret.learners.scale import check_scale

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


def open_stream(
    files: Sequence[str | os.PathLike[str]],
    *,
    bits: int,
    loss: str | None = None,
    format: str = "auto",
    bad_lines: str = "stop",
    names: bool = False,
    scale: str = "none",
    threads: int | None = None,
) -> _core.Stream:
    """The examples of the files.

    Parameters
    ----------
    files : names of files
        ``-`` is standard input.
    bits : 1 to 31
        Features are hashed (names) or masked (numbers) into 2^bits slots.
    loss : str, optional
        The loss the labels are for: ±1 or 0/1 for classification, any number for regression.
        Without a loss labels may be absent and are not checked.
    format : "auto", "svmlight" or "vw"
        ``"auto"`` takes a first line with a ``|`` for Vowpal Wabbit's.
    bad_lines : "stop" or "skip"
        Whether a bad line is an error, or counted and passed over.
    names : bool
        Whether to record the names of the features; costs memory, and one thread reads.
    scale : "none", "cap" or "full"
        What values are divided by before anyone sees them, as a learner with that scale would:
        for those who must see the same values as a learner. Learners scale for themselves.
    threads : int, optional
        How many threads read, the caller's included; all cores without it. The examples are the
        same for any number.
    """
    check_scale(scale)
    return _core.Stream(
        list(files),
        bits=bits,
        format=format,
        labels=_labels(loss),
        bad_lines=bad_lines,
        names=names,
        scale=scale,
        threads=threads,
    )


def read_examples(stream: _core.Stream) -> Iterator[Example]:
    """The examples one by one, for looking at them; learners read streams themselves."""
    while True:
        indptr, slots, values, labels, importances, tags = stream.read(BLOCK)
        if not tags:
            return
        for k, tag in enumerate(tags):
            row = slice(indptr[k], indptr[k + 1])
            yield Example(float(labels[k]), float(importances[k]), slots[row], values[row], tag)


def total_bytes(files: Sequence[str | os.PathLike[str]]) -> int | None:
    """The size of all files, for a progress bar; None when one of them has no size."""
    if any(not os.path.isfile(file) for file in files):
        return None
    return sum(os.path.getsize(file) for file in files)


def _labels(loss: str | None) -> str:
    if loss is None:
        return "ignored"
    return "binary" if loss_named(loss).is_classification else "real"
