"""The two sets of many classes, as Vowpal Wabbit text with the labels 1 to K.

Digits are in the order of scikit-learn. The newsgroups are sorted by group in their source, so all
posts, train and test, are shuffled once (seed 0).
"""

from __future__ import annotations

import io
import re
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.quality.text import shuffled
from lessregret.data.datasets import DataFile, DataHome

NEWS = DataFile("20news-bydate/20news-bydate.tar")
COMPUTERS = range(2, 7)
"""the labels of the five groups whose names begin with ``comp``"""


class ClassSet(NamedTuple):
    """A set of many classes."""

    lines: Callable[[DataHome], Iterator[str]]
    classes: int
    file: str

    def write(self, file: Path, home: DataHome) -> None:
        """Write the set as text."""
        file.write_text("".join(self.lines(home)))


def digits(_: DataHome) -> Iterator[str]:
    """1,797 pictures of ten digits, 64 counts from 0 to 16 each."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        features = " ".join(f"p{k}:{value:g}" for k, value in enumerate(row))
        yield f"{label + 1} | {features}\n"


def newsgroups(home: DataHome) -> Iterator[str]:
    """18,846 posts of twenty groups, each as counted words of a-z and 0-9 in lower case."""
    with tarfile.open(fileobj=io.BytesIO(home.read(NEWS))) as tar:
        posts = [(member.name, tar.extractfile(member)) for member in tar if member.isfile()]
        read = [(name.split("/")[-2], file.read()) for name, file in posts if file is not None]
    groups = sorted({group for group, _ in read})
    for number in shuffled(len(read)):
        group, post = read[number]
        words = Counter(re.findall(r"[a-z0-9]+", post.decode("latin-1").lower()))
        features = " ".join(word if n == 1 else f"{word}:{n}" for word, n in words.items())
        yield f"{groups.index(group) + 1} | {features}\n"


def two_classes(text: str) -> Iterator[str]:
    """The lines of the newsgroups with two labels: computers or not."""
    for line in text.splitlines(keepends=True):
        label, rest = line.split(" ", 1)
        yield f"{1 if int(label) in COMPUTERS else -1} {rest}"


SETS = {
    "digits": ClassSet(digits, 10, "digits.vw"),
    "20 newsgroups": ClassSet(newsgroups, 20, "news.vw"),
}
