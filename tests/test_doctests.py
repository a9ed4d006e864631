"""Do the examples in the docstrings print what they say?"""

from __future__ import annotations

import doctest
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import walk_packages

import pytest

import lessregret


def modules_with_examples() -> list[str]:
    """The modules of the package whose source has a ``>>>``; none is imported that has not."""
    parts = walk_packages(lessregret.__path__, "lessregret.")
    return [name for name in ("lessregret", *(part.name for part in parts)) if has_examples(name)]


def has_examples(name: str) -> bool:
    spec = find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    source = Path(spec.origin)
    return source.suffix == ".py" and ">>>" in source.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_in_docstrings_hold(name: str) -> None:
    failed, tried = doctest.testmod(import_module(name))
    assert (failed, tried > 0) == (0, True)
