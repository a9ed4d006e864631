"""Let the docstrings' examples begin a section, as numpydoc wants it.

Our docstrings end with examples that stand below the parameters without a heading. A reader does
not miss it; griffe would take the examples for parameters, and warn.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

FIRST_EXAMPLE = re.compile(r"(?<=\n)\n(?=>>> )")
SECTION = re.compile(r"^(Parameters|Returns|Raises)\n-+$", re.MULTILINE)


class Examples(griffe.Extension):
    """Gives the examples of each docstring their heading."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        if obj.docstring is not None and SECTION.search(obj.docstring.value):
            headed = "\nExamples\n--------\n"
            obj.docstring.value = FIRST_EXAMPLE.sub(headed, obj.docstring.value, count=1)
