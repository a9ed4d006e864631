"""Vowpal Wabbit text taken apart in Python, as far as the benchmarks' files go."""

from __future__ import annotations

from collections.abc import Iterator


def tokens(line: str) -> list[str]:
    """The features of a line without values, each with its namespace before it.

    >>> tokens("-1 |f01 a4f2 07b3 |f02 c1")
    ['f01^a4f2', 'f01^07b3', 'f02^c1']
    """
    found = []
    for part in line.rstrip().split("|")[1:]:
        name, *words = part.split()
        found += [f"{name}^{word}" for word in words]
    return found


def features(line: str) -> Iterator[tuple[str, float]]:
    """The features of a line with one namespace, and their values.

    >>> list(features("1 |w cat:2 dog"))
    [('cat', 2.0), ('dog', 1.0)]
    """
    _, _, words = line.partition("|")
    start = words.find(" ")
    for word in words[start:].split():
        name, _, value = word.partition(":")
        yield name, float(value or 1)
