"""From the bytes of a data set to rows and labels; one function a format."""

from __future__ import annotations

import csv
import io
import re
import tarfile
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lessregret import _core
from lessregret.data.streams import open_examples
from lessregret.errors import InputError
from lessregret.learners.space import FeatureSpace

WORD = re.compile(r"[a-z0-9]+")
NEWS_BITS = 20
"""2^20 slots for the words of 20 newsgroups, of which there are 168,426: one in thirteen shares."""


class Labelled(NamedTuple):
    """A data set for binary classification."""

    X: csr_array
    y: NDArray[np.float64]
    """-1 and +1"""


Loader = Callable[[list[bytes]], Labelled]


def sentiment(contents: list[bytes]) -> Labelled:
    """Reviews as ``feature:count … #label#:positive``, each scaled to unit length (§5.1)."""
    columns: dict[str, int] = {}
    rows: list[dict[int, float]] = []
    labels: list[float] = []
    for content in contents:
        for number, line in enumerate(content.decode("utf-8").splitlines(), start=1):
            *features, last = line.split()
            labels.append(sentiment_label(last, number))
            rows.append(dict(counted(feature, columns, number) for feature in features))
    return Labelled(unit_rows(as_csr(rows, len(columns))), np.array(labels))


def sentiment_label(token: str, line: int) -> float:
    """+1 or -1 from ``#label#:positive`` or ``#label#:negative``."""
    names = {"#label#:positive": 1.0, "#label#:negative": -1.0}
    if token not in names:
        expected = "'#label#:positive' or '#label#:negative' at the end of the line"
        raise InputError("reviews", line, 0, repr(token[:20]), expected)
    return names[token]


def counted(token: str, columns: dict[str, int], line: int) -> tuple[int, float]:
    """The column and count of ``feature:count``; a feature may itself hold colons."""
    name, _, count = token.rpartition(":")
    if not name or not count.isdigit():
        raise InputError("reviews", line, 0, repr(token[:20]), "feature:count")
    return columns.setdefault(name, len(columns)), float(count)


def svmlight(contents: list[bytes]) -> Labelled:
    """LIBSVM's text, as news20.binary and rcv1.binary have it; rows as they are."""
    return from_text(contents, "svmlight", bits=31)


def vowpal_wabbit(contents: list[bytes]) -> Labelled:
    """Vowpal Wabbit text with numbered features; rows as they are."""
    return from_text(contents, "vw", bits=31)


def one_hot_csv(contents: list[bytes]) -> Labelled:
    """A table with a header and a column ``click``: a feature of value 1 for each field=value.

    The first column, ``id``, is a number for every row and is left out.
    """
    columns: dict[tuple[str, str], int] = {}
    rows: list[dict[int, float]] = []
    labels: list[float] = []
    for content in contents:
        for record in csv.DictReader(io.StringIO(content.decode("utf-8"))):
            labels.append(1.0 if record.pop("click") == "1" else -1.0)
            record.pop("id")
            cells = (columns.setdefault(cell, len(columns)) for cell in record.items())
            rows.append(dict.fromkeys(cells, 1.0))
    return Labelled(as_csr(rows, len(columns)), np.array(labels))


def newsgroups(contents: list[bytes]) -> Labelled:
    """Posts about computers (``comp.*``) against the rest: word counts, hashed, of unit length."""
    rows: list[dict[int, float]] = []
    labels: list[float] = []
    for group, text in posts(contents[0]):
        counts = Counter(WORD.findall(text.lower()))
        slots = _core.hash_features(list(counts), NEWS_BITS).tolist()
        row: dict[int, float] = {}
        for slot, count in zip(slots, counts.values(), strict=True):
            row[slot] = row.get(slot, 0.0) + count
        rows.append(row)
        labels.append(1.0 if group.startswith("comp.") else -1.0)
    return Labelled(unit_rows(as_csr(rows, 1 << NEWS_BITS)), np.array(labels))


def posts(archive: bytes) -> Iterator[tuple[str, str]]:
    """The newsgroup and the text of every post in the archive, in its order."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            file = tar.extractfile(member)
            if file is not None:
                yield member.name.split("/")[1], file.read().decode("latin-1")


def from_text(contents: Iterable[bytes], format: str, bits: int) -> Labelled:
    """Rows and labels of text in one of the formats that ``train`` reads; a column a feature."""
    parts = [read_text(content, format, bits) for content in contents]
    indptr = np.concatenate([[0], *(np.diff(part[0]) for part in parts)]).cumsum()
    slots, values, labels = (np.concatenate([part[k] for part in parts]) for k in (1, 2, 3))
    features, columns = np.unique(slots, return_inverse=True)
    shape = len(labels), len(features)
    X = csr_array((values.astype(np.float64), columns.astype(np.int64), indptr), shape)
    return Labelled(X, labels.astype(np.float64))


def read_text(content: bytes, format: str, bits: int) -> tuple[NDArray[np.generic], ...]:
    """All examples of a text as row pointers, slots, values and labels."""
    with tempfile.NamedTemporaryFile(suffix=".txt") as file:
        file.write(content)
        file.flush()
        stream = open_examples([file.name], FeatureSpace(bits=bits), format=format)
        blocks = []
        while len(block := stream.core.read(1 << 16)[:4]) and len(block[3]):
            blocks.append(block)
    lengths = np.concatenate([np.diff(block[0]) for block in blocks])
    columns = (np.concatenate([block[k] for block in blocks]) for k in (1, 2, 3))
    return np.concatenate([[0], lengths.cumsum()]), *columns


def as_csr(rows: list[dict[int, float]], columns: int) -> csr_array:
    """Rows of dictionaries as CSR, their entries in the order of the dictionaries."""
    indptr = np.cumsum([0, *(len(row) for row in rows)])
    indices = np.fromiter((i for row in rows for i in row), dtype=np.int64, count=indptr[-1])
    values = (x for row in rows for x in row.values())
    data = np.fromiter(values, dtype=np.float64, count=indptr[-1])
    return csr_array((data, indices, indptr), shape=(len(rows), columns))


def unit_rows(X: csr_array) -> csr_array:
    """Each row divided by its length; rows of zeros stay."""
    lengths = np.sqrt(X.multiply(X).sum(axis=1))
    lengths[lengths == 0] = 1
    scaled = X.copy()
    scaled.data /= np.repeat(lengths, np.diff(X.indptr))
    return scaled
